"""Runs a call's work beside the one who waits for it, so that a late call can be answered before it has stopped.

A Python thread cannot be killed: work that ignores its deadline goes on, and whatever it holds is freed only when it has ended.
"""

from __future__ import annotations

import _thread
import threading
from collections.abc import Callable
from typing import Any

from cmsmcp.core.deadline import LOOK_SECONDS, Cancelled, Deadline
from cmsmcp.core.session import Flight
from cmsmcp.protocol.errors import TimedOut


class Work:
    """One piece of work in a thread that does not keep the process alive.

    `outlives` is called when the waiter goes while it still runs, `ended` once, after that, when both have left.
    """

    def __init__(self, task: Callable[[], Any], ended: Callable[[], None], outlives: Callable[[], None]) -> None:
        self._task = task
        self._ended = ended
        self._outlives = outlives
        self._lock = threading.Lock()
        self._open = 1
        self._result: Any = None
        self._error: BaseException | None = None
        self._finished = False

    def run(self, deadline: Deadline, flight: Flight) -> Any:
        """The task's result. Raises what it raised, or TimedOut or Cancelled while it still runs."""
        flight.bind(deadline)
        if deadline.cancelled:
            raise Cancelled
        self._open += 1
        try:
            # Not threading.Thread: its start waits for the new thread, which doubles the cost of a short call.
            _thread.start_new_thread(self._work, (flight,))
        except RuntimeError:
            self.leave()
            raise
        while not flight.settled.wait(min(deadline.remaining(), LOOK_SECONDS)) and not deadline.cancelled and deadline.remaining() > 0:
            pass
        if not self._finished:
            self._outlives()
        if deadline.cancelled:
            raise Cancelled
        if not self._finished:
            raise TimedOut(deadline.seconds)
        if isinstance(self._error, Exception):
            raise self._error
        if self._error is not None:
            # An exit or a kill was meant for the worker, not for the thread that waits and must still answer.
            raise RuntimeError(f"the work ended by {type(self._error).__name__}") from self._error
        return self._result

    def leave(self) -> None:
        """One of the two, worker or waiter, is done with it; the last one out calls `ended`."""
        with self._lock:
            self._open -= 1
            last = self._open == 0
        if last:
            self._ended()

    def _work(self, flight: Flight) -> None:
        try:
            self._result = self._task()
        except BaseException as error:  # noqa: BLE001 - it belongs to whoever waits
            self._error = error
        self._finished = True
        # Left before the waiter is woken: whoever is answered in time then finds the permit already given back.
        self.leave()
        flight.settled.set()
