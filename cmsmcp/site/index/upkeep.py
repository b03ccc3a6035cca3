"""The thread that keeps the index up to date: takes the writer's lock when it is free, builds, watches, builds again.

In a process beside other writers it waits as a reader until the lock is free. Must not run under gevent (see `watcher`).
"""

from __future__ import annotations

import json
import logging
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from cmsmcp.core.sharing import Change
from cmsmcp.disk_faults import describe
from cmsmcp.site.catalog.reader import REBUILD_MARK
from cmsmcp.site.catalog.state import forget_kept
from cmsmcp.site.catalog.writer_lock import WriterLock
from cmsmcp.site.config.loading import ConfigFault
from cmsmcp.site.index.changes import NOTHING, merged
from cmsmcp.site.index.following import Following
from cmsmcp.site.index.indexer import Displaced, Indexer, Stopped
from cmsmcp.site.index.surroundings import Surroundings, of_the_index, watched_folders
from cmsmcp.site.index.watcher import watch_site

_log = logging.getLogger(__name__)

RETRY_SECONDS = 1.0
REMOVAL_SECONDS = 0.2
SAFETY_SECONDS = 5.0
"""Where notices fail in silence (some network folders, links out of the watched tree) an edit is seen this late at the latest;
later only if a walk takes so long that it would cost more than a fiftieth of a core."""


class Upkeep:
    """`open_indexer` makes the indexer once the lock is held.

    `on_change` is told in this thread what readers see differently, once they do; of each new generation, even if that is nothing. While
    another process writes, it is told what `following` finds, if that is given.
    """

    def __init__(
        self, folder: Path, root: Path, open_indexer: Callable[[], Indexer], on_change: Callable[[Change], None],
        following: Following | None = None,
    ) -> None:  # fmt: skip
        self._folder = folder
        self._root = root
        self._open_indexer = open_indexer
        self._on_change = on_change
        self._following = following
        self._lock = WriterLock(folder)
        self._told: str | None = None
        self._stop = threading.Event()
        self._has_kept = False
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
                elif self._following is not None:
                    self._tell(self._following.take(), is_new=False)
            except Stopped:
                continue
            except Displaced:
                _log.warning("the index was removed or replaced; it is made anew")
            except ConfigFault as fault:
                _log.error("the site is not indexed: %s", fault)
            except Exception as error:
                # A full disk, say. What is served stays, and the next try may find things mended.
                self._complain(error)
            finally:
                self._lock.release()
            self._stop.wait(RETRY_SECONDS)

    def _complain(self, error: Exception) -> None:
        """What the disk is at fault for is told once, until it works again; anything else is a fault of ours."""
        line = describe(error, self._folder)
        if line is None:
            _log.error("indexing failed, next try in %g s", RETRY_SECONDS, exc_info=error)
        elif line != self._told:
            _log.error("the index is not kept up to the files: %s", line)
        self._told = line

    def _attest(self, indexer: Indexer) -> None:
        indexer.attest()
        if self._told is not None:
            _log.warning("the index is kept up to the files again")
            self._told = None

    def _keep(self) -> None:
        if not self._has_kept:
            self._has_kept = True
            forget_kept(self._folder)
        indexer = self._open_indexer()
        surroundings = Surroundings()
        try:
            next_walk = self._follow(indexer, surroundings, None)
            for changed in watch_site(self._root, lambda: _watched(indexer), self._stop):
                if not changed and (changed is None or time.monotonic() >= next_walk or (self._folder / REBUILD_MARK).exists()):
                    next_walk = self._follow(indexer, surroundings, None)
                elif changed:
                    next_walk = self._follow(indexer, surroundings, changed)
                else:
                    is_new = indexer.keep_time()  # time alone publishes, and withdraws
                    self._note(indexer, indexer.changes.take() if is_new else NOTHING, is_new=is_new)
                self._attest(indexer)
        except (Displaced, Stopped, ConfigFault):
            raise
        except Exception:
            self._stop.wait(REMOVAL_SECONDS)  # whoever removes the index may be half-way
            indexer.check_place()
            raise
        finally:
            indexer.close()

    def _follow(self, indexer: Indexer, surroundings: Surroundings, changed: frozenset[str] | None) -> float:
        """When to walk everything again at the latest, on the monotonic clock. `changed` None: now."""
        began = time.monotonic()
        known = indexer.definitions
        documents = changed if changed is None or known is None else of_the_index(known.config, changed)
        is_new = documents != frozenset() and indexer.build(documents, self._stop.is_set)
        definitions = indexer.definitions
        assert definitions is not None
        beside = surroundings.look(definitions, indexer.catalog.meta("menus", ""), changed)
        self._note(indexer, merged(indexer.changes.take(), beside), is_new=is_new)
        ended = time.monotonic()
        return ended + max(SAFETY_SECONDS, 50 * (ended - began))

    def _note(self, indexer: Indexer, change: Change, *, is_new: bool) -> None:
        if change != NOTHING:
            indexer.catalog.note_change(json.dumps(change.as_message()))
        self._tell(change, is_new=is_new)

    def _tell(self, change: Change, *, is_new: bool) -> None:
        if change != NOTHING or is_new:
            self._on_change(change)


def _watched(indexer: Indexer) -> Sequence[str]:
    return watched_folders(indexer.definitions.config) if indexer.definitions is not None else ()
