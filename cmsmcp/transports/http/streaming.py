"""Event streams of the HTTP door: what a running request says before its reply, and how bytes get onto the wire one by one.

Nothing is written before there is something to write: until then every refusal is still a plain reply. Must not know what is said.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from typing import Protocol

from cmsmcp.core.out import Stream
from cmsmcp.core.service import Outcome, Pending
from cmsmcp.protocol import sse
from cmsmcp.transports.http.resuming import Record

FIRST_SECONDS = 1.0
"""So long a call may be silent before its stream is opened for comments alone, so that nobody between takes the connection for dead."""
WORKING_PULSE = 2.0
IDLE_PULSE = 6.0
"""The first write after a client has gone still succeeds; two of these are seen within 15 s (W-02)."""
MAX_WAITING = 1_000
"""Messages that wait for a slow reader; the oldest are dropped first, so that a question, and the reply, always get through."""


class Source(Protocol):
    """Of the bytes of a response. `take` gives events; none after `seconds` without any; None at the end. `close` runs once."""

    def take(self, seconds: float) -> list[bytes] | None: ...
    def close(self) -> None: ...


class Frames:
    """The iterable of a WSGI response: one item is one write. Whatever the server does with it, it closes it (PEP 3333)."""

    def __init__(self, source: Source, pulse: float, closed: Callable[[], None]) -> None:
        self._source = source
        self._pulse = pulse
        self._closed = closed
        self._patience = 0.0  # the first write sends the headers, so there is one at once (W-04)
        self._is_closed = False

    def __iter__(self) -> Frames:
        return self

    def __next__(self) -> bytes:
        events = self._source.take(self._patience)
        self._patience = self._pulse
        if events is None:
            raise StopIteration
        return b"".join(events) or sse.COMMENT

    def close(self) -> None:
        if not self._is_closed:
            self._is_closed = True
            try:
                self._source.close()
            finally:
                self._closed()


class Notices:
    """A stream of the core's as a source."""

    def __init__(self, stream: Stream) -> None:
        self._stream = stream

    def take(self, seconds: float) -> list[bytes] | None:
        messages = self._stream.take(seconds)
        return None if messages is None else [sse.event(message) for message in messages]

    def close(self) -> None:
        self._stream.close()


class Speech:
    """What one request says to its client while it runs, then its outcome. An `Out` for the work, a source for the wire. Thread-safe.

    `left` is called when the client has gone before the end. With a `record`, what the client has not seen can be had by resuming.
    """

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._waiting: deque[bytes] = deque(maxlen=MAX_WAITING)
        self._record: Record | None = None
        self._left: Callable[[], None] = lambda: None
        self._outcome: Outcome | None = None
        self._is_open = self._is_over = False

    def run(self, pending: Pending, record: Record | None, left: Callable[[], None], ended: Callable[[], None]) -> None:
        """Begin the work, in a thread of its own; `ended` is its last act. RuntimeError when there can be no thread."""
        self._record, self._left = record, left
        try:
            threading.Thread(target=self._work, args=(pending, ended), name="cmsmcp-call", daemon=True).start()
        except RuntimeError:
            ended()
            raise

    def _work(self, pending: Pending, ended: Callable[[], None]) -> None:
        outcome = Outcome()
        try:
            outcome = pending()
        finally:
            try:
                self._finish(outcome)
            finally:
                ended()

    def send(self, message: bytes) -> None:
        with self._changed:
            if self._outcome is None:
                self._open()
                self._say(message)

    def hang_up(self, retry_ms: int) -> None:
        with self._changed:
            if self._record is not None and self._outcome is None:
                self._open()
                self._waiting.append(sse.retry(retry_ms))
                self._is_over = True
                self._changed.notify_all()

    def wait(self, seconds: float) -> Outcome | None:
        """The outcome, if nothing was said before it. None: there is a stream, also when there was nothing at all for `seconds`."""
        with self._changed:
            self._changed.wait_for(lambda: self._is_open or self._outcome is not None, seconds)
            if not self._is_open and self._outcome is None:
                self._open()
            return None if self._is_open else self._outcome

    def take(self, seconds: float) -> list[bytes] | None:
        with self._changed:
            if not self._waiting and not self._is_over:
                self._changed.wait(seconds)
            taken = list(self._waiting)
            self._waiting.clear()
            return taken if taken or not self._is_over else None

    def close(self) -> None:
        with self._changed:
            gone = self._outcome is None
            self._is_over = True
            self._waiting.clear()
        if gone and self._record is None:
            self._left()

    def _open(self) -> None:
        """From now on the reply is a stream; one that can be resumed says so before anything else."""
        if not self._is_open:
            self._is_open = True
            if self._record is not None:
                self._say(b"")
            self._changed.notify_all()

    def _say(self, message: bytes, *, last: bool = False) -> None:
        event = self._record.add(message, last=last) if self._record is not None else sse.event(message)
        if not self._is_over:
            self._waiting.append(event)
            self._changed.notify_all()

    def _finish(self, outcome: Outcome) -> None:
        with self._changed:
            self._outcome = outcome
            if self._is_open and (outcome.body is not None or self._record is not None):
                self._say(outcome.body or b"", last=True)
            self._is_over = True
            self._changed.notify_all()
