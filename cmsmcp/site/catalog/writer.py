"""The catalog's writing side: one SQLite file in the state folder, derived from the site and disposable at any time.

Knows rows, not Markdown or YAML: it is handed entries. One thread of one process writes (see `writer_lock`);
`catalog_reader` reads beside it. A catalog that cannot be used is thrown away and begun anew, never an error to the user.
"""

from __future__ import annotations

import itertools
import json
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from cmsmcp.disk_faults import describe
from cmsmcp.site.catalog.entry import COLUMNS, Entry, FileState, Searchable, diagnostic_row, typed_documents
from cmsmcp.site.catalog.media import MediaTable
from cmsmcp.site.catalog.public_rows import PublicRows
from cmsmcp.site.catalog.schema import FOREVER, INDEXES, SCHEMA_VERSION, TABLES
from cmsmcp.site.catalog.visibility import STATUS_SQL
from cmsmcp.site.entries.tables import TypeTables
from cmsmcp.site.model import Diagnostic

KEPT_CHANGES = 50
CATALOG_NAME = f"catalog-{SCHEMA_VERSION}.sqlite"

_PARTS = {
    "documents": f"row, {', '.join(COLUMNS)}",
    "bodies": "row, body, body_line, text, headings, words",
    "terms": "taxonomy, term, row",
    "links": "row, target, kind, line",
    "anchors": "row, anchor",
}
_STORED = (
    "path", "type", "slug", "key", "lang", "id", "url", "title", "layout", "summary", "author", "last_editor", "date", "created_at",
    "updated_at", "taxonomies", "fields", "params", "body",
)  # fmt: skip
_IS_PUBLIC = "EXISTS (SELECT 1 FROM public_rows WHERE public_rows.row = documents.row)"


class Stored(NamedTuple):
    """A document as its readers see it. `public`: they do, as of the last settling. `address`: key, lang, id, url."""

    public: bool
    path: str
    type: str
    slug: str
    address: tuple[str, ...]
    words: tuple[Any, ...]

    @property
    def key(self) -> str:
        """Shared with its translations."""
        return self.address[0]


