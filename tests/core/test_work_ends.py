"""Who leaves first: the work, or whoever waits for it (docs/rules.md, Governance order)."""

from __future__ import annotations

import threading

import pytest

from cmsmcp.core.deadline import Deadline
from cmsmcp.core.overdue import Overdue
from cmsmcp.core.session import Flight
from cmsmcp.core.work import Work
from cmsmcp.protocol.errors import TimedOut


def test_the_waiter_of_finished_work_leaves_last_and_so_gives_the_permit_back_itself() -> None:
    """The worker is held where it wakes the waiter: it must have left by then, or the reply would overtake the release."""
    replied, happened = threading.Event(), []

    class Held(threading.Event):
        def set(self) -> None:
            super().set()
            replied.wait(60)

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

    work = Work(lambda: go.wait(60), end, lambda: happened.append("outlives"))
    with pytest.raises(TimedOut):
        work.run(Deadline(0.02), Flight())
    work.leave()
    assert happened == ["outlives"]
    go.set()
    assert ended.wait(60)
    assert happened == ["outlives", "ended"]


def test_what_is_withdrawn_may_take_its_time_without_holding_up_who_asks_for_it_again() -> None:
    """ST-08: closing a stream waits for the store, and the one who reads standard input must not wait with it."""
    flight, withdrawing, go = Flight(), threading.Event(), threading.Event()

    class Slow:
        def cancel(self) -> None:
            withdrawing.set()
            go.wait(60)

    class Quick:
        def cancel(self) -> None: ...

    flight.bind(Slow())
    threading.Thread(target=flight.cancel, daemon=True).start()
    assert withdrawing.wait(60)
    again = threading.Thread(target=flight.bind, args=(Quick(),), daemon=True)
    again.start()
    again.join(60)
    go.set()
    assert not again.is_alive()


def test_a_short_lease_is_kept_that_came_while_longer_ones_were_renewed() -> None:
    overdue, renewed = Overdue(), threading.Event()
    overdue.add("long", lambda: overdue.add("short", renewed.set, 0.1), 600)
    try:
        assert renewed.wait(60)
    finally:
        overdue.drop("long")
        overdue.drop("short")
