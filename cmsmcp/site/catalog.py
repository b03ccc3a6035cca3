"""The catalog's writing side: one SQLite file in the state folder, derived from the site and disposable at any time.

Knows rows, not Markdown or YAML: it is handed parsed documents. One thread of one process writes (see `writer_lock`);
`catalog_reader` reads beside it. A catalog that cannot be used is thrown away and begun anew, never an error to the user.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

from cmsmcp.site.catalog_schema import FOREVER, INDEXES, SCHEMA_VERSION, TABLES
from cmsmcp.site.model import BodyScan, Diagnostic, ParsedDocument

CATALOG_NAME = f"catalog-{SCHEMA_VERSION}.sqlite"

_COLUMNS = (
    "path", "id", "type", "lang", "slug", "url", "key", "title", "status", "publish_at", "unpublish_at", "owner", "moment", "layout",
    "summary", "author", "last_editor", "date", "created_at", "updated_at", "taxonomies", "fields", "params",
)  # fmt: skip
_INSERT = (
    f"INSERT INTO documents ({', '.join(_COLUMNS)}) VALUES ({', '.join('?' * len(_COLUMNS))}) "
    f"ON CONFLICT (path) DO UPDATE SET {', '.join(f'{name} = excluded.{name}' for name in _COLUMNS[1:])}, served = 1 RETURNING row"
)


@dataclass(frozen=True, slots=True)
class FileState:
    """What tells an unchanged file from a changed one: size in bytes, mtime in nanoseconds, inode."""

    size: int
    mtime_ns: int
    inode: int


@dataclass(frozen=True, slots=True)
class Entry:
    """One content file as read: `document` and `scan` are None when it cannot be served."""

    path: str
    state: FileState
    document: ParsedDocument | None
    scan: BodyScan | None
    diagnostics: tuple[Diagnostic, ...]


class Catalog:
    """The writer's connection. Not for use by two threads at once."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.path = folder / CATALOG_NAME
        try:
            self._connection = self._open()
        except sqlite3.DatabaseError:
            self._discard(folder)
            self._connection = self._open()
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

    def _discard(self, folder: Path) -> None:
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
        self._connection.executescript(INDEXES)

    # files

    def files(self) -> dict[str, FileState]:
        """Every file that was read, with what it looked like then."""
        return {path: FileState(*rest) for path, *rest in self._connection.execute("SELECT path, size, mtime_ns, inode FROM files")}

    def put(self, entry: Entry) -> int | None:
        """Write one file's outcome over what was there; the row of its document, if it has one. Within a transaction."""
        state = entry.state
        run = self._connection.execute
        run("INSERT OR REPLACE INTO files VALUES (?, ?, ?, ?)", (entry.path, state.size, state.mtime_ns, state.inode))
        run("DELETE FROM diagnostics WHERE path = ? AND origin = 'file'", (entry.path,))
        self._add_diagnostics("file", entry.diagnostics)
        old = run("SELECT row FROM documents WHERE path = ?", (entry.path,)).fetchone()
        if old:
            self._clear(old[0])
        if entry.document is None or entry.scan is None:
            if old:
                run("DELETE FROM documents WHERE row = ?", old)
            return None
        row = run(_INSERT, _values(entry.document)).fetchone()[0]
        self._add_parts(row, entry.document, entry.scan)
        return row

    def remove(self, path: str) -> None:
        """Forget a file that is gone. Within a transaction."""
        old = self._connection.execute("SELECT row FROM documents WHERE path = ?", (path,)).fetchone()
        if old:
            self._clear(old[0])
            self._connection.execute("DELETE FROM documents WHERE row = ?", old)
        self._connection.execute("DELETE FROM files WHERE path = ?", (path,))
        self._connection.execute("DELETE FROM diagnostics WHERE path = ? AND origin = 'file'", (path,))

    def _clear(self, row: int) -> None:
        for table in ("bodies", "terms", "links", "anchors"):
            self._connection.execute(f"DELETE FROM {table} WHERE row = ?", (row,))
        self._connection.execute("INSERT OR IGNORE INTO unsearched VALUES (?)", (row,))

    def _add_parts(self, row: int, document: ParsedDocument, scan: BodyScan) -> None:
        run, many = self._connection.execute, self._connection.executemany
        headings = json.dumps(scan.headings, ensure_ascii=False)
        run("INSERT INTO bodies VALUES (?, ?, ?, ?, ?)", (row, document.body, document.body_line, scan.text, headings))
        run("INSERT OR IGNORE INTO unsearched VALUES (?)", (row,))
        terms = {(name, term, row) for name, values in document.taxonomies.items() for term in values}
        many("INSERT OR IGNORE INTO terms VALUES (?, ?, ?)", terms)
        many("INSERT INTO links VALUES (?, ?, ?, ?)", [(row, link.target, link.kind, link.line) for link in scan.links])
        many("INSERT INTO anchors VALUES (?, ?)", [(row, anchor) for anchor in scan.anchors])

    # diagnostics

    def replace_diagnostics(self, origin: str, diagnostics: Iterable[Diagnostic]) -> None:
        """Put `diagnostics` in place of all those of `origin` ("scan", "config", "twins"). Within a transaction."""
        self._connection.execute("DELETE FROM diagnostics WHERE origin = ?", (origin,))
        self._add_diagnostics(origin, diagnostics)

    def _add_diagnostics(self, origin: str, diagnostics: Iterable[Diagnostic]) -> None:
        self._connection.executemany(
            "INSERT INTO diagnostics VALUES (?, ?, ?, ?, ?, ?)",
            [(origin, one.path, one.severity, one.check, one.line, one.message) for one in diagnostics],
        )

    # twins

    def settle_twins(self) -> list[tuple[str, str, str, str]]:
        """Serve the first in path order of documents with equal URL or id (domain §7), hide the rest. Within a transaction.

        Returns (path, "url" or "id", the shared value, path of the one that is served) for each one hidden.
        """
        run = self._connection.execute
        twin = "SELECT {0} FROM documents GROUP BY {0} HAVING count(*) > 1"
        rows = run(
            f"SELECT row, path, url, id FROM documents WHERE url IN ({twin.format('url')}) OR id IN ({twin.format('id')}) ORDER BY path"
        ).fetchall()
        urls: dict[str, str] = {}
        ids: dict[str, str] = {}
        hidden: list[tuple[str, str, str, str]] = []
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
        before = {row for (row,) in run("SELECT row FROM documents WHERE NOT served")}
        for row in before ^ hidden_rows:
            run("UPDATE documents SET served = ? WHERE row = ?", (row not in hidden_rows, row))
            run("INSERT OR IGNORE INTO unsearched VALUES (?)", (row,))
        return hidden

    def served_urls(self, urls: Sequence[str]) -> dict[str, str]:
        """URL → path, for those of `urls` that a document is served at, whatever its status."""
        found = self._connection.execute(
            "SELECT url, path FROM documents WHERE served AND url IN (SELECT value FROM json_each(?))", (json.dumps(list(urls)),)
        )
        return dict(found.fetchall())

    # the search index's backlog

    def unsearched(self) -> list[int]:
        return [row for (row,) in self._connection.execute("SELECT row FROM unsearched")]

    def mark_all_unsearched(self) -> None:
        self._connection.execute("INSERT OR IGNORE INTO unsearched SELECT row FROM documents")

    def clear_unsearched(self) -> None:
        self._connection.execute("DELETE FROM unsearched")

    def searchable(self, rows: Sequence[int]) -> Iterator[Mapping[str, Any]]:
        """What the search index takes of each served document among `rows`."""
        cursor = self._connection.execute(
            "SELECT row, title, summary, lang, type, status, publish_at, unpublish_at, owner, taxonomies, fields, text, headings"
            " FROM documents JOIN bodies USING (row) WHERE served AND row IN (SELECT value FROM json_each(?))",
            (json.dumps(list(rows)),),
        )
        names = [column[0] for column in cursor.description]
        for values in cursor:
            found = dict(zip(names, values, strict=True))
            for name in ("taxonomies", "fields", "headings"):
                found[name] = json.loads(found[name])
            found["publish_at"] = found["publish_at"] or None
            found["unpublish_at"] = None if found["unpublish_at"] == FOREVER else found["unpublish_at"]
            yield found

    def count_documents(self) -> int:
        return self._connection.execute("SELECT count(*) FROM documents").fetchone()[0]


def _values(document: ParsedDocument) -> tuple[Any, ...]:
    def text(value: Mapping[str, Any]) -> str:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=list) if value else "{}"

    return (
        document.path, document.id, document.type, document.lang, document.slug, document.url, document.key, document.title,
        document.status, document.publish_at or 0, FOREVER if document.unpublish_at is None else document.unpublish_at,
        document.owner.casefold(), to_moment(document.updated_at or document.date), document.layout, document.summary,
        document.author, document.last_editor, document.date, document.created_at, document.updated_at,
        text(document.taxonomies), text(document.fields), text(document.params),
    )  # fmt: skip


def to_moment(value: str | None) -> int | None:
    """Milliseconds since 1970 of an ISO date or time (UTC unless it says otherwise); None if there is none or it is unreadable."""
    if not value:
        return None
    try:
        if len(value) == 10:
            day = date.fromisoformat(value)
            return int(datetime(day.year, day.month, day.day, tzinfo=UTC).timestamp() * 1000)
        moment = datetime.fromisoformat(value)
    except ValueError:
        return None
    return int((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp() * 1000)
