"""Where messages go beside a reply: those of one running request (`Out`), and those of an open stream (`Stream`). Knows no wire."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable
from typing import Protocol


class Out(Protocol):
    """The way of one request's own messages to its client; a door gives one where its wire has such a way. Never raises."""

    def send(self, message: bytes) -> None:
        """One whole message, before the reply, in order."""
        ...

    def hang_up(self, retry_ms: int) -> None:
        """Close the wire; what follows can be had by resuming, where that exists."""
        ...


class Stream:
    """Notices on their way to one subscriber. They wait here, coalesced, until the door takes them; so a slow reader costs no memory.

    `closed` runs once, when the door lets go of it. Thread-safe.
    """

    def __init__(self, closed: Callable[[], None]) -> None:
        self._closed = closed
        self._changed = threading.Condition()
        self._waiting: dict[Hashable, bytes] = {}
        self._final: bytes | None = None
        self._is_ended = False
        self._is_closed = False

    def put(self, key: Hashable, message: bytes) -> None:
        """One notice; while one with the same `key` waits, it stands for both."""
        with self._changed:
            if not self._is_ended:
                self._waiting[key] = message
                self._changed.notify()

    def end(self, final: bytes | None = None) -> None:
        """No more notices; `final` is the last message. Ending twice changes nothing."""
        with self._changed:
            if not self._is_ended:
                self._is_ended, self._final = True, final
                self._changed.notify()

    def take(self, seconds: float) -> list[bytes] | None:
        """What waits, oldest first; empty after `seconds` without any; None when the stream has ended and all was taken."""
        with self._changed:
            if not self._waiting and not self._is_ended:
                self._changed.wait(seconds)
            taken, self._waiting = list(self._waiting.values()), {}
            if taken or not self._is_ended:
                return taken
            final, self._final = self._final, None
            return [final] if final is not None else None

    def close(self) -> None:
        """The door is done with it: its client has gone, or all was sent."""
        with self._changed:
            was, self._is_closed, self._is_ended = self._is_closed, True, True
            self._changed.notify()
        if not was:
            self._closed()
