"""Standard input and output as the protocol's own: lines in, lines out. The only module that touches the streams.

Logs and stray prints go to standard error. Knows no message.
"""

from __future__ import annotations

import os
import select
import signal
import sys
import threading
from collections.abc import Iterator

CHUNK = 64 * 1024
GRACE = 3.0
"""Seconds that a client which has ended its input gets to read on, and the work of one that has gone to stop, before the process ends."""


class StreamsClosed(Exception):
    """The process was started without an input or an output, so there is no client to serve."""


def claim_streams() -> tuple[int, int]:
    """Take standard input and output for the protocol: whatever else prints, prints to standard error from now on.

    Raises StreamsClosed. A closed descriptor is opened on nothing first, so that no file opened later is taken for a stream.
    """
    closed = [number for number in range(3) if not _is_open(number)]
    for _ in closed:
        os.open(os.devnull, os.O_RDWR)  # the lowest free number, which is the closed one
    if sys.stderr is None:
        sys.stderr = os.fdopen(os.dup(2), "w", encoding="utf-8", errors="backslashreplace")
    if 0 in closed or 1 in closed:
        raise StreamsClosed
    incoming, outgoing = os.dup(0), os.dup(1)
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    return incoming, outgoing


def _is_open(number: int) -> bool:
    try:
        os.fstat(number)
    except OSError:
        return False
    return True


class Stop:
    """Wakes reader and writer when the client is gone or the process is told to end (SIGTERM, SIGINT, SIGQUIT, SIGHUP).

    `ending` says that the input has ended and only what is in flight remains.
    """

    def __init__(self) -> None:
        self.requested = False
        self.ending = False
        self._wake, self._signal = os.pipe()
        self._former = {}
        self._former_wake: int | None = None
        if threading.current_thread() is threading.main_thread():
            # The system may give a signal to any thread; only this pipe then wakes the one in which handlers run.
            os.set_blocking(self._signal, False)
            self._former_wake = signal.set_wakeup_fd(self._signal, warn_on_full_buffer=False)
            for number in (signal.SIGTERM, signal.SIGINT, signal.SIGQUIT, signal.SIGHUP):
                self._former[number] = signal.signal(number, lambda *_: self.request())

    def request(self) -> None:
        self.requested = True
        try:
            os.write(self._signal, b".")
        except OSError:
            pass

    def read(self, source: int) -> bytes:
        """The next bytes of `source`; empty at its end or when a stop was requested."""
        ready, _, _ = select.select([source, self._wake], [], [])
        if self._wake in ready:
            return b""
        try:
            return os.read(source, CHUNK)
        except OSError:
            return b""

    def write(self, target: int, line: memoryview) -> int:
        """How many bytes of `line` the client took. OSError when it is gone, a stop was requested, or it has stopped reading at the end.

        A pipe that polls as writable takes PIPE_BUF bytes without blocking, so a full one cannot hold up a stop.
        """
        while True:
            ready, writable, _ = select.select([self._wake], [target], [], GRACE)
            if ready or (not writable and self.ending):
                raise BrokenPipeError
            if writable:
                return os.write(target, line[: select.PIPE_BUF])

    def close(self) -> None:
        for number, handler in self._former.items():
            signal.signal(number, handler)
        if self._former_wake is not None:
            signal.set_wakeup_fd(self._former_wake)
        os.close(self._wake)
        os.close(self._signal)


def read_lines(source: int, stop: Stop, max_line: int) -> Iterator[bytes | None]:
    """The lines of a descriptor, blank ones left out; None for one over `max_line` bytes, once, however it was chunked.

    The last line needs no newline. Memory stays bounded: past the limit bytes are dropped until the next newline.
    """
    parts: list[bytes] = []
    size = 0
    skipping = False
    while chunk := stop.read(source):
        *ends, rest = chunk.split(b"\n")
        for piece in ends:
            if not skipping:
                line = b"".join([*parts, piece])
                if size + len(piece) > max_line:
                    yield None
                elif line.strip():
                    yield line
            parts, size, skipping = [], 0, False
        if skipping:
            continue
        parts.append(rest)
        size += len(rest)
        if size > max_line:
            parts, skipping = [], True
            yield None
    if not skipping and not stop.requested and (line := b"".join(parts)).strip():
        yield line


class Writer:
    """One message, one line, whole, flushed; a closed pipe stops the process quietly. Also the `Out` of every request."""

    def __init__(self, target: int, stop: Stop) -> None:
        self._target = target
        self._stop = stop
        self._lock = threading.Lock()

    def send(self, message: bytes) -> None:
        self.write(message)

    def hang_up(self, retry_ms: int) -> None:
        """There is no wire but this one."""

    def write(self, body: bytes | None) -> None:
        if body is None or self._stop.requested:
            return
        line = memoryview(body + b"\n")
        with self._lock:
            try:
                while line:
                    line = line[self._stop.write(self._target, line) :]
            except (OSError, ValueError):
                self._stop.request()
