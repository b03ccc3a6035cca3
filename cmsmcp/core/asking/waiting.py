"""Who waits in this process for answers that any process may receive. Hears of them from the bus; knows nothing of questions."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Any

from cmsmcp.core.sharing import Bus


class Waiting:
    """Thread-safe."""

    def __init__(self, bus: Bus) -> None:
        self._lock = threading.Lock()
        self._woken: dict[tuple[str, str], threading.Event] = {}
        self.is_over = False
        bus.listen("reply", self._reply)
        bus.listen("missed", self._missed)

    def add(self, session: str, ids: frozenset[str], woken: threading.Event) -> None:
        """Set `woken` whenever an answer to one of `ids` may be there, and when none will come."""
        with self._lock:
            for id in ids:
                self._woken[session, id] = woken
            if self.is_over:
                woken.set()

    def give_up(self) -> None:
        """Nobody answers any more (the client has ended its input): wake everyone, who then finds `is_over`."""
        with self._lock:
            self.is_over = True
            every = list(self._woken.values())
        for woken in every:
            woken.set()

    def drop(self, session: str, ids: frozenset[str]) -> None:
        with self._lock:
            for id in ids:
                self._woken.pop((session, id), None)

    def _reply(self, body: Mapping[str, Any]) -> None:
        woken = self._woken.get((body["session"], body["id"]))
        if woken is not None:
            woken.set()

    def _missed(self, body: Mapping[str, Any]) -> None:
        with self._lock:
            every = list(self._woken.values())
        for woken in every:
            woken.set()
