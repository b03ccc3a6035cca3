"""The arithmetic of rate limits: GCRA, kept as a debt that drains. Pure; the Redis script repeats it line by line.

A unit of cost is 60,000,000 debt points and a client pays back `requests_per_minute` points each microsecond, so every rate
from 1 to 60,000,000 per minute is exact in whole numbers, and all of them stay below 2**53 (Lua knows only doubles). A debt,
unlike a theoretical arrival time, survives a clock that steps back and a burst that was lowered: it drains from then on.
"""

from __future__ import annotations

from dataclasses import dataclass

from cmsmcp.governance.policy import Rate

UNIT = 60_000_000
"""Debt points per unit of cost: microseconds per minute, so that points drained per microsecond are requests per minute."""


@dataclass(frozen=True, slots=True)
class Debt:
    """What a client owes: `points` at the time `at` (microseconds)."""

    points: int = 0
    at: int = 0


@dataclass(frozen=True, slots=True)
class Decision:
    """`debt` is the new state (unchanged but for what drained when refused). `retry_after` and `reset` are microseconds from now."""

    allowed: bool
    debt: Debt
    retry_after: int
    remaining: int
    reset: int


def decide(rate: Rate, debt: Debt, now: int, cost: int) -> Decision:
    """Admit a request of `cost` units at `now` (microseconds) unless the debt would pass `burst` units.

    Never more than burst + rate * t units pass in any span t. A refused caller that waits `retry_after` is admitted, unless
    others under the same client came in between.
    """
    per_microsecond = rate.requests_per_minute
    ceiling = rate.burst * UNIT
    owed = drained(rate, debt, now)
    wanted = owed + cost * UNIT
    fits = wanted <= ceiling
    points = wanted if fits else owed
    return Decision(
        allowed=fits,
        debt=Debt(points, now),
        retry_after=0 if fits else ceil_div(wanted - ceiling, per_microsecond),
        remaining=(ceiling - points) // UNIT,
        reset=ceil_div(points, per_microsecond),
    )


def drained(rate: Rate, debt: Debt, now: int) -> int:
    """Points still owed at `now`, never above the burst."""
    owed = min(debt.points, rate.burst * UNIT)
    elapsed = max(0, now - debt.at)
    return max(0, owed - elapsed * rate.requests_per_minute)


def retry_seconds(milliseconds: int) -> int:
    """`Retry-After` for a wait in milliseconds: whole seconds, rounded up, at least 1 (C063)."""
    return max(1, ceil_div(milliseconds, 1000))


def ceil_div(dividend: int, divisor: int) -> int:
    return -(-dividend // divisor)
