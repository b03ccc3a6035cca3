"""Work that goes on after its waiter has left: a thread cannot be killed, so its permit is renewed until it has stopped.

One timer for the process, started when there is something to renew and gone when there is not. Must not know what the work is.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

RENEWALS_PER_LEASE = 3
"""Two may fail before a permit lapses."""

_log = logging.getLogger(__name__)


class Overdue:
    """Thread-safe. Its length is how much such work this process has now."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._held: dict[str, tuple[Callable[[], None], float]] = {}
        self._is_running = False

    def __len__(self) -> int:
        return len(self._held)

    def add(self, event_id: str, renew: Callable[[], None], lease: float) -> None:
        """Call `renew` now and then again within each `lease` seconds, until `drop`."""
        with self._changed:
            self._held[event_id] = (renew, lease / RENEWALS_PER_LEASE)
            self._changed.notify()
            if self._is_running:
                return
            threading.Thread(target=self._run, name="cmsmcp-overdue", daemon=True).start()
            self._is_running = True

    def drop(self, event_id: str) -> None:
        """The work has stopped. What was never added is ignored."""
        if self._held:
            with self._changed:
                self._held.pop(event_id, None)
                self._changed.notify()

    def _run(self) -> None:
        while True:
            with self._changed:
                if not self._held:
                    self._is_running = False
                    return
                held = list(self._held.values())
            for renew, _ in held:
                try:
                    renew()
                except Exception:
                    _log.exception("a permit could not be renewed")
            with self._changed:
                # Of what is held by now: something with a shorter lease may have come while the others were renewed.
                self._changed.wait(min((pause for _, pause in self._held.values()), default=0))
