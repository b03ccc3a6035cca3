"""Tasks at work while the store is away: what could not be renewed is tried again, and said in a line (docs/rules.md, Redis)."""

from __future__ import annotations

import logging
import time

import pytest

from cmsmcp.core.session import Flight
from cmsmcp.core.tasks.ports import Task
from cmsmcp.core.tasks.runs import Run, Runs
from cmsmcp.protocol.errors import Unavailable
from cmsmcp.state.memory.bus import MemoryBus
from cmsmcp.state.memory.tasks import MemoryTasks


def test_a_permit_that_cannot_be_renewed_is_a_line_and_no_traceback(caplog: pytest.LogCaptureFixture) -> None:
    """The store may go away between the two things that keep a task alive."""
    store, bus = MemoryTasks(), MemoryBus()
    task = Task("t", "c", "tool", ("read:content",), 60_000, 1_000)
    assert store.create(task, 1) is None

    def renew(lease_ms: int) -> None:
        raise Unavailable("away")

    run = Run(task.id, Flight(), renew)
    runs = Runs(store, bus)
    with caplog.at_level(logging.WARNING):
        runs.add(run)
        end = time.monotonic() + 60
        while not caplog.records and time.monotonic() < end:
            time.sleep(0.005)
        runs.drop(run)
    bus.close()
    assert [record.exc_info for record in caplog.records] == [None]
    assert not run.flight.cancelled
