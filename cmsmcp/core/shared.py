"""What one process holds for all its requests, on top of what the processes of a site share (`sharing.py`)."""

from __future__ import annotations

from dataclasses import dataclass, field

from cmsmcp.core.feed import Feed
from cmsmcp.core.sharing import Bus, EventLog, Replies, Sealer, SessionStore


@dataclass(frozen=True, slots=True)
class Shared:
    """Made once in a process, after fork. `feed` holds the streams that are open here."""

    bus: Bus
    sessions: SessionStore
    replies: Replies
    events: EventLog
    sealer: Sealer
    feed: Feed = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "feed", Feed(self.bus))
