"""How long a call may still run, and whether anybody waits for it."""

from __future__ import annotations

import time
from collections.abc import Callable

from cmsmcp.protocol.errors import TimedOut

LOOK_SECONDS = 0.2
"""How often a call that runs is compared with the world: whether its client has gone, and whether its deadline has moved."""


def nobody_leaves() -> bool:
    """For clients of whom nobody can tell whether they are there, or whose work goes on without them."""
    return False


class Deadline:
    """Seconds a call may take, on a monotonic clock. Long loops call `check()`, which raises `TimedOut`.

    `cancel()` makes the next `check()` raise `Cancelled`: a client withdrew the request. So does `left`, which says whether the client has
    gone: whoever asks looks for himself, because work that never pauses keeps all others of its worker from looking. A call that is over
    within LOOK_SECONDS pays nothing for it. `limit(budget)` bounds what may be worked on in this process, in bytes of text or what takes as
    long: `spend()` counts it, and what is over raises `OverBudget`.
    """

    __slots__ = ("seconds", "_clock", "_end", "_cancelled", "_left", "_look_at", "_budget")

    def __init__(self, seconds: float, clock: Callable[[], float] = time.monotonic, left: Callable[[], bool] = nobody_leaves) -> None:
        self.seconds = seconds
        self._clock = clock
        self._left = left
        now = clock()
        self._end = now + seconds
        self._look_at = now + LOOK_SECONDS
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
        return self._is_cancelled(self._clock())

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
        now = self._clock()
        return self._is_cancelled(now) or (self._budget is not None and self._budget < 0) or now >= self._end

    def check(self) -> None:
        now = self._clock()
        if self._is_cancelled(now):
            raise Cancelled
        if now >= self._end:
            raise TimedOut(self.seconds)
        self.spend(0)

    def _is_cancelled(self, now: float) -> bool:
        if now >= self._look_at and not self._cancelled:
            self._look_at = now + LOOK_SECONDS
            self._cancelled = self._left()
        return self._cancelled


class Cancelled(Exception):
    """The client withdrew the request, or has gone: stop, free the permit, send nothing."""


class OverBudget(Exception):
    """More than this process does by itself in one call, where others wait for it: the call is to be done elsewhere (`core.placing`)."""
