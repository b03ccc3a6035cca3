"""What a client sends without wanting a reply: notifications, and its responses to requests of ours.

Over HTTP each comes as a POST of its own, and may reach another worker than the request it is about.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from cmsmcp.core.entry import charge
from cmsmcp.core.exchange import Exchange, Visit
from cmsmcp.core.outcome import ACCEPTED, Outcome, as_error, failed, invalid, unpaid
from cmsmcp.core.session import Connection, Flight
from cmsmcp.protocol import errors, jsonrpc
from cmsmcp.protocol.eras import is_modern_without_envelope, refuse_version

if TYPE_CHECKING:
    from cmsmcp.core.shared import Shared

TAKEN = "message"
"""How the audit names what has no method."""
UNWANTED = replace(ACCEPTED, unpaid=True)
"""Taken, although it is about nothing here; it was looked up with the other workers, which a flood must pay for."""


class Flights:
    """The requests of legacy HTTP sessions that are under way in this process, whichever connection brought them. Thread-safe."""

    def __init__(self, shared: Callable[[], Shared]) -> None:
        self._shared = shared
        self._lock = threading.Lock()
        self._held: dict[tuple[str, jsonrpc.Id], Flight] = {}
        self._is_listening = False

    def add(self, exchange: Exchange) -> None:
        key = _key(exchange)
        if key is not None:
            if not self._is_listening:
                self._listen()
            self._held[key] = exchange.flight

    def drop(self, exchange: Exchange) -> None:
        key = _key(exchange)
        if key is not None and self._held.get(key) is exchange.flight:
            self._held.pop(key, None)

    def cancel(self, session: str, id: jsonrpc.Id) -> bool:
        """Withdraw a request of this process. False when it has none such."""
        flight = self._held.pop((session, id), None)
        if flight is None:
            return False
        flight.cancel()
        return True

    def cancel_anywhere(self, session: str, id: jsonrpc.Id) -> bool:
        """False when it is not in this process; the others are told."""
        if self.cancel(session, id):
            return True
        self._shared().bus.publish("cancel", {"session": session, "request": id})
        return False

    def _cancelled(self, body: Mapping[str, Any]) -> None:
        self.cancel(body["session"], body["request"])

    def _listen(self) -> None:
        with self._lock:
            if self._is_listening:
                return
            try:
                self._shared().bus.listen("cancel", self._cancelled)
            except errors.CallError:
                return  # nothing is shared, or not now: the next request tries again
            self._is_listening = True


def take(
    visit: Visit,
    flights: Flights,
    message: jsonrpc.Notification | jsonrpc.Response,
    connection: Connection,
    headers: Mapping[str, str] | None,
) -> Outcome:
    """Taken, or refused by its status alone. Unknown notifications, and responses to nothing, are ignored (X-03, E-11)."""
    refusal = refuse_version(headers)
    if refusal is not None:
        return unpaid(as_error(refusal))
    modern = is_modern_without_envelope(headers, connection.revision)
    if connection.lost and not modern:
        return unpaid(errors.SessionNotFound())
    if modern and isinstance(message, jsonrpc.Response):
        return invalid("this revision has no client responses.")
    try:
        if isinstance(message, jsonrpc.Response):
            return _deliver(visit, message, connection)
        if message.method == "notifications/cancelled":
            return _cancel(flights, message.params.get("requestId"), connection, modern or headers is None)
    except errors.CallError as error:
        return failed(error, None)
    return ACCEPTED


def _deliver(visit: Visit, response: jsonrpc.Response, connection: Connection) -> Outcome:
    from cmsmcp.core.asking.live import deliver, is_ours

    if connection.session is None or not is_ours(response.id):
        return ACCEPTED
    if visit.caller.token_id is not None:
        charge(visit, cost=0)  # free, but a revoked token answers nothing
    return ACCEPTED if deliver(visit.ports.shared(), connection.session, response) else UNWANTED


def _cancel(flights: Flights, id: Any, connection: Connection, is_alone: bool) -> Outcome:
    """`is_alone`: no other connection of its client's is concerned, so a session that it names counts for nothing."""
    if not jsonrpc.is_id(id) or connection.cancel(id) or is_alone or connection.session is None:
        return ACCEPTED
    return ACCEPTED if flights.cancel_anywhere(connection.session, id) else UNWANTED


def _key(exchange: Exchange) -> tuple[str, jsonrpc.Id] | None:
    """None where the connection itself knows the request (stdio), or leaving it is the way to withdraw it (2026-07-28)."""
    session = exchange.connection.session
    return None if session is None or exchange.headers is None or exchange.era.modern else (session, exchange.request.id)
