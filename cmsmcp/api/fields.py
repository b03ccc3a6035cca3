"""What can be asked of the fields of a content type: by which operators, whether sorted by, where a relation leads.

Read from the type as `core.ports.ContentTypes` gives it, anew for each request. Knows no parameter and no value.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from cmsmcp.core.entries import OWN_FIELDS
from cmsmcp.governance.redaction.names import claim, is_secret

TEXT = frozenset({"string", "text", "uid", "media"})
NUMBER, BOOLEAN, DATETIME, RELATION, RICHTEXT = "number", "boolean", "datetime", "relation", "richtext"
SET = ("eq", "ne", "in", "nin")
COMPARED = (*SET, "lt", "lte", "gt", "gte")
TO_MANY = "many-to-many"
COMPUTED = "one-to-many"
_OPERATORS = {
    **dict.fromkeys(TEXT, (*COMPARED, "contains", "null")), NUMBER: (*COMPARED, "null"), DATETIME: (*COMPARED, "null"),
    BOOLEAN: ("eq", "ne", "null"), RELATION: (*SET, "null"), RICHTEXT: ("contains", "null"),
    "media-gallery": ("null",), "array": ("null",), "navigation": ("null",),
}  # fmt: skip
_SORTED = {"string", "uid", "media", NUMBER, BOOLEAN, DATETIME}
"""Not `text`: it may be longer than a cursor in a URL, which names the last value of a page, can be."""


@dataclass(frozen=True, slots=True)
class Field:
    """`type` is Plank's; `related` the slug of the type that a relation leads to. `asked` False: its values are taken out of replies as
    secrets (docs/rules.md, Redaction), so that no filter and no order may tell of them either."""

    name: str
    type: str
    whole: bool = False
    """A number that must be an integer."""
    related: str = ""
    relation: str = ""
    asked: bool = True

    @property
    def operators(self) -> tuple[str, ...]:
        """Those a filter may use; none for the computed side of a relation."""
        return () if self.relation == COMPUTED or not self.asked else _OPERATORS.get(self.type, ())

    @property
    def sorted(self) -> bool:
        return self.asked and self.type in _SORTED


@dataclass(frozen=True, slots=True)
class Fields:
    """All fields of an entry of the type `slug` by name, in the order they are sent."""

    slug: str
    single: bool
    by_name: Mapping[str, Field]

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.by_name)

    @property
    def filtered(self) -> tuple[str, ...]:
        return tuple(name for name, field in self.by_name.items() if field.operators)

    @property
    def sorted(self) -> tuple[str, ...]:
        return tuple(name for name, field in self.by_name.items() if field.sorted)

    @property
    def relations(self) -> tuple[str, ...]:
        return tuple(name for name, field in self.by_name.items() if field.type == RELATION)


def fields_of(kind: Mapping[str, Any], types: Iterable[Mapping[str, Any]]) -> Fields:
    """`kind` is one of `types`, Plank's objects."""
    tables = {one["tableName"]: one["slug"] for one in types}
    declared = {field.name: field for field in (_field(options, tables) for options in kind["fields"])}
    own = {name: Field(name, type_) for name, type_ in OWN_FIELDS.items() if name not in declared}
    first = {"id": own["id"]}
    return Fields(kind["slug"], kind["kind"] == "single", {**first, **declared, **own})


def _field(options: Mapping[str, Any], tables: Mapping[str, str]) -> Field:
    name, type_ = options["name"], options["type"]
    related, relation = "", ""
    if type_ == RELATION:
        related = options.get("relatedSlug") or tables.get(options.get("relatedTable", ""), "")
        relation = options.get("relationType", "many-to-one")
    whole = type_ == NUMBER and options.get("subtype", "integer") != "float"
    return Field(name, type_, whole, related, relation, not (is_secret(name) or claim(name)))
