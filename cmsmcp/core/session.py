"""What one stdio process or one HTTP exchange remembers: the negotiated revision and the requests in flight. Thread-safe.

Must not know what a request does, nor outlive its connection: what several workers share is in `state/`.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Protocol

from cmsmcp.core.deadline import nobody_leaves
from cmsmcp.protocol.jsonrpc import Id


class Cancellable(Protocol):
    """What a request is now: work under a deadline, or a stream."""

    def cancel(self) -> None: ...


class Flight:
    """One request under way. `settled` wakes whoever waits for its work: it ended, or the client withdrew it.

    `has_left` says whether its client has gone; the deadline of the work asks now and then.
    """

    __slots__ = ("settled", "has_left", "_lock", "_bound", "_cancelled")

    def __init__(self, has_left: Callable[[], bool] = nobody_leaves) -> None:
        self.settled = threading.Event()
        self.has_left = has_left
        self._lock = threading.Lock()
        self._bound: Cancellable | None = None
        self._cancelled = False

    @property
    def cancelled(self) -> bool:
        return self._cancelled

    def bind(self, work: Cancellable) -> None:
        """From now on a cancel reaches `work`; also one that came before the work began."""
        with self._lock:
            self._bound = work
            cancelled = self._cancelled
        if cancelled:
            work.cancel()  # without the lock: a stream gives its permit back, and may wait for the store

    def cancel(self) -> None:
        with self._lock:
            self._cancelled, bound = True, self._bound
        if bound is not None:
            bound.cancel()
        self.settled.set()


class Connection:
    """What `initialize` settled: `revision`, or None, and the client capabilities we may need later (`declared`, by name).

    A door makes one per process (stdio) or per exchange (HTTP). `session` is the id under which workers share what the client has
    said since; None where there is no session, or the client named none. `lost`: the client names a session that
    is none, or has ended. `is_new`: the handshake was made on this very connection.
    """

    def __init__(
        self, revision: str | None = None, declared: frozenset[str] = frozenset(), *, lost: bool = False, session: str | None = None
    ) -> None:
        self.revision = revision
        self.declared = declared
        self.lost = lost
        self.session = session
        self.is_new = False
        self._left: Callable[[], bool] = nobody_leaves
        self._lock = threading.Lock()
        self._flights: dict[Id, Flight] = {}

    def settle(self, revision: str, declared: frozenset[str]) -> None:
        """The outcome of a handshake. It replaces whatever was settled before."""
        self.revision, self.declared = revision, declared
        self.lost, self.is_new = False, True

    def watch(self, left: Callable[[], bool]) -> None:
        """From now on `left` says whether the client has gone, and so whether its requests go on, those under way too."""
        self._left = left

    def has_left(self) -> bool:
        return self._left()

    def begin(self, id: Id) -> Flight | None:
        """The new flight, or None when a request with this id is still under way (ST-13)."""
        with self._lock:
            if id in self._flights:
                return None
            flight = self._flights[id] = Flight(self.has_left)
            return flight

    def end(self, id: Id, flight: Flight) -> None:
        with self._lock:
            if self._flights.get(id) is flight:
                del self._flights[id]

    def cancel(self, id: Id) -> bool:
        """Withdraw a request; its id is free at once. False when there is none such (X-03)."""
        with self._lock:
            flight = self._flights.pop(id, None)
        if flight is not None:
            flight.cancel()
        return flight is not None

    def cancel_all(self) -> None:
        with self._lock:
            flights = list(self._flights.values())
        for flight in flights:
            flight.cancel()
