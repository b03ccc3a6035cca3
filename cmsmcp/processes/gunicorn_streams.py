"""Event streams and a gunicorn worker: how many its threads can carry, and that they end when it does.

Knows gunicorn's workers, and that the app may offer `limit(most)` and `end_all()` as `extensions["cmsmcp"]`; must not know what a
stream is.
"""

from __future__ import annotations

import threading
import time
from typing import Any

FREE_THREADS = 4
LOOK_SECONDS = 0.2


def watch(worker: Any) -> None:
    """To be called in the worker, after the fork. A thread, because a signal handler may not wait, and recycling sends no signal."""
    streams = getattr(worker.wsgi, "extensions", {}).get("cmsmcp")
    if streams is None:
        return
    if type(worker).__name__ == "ThreadWorker":
        streams.limit(carried_by(worker.cfg.threads))
    threading.Thread(target=_end_with, args=(worker, streams), name="cmsmcp-streams", daemon=True).start()


def carried_by(threads: int) -> int:
    """How many streams leave threads for calls and for the answers that streams wait for (W-01)."""
    return max(threads // 2, threads - FREE_THREADS)


def _end_with(worker: Any, streams: Any) -> None:
    """`alive` turns false on SIGTERM, which is also how gunicorn reloads, and after `max_requests`."""
    while worker.alive:
        time.sleep(LOOK_SECONDS)
    streams.end_all()
