"""Addresses as sockets and proxies write them, in one normal form: an address that is spelled in two ways must not count twice.

Knows spellings and networks; no request, and not what an address is for.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable

Address = ipaddress.IPv4Address | ipaddress.IPv6Address

UNIX = "unix:"
"""Whoever connects by a unix socket has no address; nginx writes the same word, also for such a client of its own."""
FORWARDING = (
    "HTTP_X_FORWARDED_FOR", "HTTP_FORWARDED", "HTTP_VIA", "HTTP_X_REAL_IP", "HTTP_X_FORWARDED_HOST", "HTTP_X_FORWARDED_PROTO",
)  # fmt: skip
"""Headers, as WSGI names them, that only a request has which came through somebody else."""
_MAPPED = ipaddress.IPv6Network("::ffff:0:0/96")
_PORT = re.compile(r":[0-9]{1,5}")


class Proxies:
    """Those who are believed. `trusted` are addresses, networks, and `unix:` for all that connects by a unix socket."""

    def __init__(self, trusted: Iterable[str] = ()) -> None:
        listed = tuple(trusted)
        self._unix = UNIX in listed
        self._networks = tuple(_read_network(each) for each in listed if each != UNIX)

    def client(self, remote: str, forwarded: str) -> str:
        """The nearest hop that is no trusted proxy; left of that, anyone may have written what X-Forwarded-For says.

        Where a proxy names none (`unknown`, `_hidden`, a unix socket), the client is known by that proxy. `remote` is blank for a unix
        socket.
        """
        nearest = read_address(remote)
        hops = [hop.strip() for hop in forwarded.split(",") if hop.strip()]
        while hops and self._trusts(nearest):
            hop = hops.pop()
            before = read_address(hop)
            if before is None and not (hop == UNIX and self._unix):
                break
            nearest = before
        return UNIX if nearest is None else str(nearest)

    def _trusts(self, hop: Address | None) -> bool:
        return self._unix if hop is None else any(hop in network for network in self._networks)


def read_address(text: str) -> Address | None:
    """An address, with or without quotes, brackets, port and zone; one of IPv4 within IPv6 is that of IPv4. None: it is none.

    `203.0.113.51:4711` (Azure), `[2001:db8::1]:443`, `"[2001:db8::1%eth0]"` (RFC 7239, 6), `::ffff:203.0.113.51`.
    """
    text = text.strip().strip('"')
    if text.startswith("["):
        text, bracket, port = text[1:].partition("]")
        if not bracket or (port and not _PORT.fullmatch(port)):
            return None
    elif text.count(":") == 1:
        text, colon, port = text.partition(":")
        if not _PORT.fullmatch(colon + port):
            return None
    try:
        found = ipaddress.ip_address(text.partition("%")[0])
    except ValueError:
        return None
    return getattr(found, "ipv4_mapped", None) or found


def _read_network(text: str) -> ipaddress.IPv4Network | ipaddress.IPv6Network:
    """In the form that `read_address` gives the addresses in it."""
    found = ipaddress.ip_network(text)
    if found.version == 6 and found.subnet_of(_MAPPED):
        return ipaddress.ip_network((int(found.network_address) & 0xFFFF_FFFF, found.prefixlen - _MAPPED.prefixlen))
    return found


def is_loopback(text: str) -> bool:
    found = read_address(text)
    return found is not None and found.is_loopback
