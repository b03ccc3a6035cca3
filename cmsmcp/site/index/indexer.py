"""Brings the catalog and the search index up to the files. The one writer of both.

A build walks the folders, reads what is new or different (size, mtime, inode), and commits: first the catalog, with a list of
the documents whose search entry is behind, then the search index, then the emptied list and a new generation. A crash in
between leaves the list, and the next start works it off. Knows no protocol and no clock.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from cmsmcp.site.catalog.entry import FileState
from cmsmcp.site.catalog.media import MediaChanges
from cmsmcp.site.catalog.reader import REBUILD_MARK
from cmsmcp.site.catalog.state import note_kept
from cmsmcp.site.catalog.writer import Catalog
from cmsmcp.site.config.loading import ConfigFault
from cmsmcp.site.data.navigation import load_menus
from cmsmcp.site.data.redirects import load_redirects
from cmsmcp.site.definitions import Definitions
from cmsmcp.site.entries.columns import columns_by_type
from cmsmcp.site.index.changes import DocumentChanges
from cmsmcp.site.index.media import look_at_media
from cmsmcp.site.index.parsing import Gone, Read
from cmsmcp.site.index.reading import Reading
from cmsmcp.site.index.sources import find_sources, state_of
from cmsmcp.site.model import ERROR, WARNING, Diagnostic
from cmsmcp.site.search.document import search_entry
from cmsmcp.site.search.writing import ANYWHERE, SearchWriter

BATCH = 500
"""Documents between two commits of the catalog: what a crash costs, and how often the progress moves."""
_MANY = 1_000
"""Changed documents from which a build takes memory and processes."""

Progress = Callable[[int, int], None]


def now_ms() -> int:
    return int(time.time() * 1000)


class Displaced(Exception):
    """Somebody removed or replaced the files that are written to. Derived data may go at any time; it is made anew."""


class Stopped(Exception):
    """The build was told to stop. What is committed stays, the next build goes on from there."""


class Indexer:
    """Holds the files open until `close`. For one thread of the process that holds the writer's lock.

    `processes` is how many may parse beside this one; 0 parses here.
    """

    def __init__(
        self, folder: Path, load: Callable[[], Definitions], *, progress: Progress | None = None, processes: int = 0,
        clock: Callable[[], int] = now_ms,
    ) -> None:  # fmt: skip
        self._folder = folder
        self._load = load
        self._progress = progress or (lambda done, total: None)
        self._processes = processes
        self._clock = clock
        self._definitions: Definitions | None = None
        self._stopped: Callable[[], bool] = lambda: False
        self._config_faults: list[Diagnostic] = []
        self._faults: dict[str, list[Diagnostic]] = {}
        self._media = MediaChanges()
        self._has_looked = False
        self._open()

    def _open(self) -> None:
        self.catalog = Catalog(self._folder)
        self.changes = DocumentChanges(self.catalog)
        self._search = SearchWriter(self._folder)
        if self._search.fresh:
            with self.catalog.transaction():
                self.catalog.forget_searched()
                self.catalog.set_meta(searchable=0)
        # What a crash has left behind may stand in either index.
        self._unsure = frozenset(() if self._search.fresh else self.catalog.unsearched())
        self._places = self._look()

    def close(self) -> None:
        self._search.close()
        self.catalog.close()

    def attest(self) -> None:
        """Note that the index is kept up to the files at this moment (`catalog.state` believes it for a while).

        Raises Displaced when what it is written to is not there any more.
        """
        self.check_place()
        note_kept(self._folder)

    def check_place(self) -> None:
        """Displaced when what it is written to is not there any more."""
        if self._look() != self._places:
            raise Displaced

    def _look(self) -> list[int]:
        try:
            return [path.stat().st_ino for path in (self.catalog.path, self._search.path)]
        except OSError:
            raise Displaced from None

    @property
    def generation(self) -> int:
        return self.catalog.meta("generation", 0)

    @property
    def definitions(self) -> Definitions | None:
        """What the last build went by."""
        return self._definitions

    def build(self, changed: Iterable[str] | None = None, stopped: Callable[[], bool] = lambda: False) -> bool:
        """Bring everything up to date; whether anything changed. A catalog that turns out damaged is begun anew.

        Asks `stopped` at every folder and between batches, and raises Stopped; raises ConfigFault if there has never been a configuration.

        `changed` are site paths that are said to have changed: if all of them are documents known already, nothing else is
        looked at. Without it, or with any other path among them, every folder is walked.
        """
        self._stopped = stopped
        try:
            if (self._folder / REBUILD_MARK).exists():
                raise sqlite3.DatabaseError("a reader found damage")
            built = self._build(changed)
        except sqlite3.OperationalError:
            raise
        except sqlite3.DatabaseError:
            self._begin_anew()
            built = self._build(None)
        self._has_looked = True
        self.attest()
        return built

    def _check(self) -> None:
        if self._stopped():
            raise Stopped

    def _begin_anew(self) -> None:
        self.close()
        Catalog.discard(self._folder)
        SearchWriter.discard(self._folder)
        (self._folder / REBUILD_MARK).unlink(missing_ok=True)
        self._open()

    def _build(self, changed: Iterable[str] | None) -> bool:
        if changed is not None and (known := self._known(changed)):
            return self._update(known, (), None)
        try:
            self._definitions = self._load()
            self._config_faults = []
        except ConfigFault as fault:
            if self._definitions is None:
                raise
            self._config_faults = [Diagnostic(ERROR, "config", one.file, one.message, one.line) for one in fault.faults]
        found, faults = find_sources(self._definitions, self._check)
        self._media = look_at_media(self._definitions.config, self.catalog.media.states(), self._check)
        before = self.catalog.files()
        if before:
            # A build that is not the first replaces rows, and has to find their parts.
            with self.catalog.transaction():
                self.catalog.make_indexes()
        anew = self.catalog.meta("fingerprint") != self._definitions.fingerprint
        if anew:
            with self.catalog.transaction():
                # Until everything has been read anew, nothing there is may be taken for what these definitions say.
                self.catalog.set_meta(fingerprint=None)
                self.catalog.types.begin(columns_by_type(self._definitions.types))
        wanted = {path: state for path, state in found.items() if anew or before.get(path) != state}
        gone = [path for path in before if path not in found]
        return self._update(wanted, gone, faults)

    def _known(self, changed: Iterable[str]) -> dict[str, FileState]:
        """The files named, if each of them is a document of the catalog that still exists; else nothing."""
        found: dict[str, FileState] = {}
        if self._definitions is None:
            return found
        for path in changed:
            state = state_of(self._definitions.config.root, path) if self.catalog.has_file(path) else None
            if state is None:
                return {}
            found[path] = state
        return found

    def _update(self, wanted: dict[str, FileState], gone: Iterable[str], faults: list[Diagnostic] | None) -> bool:
        assert self._definitions is not None
        gone, many = list(gone), len(wanted) >= _MANY
        self.changes.expect([*wanted, *gone])
        fed: set[int] = set()
        if many:
            self._search.expect_many()
        self._note_progress(0, len(wanted))
        with Reading(self._definitions, self._processes if many else 0) as reading:
            outcomes = reading.read(wanted)
            while batch := list(islice(outcomes, BATCH)):
                gone += [outcome.path for outcome in batch if isinstance(outcome, Gone)]
                fed.update(self._put([outcome for outcome in batch if isinstance(outcome, Read)]))
                self._check()
                self._note_progress(min(len(fed) + len(gone), len(wanted)), len(wanted))
        return self._settle(bool(wanted), gone, fed, faults)

    def _put(self, reads: Sequence[Read]) -> Iterable[int]:
        """Into the catalog, committed, and into the search index, which is not; the rows of those that are served."""
        with self.catalog.transaction():
            rows = self.catalog.put([read.entry for read in reads], self._clock())
        stood = self._stood(rows)
        for row, entry in zip(rows, (read.search for read in reads if read.search is not None), strict=True):
            self._search.put(row, entry, public=rows[row], stood=stood[row])
        return rows

    def _settle(self, touched: bool, gone: list[str], fed: set[int], faults: list[Diagnostic] | None) -> bool:
        """What concerns the site as a whole, then the search index, then the new generation."""
        assert self._definitions is not None
        catalog = self.catalog
        with catalog.transaction():
            if touched or gone:
                # A new edition, even where no file is gone: tables may be exchanged below. A walk that finds nothing makes none.
                catalog.remove(gone)
            catalog.make_indexes()
            catalog.types.finish()
            flipped = catalog.settle(self._clock())
            self.changes.flip(flipped)
            noticed = self._note_site(faults)
        behind = [row for row in catalog.unsearched() if row not in fed or row in flipped]
        self._feed(behind)
        if not (touched or gone or behind or noticed or not catalog.meta("ready")):
            return False
        self._search.commit()
        self._unsure = frozenset()
        with catalog.transaction():
            catalog.clear_unsearched()
            catalog.set_meta(generation=self.generation + 1, fingerprint=self._definitions.fingerprint, ready=1, searchable=1)
        return True

    def _note_site(self, faults: list[Diagnostic] | None) -> bool:
        """Menus, redirects and faults that belong to no single document; whether any of it is new. `faults` None: the last ones stand."""
        assert self._definitions is not None
        config = self._definitions.config
        if faults is not None:
            menus, menu_faults = load_menus(config)
            redirect_faults = load_redirects(config)[1]
            self.catalog.set_meta(menus=json.dumps(menus))
            self.catalog.media.replace(self._media)
            media_faults = [Diagnostic(WARNING, "media", path, message, line) for path, line, message in self.catalog.media.faults()]
            own = [*self._definitions.types.diagnostics, *menu_faults, *redirect_faults, *media_faults]
            self._faults = {"config": [*config.diagnostics, *self._config_faults], "scan": own, "folders": faults}
        site = self.catalog.meta("menus"), self.catalog.meta("media"), config.values, self._definitions.fingerprint
        noticed = self._note("site_digest", site, self._faults["config"], self._faults["scan"])
        if not self._note("faults_digest", self._faults):
            return noticed
        for origin, diagnostics in self._faults.items():
            self.catalog.replace_diagnostics(origin, diagnostics)
        return True

    def _note(self, name: str, *parts: Any) -> bool:
        """Whether what a digest stands for is different than it was."""
        digest = hashlib.blake2b(repr(parts).encode("utf-8", "replace"), digest_size=12).hexdigest()
        if digest == self.catalog.meta(name):
            return False
        self.catalog.set_meta(**{name: digest})
        return True

    def _feed(self, rows: Sequence[int]) -> None:
        """Bring the search entries of `rows` in line with the catalog. Not committed."""
        found, stood = self.catalog.searchable(rows, self._clock()), self._stood(rows)
        for row in rows:
            searchable, public = found.get(row, (None, False))
            self._search.put(row, search_entry(searchable) if searchable else None, public=public, stood=stood[row])

    def _stood(self, rows: Iterable[int]) -> Mapping[int, Collection[bool]]:
        """In which indexes an entry of each may stand."""
        known = self.catalog.searched(rows)
        return {row: ANYWHERE if row in self._unsure else (known[row],) if row in known else () for row in rows}

    def keep_time(self) -> bool:
        """Take in the dates that have come since; whether there were any. Asked four times a second."""
        return self.catalog.public.is_due(self._clock()) and self._settle(False, [], set(), None)

    def _note_progress(self, done: int, total: int) -> None:
        if self._has_looked:
            self.attest()  # of a build that goes on for long
        else:
            self.check_place()
        if total >= _MANY or not self.catalog.meta("ready"):
            self.catalog.set_meta(done=done, total=total)
        self._progress(done, total)
