"""Who may knock at the HTTP door, before any token: Host, Origin, address. Fixed lists: rebinding controls Host and Origin alike.

Knows names and networks; must not know requests, tokens or replies (AU-08).
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable
from urllib.parse import urlsplit

LOOPBACK = frozenset({"localhost", "127.0.0.1", "[::1]"})


class Peers:
    """Hosts and origins are lower case; a host without a port stands for every port. Loopback names are always known."""

    def __init__(self, hosts: Iterable[str] = (), origins: Iterable[str] = (), proxies: Iterable[str] = ()) -> None:
        self._hosts = LOOPBACK | {host.removesuffix(":*") for host in hosts}
        self._origins = frozenset(origins)
        self._proxies = tuple(ipaddress.ip_network(proxy) for proxy in proxies)

    def knows_host(self, host: str) -> bool:
        """`host` is the value of the Host header."""
        host = host.lower()
        return host in self._hosts or _name(host) in self._hosts

    def knows_origin(self, origin: str, host: str) -> bool:
        """An origin that is listed, or the one `host` (already known) is served from, or loopback calling loopback. Never `null`."""
        origin, host = origin.lower(), host.lower()
        try:
            parts = urlsplit(origin)
        except ValueError:
            return False
        if f"{parts.scheme}://{parts.netloc}" != origin or parts.scheme not in ("http", "https") or "@" in parts.netloc or not parts.netloc:
            return False
        return origin in self._origins or parts.netloc == host or (_name(parts.netloc) in LOOPBACK and _name(host) in LOOPBACK)

    def address(self, remote: str, forwarded: str) -> str:
        """The client: the nearest hop that is no trusted proxy. Left of that, anyone may have written what X-Forwarded-For says."""
        hops = [hop.strip() for hop in forwarded.split(",") if hop.strip()]
        while hops and self._is_proxy(remote):
            remote = hops.pop()
        return remote[:64]

    def _is_proxy(self, address: str) -> bool:
        found = _parse(address)
        return found is not None and any(found in proxy for proxy in self._proxies)


def is_loopback(address: str) -> bool:
    found = _parse(address)
    return found is not None and found.is_loopback


def _parse(address: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        found = ipaddress.ip_address(address)
    except ValueError:
        return None
    return getattr(found, "ipv4_mapped", None) or found


def _name(host: str) -> str:
    """Host without its port."""
    name, colon, port = host.rpartition(":")
    return name if colon and port.isdecimal() else host
