"""What stands before every HTTP door, before any work: size, Host, Origin, token, and a price for whoever is turned away.

Takes a WSGI environment and says no in words; how a door phrases that is the door's (docs/rules.md, HTTP order of checks).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

from cmsmcp.core.ports import Admission, Ask, Caller
from cmsmcp.identity.peers import Peers
from cmsmcp.protocol.errors import Unavailable

Environ = Mapping[str, Any]
_MAX_DIGITS = 19


def announces_more(environ: Environ, limit: int) -> bool:
    """Whether the announced size of the body is over the limit, or so odd that it cannot be compared."""
    length = environ.get("CONTENT_LENGTH") or ""
    return bool(length) and not (len(length) <= _MAX_DIGITS and length.isascii() and length.isdecimal() and int(length) <= limit)


class TurnedAway(Exception):
    """Not let in: the HTTP status and one line."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.message = message


@dataclass(frozen=True, slots=True)
class Gate:
    """`authenticate` gets the Authorization header; it may raise TokenRefused or Unavailable.

    `has_left` says whether the client of a request has gone.
    """

    peers: Peers
    authenticate: Callable[[str | None], Caller]
    admission: Admission
    max_request_bytes: int
    has_left: Callable[[Environ], bool] = lambda environ: False

    def check_size(self, environ: Environ) -> None:
        if announces_more(environ, self.max_request_bytes):
            raise TurnedAway(413, f"The request is larger than {self.max_request_bytes} bytes.")

    def check_origin(self, environ: Environ) -> str | None:
        """The origin to allow in the answer, if one was sent."""
        host = environ.get("HTTP_HOST", "")
        if not self.peers.knows_host(host):
            raise TurnedAway(403, "Host not allowed; the operator can add it to mcp.allowed_hosts")
        origin: str | None = environ.get("HTTP_ORIGIN")
        if origin is not None and not self.peers.knows_origin(origin, host):
            raise TurnedAway(403, "Origin not allowed")
        return origin

    def caller(self, environ: Environ) -> Caller:
        return self.authenticate(environ.get("HTTP_AUTHORIZATION"))

    def charge_refusal(self, environ: Environ) -> int | None:
        """Take the price of a refusal from its address. Seconds to wait when too many were refused before; None otherwise."""
        address = self.peers.address(environ.get("REMOTE_ADDR", ""), environ.get("HTTP_X_FORWARDED_FOR", ""))
        try:
            verdict = self.admission.admit(Ask(uuid4().hex, f"address:{address}", cost=1, permit=False, lease_ms=0))
        except Unavailable:
            return None  # the refusal stands either way
        return None if verdict.reason is None else max(1, -(-verdict.retry_after_ms // 1000))
