"""The bus of a site that one process serves alone.

Knows order and a bound. A message is written and read back like one that travels, so that no two threads share what is in it.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Mapping
from typing import Any

from cmsmcp.state.receivers import MISSED, Receiver, Receivers, pack

MAX_WAITING = 2_000
"""Messages that wait for a slow receiver; one more, and all of them become `missed`."""
CLOSE_SECONDS = 1.0


class MemoryBus:
    """Implements `core.sharing.Bus`. Its thread begins with the first `listen`; what is published before reaches nobody."""

    def __init__(self) -> None:
        self._receivers = Receivers()
        self._changed = threading.Condition()
        self._waiting: deque[tuple[str, bytes]] = deque()
        self._thread: threading.Thread | None = None
        self._is_closed = False

    def publish(self, kind: str, body: Mapping[str, Any]) -> None:
        packed = pack(body)
        with self._changed:
            if self._thread is None or self._is_closed:
                return
            if len(self._waiting) >= MAX_WAITING:
                self._waiting.clear()
                kind, packed = MISSED, b"{}"
            self._waiting.append((kind, packed))
            self._changed.notify()

    def listen(self, kind: str, receive: Receiver) -> None:
        with self._changed:
            self._receivers.add(kind, receive)
            if self._thread is None and not self._is_closed:
                self._thread = threading.Thread(target=self._run, name="cmsmcp-bus", daemon=True)
                self._thread.start()

    def close(self) -> None:
        with self._changed:
            self._is_closed = True
            self._changed.notify()
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join(CLOSE_SECONDS)

    def _run(self) -> None:
        while True:
            with self._changed:
                while not self._waiting and not self._is_closed:
                    self._changed.wait()
                if self._is_closed:
                    return
                kind, packed = self._waiting.popleft()
            self._receivers.deliver(kind, packed)
