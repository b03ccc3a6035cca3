"""Event streams and a gunicorn worker: how many its threads can carry, and that they end when it does, or when nobody is there.

Knows gunicorn's workers, and that the app may offer `limit(most)`, `end_all()` and `settle(seconds)` as `extensions["cmsmcp"]`; must
not know what a stream is.
"""

from __future__ import annotations

import socket
import threading
import time
from typing import Any

FREE_THREADS = 4
LOOK_SECONDS = 0.2
SILENT_MS = 60_000
"""A peer that acknowledges nothing for so long is gone; by itself Linux tries for a quarter of an hour."""


def watch(worker: Any) -> None:
    """To be called in the worker, after the fork. A thread, because a signal handler may not wait, and recycling sends no signal."""
    for listener in worker.sockets:
        if hasattr(socket, "TCP_USER_TIMEOUT") and listener.family != socket.AF_UNIX:
            listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, SILENT_MS)  # what it accepts inherits that
    streams = getattr(worker.wsgi, "extensions", {}).get("cmsmcp")
    if streams is None:
        return
    if type(worker).__name__ == "ThreadWorker":
        streams.limit(carried_by(worker.cfg.threads))
    threading.Thread(target=_end_with, args=(worker, streams), name="cmsmcp-streams", daemon=True).start()


def settle(worker: Any, seconds: float) -> None:
    """The last calls whose clients have left, so that their replies are kept. To be called when the worker serves nobody any more."""
    streams = getattr(getattr(worker, "wsgi", None), "extensions", {}).get("cmsmcp")
    if streams is not None:
        streams.settle(seconds)


def carried_by(threads: int) -> int:
    """How many streams leave threads for calls and for the answers that streams wait for (W-01)."""
    return max(threads // 2, threads - FREE_THREADS)


def _end_with(worker: Any, streams: Any) -> None:
    """`alive` turns false on SIGTERM, which is also how gunicorn reloads, and after `max_requests`."""
    while worker.alive:
        time.sleep(LOOK_SECONDS)
    streams.end_all()
