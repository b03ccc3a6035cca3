"""How far the index is, as a reader sees it: which generation, whether there is one at all yet, and whether it is kept up to the files.

Readers ask the catalog at most every 0.2 s. While the very first build runs, calls wait for it, each as long as its own deadline
allows. An index that nobody keeps is not served from: a page may have been withdrawn since. Nor is one that nobody has said to keep since
its reader was opened, or since its writer began: what was edited while neither ran is looked at first.
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from cmsmcp.core.deadline import Deadline
from cmsmcp.protocol.errors import Unavailable
from cmsmcp.site.catalog.reader import CatalogReader
from cmsmcp.site.catalog.writer_lock import writer_is_alive

_STEP = 0.05
_RESERVE = 0.25
"""Seconds of a deadline kept for saying that there is no index yet."""
_GRACE = 2.0
"""Seconds to wait for a writer to appear, where none holds the lock."""


KEPT_NAME = "kept"
"""A file of this name is touched by the writer whenever it knows that the index is up to the files, and at each step of a build."""
STALE_SECONDS = 15.0
"""How long its last touch is believed: the writer touches it four times a second, a busy machine some seconds late."""


def note_kept(folder: Path) -> None:
    (folder / KEPT_NAME).touch()


def forget_kept(folder: Path) -> None:
    """What the writer of before said is no longer believed: files may have changed while there was none."""
    (folder / KEPT_NAME).unlink(missing_ok=True)


class IndexState:
    """`ready` needs a catalog that has been complete once and is kept up to the files; later rebuilds are served from while they run.

    `anew`: only what the writer says from now on counts.
    """

    def __init__(self, folder: Path, reader: CatalogReader, sleep: Callable[[float], None] = time.sleep, *, anew: bool = False) -> None:
        self._folder = folder
        self._reader = reader
        self._sleep = sleep
        self._before = self._touched() if anew else None

    def ready(self) -> bool:
        return bool(self._reader.meta().get("ready")) and self.idle_seconds() <= STALE_SECONDS

    def idle_seconds(self) -> float:
        """Since the writer last said that it keeps the index; infinite if it has not, or not `anew`."""
        touched = self._touched()
        return math.inf if touched is None or touched == self._before else time.time() - touched / 1e9

    def _touched(self) -> int | None:
        """In nanoseconds of the file system's clock."""
        try:
            return os.stat(self._folder / KEPT_NAME).st_mtime_ns  # noqa: PTH116 - Path.stat costs three times as much
        except OSError:
            return None

    def progress(self) -> tuple[int, int]:
        """(documents read, documents found) of the running build, or of the last one."""
        meta = self._reader.meta()
        return int(meta.get("done", 0)), int(meta.get("total", 0))

    def await_ready(self, deadline: Deadline) -> Mapping[str, Any]:
        """The catalog's `meta`, once there is one to serve from. Raises Unavailable shortly before the deadline passes."""
        waited = 0.0
        while not ((meta := self._reader.meta()).get("ready") and self.idle_seconds() <= STALE_SECONDS):
            deadline.check()
            if deadline.remaining() <= _RESERVE or (waited >= _GRACE and not writer_is_alive(self._folder)):
                raise self._not_ready(meta)
            self._sleep(_STEP)
            waited += _STEP
        return meta

    def is_settled(self, seconds: float) -> bool:
        """`ready`, after a wait of at most so long for the first look at the files where one is under way."""
        waited = 0.0
        while not self.ready() and waited < seconds and math.isinf(self.idle_seconds()) and writer_is_alive(self._folder):
            self._sleep(_STEP)
            waited += _STEP
        return self.ready()

    def _not_ready(self, meta: Mapping[str, Any]) -> Unavailable:
        if not writer_is_alive(self._folder):
            return Unavailable("The site is not kept indexed and no indexer is running; start one with `cmsmcp serve`.", retry_after=5)
        if meta.get("ready"):
            if math.isinf(self.idle_seconds()):
                return Unavailable("The files are still being looked at for what changed meanwhile; try again in a moment.", retry_after=1)
            return Unavailable("The index is behind the files: its keeper does not report. Try again in a moment.", retry_after=5)
        # How many documents there are is not for everybody to know: drafts are among them.
        return Unavailable("The index is being built; try again in a moment.", retry_after=1)
