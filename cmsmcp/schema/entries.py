"""A marshmallow schema for each content type: what an entry of it looks like in `/api`, keys in the type's order.

Made anew when the types change. The same classes dump entries, validate them, and are what JSON Schema is derived from.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache, cached_property, lru_cache
from typing import Any

from marshmallow import Schema, fields, validate
from marshmallow.fields import Field

from cmsmcp.core.entries import OWN_FIELDS
from cmsmcp.core.ports import STATUSES
from cmsmcp.governance.redaction import PAIR_NAMES, PAIR_VALUES
from cmsmcp.governance.redaction.names import claim, is_secret
from cmsmcp.schema.catalog import Catalog, Kind
from cmsmcp.schema.common import MediaSchema, NavigationItemSchema
from cmsmcp.schema.fields import Component, Mixed, Moment, Number, OrText, Text, Truth, Whole
from cmsmcp.schema.names import row_name

MAX_STRING = 255
ALWAYS_THERE = frozenset({"id", "status", "locale"})
COMPUTED = "one-to-many"
TO_MANY = frozenset({"many-to-many", COMPUTED})
_RELATION = "Slugs or ids, or with populate the entries: those that are published."
_TOLD = {
    "richtext": "Markdown, or with format=html sanitised HTML.",
    "datetime": "A date, or a time in UTC with milliseconds.",
    "media": "What is known of the file, or the reference as written where it leads to none.",
    "many-to-one": "Slug or id, or with populate the entry; null where it is not published.",
    "one-to-one": "Slug or id, or with populate the entry; null where it is not published.",
    "many-to-many": _RELATION,
    COMPUTED: f"Computed from the other side, and sent where fields or populate names it. {_RELATION}",
}


def is_masked(name: str) -> bool:
    """Whether what stands under this name may be taken out as a secret: texts then are others, and numbers null."""
    return bool(is_secret(name) or claim(name))


def is_masked_in(name: str, array: Mapping[str, Any]) -> bool:
    """Of a field in the rows of an array: all of a secret is one, and so is the value beside the name of a secret."""
    beside = {item["name"] for item in array["arrayFields"]}
    return is_masked(array["name"]) or (name in PAIR_VALUES and not beside.isdisjoint(PAIR_NAMES))


class EntrySchemas:
    """The schemas of one catalog. Safe to share: schemas keep nothing about what they dump."""

    def __init__(self, catalog: Catalog) -> None:
        self.catalog = catalog
        self._instances: dict[str, Schema] = {}

    @cached_property
    def classes(self) -> Mapping[str, type[Component]]:
        """By slug."""
        return {kind["slug"]: self._made(kind) for kind in self.catalog.types}

    def of(self, slug: str) -> Schema:
        """KeyError for a slug that is none."""
        found = self._instances.get(slug)
        if found is None:
            found = self._instances[slug] = self.classes[slug]()
        return found

    def _made(self, kind: Kind) -> type[Component]:
        name = self.catalog.names[kind["slug"]]
        declared = {options["name"]: self._field(name, options) for options in kind["fields"]}
        own = {name: _own(name, type_) for name, type_ in OWN_FIELDS.items() if name not in declared}
        return _schema(name, {"id": own.pop("id"), **declared, **own}, title=kind["name"])

    def _field(self, type_name: str, options: Mapping[str, Any], *, masked: bool = False) -> Field[Any]:
        name, type_ = options["name"], options["type"]
        masked = masked or is_masked(name)
        relation = options.get("relationType", "many-to-one") if type_ == "relation" else ""
        metadata = {"x-field-type": type_}
        told = _TOLD.get(relation or type_)
        if relation:
            metadata |= {"x-relation": relation, "x-related": self.catalog.target(options)}
        nullable = not options.get("required") or masked or type_ == "relation"
        common: dict[str, Any] = {
            "required": relation != COMPUTED, "allow_none": nullable and relation not in TO_MANY,
            "metadata": {**metadata, **({"description": told} if told else {})},
        }  # fmt: skip
        if relation and masked:
            return fields.List(fields.Raw(), **common) if relation in TO_MANY else fields.Raw(**common)
        if relation:
            return self._relation(options, relation, common)
        if type_ == "array":
            return fields.List(fields.Nested(lambda: self._rows[row_name(type_name, name)]), **common)
        if masked and type_ in ("datetime", "mixed"):
            return Text(**common) if type_ == "datetime" else fields.Raw(**common)
        return _FIELDS[type_](options, common)

    def _relation(self, options: Mapping[str, Any], relation: str, common: Mapping[str, Any]) -> Field[Any]:
        related = self.catalog.target(options)
        name, schema = self.catalog.names[related], lambda: self.of(related)
        if relation in TO_MANY:
            return fields.List(OrText(name, schema), **common)
        return OrText(name, schema, **common)

    @cached_property
    def _rows(self) -> Mapping[str, Schema]:
        """Of the rows of arrays, by component name."""
        found = {}
        for kind in self.catalog.types:
            for options in kind["fields"]:
                items = options.get("arrayFields", ())
                name = row_name(self.catalog.names[kind["slug"]], options["name"])
                if options["type"] == "array":
                    made = {item["name"]: self._field(name, item, masked=is_masked_in(item["name"], options)) for item in items}
                    found[name] = _schema(name, made)()
        return found


def _schema(name: str, declared: Mapping[str, Field[Any]], title: str | None = None) -> type[Component]:
    meta = type("Meta", (Component.Meta,), {"component": name, **({"title": title} if title else {})})
    return type(name, (Component,), {**declared, "Meta": meta})


def _own(name: str, type_: str) -> Field[Any]:
    common: dict[str, Any] = {"required": True, "allow_none": name not in ALWAYS_THERE, "metadata": {}}
    if name == "status":
        return Text(validate=validate.OneOf(STATUSES), **common)
    return Moment(**common) if type_ == "datetime" else Text(**common)


def _string(_options: Mapping[str, Any], common: Mapping[str, Any]) -> Field[Any]:
    return Text(validate=validate.Length(max=MAX_STRING), **common)


def _media(_options: Mapping[str, Any], common: Mapping[str, Any]) -> Field[Any]:
    return OrText("Media", _media_schema, **common)


@cache
def _media_schema() -> Schema:
    return MediaSchema()


_FIELDS: Mapping[str, Callable[[Mapping[str, Any], Mapping[str, Any]], Field[Any]]] = {
    "string": _string,
    "uid": _string,
    "text": lambda _, common: Text(**common),
    "richtext": lambda _, common: Text(**common),
    "number": lambda options, common: Number(**common) if options.get("subtype") == "float" else Whole(**common),
    "boolean": lambda _, common: Truth(**common),
    "datetime": lambda _, common: Moment(**common),
    "media": _media,
    "media-gallery": lambda _, common: fields.List(OrText("Media", _media_schema), **common),
    "mixed": lambda _, common: Mixed(**common),
    "navigation": lambda _, common: fields.List(fields.Nested(NavigationItemSchema), **common),
}


@lru_cache(maxsize=2)
def schemas_of(catalog: Catalog) -> EntrySchemas:
    return EntrySchemas(catalog)
