"""The last events of legacy streams, in the one process that has them."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from cmsmcp.core.sharing import EVENTS_SECONDS, MAX_EVENT_BYTES, MAX_EVENTS, MAX_EVENTS_BYTES, Event

MAX_STREAMS = 200
"""The one that was appended to longest ago is forgotten first."""


@dataclass(slots=True)
class _Kept:
    """`lost`: the number of the newest event that is kept no more."""

    events: deque[Event] = field(default_factory=deque)
    size: int = 0
    lost: int = 0
    until: float = 0.0


class MemoryEvents:
    """Implements `core.sharing.EventLog`. `clock` in seconds."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._streams: dict[tuple[str, str], _Kept] = {}

    def append(self, session: str, stream: str, event: Event) -> None:
        with self._lock:
            kept = self._find(session, stream)
            if kept is None:
                kept = _Kept(lost=event.number - 1)
            elif event.number <= _last(kept):
                return
            self._streams.pop((session, stream), None)
            self._streams[session, stream] = kept
            kept.until = self._clock() + EVENTS_SECONDS
            kept.events.append(event)
            kept.size += len(event.data)
            while kept.events and (len(kept.events) > MAX_EVENTS or kept.size > MAX_EVENTS_BYTES or len(event.data) > MAX_EVENT_BYTES):
                gone = kept.events.popleft()
                kept.size -= len(gone.data)
                kept.lost = gone.number
            if len(self._streams) > MAX_STREAMS:
                del self._streams[next(iter(self._streams))]

    def after(self, session: str, stream: str, number: int) -> Sequence[Event] | None:
        with self._lock:
            kept = self._find(session, stream)
            if kept is None or not kept.lost <= number <= _last(kept):
                return None
            return [event for event in kept.events if event.number > number]

    def _find(self, session: str, stream: str) -> _Kept | None:
        kept = self._streams.get((session, stream))
        if kept is not None and kept.until <= self._clock():
            del self._streams[session, stream]
            return None
        return kept


def _last(kept: _Kept) -> int:
    return kept.events[-1].number if kept.events else kept.lost
