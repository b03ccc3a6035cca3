"""The middle: bytes and a caller in, bytes out. Every failure becomes a reply here, and only here.

Keeps nothing about a request on itself, so one Service serves every thread, connection and door. Knows no wire.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, partial
from typing import TYPE_CHECKING

from cmsmcp.core.deadline import Cancelled
from cmsmcp.core.entry import charge
from cmsmcp.core.exchange import Exchange, Ports, Visit
from cmsmcp.core.methods import Method, find_method
from cmsmcp.core.out import Out, Stream
from cmsmcp.core.ports import Admission, Caller, Site
from cmsmcp.core.session import Connection, Flight
from cmsmcp.governance.policy import Policy
from cmsmcp.protocol import errors, jsonrpc
from cmsmcp.protocol.eras import (
    MODERN,
    Era,
    Refusal,
    batches_allowed,
    classify,
    is_enveloped,
    is_modern_without_envelope,
    refuse_version,
)

if TYPE_CHECKING:
    from cmsmcp.core.registry import Registry
    from cmsmcp.core.shared import Shared
    from cmsmcp.governance.audit import AuditRecords

_log = logging.getLogger(__name__)

_STATUS = {
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
LISTEN = "session/listen"
"""The name in the audit of what is no JSON-RPC method: opening a session's stream."""


@dataclass(frozen=True, slots=True)
class Pending:
    """Work that gives an outcome; to be called once, in any thread. `talks`: it may send messages of its own before that.

    `era` is that of the request, None for a batch.
    """

    work: Callable[[], Outcome]
    talks: bool = False
    era: Era | None = None

    def __call__(self) -> Outcome:
        return self.work()


def unshared() -> Shared:
    raise errors.ProtocolError("This server shares nothing between its processes.", code=errors.INTERNAL_ERROR)


class Service:
    """`registry`, `site` and `admission` are called when first needed, and must give the same object every time."""

    def __init__(
        self,
        policy: Policy,
        registry: Callable[[], Registry],
        site: Callable[[], Site],
        admission: Callable[[], Admission],
        version: str,
        *,
        site_name: str = "",
        shared: Callable[[], Shared] = unshared,
    ) -> None:
        records = cache(partial(_records, site_name, policy.audit_arguments))
        self.ports = Ports(policy, registry, site, admission, records, version, shared)

    def handle(self, raw: bytes, caller: Caller, connection: Connection, headers: Mapping[str, str] | None = None) -> Outcome:
        """Answer one message. `headers` have lower-case names; None where there are none (stdio). Never raises."""
        outcome = self.begin(raw, caller, connection, headers)
        return outcome if isinstance(outcome, Outcome) else outcome()

    def begin(
        self, raw: bytes, caller: Caller, connection: Connection, headers: Mapping[str, str] | None = None, out: Out | None = None
    ) -> Outcome | Pending:
        """Read one message: its outcome if that is quick, else the work that gives it, to be called once in any thread.

        In between the request is in flight: it can be cancelled, and its id is taken. Messages of one connection must come here
        in their order. `out` is the way for what the work sends before its outcome; without one it can say nothing.
        """
        message = jsonrpc.parse(raw)
        if isinstance(message, jsonrpc.Batch):
            if not batches_allowed(headers, connection.revision):
                return _invalid("one message at a time; this revision has no batches.")
            if connection.lost:
                return _unpaid(errors.SessionNotFound())
            return Pending(partial(self._answer_batch, message, caller, connection, headers))
        return self._begin(message, caller, connection, headers, out)

    def charge(self, caller: Caller, method: str, id: jsonrpc.Id | None = None) -> Outcome | None:
        """Take the price of what is answered without a method of ours. The refusal, if it comes to that."""
        try:
            charge(Visit(method, caller, Flight(), self.ports))
        except errors.CallError as error:
            return _failed(error, id)
        return None

    def listen(self, caller: Caller, connection: Connection) -> Outcome:
        """Open the stream that a legacy session has beside its requests: a GET, or standard output after the handshake. Never raises."""
        try:
            from cmsmcp.core.session_requests import open_stream

            return Outcome(stream=open_stream(Visit(LISTEN, caller, Flight(), self.ports), connection))
        except errors.CallError as error:
            return _failed(error, None, unknown_method=400)
        except Exception:
            return _broken(LISTEN, None)

    def _begin(
        self,
        message: jsonrpc.Request | jsonrpc.Notification | jsonrpc.Response | jsonrpc.Rejection,
        caller: Caller,
        connection: Connection,
        headers: Mapping[str, str] | None,
        out: Out | None = None,
    ) -> Outcome | Pending:
        if isinstance(message, jsonrpc.Rejection):
            return _rejected(message)
        if isinstance(message, jsonrpc.Notification | jsonrpc.Response):
            return _take(message, connection, headers)
        flight = connection.begin(message.id)
        if flight is None:
            return _invalid("a request with this id is still running.", message.id)
        era: Era | Refusal = Era(MODERN)
        try:
            era = classify(message, headers, connection.revision)
            known = era if isinstance(era, Era) else Era(MODERN)
            exchange = Exchange(message.method, caller, flight, self.ports, message, known, connection, headers, out)
            method = _admissible(exchange, era)
        except Exception as error:
            connection.end(message.id, flight)
            if not isinstance(error, errors.CallError):
                return _broken(message.method, message.id)
            return _failed(error, message.id, unknown_method=404 if isinstance(era, Era) and era.modern else 200)
        if method.at_once:
            return self._answer(exchange, method)
        return Pending(partial(self._answer, exchange, method), out is not None and method.talks(exchange), known)

    def _answer(self, exchange: Exchange, method: Method) -> Outcome:
        is_open = False  # a stream is in flight until it is closed
        try:
            result = method.run(exchange)
            if isinstance(result, Stream):
                is_open = not exchange.flight.cancelled
                return Outcome(stream=result) if is_open else Outcome()
            outcome = Outcome(jsonrpc.result_reply(exchange.request.id, result))
        except Cancelled:
            outcome = Outcome()
        except errors.CallError as error:
            outcome = _failed(error, exchange.request.id)
        except Exception:
            outcome = _broken(exchange.request.method, exchange.request.id)
        finally:
            if not is_open:
                exchange.connection.end(exchange.request.id, exchange.flight)
        return Outcome() if exchange.flight.cancelled else outcome

    def _answer_batch(self, batch: jsonrpc.Batch, caller: Caller, connection: Connection, headers: Mapping[str, str] | None) -> Outcome:
        """2025-03-26 only. Members run one after the other (A-06)."""
        replies = []
        for member in batch.members:
            outcome: Outcome | Pending
            if isinstance(member, jsonrpc.Request) and (member.method == "initialize" or is_enveloped(member)):
                outcome = _invalid("neither initialize nor a request of another revision can be part of a batch.", member.id)
            else:
                outcome = self._begin(member, caller, connection, headers)
            if not isinstance(outcome, Outcome):
                outcome = outcome()
            if outcome.unpaid:
                # A door charges an address for one whole message only; of a batch each faulty member costs its client.
                outcome = self.charge(caller, "batch", getattr(member, "id", None)) or outcome
            if outcome.body is not None:
                replies.append(outcome.body)
        return Outcome(jsonrpc.batch_reply(replies)) if replies else ACCEPTED


