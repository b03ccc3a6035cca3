"""The tasks at work in this process: kept alive in the store, woken by what others do to them, and failed in sight when we stop.

Must not know what the work is.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from cmsmcp.core.overdue import Overdue
from cmsmcp.core.session import Flight
from cmsmcp.core.sharing import Bus
from cmsmcp.core.tasks.ports import CANCELLED, ENDS, FAILED, SILENCE_MS, TaskStore
from cmsmcp.protocol.errors import Unavailable

LEASE_MS = 15_000
"""What a beat leaves a permit: that of a killed process comes free about when its tasks are seen to have failed."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Run:
    """One task at work here. `heard` is set when something about it is different; `renew` extends its permit by milliseconds."""

    id: str
    flight: Flight
    renew: Callable[[int], None]
    heard: threading.Event = field(default_factory=threading.Event)

    def stop(self) -> None:
        """Its end was made elsewhere: the work should not go on."""
        self.flight.cancel()
        self.heard.set()


class Runs:
    """Thread-safe. `tell` whenever a record is different: everyone who runs, watches or shows it hears of it (`Bus`, `task`)."""

    def __init__(self, store: TaskStore, bus: Bus) -> None:
        self._store = store
        self._bus = bus
        self._changed = threading.Condition()
        self._runs: dict[str, Run] = {}
        self._beats = Overdue()
        bus.listen("task", self._hear)
        bus.listen("missed", self._hear)

    def __len__(self) -> int:
        return len(self._runs)

    def add(self, run: Run) -> None:
        with self._changed:
            self._runs[run.id] = run
        self._beats.add(run.id, lambda: self._beat(run), SILENCE_MS / 1000)

    def drop(self, run: Run) -> None:
        self._beats.drop(run.id)
        with self._changed:
            self._runs.pop(run.id, None)
            self._changed.notify_all()

    def tell(self, id: str, status: str) -> None:
        """Never raises: whoever is not told sees it with the next look."""
        try:
            self._bus.publish("task", {"task": id, "status": status})
        except Unavailable:
            _log.warning("nobody could be told of a task")

    def end_all(self, seconds: float) -> None:
        """The process is about to stop: what has not ended in so many seconds was left by it."""
        end = time.monotonic() + seconds
        with self._changed:
            while self._runs and time.monotonic() < end:
                self._changed.wait(end - time.monotonic())
            left = list(self._runs.values())
        for run in left:
            try:
                if self._store.end(run.id, FAILED):
                    self.tell(run.id, FAILED)
            except Unavailable:
                pass  # silence says the same a little later
            run.stop()

    def _hear(self, body: Mapping[str, Any]) -> None:
        with self._changed:
            runs = [self._runs.get(body["task"])] if body else list(self._runs.values())
        for run in runs:
            if run is not None and body.get("status") == CANCELLED:
                run.stop()
            elif run is not None:
                run.heard.set()

    def _beat(self, run: Run) -> None:
        try:
            status = self._store.beat(run.id)
            if status is None or status in ENDS:
                run.stop()
            else:
                run.renew(LEASE_MS)
        except Unavailable:
            _log.warning("a task could not be kept alive")
