"""The catalog's writing side: one SQLite file in the state folder, derived from the site and disposable at any time.

Knows rows, not Markdown or YAML: it is handed entries. One thread of one process writes (see `writer_lock`);
`catalog_reader` reads beside it. A catalog that cannot be used is thrown away and begun anew, never an error to the user.
"""

from __future__ import annotations

import itertools
import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from cmsmcp.site.catalog.entry import COLUMNS, Entry, FileState, Searchable, diagnostic_row, typed_documents
from cmsmcp.site.catalog.media import MediaTable
from cmsmcp.site.catalog.schema import FOREVER, INDEXES, SCHEMA_VERSION, TABLES
from cmsmcp.site.entries.tables import TypeTables
from cmsmcp.site.model import Diagnostic

KEPT_CHANGES = 50
CATALOG_NAME = f"catalog-{SCHEMA_VERSION}.sqlite"

_PARTS = {
    "documents": f"row, {', '.join(COLUMNS)}",
    "bodies": "row, body, body_line, text, headings",
    "terms": "taxonomy, term, row",
    "links": "row, target, kind, line",
    "anchors": "row, anchor",
}
_STORED = (
    "served", "status", "publish_at", "unpublish_at", "path", "type", "slug", "key", "lang", "id", "url", "title", "layout",
    "summary", "author", "last_editor", "date", "created_at", "updated_at", "taxonomies", "fields", "params", "body",
)  # fmt: skip


class Stored(NamedTuple):
    """A document as its readers may see it, and when anybody may: from `publish_at` until `unpublish_at`, in ms.

    `address`: key, lang, id, url.
    """

    served: bool
    status: str
    publish_at: int
    unpublish_at: int
    path: str
    type: str
    slug: str
    address: tuple[str, ...]
    words: tuple[Any, ...]

    @property
    def key(self) -> str:
        """Shared with its translations."""
        return self.address[0]

    def is_public(self, at: int) -> bool:
        return bool(self.served) and self.status == "published" and self.publish_at <= at < self.unpublish_at


Twin = tuple[str, str, str, str]
"""(path, "url" or "id", the shared value, path of the one that is served)."""


