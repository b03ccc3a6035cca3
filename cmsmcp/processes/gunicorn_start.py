"""What plain gunicorn says at its start: one worker of the first ones has the app tell what it serves, and what keeps it from serving.

Knows gunicorn's workers, and that the app may offer a function of where it listens and of how to say a line as
`extensions["cmsmcp-start"]`; must not know what is said. Under `cmsmcp serve` there is none: the supervisor speaks.
"""

from __future__ import annotations

import sys
import threading
from contextlib import suppress
from typing import Any

SYNC = ("serving without streams: these workers take one request at a time (sync). For all of it leave --worker-class out where "
        "gunicorn.conf.py lies, or say: -c config/gunicorn.conf.py")


def announce(worker: Any) -> None:
    """To be called in the worker, after the fork."""
    tell = getattr(worker.wsgi, "extensions", {}).get("cmsmcp-start")
    if tell is None or worker.age != 1:
        return
    if type(worker).__name__ == "SyncWorker":
        _say(SYNC)
    where = ", ".join(_shown(listener.getsockname()) for listener in worker.sockets)
    threading.Thread(target=tell, args=(where, _say), name="cmsmcp-start", daemon=True).start()


def _shown(name: Any) -> str:
    if not isinstance(name, tuple):
        return f"unix:{name}"
    return f"http://[{name[0]}]:{name[1]}" if ":" in name[0] else f"http://{name[0]}:{name[1]}"


def _say(line: str) -> None:
    with suppress(OSError):
        print(f"cmsmcp: {line}", file=sys.stderr, flush=True)
