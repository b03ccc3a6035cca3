"""The typed tables of the catalog: one for each content type, one row for each document, kept in the writer's transactions.

When types change, new tables are filled beside those that are served from; the last transaction of the build puts them in their place.
Until then the old ones follow in what decides about visibility, so that nothing withdrawn stays to be found. Knows rows and numbers;
what a column means is `columns`' to say.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cmsmcp.site.catalog.schema import OPEN_SQL
from cmsmcp.site.entries.columns import INDEXED, LONGEST, MOST_BESIDE, MOST_INDEXED, SMALL, Column, columns_from, shape_of, sql_type

_VEIL = ("lang", "status", "publish_at", "unpublish_at", "owner")
_OWN = ("row", "id", "key", "slug", "url", *_VEIL)
_ADDED = ("published_at", "created_at", "updated_at", "author")
_VEILED = (
    f"row INTEGER PRIMARY KEY, lang TEXT, open INTEGER GENERATED ALWAYS AS ({OPEN_SQL}) STORED, twin INTEGER,"
    " status TEXT, publish_at INTEGER, unpublish_at INTEGER, owner TEXT, author TEXT"
)
_SAMPLED = 1_000

TypedDocument = tuple[Sequence[Any], Sequence[Any], Sequence[tuple[int, int, str]]]
"""What `_OWN` names, the values after it, and the targets of to-many relations."""


@dataclass(frozen=True, slots=True)
class TypeTable:
    """`live`: it is served from; else it is being filled."""

    number: int
    slug: str
    columns: tuple[Column, ...]
    live: bool = True

    @property
    def name(self) -> str:
        return f"entries_{self.number}"

    @property
    def targets(self) -> str:
        return f"targets_{self.number}"


def table_of(number: int, slug: str, shape: str, live: Any = 1) -> TypeTable:
    return TypeTable(number, slug, columns_from(shape), bool(live))


class TypeTables:
    """The writer's. Every method but the first runs within a transaction of the connection."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._run = connection.execute
        self._many = connection.executemany
        self._tables = self._read()

    def begin(self, types: Mapping[str, tuple[Column, ...]]) -> None:
        """Fill new tables of these types from now on."""
        self._drop(table for table in self._tables if not table.live)
        for slug, columns in types.items():
            sql = "INSERT INTO types (slug, shape, live) VALUES (?, ?, 0)"
            number = self._run(sql, (slug, shape_of(columns))).lastrowid
            assert number is not None
            for statement in _made(TypeTable(number, slug, columns)):
                self._run(statement)
        self._tables = self._read()

    def finish(self) -> None:
        """The tables that were filled are served from."""
        fresh = [table for table in self._tables if not table.live]
        if not fresh:
            return
        self._drop(table for table in self._tables if table.live)
        self._run("UPDATE types SET live = 1")
        self._run(f"PRAGMA analysis_limit = {_SAMPLED}")
        for table in fresh:
            for statement in _indexes(table):
                self._run(statement)
            # In the transaction that changes the schema: readers take note of both at once.
            self._run(f"ANALYZE {table.name}")
            self._run(f"ANALYZE {table.targets}")
        self._tables = self._read()

    def put(self, documents: Mapping[str, Sequence[TypedDocument]]) -> None:
        """Rows of documents that were forgotten before, by the slug of their type."""
        for slug, rows in documents.items():
            filling = [table for table in self._tables if table.slug == slug]
            fresh = [table for table in filling if not table.live]
            for table in fresh or filling:
                marks = ", ".join("?" * (len(_OWN) + len(_ADDED) + len(table.columns)))
                self._many(f"INSERT INTO {table.name} ({_names(table)}) VALUES ({marks})", [(*own, *values) for own, values, _ in rows])
                targets = [(own[0], *target) for own, _, found in rows for target in found]
                self._many(f"INSERT INTO {table.targets} VALUES (?, ?, ?, ?)", targets)

    def forget(self, rows: Sequence[tuple[int]], following: Mapping[str, Sequence[TypedDocument]]) -> None:
        """Take these rows out; but where a table is about to be replaced, take over who may see what follows in them."""
        listed = json.dumps([row for (row,) in rows])
        filling = any(not table.live for table in self._tables)
        for table in self._tables:
            staying = [own for own, _, _ in following.get(table.slug, ())] if filling and table.live else []
            stay = json.dumps([own[0] for own in staying])
            where = "row IN (SELECT value FROM json_each(?)) AND row NOT IN (SELECT value FROM json_each(?))"
            self._run(f"DELETE FROM {table.name} WHERE {where}", (listed, stay))
            self._run(f"DELETE FROM {table.targets} WHERE {where}", (listed, stay))
            names = ", ".join(f"{name} = ?" for name in _OWN[1:])
            self._many(f"UPDATE {table.name} SET {names}, twin = NULL WHERE row = ?", [(*own[1:], own[0]) for own in staying])

    def take_twins(self, rows: Iterable[int]) -> None:
        """Take over which of these rows have others of their URL or id."""
        listed = json.dumps(list(rows))
        for table in self._tables:
            self._run(
                f"UPDATE {table.name} SET twin = (SELECT twin FROM documents WHERE documents.row = {table.name}.row)"
                " WHERE row IN (SELECT value FROM json_each(?))",
                (listed,),
            )

    def _read(self) -> list[TypeTable]:
        return [table_of(*row) for row in self._run("SELECT number, slug, shape, live FROM types ORDER BY number").fetchall()]

    def _drop(self, tables: Iterable[TypeTable]) -> None:
        for table in list(tables):
            self._run(f"DROP TABLE {table.name}")
            self._run(f"DROP TABLE {table.targets}")
            self._run("DELETE FROM types WHERE number = ?", (table.number,))