class Catalog:
    """The writer's connection. Not for use by two threads at once."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.path = folder / CATALOG_NAME
        try:
            self._connection = self._open()
        except sqlite3.DatabaseError:
            self.discard(folder)
            self._connection = self._open()
        self.types = TypeTables(self._connection)
        self.media = MediaTable(self._connection)
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

    def put(self, entries: Sequence[Entry]) -> list[int]:
        """Write the outcome of some files over what was there; the rows of their documents. Within a transaction."""
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
        self._many("INSERT OR IGNORE INTO unsearched VALUES (?)", [(row,) for row in numbers])
        return numbers

    def remove(self, paths: Sequence[str]) -> None:
        """Forget files that are gone. Within a transaction."""
        self._forget(paths)

    def _forget(self, paths: Sequence[str], following: Sequence[Entry] = ()) -> dict[str, int]:
        """Take out what these files left, documents included; the rows they had, to be used again for the same paths only.

        `following` is what comes in their place.
        """
        self._connection.execute("UPDATE meta SET value = value + 1 WHERE name = 'edition'")
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
        self.types.forget(rows, typed_documents([(old[entry.path], entry) for entry in following if entry.path in old]))
        for table in _PARTS:
            self._many(f"DELETE FROM {table} WHERE row = ?", rows)
        self._many("INSERT OR IGNORE INTO unsearched VALUES (?)", rows)
        return old

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

    # twins

    def settle_twins(self) -> tuple[list[Twin], set[int]]:
        """Serve the first in path order of documents with equal URL or id (docs/rules.md, Odd places), hide the rest. Within a transaction.

        Returns those hidden, and the rows whose being served has changed.
        """
        run = self._connection.execute
        twin = "SELECT {0} FROM documents GROUP BY {0} HAVING count(*) > 1"
        rows = run(
            f"SELECT row, path, url, id FROM documents WHERE url IN ({twin.format('url')}) OR id IN ({twin.format('id')}) ORDER BY path"
        ).fetchall()
        urls: dict[str, str] = {}
        ids: dict[str, str] = {}
        hidden: list[Twin] = []
        hidden_rows: set[int] = set()
        for row, path, url, id_ in rows:
            if url in urls:
                hidden.append((path, "url", url, urls[url]))
            elif id_ in ids:
                hidden.append((path, "id", id_, ids[id_]))
            else:
                urls[url] = ids[id_] = path
                continue
            hidden_rows.add(row)
        flipped = {row for (row,) in run("SELECT row FROM documents WHERE NOT served")} ^ hidden_rows
        for row in flipped:
            run("UPDATE documents SET served = ? WHERE row = ?", (row not in hidden_rows, row))
            run("INSERT OR IGNORE INTO unsearched VALUES (?)", (row,))
        if flipped:
            self.types.serve(flipped)
            run("UPDATE meta SET value = value + 1 WHERE name = 'edition'")
        return hidden, flipped

    def served_urls(self, urls: Sequence[str]) -> dict[str, str]:
        """URL → path, for those of `urls` that a document is served at, whatever its status."""
        found = self._connection.execute(
            "SELECT url, path FROM documents WHERE served AND url IN (SELECT value FROM json_each(?))", (json.dumps(list(urls)),)
        )
        return dict(found.fetchall())

    # what readers see

    def stored(self, column: str, values: Iterable[Any]) -> list[Stored]:
        """The documents whose `column` (path, row or key) is one of `values`."""
        return self._stored(f"{column} IN (SELECT value FROM json_each(?))", (json.dumps(list(values)),))

    def come_due(self, after: int, until: int) -> list[Stored]:
        """Documents with a bound in the time after one moment up to another, in ms. Asked four times a second: each bound has an index."""
        due = "publish_at > 0 AND publish_at > :after AND publish_at <= :until"
        past = f"unpublish_at < {FOREVER} AND unpublish_at > :after AND unpublish_at <= :until"
        return self._stored(f"({due}) OR ({past})", {"after": after, "until": until})

    def _stored(self, where: str, parameters: Sequence[Any] | Mapping[str, Any]) -> list[Stored]:
        query = f"SELECT {', '.join(_STORED)} FROM documents JOIN bodies USING (row) WHERE {where}"
        return [Stored._make((*row[:7], row[7:11], row[11:])) for row in self._connection.execute(query, parameters)]

    def note_change(self, change: str) -> None:
        """For those who follow the catalog; the last KEPT_CHANGES stay."""
        with self.transaction():
            number = self._connection.execute("INSERT INTO changes (change) VALUES (?)", (change,)).lastrowid or 0
            self._connection.execute("DELETE FROM changes WHERE number <= ?", (number - KEPT_CHANGES,))

    # the search index's backlog

    def unsearched(self) -> list[int]:
        return [row for (row,) in self._connection.execute("SELECT row FROM unsearched")]

    def mark_all_unsearched(self) -> None:
        self._connection.execute("INSERT OR IGNORE INTO unsearched SELECT row FROM documents")

    def clear_unsearched(self) -> None:
        self._connection.execute("DELETE FROM unsearched")

    def searchable(self, rows: Sequence[int]) -> dict[int, Searchable]:
        """What the search index takes of each served document among `rows`."""
        columns = ", ".join(Searchable._fields)
        found = self._connection.execute(
            f"SELECT row, {columns} FROM documents JOIN bodies USING (row) WHERE served AND row IN (SELECT value FROM json_each(?))",
            (json.dumps(list(rows)),),
        )
        return {row: _searchable(Searchable(*values)) for row, *values in found}


def _searchable(stored: Searchable) -> Searchable:
    """With the values that the columns stand for."""
    return stored._replace(
        publish_at=stored.publish_at or None,
        unpublish_at=None if stored.unpublish_at == FOREVER else stored.unpublish_at,
        **{name: json.loads(getattr(stored, name)) for name in ("taxonomies", "fields", "headings")},
    )
