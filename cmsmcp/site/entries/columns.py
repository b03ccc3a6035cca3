"""Which column a field of a content type has, and how it compares: the one thing that filling and asking must agree on.

Names in SQL are made of numbers only: the table of a type is `entries_<n>`, its fields are `f0, f1 …` in the order of `fields_of`.
"""

from __future__ import annotations

import json
import math
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from cmsmcp.site.times import read_moment
from cmsmcp.site.types.fields import MANY, Field
from cmsmcp.site.types.registry import ContentType, TypeRegistry

TEXT = "text"
LONG = "long"
"""Text compared as TEXT is, but without an index."""
NUMBER = "number"
BOOLEAN = "boolean"
DATETIME = "datetime"
ONE = "one"
MANY_TARGETS = "many"
RICH = "rich"
BODY = "body"
"""The richtext that is the document's body: its text stands in `bodies`."""
WHOLE = "whole"
"""Lists and maps: whether there is a value is all that can be asked."""

_BY_LENGTH = (BOOLEAN, BODY, WHOLE, MANY_TARGETS, NUMBER, DATETIME, ONE, TEXT, LONG, RICH)
LONGEST = frozenset({LONG, RICH})
SMALL = frozenset({BOOLEAN, NUMBER, DATETIME})
"""A few bytes each: the first MOST_BESIDE of them stand in every index of a type."""
MOST_BESIDE = 8
INDEXED = frozenset({TEXT, NUMBER, BOOLEAN, DATETIME, ONE})
MOST_INDEXED = 40
"""Fields of one type that get an index; a type may have 200."""
_FIELD_TYPES = {
    "string": TEXT, "text": LONG, "uid": TEXT, "media": TEXT, "richtext": RICH, "number": NUMBER, "boolean": BOOLEAN, "datetime": DATETIME,
}  # fmt: skip
_SQL_TYPES = {TEXT: "TEXT", LONG: "TEXT", ONE: "TEXT", RICH: "TEXT", NUMBER: "NUMERIC"}
_COMPARED = ("eq", "ne", "in", "nin", "lt", "lte", "gt", "gte")
_SET = ("eq", "ne", "in", "nin")
OPERATORS_OF: Mapping[str, tuple[str, ...]] = {
    TEXT: (*_COMPARED, "contains", "null"), LONG: (*_COMPARED, "contains", "null"), NUMBER: (*_COMPARED, "null"),
    DATETIME: (*_COMPARED, "null"), BOOLEAN: ("eq", "ne", "null"), ONE: (*_SET, "null"), MANY_TARGETS: (*_SET, "contains", "null"),
    RICH: ("contains", "null"), BODY: ("contains", "null"), WHOLE: ("null",),
}  # fmt: skip
SORTABLE = frozenset({TEXT, LONG, NUMBER, BOOLEAN, DATETIME})


@dataclass(frozen=True, slots=True)
class Column:
    """`sql` is its name in the table; `related` the slug of the type that a relation leads to."""

    name: str
    kind: str
    sql: str
    related: str = ""

    @property
    def number(self) -> int:
        """Its place in the table, which the table of links refers to."""
        return int(self.sql[1:])


def group_of(field: Field, body_field: str | None) -> str | None:
    """How a field compares; None for the computed side of a relation, which has no column."""
    if field.inverse:
        return None
    if field.name == body_field:
        return BODY
    if field.type == "relation":
        return MANY_TARGETS if field.relation in MANY else ONE
    return _FIELD_TYPES.get(field.type, WHOLE)


def columns_by_type(types: TypeRegistry) -> dict[str, tuple[Column, ...]]:
    return {kind.slug: columns_of(kind, types) for kind in types.types}


def columns_of(kind: ContentType, types: TypeRegistry) -> tuple[Column, ...]:
    """A type's columns, the shortest first: what a filter looks at is found without reading past long texts."""
    body = kind.body_field
    found = [(field, group) for field in kind.fields if (group := group_of(field, body)) is not None]
    found.sort(key=lambda one: _BY_LENGTH.index(one[1]))
    return tuple(
        Column(field.name, group, f"f{number}", related_slug(field, types))
        for number, (field, group) in enumerate(found)
    )


def related_slug(field: Field, types: TypeRegistry) -> str:
    """The slug of the type that a relation leads to; "" for other fields."""
    if field.type != "relation":
        return ""
    return field.related or types.by_table[field.related_table].slug


def shape_of(columns: tuple[Column, ...]) -> str:
    """What the catalog notes of a table, so that nobody asks one of another shape."""
    return json.dumps([[column.name, column.kind, column.related] for column in columns], ensure_ascii=False)


def columns_from(shape: str) -> tuple[Column, ...]:
    return tuple(Column(name, kind, f"f{number}", related) for number, (name, kind, related) in enumerate(json.loads(shape)))


def sql_type(column: Column) -> str:
    return _SQL_TYPES.get(column.kind, "INTEGER")


def stored_value(kind: str, value: Any) -> Any:
    """A field's value as its column holds it: what it is compared by. None for no value, which an empty text or list is too."""
    if value is None or value in ("", [], ()):
        return None
    if kind in (BODY, WHOLE, MANY_TARGETS):
        return 1
    if kind == NUMBER:
        return _number(value)
    if kind == BOOLEAN:
        return int(value) if isinstance(value, bool) else None
    if kind == DATETIME:
        moment = read_moment(value) if isinstance(value, str) else None
        return moment.ms if moment is not None else None
    return plain(value) if isinstance(value, str) else plain(str(value))


def plain(text: str) -> str:
    """Composed, so that one word is one text however it was typed."""
    return text if text.isascii() else unicodedata.normalize("NFC", text)


def _number(value: Any) -> int | float | None:
    if isinstance(value, bool) or not isinstance(value, int | float) or math.isnan(value):
        return None
    return value if isinstance(value, float) or -(2**63) <= value < 2**63 else float(value)
