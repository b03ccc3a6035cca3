"""Threads that run what a client asked for, so that no call holds up another, and that carry open streams. Knows no message."""

from __future__ import annotations

import logging
import queue
import threading
import time

from cmsmcp.core.out import Stream
from cmsmcp.core.service import Pending
from cmsmcp.core.session import Connection
from cmsmcp.protocol.jsonrpc import notification
from cmsmcp.transports.stdio.streams import GRACE, Stop, Writer

MAX_WORKERS = 256
MAX_WAITING = 256
STREAM_LOOK = 1.0
"""Seconds after which a stream without news looks whether the process is told to stop."""

_log = logging.getLogger(__name__)


class Pool:
    """Threads that run calls beside each other. Daemons: work that ignores its deadline must not keep the process alive.

    There are more of them than calls that may run at once by default, so that a call over the cap is refused, not queued.
    """

    def __init__(self, writer: Writer, stop: Stop) -> None:
        self._writer = writer
        self._stop = stop
        self._waiting: queue.Queue[Pending] = queue.Queue(MAX_WAITING)
        self._idle = 0
        self._threads = 0
        self._open = 0
        self._carried = 0
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
                if not (self._open or self._carried) or (end is not None and time.monotonic() >= end):
                    return
                self._changed.wait(0.2)

    def carry(self, stream: Stream) -> None:
        """Write what a stream yields, in a thread of its own, until it ends."""
        with self._changed:
            self._carried += 1
        threading.Thread(target=self._carry, args=(stream,), name="cmsmcp-stream", daemon=True).start()

    def _carry(self, stream: Stream) -> None:
        try:
            while not self._stop.requested and (taken := stream.take(STREAM_LOOK)) is not None:
                for message in taken:
                    if not stream.is_closed:  # nothing follows a cancel (ST-08)
                        self._writer.write(message)
            if stream.request is not None and not stream.is_closed:
                # One that we end says so twice: a client may look for either (ST-09).
                self._writer.write(notification("notifications/cancelled", {"requestId": stream.request}))
        finally:
            stream.close()
            with self._changed:
                self._carried -= 1
                self._changed.notify_all()

    def _work(self) -> None:
        while True:
            pending = self._waiting.get()
            try:
                outcome = pending()
                self._writer.write(outcome.body)
                if outcome.stream is not None:
                    self.carry(outcome.stream)
            except Exception:
                _log.exception("a reply was lost")
            finally:
                with self._changed:
                    self._open -= 1
                    self._changed.notify_all()
