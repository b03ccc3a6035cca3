"""How many event streams one process may hold open, when all of them are to end, and which calls run on without one.

Knows no stream from the inside.
"""

from __future__ import annotations

import threading
from collections.abc import Callable


class Openings:
    """Thread-safe. The app offers it as `app.extensions["cmsmcp"]` to whoever runs its process.

    `ending` is set once the process is about to stop; `end` is called then, and again for a stream that was opened meanwhile.
    """

    def __init__(self, end: Callable[[], None]) -> None:
        self.ending = threading.Event()
        self._end = end
        self._changed = threading.Condition()
        self._most: int | None = None
        self._open = 0
        self._running = 0
        self._has_listened = False

    def limit(self, most: int) -> None:
        """A worker of threads: every stream pins one, and some must stay free for calls and answers (W-01)."""
        self._most = most

    def enter(self) -> bool:
        """Take a place, if there is one."""
        with self._changed:
            if self._most is not None and self._open >= self._most:
                return False
            self._open += 1
            return True

    def leave(self) -> None:
        with self._changed:
            self._open -= 1

    def began(self) -> None:
        """A call runs in a thread of its own, which its client may leave (X-02)."""
        with self._changed:
            self._running += 1

    def ended(self) -> None:
        with self._changed:
            self._running -= 1
            self._changed.notify_all()

    def settle(self, seconds: float) -> None:
        """Wait for such calls, so that their replies are kept before the process goes."""
        with self._changed:
            self._changed.wait_for(lambda: not self._running, seconds)

    def end_all(self) -> None:
        """The process is about to stop: those that only listen end now, those that answer a request when they have (S-05)."""
        self.ending.set()
        if self._has_listened:
            self._end()

    def opened(self) -> None:
        """One more stream listens. If all were just told to end, this one is too."""
        self._has_listened = True
        if self.ending.is_set():
            self._end()
