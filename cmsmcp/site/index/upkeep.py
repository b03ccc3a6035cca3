"""The thread that keeps the index up to date: takes the writer's lock when it is free, builds, watches, builds again.

In a process beside other writers it waits as a reader until the lock is free. Must not run under gevent (see `watcher`).
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from cmsmcp.site.catalog.reader import REBUILD_MARK
from cmsmcp.site.catalog.writer_lock import WriterLock
from cmsmcp.site.config.loading import ConfigFault
from cmsmcp.site.index.indexer import Displaced, Indexer, Stopped
from cmsmcp.site.index.watcher import watch_site

_log = logging.getLogger(__name__)

RETRY_SECONDS = 1.0
SAFETY_SECONDS = 5.0
"""Where notices fail in silence (some network folders, links out of the watched tree) an edit is seen this late at the latest;
later only if a walk takes so long that it would cost more than a fiftieth of a core."""


class Upkeep:
    """`open_indexer` makes the indexer once the lock is held; `on_change` gets each new generation, in this thread."""

    def __init__(self, folder: Path, root: Path, open_indexer: Callable[[], Indexer], on_change: Callable[[int], None]) -> None:
        self._folder = folder
        self._root = root
        self._open_indexer = open_indexer
        self._on_change = on_change
        self._lock = WriterLock(folder)
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="site index", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def close(self, timeout: float = 5.0) -> None:
        """Stop and wait for the running commit. A thread that does not end in `timeout` seconds dies with the process."""
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join(timeout)

    def _run(self) -> None:
        while not self._stop.is_set():
            try:
                if self._lock.acquire():
                    self._keep()
            except Stopped:
                continue
            except Displaced:
                _log.warning("the index was removed or replaced; it is made anew")
            except ConfigFault as fault:
                _log.error("the site is not indexed: %s", fault)
            except Exception:
                # A full disk, say. What is served stays, and the next try may find things mended.
                _log.exception("indexing failed, next try in %g s", RETRY_SECONDS)
            finally:
                self._lock.release()
            self._stop.wait(RETRY_SECONDS)

    def _keep(self) -> None:
        indexer = self._open_indexer()
        try:
            next_walk = self._build(indexer, None)
            for changed in watch_site(self._root, lambda: _watched(indexer), self._stop):
                if changed:
                    next_walk = self._build(indexer, changed) or next_walk
                elif changed is None or time.monotonic() >= next_walk or (self._folder / REBUILD_MARK).exists():
                    next_walk = self._build(indexer, None)
                indexer.attest()
        finally:
            indexer.close()

    def _build(self, indexer: Indexer, changed: frozenset[str] | None) -> float:
        """When to walk everything again at the latest, on the monotonic clock."""
        began = time.monotonic()
        if indexer.build(changed, self._stop.is_set):
            self._on_change(indexer.generation)
        ended = time.monotonic()
        return ended + max(SAFETY_SECONDS, 50 * (ended - began))


def _watched(indexer: Indexer) -> Sequence[str]:
    if indexer.definitions is None:
        return ()
    config = indexer.definitions.config
    return list(dict.fromkeys((config.content_dir, config.data_dir)))
