"""What becomes of a message: what a door sends, and the outcome of every failure. Knows no wire, and not how a message is served."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from cmsmcp.core.out import Stream
from cmsmcp.governance.redaction import redact
from cmsmcp.protocol import errors, jsonrpc
from cmsmcp.protocol.eras import Era, Refusal

_log = logging.getLogger(__name__)

STATUS = {
    errors.PARSE_ERROR: 400,
    errors.INVALID_REQUEST: 400,
    errors.HEADER_MISMATCH: 400,
    errors.MISSING_CAPABILITY: 400,
    errors.UNSUPPORTED_VERSION: 400,
    errors.TOKEN_REVOKED: 401,
    errors.SCOPE_REFUSED: 403,
    errors.SESSION_NOT_FOUND: 404,
    errors.RATE_LIMITED: 429,
    errors.CONCURRENCY_LIMITED: 429,
    errors.GOVERNANCE_UNAVAILABLE: 503,
    errors.STREAMS_LIMITED: 503,
}


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a door sends. `body` None: nothing (a notification was taken, or the request was withdrawn).

    `code` is that of the error in `body`, if any; `retry_after` in seconds. `status` is a hint for doors that speak HTTP: it
    tells refusals of the protocol (400, 404) from errors of a well-formed request (200), which one code cannot
    (docs/rules.md, Revisions). `scopes` are those a 403 must name. `unpaid`: refused before the admission was asked, so that
    a door makes the sender's address pay. With a `stream` there is no body: the door sends what the stream yields, until it ends.
    """

    body: bytes | None = None
    code: int | None = None
    retry_after: int | None = None
    status: int = 200
    scopes: tuple[str, ...] = ()
    unpaid: bool = False
    stream: Stream | None = None


ACCEPTED = Outcome(status=202)
GIVEN_UP = Outcome()
"""Of a request that was withdrawn, or whose client has gone."""


@dataclass(frozen=True, slots=True)
class Pending:
    """Work that gives an outcome; to be called once, in any thread. `may_talk` says whether it may send messages of its own before that.

    `era` is that of the request, None for a batch.
    """

    work: Callable[[], Outcome]
    may_talk: Callable[[], bool] = lambda: False
    era: Era | None = None

    @property
    def talks(self) -> bool:
        """Found out when a door asks: it takes the registry, and the thread that reads a pipe must not load that."""
        return self.may_talk()

    def __call__(self) -> Outcome:
        return self.work()


def as_error(refusal: Refusal) -> errors.ProtocolError:
    return errors.ProtocolError(refusal.message, code=refusal.code, data=refusal.data)


def rejected(rejection: jsonrpc.Rejection) -> Outcome:
    return unpaid(errors.ProtocolError(rejection.message, code=rejection.code), rejection.id)


def told(error: errors.CallError) -> tuple[str, dict[str, Any]]:
    """The message and the data of an error as they leave: either may quote what was asked for, which may be a token (F40)."""
    message: str = redact(error.message)
    data: dict[str, Any] = redact(error.data)
    return message, data


def unpaid(error: errors.ProtocolError, id: jsonrpc.Id | None = None) -> Outcome:
    body = jsonrpc.error_reply(id, error.code, *told(error))
    return Outcome(body, error.code, status=STATUS.get(error.code, 400), unpaid=True)


def invalid(reason: str, id: jsonrpc.Id | None = None) -> Outcome:
    return rejected(jsonrpc.Rejection(errors.INVALID_REQUEST, f"Invalid request: {reason}", id))


def failed(error: errors.CallError, id: jsonrpc.Id | None, *, unknown_method: int | None = None) -> Outcome:
    """`unknown_method`: the ladder refused it, before any method ran; the status if that was its fault (400 for every other)."""
    status = STATUS.get(error.code, 200 if unknown_method is None else 400)
    if unknown_method is not None and error.code == errors.METHOD_NOT_FOUND:
        status = unknown_method
    return Outcome(
        jsonrpc.error_reply(id, error.code, *told(error)),
        error.code,
        retry_after=getattr(error, "retry_after", None),
        status=status,
        scopes=getattr(error, "scopes", ()),
    )


def broken(method: str, id: jsonrpc.Id | None) -> Outcome:
    reference = os.urandom(6).hex()
    _log.exception("internal error %s in %s", reference, method)
    message = f"Internal error (reference {reference})"
    return Outcome(jsonrpc.error_reply(id, errors.INTERNAL_ERROR, message), errors.INTERNAL_ERROR)
