"""Who leaves first: the work, or whoever waits for it (docs/rules.md, Governance order)."""

from __future__ import annotations

import threading

import pytest

from cmsmcp.core.deadline import Deadline
from cmsmcp.core.session import Flight
from cmsmcp.core.work import Work
from cmsmcp.protocol.errors import TimedOut


def test_the_waiter_of_finished_work_leaves_last_and_so_gives_the_permit_back_itself() -> None:
    """The worker is held where it wakes the waiter: it must have left by then, or the reply would overtake the release."""
    replied, happened = threading.Event(), []

    class Held(threading.Event):
        def set(self) -> None:
            super().set()
            replied.wait(10)

    flight = Flight()
    flight.settled = Held()
    work = Work(lambda: "done", lambda: happened.append("ended"), lambda: happened.append("outlives"))
    try:
        assert work.run(Deadline(10), flight) == "done"
        work.leave()
        assert happened == ["ended"]
    finally:
        replied.set()


def test_work_that_outlives_its_waiter_says_so_before_it_ends() -> None:
    go, ended, happened = threading.Event(), threading.Event(), []

    def end() -> None:
        happened.append("ended")
        ended.set()

    work = Work(lambda: go.wait(10), end, lambda: happened.append("outlives"))
    with pytest.raises(TimedOut):
        work.run(Deadline(0.02), Flight())
    work.leave()
    assert happened == ["outlives"]
    go.set()
    assert ended.wait(5)
    assert happened == ["outlives", "ended"]
