"""Every refusal a caller can meet, with its code, in one place.

Our own codes are positive and HTTP-like, because the specification closes -32768..-32000 to servers
(MCP 2026-07-28, basic, "Error codes"). `docs/errors.md` is this table in prose; a test holds the two together.
Any room may raise these; `core` alone turns them into replies.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from types import MappingProxyType
from typing import Any

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603
HEADER_MISMATCH = -32020
MISSING_CAPABILITY = -32021
UNSUPPORTED_VERSION = -32022
RESOURCE_NOT_FOUND_LEGACY = -32002
CONTENT_TYPE_NOT_FOUND_LEGACY = -32004

TOKEN_REVOKED = 4010
SCOPE_REFUSED = 4030
SESSION_NOT_FOUND = 4040
RESULT_TOO_LARGE = 4130
RATE_LIMITED = 4290
CONCURRENCY_LIMITED = 4291
GOVERNANCE_UNAVAILABLE = 5030
STREAMS_LIMITED = 5031
TIMED_OUT = 5040

REFUSED_BY_THE_STORE = MappingProxyType({
    "rate": RATE_LIMITED, "concurrency": CONCURRENCY_LIMITED, "streams": STREAMS_LIMITED, "revoked": TOKEN_REVOKED,
})
"""The code that a caller gets for each reason for which an admission refuses."""


class CallError(Exception):
    """A refusal with a JSON-RPC code and one line that says what to do. `data` goes to the caller as it is."""

    code = INTERNAL_ERROR

    def __init__(self, message: str, *, code: int | None = None, data: Mapping[str, Any] | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.data = dict(data or {})
        if code is not None:
            self.code = code


class ProtocolError(CallError):
    """The message itself is at fault: always a JSON-RPC error, never a tool result."""


class SessionNotFound(ProtocolError):
    """The session a legacy client names is none of its own, or has ended. It then initialises again."""

    code = SESSION_NOT_FOUND

    def __init__(self) -> None:
        super().__init__("The session does not exist or has ended. Send initialize again.")


class InvalidArguments(CallError):
    """An argument is missing, unknown or out of range. `argument` is its name (JSON pointer without the first slash)."""

    code = INVALID_PARAMS

    def __init__(self, message: str, *, argument: str | None = None) -> None:
        super().__init__(message, data={"argument": argument} if argument else None)


class NotFound(CallError):
    """The thing asked for does not exist, or the caller may not know that it does (the two look alike). A blank `name`: none was named."""

    code = INVALID_PARAMS

    def __init__(self, kind: str, name: str, *, known: Iterable[str] = (), hint: str = "") -> None:
        near = get_close_matches(name, list(known), n=1, cutoff=0.6)
        parts = [f"No {kind} named {name!r}." if name else f"There is no {kind}."]
        if near:
            parts.append(f"Did you mean {near[0]!r}?")
        if hint:
            parts.append(hint)
        super().__init__(" ".join(parts))
        self.kind = kind
        self.name = name


class ContentTypeNotFound(NotFound):
    """Plank's own refusal: its message and `data.slug` are part of the seed's contract (P25)."""

    def __init__(self, slug: str) -> None:
        super().__init__("content type", slug)
        self.message = "Content type not found"
        self.data = {"slug": slug}


class ScopeRefused(CallError):
    """The caller lacks a right. `scopes` are all the scopes this operation needs."""

    code = SCOPE_REFUSED

    def __init__(self, message: str, *, scopes: Iterable[str]) -> None:
        self.scopes = tuple(scopes)
        super().__init__(message, data={"required_scopes": list(self.scopes)})


class TokenRevoked(CallError):
    """The token was withdrawn after it had been accepted. Says no more than that it is not valid."""

    code = TOKEN_REVOKED

    def __init__(self) -> None:
        super().__init__("The token is not valid any more. Ask the operator for a new one.")


class LimitRefused(CallError):
    """Over a limit of rate, concurrency or streams: rejected, never queued. `retry_after` is in whole seconds, at least 1."""

    def __init__(self, message: str, *, code: int, retry_after: int) -> None:
        self.retry_after = retry_after
        super().__init__(message, code=code, data={"retry_after": retry_after})


class Unavailable(CallError):
    """Governance cannot be consulted, so nothing is served (fail closed). `retry_after` is in whole seconds."""

    code = GOVERNANCE_UNAVAILABLE

    def __init__(self, message: str, *, retry_after: int = 1) -> None:
        self.retry_after = retry_after
        super().__init__(message, data={"retry_after": retry_after})


class ResultTooLarge(CallError):
    """The result is over its cap; nothing of it is sent. Sizes are bytes of the encoded result."""

    code = RESULT_TOO_LARGE

    def __init__(self, size: int, limit: int, hint: str) -> None:
        super().__init__(f"The result is {size} bytes; the limit is {limit}. {hint}", data={"size": size, "limit": limit})


class TimedOut(CallError):
    """The deadline of a call passed. `seconds` is the limit that applied."""

    code = TIMED_OUT

    def __init__(self, seconds: float) -> None:
        super().__init__(f"The call took longer than {seconds:g} s and was stopped. Ask for less, or try again.", data={"timeout": seconds})


class WorkLost(CallError):
    """The process that did the work has ended: it wanted more memory than it may have, or was killed. `most` in MiB."""

    def __init__(self, most: int) -> None:
        super().__init__(f"The work ended before it was done; it may have needed more memory than the {most} MiB it has. Ask for less.")