def _admissible(exchange: Exchange, era: Era | Refusal) -> Method:
    """The method to run, or the first refusal of the ladder; a refusal costs its unit like an answer."""
    try:
        if isinstance(era, Refusal):
            raise _error(era)
        if exchange.connection.lost and not era.modern and exchange.request.method != "initialize":
            raise errors.SessionNotFound
        return find_method(exchange.request.method, era)
    except errors.ProtocolError:
        charge(exchange)
        raise


def _error(refusal: Refusal) -> errors.ProtocolError:
    return errors.ProtocolError(refusal.message, code=refusal.code, data=refusal.data)


def _rejected(rejection: jsonrpc.Rejection) -> Outcome:
    return _unpaid(errors.ProtocolError(rejection.message, code=rejection.code), rejection.id)


def _unpaid(error: errors.ProtocolError, id: jsonrpc.Id | None = None) -> Outcome:
    body = jsonrpc.error_reply(id, error.code, error.message, error.data)
    return Outcome(body, error.code, status=_STATUS.get(error.code, 400), unpaid=True)


def _invalid(reason: str, id: jsonrpc.Id | None = None) -> Outcome:
    return _rejected(jsonrpc.Rejection(errors.INVALID_REQUEST, f"Invalid request: {reason}", id))


def _take(message: jsonrpc.Notification | jsonrpc.Response, connection: Connection, headers: Mapping[str, str] | None) -> Outcome:
    """What is never answered: taken, or refused by its status alone. Unknown notifications, and responses to nothing, are ignored."""
    refusal = refuse_version(headers)
    if refusal is not None:
        return _unpaid(_error(refusal))
    modern = is_modern_without_envelope(headers, connection.revision)
    if connection.lost and not modern:
        return _unpaid(errors.SessionNotFound())
    if isinstance(message, jsonrpc.Response):
        return _invalid("this revision has no client responses.") if modern else ACCEPTED
    if message.method == "notifications/cancelled":
        connection.cancel(message.params.get("requestId"))
    return ACCEPTED


def _failed(error: errors.CallError, id: jsonrpc.Id | None, *, unknown_method: int | None = None) -> Outcome:
    """`unknown_method`: the ladder refused it, before any method ran; the status if that was its fault (400 for every other)."""
    status = _STATUS.get(error.code, 200 if unknown_method is None else 400)
    if unknown_method is not None and error.code == errors.METHOD_NOT_FOUND:
        status = unknown_method
    return Outcome(
        jsonrpc.error_reply(id, error.code, error.message, error.data),
        error.code,
        retry_after=getattr(error, "retry_after", None),
        status=status,
        scopes=getattr(error, "scopes", ()),
    )


def _broken(method: str, id: jsonrpc.Id | None) -> Outcome:
    reference = os.urandom(6).hex()
    _log.exception("internal error %s in %s", reference, method)
    message = f"Internal error (reference {reference})"
    return Outcome(jsonrpc.error_reply(id, errors.INTERNAL_ERROR, message), errors.INTERNAL_ERROR)


def _records(site_name: str, arguments: bool) -> AuditRecords:
    from cmsmcp.governance.audit import AuditRecords

    return AuditRecords(site_name, arguments=arguments)


__all__ = ["Connection", "Flight", "Outcome", "Pending", "Service"]
