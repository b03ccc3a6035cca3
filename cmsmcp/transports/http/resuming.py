"""Event streams that can be taken up again: what they said is kept, numbered, and read from there by any worker (S-11, X-02).

An event's id is `<stream>.<number>`; a stream's name cannot be guessed, and is looked for within one session alone.
Must not know what the messages are.
"""

from __future__ import annotations

import logging
import re
import secrets
import threading
import time

from cmsmcp.core.sharing import Event, EventLog
from cmsmcp.protocol import sse
from cmsmcp.protocol.errors import Unavailable

FOLLOW_SECONDS = 300.0
"""How long a stream that was taken up is followed: as long as its events are kept."""
POLL_SECONDS = 0.15
_ID = re.compile(r"([A-Za-z0-9_-]{16})\.([0-9]{1,6})")

_log = logging.getLogger(__name__)


class Record:
    """Keeps the events of one stream while they are sent. Not thread-safe: whoever sends them in order holds a lock anyway."""

    def __init__(self, events: EventLog, session: str) -> None:
        self._events = events
        self._session = session
        self._stream = secrets.token_urlsafe(12)
        self._number = 0

    def add(self, message: bytes, *, last: bool = False) -> bytes:
        """The event as it is sent, with its id."""
        self._number += 1
        try:
            self._events.append(self._session, self._stream, Event(self._number, message, last))
        except Unavailable:
            _log.warning("an event could not be kept; its stream cannot be resumed from before it")
        return sse.event(message, f"{self._stream}.{self._number}")


class Resumption:
    """The rest of one stream after an event of it: what was kept, then what is added, to its last event. A source for `Frames`."""

    def __init__(self, events: EventLog, session: str, after: str, ending: threading.Event) -> None:
        """`after` is an event id. Raises Unavailable."""
        found = _ID.fullmatch(after.strip())
        self._stream, self._number = (found[1], int(found[2])) if found else ("", 0)
        self._events = events
        self._session = session
        self._ending = ending
        self._until = time.monotonic() + FOLLOW_SECONDS
        self._is_over = self._was_last()
        self._found = self._read() if self._stream else None
        self.exists = self._found is not None
        """Whether this session has such a stream (any more), and all that followed."""

    def take(self, seconds: float) -> list[bytes] | None:
        """What was added since; empty after `seconds` without any; None after the last event, or when it is not followed any longer."""
        end = time.monotonic() + seconds
        while not self._found:
            if self._is_over or self._found is None or time.monotonic() >= self._until:
                return None
            if time.monotonic() >= end:
                return []
            if self._ending.wait(POLL_SECONDS):
                return None  # the client comes back, to a process that stays
            try:
                self._found = self._read()
            except Unavailable:
                _log.warning("the events of a stream cannot be read for now")
        taken, self._found = self._found, []
        return taken

    def close(self) -> None:
        self._is_over = True

    def _was_last(self) -> bool:
        """Whether nothing can follow, since the client has had the last event."""
        events = self._events.after(self._session, self._stream, self._number - 1) if self._number else None
        return bool(events) and events is not None and events[0].number == self._number and events[0].last

    def _read(self) -> list[bytes] | None:
        """What followed; None when the stream is not kept any longer."""
        events = self._events.after(self._session, self._stream, self._number)
        if events is None:
            return None
        if events:
            self._number, self._is_over = events[-1].number, events[-1].last
        return [sse.event(event.data, f"{self._stream}.{event.number}") for event in events]
