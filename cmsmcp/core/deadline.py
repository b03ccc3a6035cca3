"""How long a call may still run."""

from __future__ import annotations

import time
from collections.abc import Callable

from cmsmcp.protocol.errors import TimedOut


class Deadline:
    """Seconds a call may take, on a monotonic clock. Long loops call `check()`, which raises `TimedOut`.

    `cancel()` makes the next `check()` raise `Cancelled`: a client withdrew the request.
    """

    __slots__ = ("seconds", "_clock", "_end", "_cancelled")

    def __init__(self, seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        self.seconds = seconds
        self._clock = clock
        self._end = clock() + seconds
        self._cancelled = False

    def remaining(self) -> float:
        """Seconds left, never below 0."""
        return max(0.0, self._end - self._clock())

    def extend(self, seconds: float) -> None:
        """Move the end; back, when negative."""
        self._end += seconds

    def cancel(self) -> None:
        self._cancelled = True

    @property
    def cancelled(self) -> bool:
        return self._cancelled

    def check(self) -> None:
        if self._cancelled:
            raise Cancelled
        if self._clock() >= self._end:
            raise TimedOut(self.seconds)


class Cancelled(Exception):
    """The client withdrew the request: stop, free the permit, send nothing."""
