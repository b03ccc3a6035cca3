"""Where messages go beside a reply: those of one running request (`Out`), and those of an open stream (`Stream`). Knows no wire."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable
from typing import Protocol

from cmsmcp.protocol.jsonrpc import Id


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

    `closed` runs once, when the door lets go of it. `request` is the id of the request that this stream answers; None for one that
    a session has beside its requests. Thread-safe.
    """

    def __init__(self, closed: Callable[[], None], request: Id | None = None) -> None:
        self.request = request
        self._closed = closed
        self._changed = threading.Condition()
        self._waiting: dict[Hashable, bytes] = {}
        self._final: bytes | None = None
        self._is_ended = False
        self._is_closed = False

    @property
    def is_closed(self) -> bool:
        """Whether the door let go of it. One that was drained and is not closed yet, we ended."""
        return self._is_closed

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
        """The door is done with it: its client has gone or wants no more, or all was sent. What still waits is dropped."""
        with self._changed:
            was, self._is_closed, self._is_ended = self._is_closed, True, True
            self._waiting, self._final = {}, None  # nothing follows a cancel (X-01, ST-08)
            self._changed.notify()
        if not was:
            self._closed()

    cancel = close
    """A stream is withdrawn like any request (`session.Flight`)."""
