"""When to stop asking a Redis that does not answer, so that an outage costs each request microseconds and not a timeout."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

FAILURES = 3
COOL_DOWN = 1.0


class Breaker:
    """Opens after `failures` in a row; then lets one probe through each `cool_down` seconds, and closes when one succeeds."""

    def __init__(self, failures: int = FAILURES, cool_down: float = COOL_DOWN, clock: Callable[[], float] = time.monotonic) -> None:
        self._limit = failures
        self._cool_down = cool_down
        self._clock = clock
        self._lock = threading.Lock()
        self._failures = 0
        self._next_probe = 0.0

    @property
    def is_open(self) -> bool:
        return self._failures >= self._limit

    def permits(self) -> bool:
        """Whether to try now. While open, a true answer is the probe of this second."""
        if not self.is_open:
            return True
        with self._lock:
            now = self._clock()
            if now < self._next_probe:
                return False
            self._next_probe = now + self._cool_down
            return True

    def succeeded(self) -> None:
        if self._failures:
            with self._lock:
                self._failures = 0

    def failed(self) -> None:
        with self._lock:
            self._failures += 1
            if self._failures == self._limit:
                self._next_probe = self._clock() + self._cool_down
