"""Where Redis is: `REDIS_URL` read once, strictly, and never printed (C068).

Knows the three URL forms and how redis-py is told. Must not connect.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import SplitResult, parse_qsl, unquote, urlsplit

from redis.connection import Connection, SSLConnection, UnixDomainSocketConnection

_FORMS = "redis://[user:password@]host[:port][/db], rediss://… for TLS, or unix://[user:password@]/path/to/socket[?db=0]"
_TLS_OPTIONS = frozenset({"ssl_cert_reqs", "ssl_ca_certs", "ssl_certfile", "ssl_keyfile"})
_KINDS: Mapping[str, type] = {"redis": Connection, "rediss": SSLConnection, "unix": UnixDomainSocketConnection}
MAX_SOCKET_PATH = 107
MAX_DB = 9999


class AddressError(ValueError):
    """`REDIS_URL` cannot be read. The message says what is wrong and holds nothing of its password."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"REDIS_URL {reason}. Write it as {_FORMS}; in a password write # as %23, / as %2F, @ as %40, % as %25.")


@dataclass(frozen=True, slots=True)
class Address:
    """How to connect. `shown` may be printed: it has no password. `options` go to the connection's constructor."""

    shown: str
    kind: type = field(repr=False)
    options: Mapping[str, Any] = field(repr=False)

    @property
    def is_tls(self) -> bool:
        return self.kind is SSLConnection

    def connection(self, timeout: float) -> Any:
        """A connection that is not yet open, with one limit in seconds for connecting and for each read and write. It never retries.

        It does not say which library it is (`CLIENT SETINFO`): Redis 7.0 does not know that command, and no user needs a right to it.
        """
        return self.kind(socket_timeout=timeout, socket_connect_timeout=timeout, protocol=2, driver_info=None, **self.options)


def parse_address(url: str) -> Address:
    """Read a URL; AddressError unless every part of it is understood. User and password are decoded exactly once."""
    if not url.strip():
        raise AddressError("is empty")
    if url != url.strip() or not url.isprintable():
        raise AddressError("holds blanks or control characters")
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise AddressError("has a port or a host that cannot be read") from None
    if parts.scheme not in _KINDS or not url.lower().startswith(f"{parts.scheme}://"):
        raise AddressError("must start with redis://, rediss:// or unix://")
    if parts.fragment or "#" in url:
        raise AddressError("holds a #")
    login = {name: unquote(value) for name, value in (("username", parts.username), ("password", parts.password)) if value}
    query = _query(parts)
    if parts.scheme == "unix":
        return _socket(parts, login, query)
    host = parts.hostname or "localhost"
    options: dict[str, Any] = {"host": host, "port": port or 6379, "db": _db(parts.path[1:] or query.pop("db", "0")), **login}
    if parts.scheme == "rediss":
        options |= _tls(query)
    _nothing_left(query)
    shown_host = f"[{host}]" if ":" in host else host
    return Address(f"{parts.scheme}://{shown_host}:{options['port']}/{options['db']}", _KINDS[parts.scheme], options)


def _socket(parts: SplitResult, login: Mapping[str, str], query: dict[str, str]) -> Address:
    path = unquote(parts.path)
    if not path.startswith("/") or parts.hostname:
        raise AddressError("names no socket: unix:// takes an absolute path")
    if len(path.encode()) > MAX_SOCKET_PATH:
        raise AddressError(f"names a socket path of more than {MAX_SOCKET_PATH} bytes")
    options = {"path": path, "db": _db(query.pop("db", "0")), **login}
    _nothing_left(query)
    return Address(f"unix://{path}?db={options['db']}", _KINDS["unix"], options)


def _query(parts: SplitResult) -> dict[str, str]:
    pairs = parse_qsl(parts.query, keep_blank_values=True)
    query = dict(pairs)
    if len(query) != len(pairs):
        raise AddressError("gives an option twice")
    return query


def _db(text: str) -> int:
    if not re.fullmatch(r"[0-9]{1,4}", text) or int(text) > MAX_DB:
        raise AddressError("has a database that is not a number")
    return int(text)


def _tls(query: dict[str, str]) -> dict[str, Any]:
    options: dict[str, Any] = {name: query.pop(name) for name in _TLS_OPTIONS & set(query)}
    demand = options.get("ssl_cert_reqs", "required")
    if demand not in ("required", "optional", "none"):
        raise AddressError("has ssl_cert_reqs that is not required, optional or none")
    return {**options, "ssl_cert_reqs": demand, "ssl_check_hostname": demand == "required"}


def _nothing_left(query: Mapping[str, str]) -> None:
    if query:
        name = re.sub(r"[^A-Za-z0-9_-]", "?", min(query))[:40]
        raise AddressError(f"has an option that is not known here: {name}")
