"""SIGHUP without a risk: gunicorn reloads what can be loaded, and a faulty configuration leaves the workers of before at work.

By itself gunicorn replaces the workers first and stops for good when a new one cannot load. Knows gunicorn's master and its hooks;
must not know what is loaded.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from typing import Any

PAUSE = 1.0
NOT_YET = 5
"""An exit code that gunicorn does not take for the end: it starts the worker again."""


def when_ready(server: Any) -> None:
    reload = server.reload

    def reload_what_loads() -> None:
        if _can_load(server):
            reload()
        else:
            server.log.error("the configuration of before stays in force")

    server.reload = reload_what_loads


def post_fork(server: Any, worker: Any) -> None:
    """A worker that replaces a dead one waits until the configuration can be loaded again, while the others go on.

    Until it listens for signals itself it has its master's handlers, which would swallow a SIGTERM, and an end would wait for it in vain.
    """
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    if worker.age <= server.cfg.workers:
        return  # the first ones: there gunicorn stops, and the start says why
    load = worker.load_wsgi

    def load_or_wait() -> None:
        try:
            load()
        except SystemExit:
            time.sleep(PAUSE)
            sys.exit(NOT_YET)

    worker.load_wsgi = load_or_wait


def _can_load(server: Any) -> bool:
    """Tried in a process that ends at once; what is wrong it says itself."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            server.app.load()
            code = 0
        except SystemExit:
            pass
        except BaseException:
            server.log.exception("the application cannot be loaded")
        finally:
            sys.stderr.flush()
            os._exit(code)
    return os.waitpid(child, 0)[1] == 0
