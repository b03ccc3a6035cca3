"""MCP over standard input and output: one JSON-RPC message a line (MCP, transports, stdio). The only module that touches the streams.

Bytes of a line go to the Service, the reply goes out as a line; logs and stray prints go to standard error. Knows no method.
"""

from __future__ import annotations

import logging
import os
import queue
import select
import signal
import sys
import threading
import time
from collections.abc import Iterator

from cmsmcp.core.ports import Caller
from cmsmcp.core.service import Outcome, Pending, Service
from cmsmcp.core.session import Connection
from cmsmcp.protocol.errors import INVALID_REQUEST
from cmsmcp.protocol.jsonrpc import error_reply

MAX_LINE = 8 * 1024 * 1024
CHUNK = 64 * 1024
MAX_WORKERS = 256
MAX_WAITING = 256
GRACE = 3.0
"""Seconds that a gone client's work gets to stop, or a client that has ended its input to read on, before the process ends."""

_log = logging.getLogger(__name__)


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


def serve(service: Service, caller: Caller, stdin: int, stdout: int, *, max_line: int = MAX_LINE) -> int:
    """Serve one client over two file descriptors until its input ends. Returns the exit status, which is 0 (ST-03)."""
    stop = _Stop()
    writer = _Writer(stdout, stop)
    pool = _Pool(writer, stop)
    connection = Connection()
    try:
        for line in read_lines(stdin, stop, max_line):
            if line is None:
                message = f"Invalid request: a line holds at most {max_line} bytes. Send less, or in several calls."
                writer.write(error_reply(None, INVALID_REQUEST, message))
                continue
            outcome = service.begin(line, caller, connection)
            if isinstance(outcome, Outcome):
                writer.write(outcome.body)
            else:
                pool.submit(outcome)
        stop.ending = True
        pool.drain(connection)
    finally:
        stop.close()
    return 0


def read_lines(source: int, stop: _Stop, max_line: int = MAX_LINE) -> Iterator[bytes | None]:
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


class _Stop:
    """Wakes reader and writer when the client is gone or the process is told to end (SIGTERM, SIGINT).

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
            for number in (signal.SIGTERM, signal.SIGINT):
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


class _Writer:
    """One reply, one line, whole, flushed; a closed pipe stops the process quietly."""

    def __init__(self, target: int, stop: _Stop) -> None:
        self._target = target
        self._stop = stop
        self._lock = threading.Lock()

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


class _Pool:
    """Threads that run calls beside each other. Daemons: work that ignores its deadline must not keep the process alive.

    There are more of them than calls that may run at once by default, so that a call over the cap is refused, not queued.
    """

    def __init__(self, writer: _Writer, stop: _Stop) -> None:
        self._writer = writer
        self._stop = stop
        self._waiting: queue.Queue[Pending] = queue.Queue(MAX_WAITING)
        self._idle = 0
        self._threads = 0
        self._open = 0
        self._changed = threading.Condition()

    def submit(self, pending: Pending) -> None:
        """Blocks when `MAX_WAITING` calls wait: the client's pipe then fills, which is how it learns to slow down."""
        with self._changed:
            self._open += 1
            start = self._open > self._threads and self._threads < MAX_WORKERS
            if start:
                self._threads += 1
        if start:
            threading.Thread(target=self._work, name="cmsmcp-call", daemon=True).start()
        while not self._stop.requested:
            try:
                self._waiting.put(pending, timeout=0.2)
                return
            except queue.Full:
                continue
        with self._changed:
            self._open -= 1

    def drain(self, connection: Connection) -> None:
        """Wait until all calls are answered, at the latest by their deadlines. After a stop they are withdrawn and have `GRACE` seconds."""
        end = None
        while True:
            if self._stop.requested and end is None:
                connection.cancel_all()
                end = time.monotonic() + GRACE
            with self._changed:
                if not self._open or (end is not None and time.monotonic() >= end):
                    return
                self._changed.wait(0.2)

    def _work(self) -> None:
        while True:
            pending = self._waiting.get()
            try:
                self._writer.write(pending().body)
            except Exception:
                _log.exception("a reply was lost")
            finally:
                with self._changed:
                    self._open -= 1
                    self._changed.notify_all()