def own_values(row: int, document: Mapping[str, Any]) -> tuple[Any, ...]:
    """What `_OWN` names, of a row of `documents` by column."""
    return (row, *(document[name] for name in _OWN[1:]))


def _names(table: TypeTable) -> str:
    return ", ".join((*_OWN, *_ADDED, *(column.sql for column in table.columns)))


def _made(table: TypeTable) -> Iterator[str]:
    fields = {column.sql: sql_type(column) for column in table.columns if column.kind not in LONGEST}
    types = {name: "INTEGER" for name in _ADDED if name != "author"} | fields | dict.fromkeys(("url", "id", "key", "slug"), "TEXT")
    types |= {column.sql: sql_type(column) for column in table.columns if column.kind in LONGEST}
    yield f"CREATE TABLE {table.name} ({_VEILED}, {', '.join(f'{name} {kind}' for name, kind in types.items())})"
    yield (
        f"CREATE TABLE {table.targets} (row INTEGER, field INTEGER, position INTEGER, target TEXT, PRIMARY KEY (row, field, position))"
        " WITHOUT ROWID"
    )


def _indexes(table: TypeTable) -> Iterator[str]:
    for name in ("id", "key", "slug"):
        yield f"CREATE INDEX {table.name}_{name} ON {table.name} ({name}, lang, open)"
    beside = [column.sql for column in table.columns if column.kind in SMALL][:MOST_BESIDE]
    yield f"CREATE INDEX {table.name}_url ON {table.name} ({', '.join(['lang', 'url', 'open', *beside])})"
    sorted_by = [*_ADDED, *(column.sql for column in table.columns if column.kind in INDEXED)]
    for name in sorted_by[: MOST_INDEXED + len(_ADDED)]:
        # What else is often asked stands in the index, so that most rows need not be looked up to be passed over.
        columns = ["lang", name, "url", "open", *(one for one in beside if one != name)]
        yield f"CREATE INDEX {table.name}_{name} ON {table.name} ({', '.join(columns)})"
    yield f"CREATE INDEX {table.targets}_by ON {table.targets} (field, target)"