class Catalog:
    """The writer's connection. Not for use by two threads at once."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.path = folder / CATALOG_NAME
        try:
            self._connection = self._open()
        except sqlite3.DatabaseError as error:
            if describe(error) is not None:
                raise  # the disk is full, say: that is no fault of what it holds
            self.discard(folder)
            self._connection = self._open()
        self.types = TypeTables(self._connection)
        self.media = MediaTable(self._connection)
        self.public = PublicRows(self._connection)
        for old in folder.glob("catalog-*.sqlite*"):
            if not old.name.startswith(CATALOG_NAME):
                old.unlink(missing_ok=True)

    def close(self) -> None:
        self._connection.close()

    def _open(self) -> sqlite3.Connection:
        connection = sqlite3.connect(self.path, isolation_level=None, check_same_thread=False, timeout=5.0)
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = NORMAL")
            connection.execute("PRAGMA cache_size = -32000")
            if not connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'unsearched'").fetchone():
                connection.executescript(f"BEGIN IMMEDIATE; {TABLES} COMMIT;")
            connection.execute("SELECT count(*) FROM meta").fetchone()
        except BaseException:
            connection.close()
            raise
        return connection

    @staticmethod
    def discard(folder: Path) -> None:
        """Remove the file. Readers that have it open keep what they see until they notice the new one."""
        for suffix in ("", "-wal", "-shm", "-journal"):
            (folder / (CATALOG_NAME + suffix)).unlink(missing_ok=True)

    @contextmanager
    def transaction(self) -> Iterator[None]:
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self._connection.execute("ROLLBACK")
            raise
        self._connection.execute("COMMIT")

    # meta

    def meta(self, name: str, default: Any = None) -> Any:
        row = self._connection.execute("SELECT value FROM meta WHERE name = ?", (name,)).fetchone()
        return row[0] if row else default

    def set_meta(self, **values: Any) -> None:
        self._connection.executemany("INSERT OR REPLACE INTO meta VALUES (?, ?)", values.items())

    def make_indexes(self) -> None:
        """Within a transaction, which `executescript` would end."""
        for statement in filter(str.strip, INDEXES.split(";")):
            self._connection.execute(statement)

    # files

    def files(self) -> dict[str, FileState]:
        """Every file that was read, with what it looked like then."""
        return {path: FileState(*rest) for path, *rest in self._connection.execute("SELECT path, size, mtime_ns, inode FROM files")}

    def has_file(self, path: str) -> bool:
        return self._connection.execute("SELECT 1 FROM files WHERE path = ?", (path,)).fetchone() is not None

    def put(self, entries: Sequence[Entry], now: int) -> dict[int, bool]:
        """Write the outcome of some files over what was there; the rows of their documents, in their order, and whether each is public.

        Within a transaction. `now` is in ms."""
        old = self._forget([entry.path for entry in entries], entries)
        following = self._connection.execute("SELECT seq FROM sqlite_sequence WHERE name = 'documents'").fetchone()
        fresh = itertools.count(following[0] + 1 if following else 1)
        self._many("INSERT INTO files VALUES (?, ?, ?, ?)", [(e.path, e.state.size, e.state.mtime_ns, e.state.inode) for e in entries])
        self._add_diagnostics("file", [row for entry in entries for row in entry.diagnostics])
        served = [(old.get(entry.path) or next(fresh), entry) for entry in entries if entry.document is not None]
        rows: dict[str, list[tuple[Any, ...]]] = {
            "documents": [(row, *entry.document) for row, entry in served if entry.document],
            "bodies": [(row, *entry.body) for row, entry in served],
            "terms": [(*term, row) for row, entry in served for term in entry.terms],
            "links": [(row, *link) for row, entry in served for link in entry.links],
            "anchors": [(row, anchor) for row, entry in served for anchor in entry.anchors],
        }
        for table, columns in _PARTS.items():
            marks = ", ".join("?" * (columns.count(",") + 1))
            self._many(f"INSERT INTO {table} ({columns}) VALUES ({marks})", rows[table])
        self.types.put(typed_documents(served))
        numbers = [row for row, _ in served]
        public = self.public.add(numbers, now)
        self.mark_unsearched(numbers)
        return {row: row in public for row in numbers}

    def remove(self, paths: Sequence[str]) -> None:
        """Forget files that are gone. Within a transaction."""
        self._forget(paths)

    def _forget(self, paths: Sequence[str], following: Sequence[Entry] = ()) -> dict[str, int]:
        """Take out what these files left, documents included; the rows they had, to be used again for the same paths only.

        `following` is what comes in their place.
        """
        self.count_edition()
        listed = json.dumps(paths)
        find = "SELECT path FROM files WHERE path IN (SELECT value FROM json_each(?))"
        known = self._connection.execute(find, (listed,)).fetchall()
        if not known:
            return {}
        self._many("DELETE FROM files WHERE path = ?", known)
        self._many("DELETE FROM diagnostics WHERE path = ? AND origin = 'file'", known)
        find = "SELECT path, row FROM documents WHERE path IN (SELECT value FROM json_each(?))"
        old = dict(self._connection.execute(find, (listed,)).fetchall())
        rows = [(row,) for row in old.values()]
        self.public.forget(old.values())
        self.types.forget(rows, typed_documents([(old[entry.path], entry) for entry in following if entry.path in old]))
        for table in _PARTS:
            self._many(f"DELETE FROM {table} WHERE row = ?", rows)
        self.mark_unsearched(old.values())
        return old

    def count_edition(self) -> None:
        """What there is to read may be different. Within a transaction."""
        self._connection.execute("UPDATE meta SET value = value + 1 WHERE name = 'edition'")

    def settle(self, now: int) -> set[int]:
        """Decide twins, and take in dates that have come; the rows that readers see now and did not, or the other way round."""
        marked, flipped = self.public.settle(now)
        if marked or flipped:
            self.types.take_twins(marked)
            self.mark_unsearched(flipped)
            self.count_edition()
        return flipped

    def _many(self, sql: str, rows: Sequence[Sequence[Any]]) -> None:
        if rows:
            self._connection.executemany(sql, rows)

    # diagnostics

    def replace_diagnostics(self, origin: str, diagnostics: Iterable[Diagnostic]) -> None:
        """Put `diagnostics` in place of all those of `origin`. Within a transaction."""
        self._connection.execute("DELETE FROM diagnostics WHERE origin = ?", (origin,))
        self._add_diagnostics(origin, [diagnostic_row(one) for one in diagnostics])

    def _add_diagnostics(self, origin: str, rows: Sequence[tuple[Any, ...]]) -> None:
        self._many("INSERT INTO diagnostics VALUES (?, ?, ?, ?, ?, ?)", [(origin, *row) for row in rows])

    # what readers see

    def stored(self, column: str, values: Iterable[Any], *, public: bool = False, most: int = -1) -> list[Stored]:
        """The documents whose `column` (path, row or key) is one of `values`; of `public` ones at most `most`."""
        query = (
            f"SELECT {_IS_PUBLIC}, {', '.join(_STORED)} FROM documents JOIN bodies USING (row)"
            f" WHERE {column} IN (SELECT value FROM json_each(?)){f' AND {_IS_PUBLIC}' if public else ''} LIMIT ?"
        )
        found = self._connection.execute(query, (json.dumps(list(values)), most))
        return [Stored(bool(row[0]), row[1], row[2], row[3], row[4:8], row[8:]) for row in found]

    def note_change(self, change: str) -> None:
        """For those who follow the catalog; the last KEPT_CHANGES stay."""
        with self.transaction():
            number = self._connection.execute("INSERT INTO changes (change) VALUES (?)", (change,)).lastrowid or 0
            self._connection.execute("DELETE FROM changes WHERE number <= ?", (number - KEPT_CHANGES,))

    # the search index's backlog

    def unsearched(self) -> list[int]:
        return [row for (row,) in self._connection.execute("SELECT row FROM unsearched")]

    def mark_unsearched(self, rows: Iterable[int]) -> None:
        self._many("INSERT OR IGNORE INTO unsearched VALUES (?)", [(row,) for row in rows])

    def mark_all_unsearched(self) -> None:
        self._connection.execute("INSERT OR IGNORE INTO unsearched SELECT row FROM documents")

    def clear_unsearched(self) -> None:
        """The search indexes are as the catalog is. Within a transaction."""
        run = self._connection.execute
        run("DELETE FROM searched WHERE row IN (SELECT row FROM unsearched)")
        run(f"INSERT INTO searched SELECT row, {_IS_PUBLIC} FROM unsearched JOIN documents USING (row)")
        run("DELETE FROM unsearched")

    def forget_searched(self) -> None:
        """The search indexes are empty. Within a transaction."""
        self._connection.execute("DELETE FROM searched")
        self.mark_all_unsearched()

    def searched(self, rows: Iterable[int]) -> dict[int, bool]:
        """Where the last commit left the entries of these rows: whether in the index of what is public."""
        sql = "SELECT row, public FROM searched WHERE row IN (SELECT value FROM json_each(?))"
        return {row: bool(public) for row, public in self._connection.execute(sql, (json.dumps(list(rows)),))}

    def searchable(self, rows: Sequence[int], now: int) -> dict[int, tuple[Searchable, bool]]:
        """What the search index takes of each document among `rows`, but for one that a twin displaces; and whether it is public."""
        columns = ", ".join(Searchable._fields)
        found = self._connection.execute(
            f"SELECT row, {_IS_PUBLIC}, {columns} FROM documents JOIN bodies USING (row) "
            f" WHERE row IN (SELECT value FROM json_each(:rows)) AND ({_IS_PUBLIC} OR {STATUS_SQL} <> 'published')",
            {"rows": json.dumps(list(rows)), "now": now},
        )
        return {row: (_searchable(Searchable(*values)), bool(public)) for row, public, *values in found}


def _searchable(stored: Searchable) -> Searchable:
    """With the values that the columns stand for."""
    return stored._replace(
        publish_at=stored.publish_at or None,
        unpublish_at=None if stored.unpublish_at == FOREVER else stored.unpublish_at,
        **{name: json.loads(getattr(stored, name)) for name in ("taxonomies", "headings")},
    )
