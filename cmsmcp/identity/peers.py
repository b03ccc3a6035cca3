"""Who may knock at the HTTP door, before any token: Host, Origin, address. Fixed lists: rebinding controls Host and Origin alike.

Knows names and networks; must not know requests, tokens or replies (AU-08).
"""

from __future__ import annotations

from collections.abc import Iterable

from cmsmcp.identity.addresses import Proxies
from cmsmcp.identity.hosts import DEFAULT_PORTS, Host, read_host, read_origin, without_default

LOOPBACK = frozenset({"localhost", "127.0.0.1", "[::1]"})


class Peers:
    """A host without a port stands for every port, one with a default port (80, 443) also for the name alone. Loopback names are always
    known. `proxies` are those whose word is taken for an address, as `addresses.Proxies` has them."""

    def __init__(self, hosts: Iterable[str] = (), origins: Iterable[str] = (), proxies: Iterable[str] = ()) -> None:
        known = [read_host(host.removesuffix(":*")) for host in hosts]
        self._names = LOOPBACK | {host.name for host in known if host.port is None}
        self._with_port = frozenset(host for host in known if host.port is not None)
        self._origins = frozenset(map(read_origin, origins))
        self._proxies = Proxies(proxies)

    def knows_host(self, host: str) -> bool:
        """`host` is the value of the Host header."""
        named = read_host(host)
        ports = DEFAULT_PORTS.values() if named.port is None else (named.port,)
        return named.name in self._names or any(Host(named.name, port) in self._with_port for port in ports)

    def knows_origin(self, origin: str, host: str) -> bool:
        """An origin that is listed, or the one `host` (already known) is served from, or loopback calling loopback. Never `null`."""
        found = read_origin(origin)
        if found is None:
            return False
        scheme, caller = found
        served = read_host(host)
        return found in self._origins or caller == without_default(served, scheme) or {caller.name, served.name} <= LOOPBACK

    def address(self, remote: str, forwarded: str) -> str:
        """The client of a request: `remote` is whoever has connected, `forwarded` the value of X-Forwarded-For."""
        return self._proxies.client(remote, forwarded)
