"""One spelling for a host: what `Host`, `Origin` and the configuration say of one host compares equal. Knows names; no list of them."""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass
from urllib.parse import urlsplit

DEFAULT_PORTS = {"http": 80, "https": 443}
_PORT = re.compile(r"[0-9]{1,5}")


@dataclass(frozen=True, slots=True)
class Host:
    """`name` in lower case and ASCII (IDNA), without the dot of the root; an IPv6 address in its short form, in brackets.

    `port` is None where none was written. What is no host keeps its text as `name`, and equals nothing that is known.
    """

    name: str
    port: int | None = None


def read_host(text: str) -> Host:
    """`text` is a value of `Host` (RFC 9110, 7.2): a name or an address, and perhaps a port."""
    name, port = text, ""
    if text.startswith("["):
        address, bracket, rest = text.partition("]")
        if not bracket or rest[:1] not in ("", ":"):
            return Host(text)
        name, port = address + bracket, rest[1:]
    elif ":" in text:
        name, _, port = text.rpartition(":")
    if port and not (_PORT.fullmatch(port) and int(port) <= 65_535):
        return Host(text)
    return Host(_spelled(name), int(port) if port else None)


def read_origin(text: str) -> tuple[str, Host] | None:
    """Scheme and host of a web origin (RFC 6454), the default port left out; None when it is none."""
    text = text.lower()
    try:
        parts = urlsplit(text)
    except ValueError:
        return None
    scheme, netloc = parts.scheme, parts.netloc
    if f"{scheme}://{netloc}" != text or scheme not in DEFAULT_PORTS or "@" in netloc or not netloc:
        return None
    return scheme, without_default(read_host(netloc), scheme)


def without_default(host: Host, scheme: str) -> Host:
    return Host(host.name) if host.port == DEFAULT_PORTS.get(scheme) else host


def _spelled(name: str) -> str:
    if name.startswith("["):
        try:
            return f"[{ipaddress.IPv6Address(name[1:-1]).compressed}]"
        except ValueError:
            return name
    name = name.lower()
    if name.endswith(".") and not name.endswith(".."):
        name = name[:-1]
    if name.isascii():
        return name
    try:
        return name.encode("idna").decode()
    except UnicodeError:
        return name
