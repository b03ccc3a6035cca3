"""Looks after the tasks that open streams of this process named: what nobody announces is seen here.

That is a task whose process died, one that changed while its stream was being opened, and whatever a lost message said.
Must not know how a stream is told.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Mapping

from cmsmcp.core.tasks.ports import Task, TaskStore
from cmsmcp.protocol.errors import Unavailable

LOOK_SECONDS = 4.0

_log = logging.getLogger(__name__)


class TaskWatch:
    """Thread-safe. `wanted` gives what to do with each task that somebody wants to hear of, by its id; its thread is there meanwhile."""

    def __init__(self, store: TaskStore, wanted: Callable[[], Mapping[str, Callable[[Task], None]]]) -> None:
        self._store = store
        self._wanted = wanted
        self._woken = threading.Condition()
        self._is_running = self._is_news = False

    def wake(self) -> None:
        """Somebody wants to hear of a task from now on."""
        with self._woken:
            self._is_news = True
            if self._is_running:
                self._woken.notify()
                return
            threading.Thread(target=self._run, name="cmsmcp-task-watch", daemon=True).start()
            self._is_running = True

    def _run(self) -> None:
        while True:
            with self._woken:
                self._is_news = False
                wanted = self._wanted()
                if not wanted:
                    self._is_running = False
                    return
            self._look(wanted)
            with self._woken:
                self._woken.wait_for(lambda: self._is_news, LOOK_SECONDS)

    def _look(self, wanted: Mapping[str, Callable[[Task], None]]) -> None:
        for id, tell in wanted.items():
            try:
                task = self._store.read(id)
                if task is not None:
                    tell(task)
            except Unavailable:
                return
            except Exception:
                _log.exception("a task could not be told")
