"""The middle: bytes and a caller in, bytes out. Every failure becomes a reply here, and only here.

Keeps nothing about a request on itself, so one Service serves every thread, connection and door. Knows no wire.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from typing import TYPE_CHECKING, Any

from cmsmcp.core.announced import features
from cmsmcp.core.deadline import Cancelled
from cmsmcp.core.entry import charge
from cmsmcp.core.exchange import Exchange, Ports, Visit
from cmsmcp.core.methods import Method, find_method
from cmsmcp.core.out import Out, Stream
from cmsmcp.core.outcome import ACCEPTED, GIVEN_UP, Outcome, Pending, as_error, broken, failed, invalid, rejected, unpaid
from cmsmcp.core.ports import Admission, Caller, Runner, Site
from cmsmcp.core.session import Connection, Flight
from cmsmcp.core.taking import TAKEN, Flights, take
from cmsmcp.governance.policy import Policy
from cmsmcp.protocol import errors, jsonrpc
from cmsmcp.protocol.eras import MODERN, Era, Refusal, batches_allowed, classify, is_enveloped

if TYPE_CHECKING:
    from cmsmcp.core.announced import Offer
    from cmsmcp.core.registry import Registry
    from cmsmcp.core.shared import Shared
    from cmsmcp.governance.audit import AuditRecords

LISTEN = "session/listen"
"""The name in the audit of what is no JSON-RPC method: opening a session's stream."""


def unshared() -> Shared:
    raise errors.ProtocolError("This server shares nothing between its processes.", code=errors.INTERNAL_ERROR)


class Service:
    """`registry`, `site` and `admission` are called when first needed, and must give the same object every time.

    `offers` is what the registry will hold, for a door whose first reply must not wait for it; left out: it waits.
    """

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
        runner: Callable[[], Runner | None] = lambda: None,
        offers: Callable[[], Sequence[Offer]] | None = None,
        services: Callable[[], Mapping[str, str]] = dict,
    ) -> None:
        records = cache(partial(_records, site_name, policy.audit_arguments))
        known = offers or (lambda: registry().offers)
        self.ports = Ports(policy, registry, site, admission, records, version, shared, known, runner, services)
        self._flights = Flights(shared)

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
                return invalid("one message at a time; this revision has no batches.")
            if connection.lost:
                return unpaid(errors.SessionNotFound())
            return Pending(partial(self._answer_batch, message, caller, connection, headers))
        return self._begin(message, caller, connection, headers, out)

    def features(self, caller: Caller) -> Mapping[str, Any]:
        """What is declared to this caller, as `initialize` does."""
        return features(Visit("features", caller, Flight(), self.ports))

    def charge(self, caller: Caller, method: str, id: jsonrpc.Id | None = None) -> Outcome | None:
        """Take the price of what is answered without a method of ours. The refusal, if it comes to that."""
        try:
            charge(Visit(method, caller, Flight(), self.ports))
        except errors.CallError as error:
            return failed(error, id)
        return None

    def listen(self, caller: Caller, connection: Connection) -> Outcome:
        """Open the stream that a legacy session has beside its requests: a GET, or standard output after the handshake. Never raises."""
        try:
            from cmsmcp.core.session_requests import open_stream

            return Outcome(stream=open_stream(Visit(LISTEN, caller, Flight(), self.ports), connection))
        except errors.CallError as error:
            return failed(error, None, unknown_method=400)
        except Exception:
            return broken(LISTEN, None)

    def _begin(
        self,
        message: jsonrpc.Request | jsonrpc.Notification | jsonrpc.Response | jsonrpc.Rejection,
        caller: Caller,
        connection: Connection,
        headers: Mapping[str, str] | None,
        out: Out | None = None,
    ) -> Outcome | Pending:
        if isinstance(message, jsonrpc.Rejection):
            return rejected(message)
        if isinstance(message, jsonrpc.Notification | jsonrpc.Response):
            return take(Visit(TAKEN, caller, Flight(), self.ports), self._flights, message, connection, headers)
        flight = connection.begin(message.id)
        if flight is None:
            return invalid("a request with this id is still running.", message.id)
        era: Era | Refusal = Era(MODERN)
        try:
            era = classify(message, headers, connection.revision)
            known = era if isinstance(era, Era) else Era(MODERN)
            exchange = Exchange(message.method, caller, flight, self.ports, message, known, connection, headers, out)
            method = _admissible(exchange, era)
        except Exception as error:
            connection.end(message.id, flight)
            if not isinstance(error, errors.CallError):
                return broken(message.method, message.id)
            return failed(error, message.id, unknown_method=404 if isinstance(era, Era) and era.modern else 200)
        if method.at_once:
            return self._answer(exchange, method)
        return Pending(partial(self._answer, exchange, method), lambda: out is not None and method.talks(exchange), known)

    def _answer(self, exchange: Exchange, method: Method) -> Outcome:
        is_open = False  # a stream is in flight until it is closed
        try:
            if not method.at_once:
                self._flights.add(exchange)
            result = method.run(exchange)
            if isinstance(result, Stream):
                is_open = not exchange.flight.cancelled
                return Outcome(stream=result) if is_open else GIVEN_UP
            outcome = Outcome(jsonrpc.result_reply(exchange.request.id, result))
        except Cancelled:
            outcome = GIVEN_UP
        except errors.CallError as error:
            outcome = failed(error, exchange.request.id)
        except Exception:
            outcome = broken(exchange.request.method, exchange.request.id)
        finally:
            if not is_open:
                exchange.connection.end(exchange.request.id, exchange.flight)
                self._flights.drop(exchange)
        return GIVEN_UP if exchange.flight.cancelled else outcome

    def _answer_batch(self, batch: jsonrpc.Batch, caller: Caller, connection: Connection, headers: Mapping[str, str] | None) -> Outcome:
        """2025-03-26 only. Members run one after the other (A-06)."""
        replies = []
        for member in batch.members:
            if connection.has_left():
                break
            outcome: Outcome | Pending
            if isinstance(member, jsonrpc.Request) and (member.method == "initialize" or is_enveloped(member)):
                outcome = invalid("neither initialize nor a request of another revision can be part of a batch.", member.id)
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
            raise as_error(era)
        if exchange.connection.lost and not era.modern and exchange.request.method != "initialize":
            raise errors.SessionNotFound
        return find_method(exchange.request.method, era)
    except errors.ProtocolError:
        charge(exchange)
        raise


def _records(site_name: str, arguments: bool) -> AuditRecords:
    from cmsmcp.governance.audit import AuditRecords

    return AuditRecords(site_name, arguments=arguments)


__all__ = ["Connection", "Flight", "Outcome", "Pending", "Service"]
