"""Answers to our own requests, on their way between two threads of one process."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from cmsmcp.core.sharing import fitting

MAX_EXPECTED = 1_000
"""The one expected longest is forgotten first."""


class MemoryReplies:
    """Implements `core.sharing.Replies`. `clock` in seconds."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._expected: dict[tuple[str, str], tuple[float, bytes | None]] = {}

    def expect(self, session: str, id: str, seconds: float) -> None:
        with self._lock:
            self._expected.pop((session, id), None)
            self._expected[session, id] = (self._clock() + seconds, None)
            if len(self._expected) > MAX_EXPECTED:
                del self._expected[next(iter(self._expected))]

    def deliver(self, session: str, id: str, reply: bytes) -> bool:
        with self._lock:
            found = self._find(session, id)
            if found is None:
                return False
            self._expected[session, id] = (found[0], fitting(id, reply))
            return True

    def take(self, session: str, id: str) -> bytes | None:
        with self._lock:
            found = self._find(session, id)
            if found is None or found[1] is None:
                return None
            del self._expected[session, id]
            return found[1]

    def forget(self, session: str, id: str) -> None:
        with self._lock:
            self._expected.pop((session, id), None)

    def _find(self, session: str, id: str) -> tuple[float, bytes | None] | None:
        found = self._expected.get((session, id))
        if found is not None and found[0] <= self._clock():
            del self._expected[session, id]
            return None
        return found
