"""A document as the row of its type's table. Runs where documents are parsed, so what it makes is plain and small.

Knows fields and values, nothing of SQLite or of other documents.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from cmsmcp.site.entries.columns import DATETIME, MANY_TARGETS, Column, plain, stored_value
from cmsmcp.site.model import ParsedDocument
from cmsmcp.site.types.registry import ContentType, entry_values, validate_entry


class Typed(NamedTuple):
    """`values`: published_at, created_at, updated_at (ms), author, then one for each column. `targets`: (column, position, as written)."""

    values: tuple[Any, ...] = ()
    targets: tuple[tuple[int, int, str], ...] = ()


def typed_row(kind: ContentType, columns: tuple[Column, ...], document: ParsedDocument) -> Typed:
    given = entry_values(kind, document)
    if not kind.path:
        # What the values of built-in types are is not asked before they are served: nothing is found by what is not shown.
        unfit = {name for name, _ in validate_entry(kind, given)}
        given = {name: None if name in unfit else value for name, value in given.items()}
    own = tuple(stored_value(DATETIME, moment) for moment in (document.date, document.created_at, document.updated_at))
    values = tuple(stored_value(column.kind, given[column.name]) for column in columns)
    targets = tuple(
        (column.number, position, plain(target))
        for column in columns
        if column.kind == MANY_TARGETS and isinstance(given[column.name], list | tuple)
        for position, target in enumerate(given[column.name])
        if isinstance(target, str) and target
    )
    return Typed((*own, plain(document.author) or None, *values), targets)
