"""The streams open in this process, and what of the site's changes each of them is told."""

from __future__ import annotations

import threading

from cmsmcp.core.out import Stream
from cmsmcp.core.sharing import Bus


class Feed:
    """Thread-safe. Hears of changes from the bus."""

    def __init__(self, bus: Bus) -> None:
        self._bus = bus
        self._lock = threading.Lock()
        self._streams: set[Stream] = set()

    def end_all(self) -> None:
        """The process is about to stop: every stream ends, those of 2026-07-28 with their result (S-05)."""
        with self._lock:
            streams = list(self._streams)
        for stream in streams:
            stream.end()
