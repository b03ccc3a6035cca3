"""What one process holds for all its requests, on top of what the processes of a site share (`sharing.py`)."""

from __future__ import annotations

from dataclasses import dataclass, field

from cmsmcp.core.asking.waiting import Waiting
from cmsmcp.core.feed import Feed
from cmsmcp.core.sharing import Bus, EventLog, Replies, Sealer, SessionStore
from cmsmcp.core.tasks.ports import TaskStore
from cmsmcp.core.tasks.runs import Runs


@dataclass(frozen=True, slots=True)
class Shared:
    """Made once in a process, after fork. `feed` holds the streams that are open here, `waiting` the calls that wait for answers,
    `runs` the tasks at work here."""

    bus: Bus
    sessions: SessionStore
    replies: Replies
    events: EventLog
    sealer: Sealer
    tasks: TaskStore
    feed: Feed = field(init=False)
    waiting: Waiting = field(init=False)
    runs: Runs = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "waiting", Waiting(self.bus))
        object.__setattr__(self, "feed", Feed(self.bus, self.sessions, self.tasks))
        object.__setattr__(self, "runs", Runs(self.tasks, self.bus))
