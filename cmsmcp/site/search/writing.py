"""The search indexes' writing side: one index of what is public, one of what is not, each document in one of them.

One process writes; `engine` reads. Indexes that cannot be opened are thrown away and filled again from the catalog. Knows row numbers and
entries, not who is public: it is told.
"""

from __future__ import annotations

import shutil
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path

import tantivy
from tantivy import Index

from cmsmcp.site.search.document import SearchEntry, engine_document
from cmsmcp.site.search.engine import HIDDEN, PUBLIC, SEARCH_NAME, build_schema
from cmsmcp.site.search.text import register_analyzers

ANYWHERE = (True, False)
"""Places of an entry: whether it stands in the index of what is public."""
_HEAP = {True: 96_000_000, False: 48_000_000}
_SMALL_HEAP = 15_000_000


class SearchWriter:
    """The one writer. `fresh` says that the indexes were begun anew: every document must be added again."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / SEARCH_NAME
        for old in folder.glob("search-*"):
            if old != self.path:
                shutil.rmtree(old, ignore_errors=True)
        try:
            self._open()
            whole = len({index.fresh for index in self._indexes.values()}) == 1
        except ValueError:
            whole = False
        if not whole:
            self.discard(folder)
            self._open()
        self.fresh = self._indexes[True].fresh
        self._placed: dict[int, Collection[bool]] = {}

    @staticmethod
    def discard(folder: Path) -> None:
        shutil.rmtree(folder / SEARCH_NAME, ignore_errors=True)

    def _open(self) -> None:
        self._indexes = {public: _Index(self.path / name, _HEAP[public]) for public, name in ((True, PUBLIC), (False, HIDDEN))}

    def expect_many(self) -> None:
        """Take memory for a bulk build; the next commit gives it back."""
        for index in self._indexes.values():
            index.expect_many()

    def put(self, row: int, entry: SearchEntry | None, *, public: bool, stood: Collection[bool]) -> None:
        """Place a document's entry, or take it out. `stood`: where the last commit may have left one."""
        for place in self._placed.get(row, stood):
            self._indexes[place].remove(row)
        if entry is not None:
            self._indexes[public].add(row, entry)
        # What is only taken out may still stand there for the next commit.
        self._placed[row] = (public,) if entry is not None else ()

    def commit(self) -> None:
        """What was withdrawn leaves the public index before anything else happens."""
        for public in (True, False):
            self._indexes[public].commit()
        self._placed.clear()

    def close(self) -> None:
        for index in self._indexes.values():
            index.close()


class _Index:
    def __init__(self, path: Path, heap: int) -> None:
        self.fresh = not (path.is_dir() and Index.exists(str(path)))
        path.mkdir(parents=True, exist_ok=True)
        self._index = Index(build_schema(), path=str(path))
        register_analyzers(self._index)
        self._heap = heap
        self._writer: tantivy.IndexWriter | None = None
        self._large = self._asked = False

    def expect_many(self) -> None:
        if self._writer is None:
            self._writer = self._index.writer(self._heap, 1)
            self._large = True

    def add(self, row: int, entry: SearchEntry) -> None:
        self._get_writer().add_document(engine_document(row, entry))

    def remove(self, row: int) -> None:
        self._get_writer().delete_documents_by_term("row", row)

    def commit(self) -> None:
        """Nothing where nothing was asked for: a commit waits for the disk."""
        if self._writer is None or not (self._asked or self._large):
            return
        self._writer.commit()
        self._asked = False
        if self._large:
            self._writer.wait_merging_threads()
            self._writer, self._large = None, False

    def close(self) -> None:
        if self._writer is not None:
            with suppress(ValueError, OSError):  # its folder is gone, or the disk is full: there is nothing to take back
                self._writer.rollback()
            self._writer = None

    def _get_writer(self) -> tantivy.IndexWriter:
        self._asked = True
        if self._writer is None:
            self._writer = self._index.writer(_SMALL_HEAP, 1)
        return self._writer
