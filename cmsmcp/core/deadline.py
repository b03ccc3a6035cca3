"""How long a call may still run."""

from __future__ import annotations

import time
from collections.abc import Callable

from cmsmcp.protocol.errors import TimedOut


class Deadline:
    """Seconds a call may take, on a monotonic clock. Long loops call `check()`, which raises `TimedOut`.

    `cancel()` makes the next `check()` raise `Cancelled`: a client withdrew the request. `limit(budget)` bounds what may be worked on
    in this process, in bytes of text or what takes as long: `spend()` counts it, and what is over raises `OverBudget`.
    """

    __slots__ = ("seconds", "_clock", "_end", "_cancelled", "_budget")

    def __init__(self, seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        self.seconds = seconds
        self._clock = clock
        self._end = clock() + seconds
        self._cancelled = False
        self._budget: int | None = None

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

    def limit(self, budget: int | None) -> None:
        """From now on; None for no bound."""
        self._budget = budget

    def spend(self, amount: int) -> None:
        if self._budget is not None:
            self._budget -= amount
            if self._budget < 0:
                raise OverBudget

    @property
    def is_over(self) -> bool:
        """Whether `check()` would raise."""
        return self._cancelled or (self._budget is not None and self._budget < 0) or self._clock() >= self._end

    def check(self) -> None:
        if self._cancelled:
            raise Cancelled
        if self._clock() >= self._end:
            raise TimedOut(self.seconds)
        self.spend(0)


class Cancelled(Exception):
    """The client withdrew the request: stop, free the permit, send nothing."""


class OverBudget(Exception):
    """More than this process does by itself in one call, where others wait for it: the call is to be done elsewhere (`core.placing`)."""
