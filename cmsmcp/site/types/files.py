"""One content type file, `content/types/<slug>.yaml`, into a `ContentType`, with every fault in it.

Must not know the other types: names that clash and relations to nowhere are `registry`'s to find.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID, uuid5

from cmsmcp.site.model import ERROR, WARNING, Diagnostic
from cmsmcp.site.times import read_moment
from cmsmcp.site.types.fields import ARRAY_TYPES, RELATIONS, TYPES, Field, plain_key_order
from cmsmcp.site.yaml.loader import Node, Sequence, YamlFault, boolean, core_value, is_null, load, map_list, mapping, text, text_list

SLUG = re.compile(r"[a-z][a-z0-9-]*\Z")
NAME = re.compile(r"[a-z][a-z0-9_]*\Z")
RESERVED_SLUGS = frozenset({"authors", "search", "locales", "navigation", "content-types", "openapi.json"})
RESERVED_TABLES = frozenset(
    {"config", "types", "images", "videos", "audio", "documents", "uploads", "assets", "archetypes", "authors"}
)
RESERVED_FIELDS = frozenset({"id", "status", "published_at", "created_at", "updated_at", "published_data", "localized"})
_SQL = """
all analyse analyze and any array as asc asymmetric authorization binary both case cast check collate collation column concurrently
constraint create cross current_catalog current_date current_role current_schema current_time current_timestamp current_user default
deferrable desc distinct do else end except false fetch for foreign freeze from full grant group having ilike in initially inner
intersect into is isnull join lateral leading left like limit localtime localtimestamp natural not notnull null offset on only or order
outer overlaps placing primary references returning right select session_user similar some symmetric system_user table tablesample then
to trailing true union unique user using variadic verbose when where window with
"""
SQL_WORDS = frozenset(_SQL.split())
BUILT_IN = ("page", "post")
WIDTHS = ("full", "two-thirds", "half", "third")
MEDIA_KINDS = frozenset({"image", "video", "audio", "document"})
MAX_BYTES = 256 * 1024
MAX_NODES = 5_000
MAX_FIELDS = 200
# A type without `id` gets the same one on every machine. Times are never taken from the file: a clone would change them.
_IDS = UUID("6f3a54c0-51f0-5f0e-9c1f-0d5c6c0c7a11")
_KEYS = ("id", "name", "slug", "kind", "previewEnabled", "tableName", "fields", "isDefault", "createdAt", "updatedAt")
_TEXT_OPTIONS = frozenset({"relationType", "relatedTable", "relatedSlug", "relatedField", "targetField", "subtype", "width"})
_OPTIONS = {
    "uid": {"targetField"}, "number": {"subtype"}, "media": {"allowedTypes"}, "media-gallery": {"allowedTypes"},
    "relation": {"relationType", "relatedTable", "relatedSlug", "relatedField"}, "array": {"arrayFields"},
}
_CHOICES = {"width": WIDTHS, "subtype": ("integer", "float"), "relationType": tuple(sorted(RELATIONS))}


@dataclass(frozen=True, slots=True)
class ContentType:
    """`folder` holds its entries, relative to the site; `body_field` is its first richtext field, which the Markdown body fills.

    `persisted` is Plank's object, keys in Plank's order. `path` and `lines` (by key, `fields.<name>` for a field) say where it is
    declared; "" and empty for a built-in one.
    """

    slug: str
    name: str
    kind: str
    table: str
    folder: str
    fields: tuple[Field, ...]
    persisted: Mapping[str, Any]
    path: str = ""
    lines: Mapping[str, int] = field(default_factory=dict)

    @property
    def body_field(self) -> str | None:
        return next((field.name for field in self.fields if field.type == "richtext"), None)

    @property
    def single(self) -> bool:
        return self.kind == "single"


def _lines(entries: Mapping[str, Node], persisted: Iterable[Mapping[str, Any]]) -> dict[str, int]:
    fields = entries.get("fields")
    items = fields.items if isinstance(fields, Sequence) else [fields] if fields is not None else []
    lines = {key: node.line for key, node in entries.items()}
    return lines | {f"fields.{options['name']}": item.line for options, item in zip(persisted, items, strict=False)}


def type_id(slug: str) -> str:
    """The UUID of a type that gives none: the same wherever the slug is the same."""
    return str(uuid5(_IDS, slug))


class TypeReader:
    """Reads one file. `faults` hold what was found; with an error among them there is no type."""

    def __init__(self, path: str, slug: str) -> None:
        self.path = path
        self.slug = slug
        self.faults: list[Diagnostic] = []

    def read(self, source: str, folder: str, default_table: str) -> ContentType | None:
        """`folder` is the content folder with a `{table}` in it; `default_table` stands where the file names no `tableName`."""
        try:
            node = load(source, self.path, max_nodes=MAX_NODES)
            entries = mapping(node)
            values = self.head(entries, default_table)
            fields, persisted = self.fields(entries.get("fields"))
        except YamlFault as fault:
            self.faults.extend(Diagnostic(ERROR, "content_type", self.path, each.message, each.line) for each in fault.all)
            return None
        for key in entries.keys() - set(_KEYS):
            self.note(f"`{key}` is not a key of a content type and is left out", entries[key], WARNING)
        if any(fault.severity == ERROR for fault in self.faults):
            return None
        values["fields"] = persisted
        table = values["tableName"]
        return ContentType(
            self.slug, values["name"], values["kind"], table, folder.format(table=table), fields,
            {key: values[key] for key in _KEYS if key in values}, self.path, _lines(entries, persisted),
        )

    def head(self, entries: Mapping[str, Node], default_table: str) -> dict[str, Any]:
        given = {key: node for key, node in entries.items() if not is_null(node)}
        words = {key: text(given[key], key).strip() for key in ("id", "name", "slug", "kind", "tableName") if key in given}
        values: dict[str, Any] = {
            "id": words.get("id") or type_id(self.slug), "name": words.get("name") or self.slug.replace("-", " ").title(),
            "slug": self.slug, "kind": words.get("kind") or "collection", "tableName": words.get("tableName") or default_table,
        }
        for key in ("previewEnabled", "isDefault"):
            values[key] = boolean(given[key], key) if key in given else key == "previewEnabled" or self.slug in BUILT_IN
        for key in ("createdAt", "updatedAt"):
            if key in given:
                values[key] = self.time(given[key], key)
        self.require(words.get("slug", self.slug) == self.slug, "`slug` must be the file's name without .yaml", given.get("slug"))
        self.require(bool(SLUG.match(self.slug)), "the file's name is the slug: small letters, digits and `-`, a letter first", None)
        self.require(self.slug not in RESERVED_SLUGS, f"the slug {self.slug} is reserved; choose another name", None)
        self.require(values["kind"] in ("collection", "single"), "`kind` must be collection or single", given.get("kind"))
        self.require(_is_uuid(values["id"]), "`id` must be a UUID; leave it out to get one", given.get("id"))
        table, node = values["tableName"], given.get("tableName")
        self.require(bool(NAME.match(table)), "`tableName` takes small letters, digits and `_`, a letter first", node)
        self.require(table not in RESERVED_TABLES | SQL_WORDS, f"the table name {table} is reserved; choose another `tableName`", node)
        return values

    def fields(self, node: Node | None) -> tuple[tuple[Field, ...], list[dict[str, Any]]]:
        if node is None:
            return (), []
        items = map_list(node, "fields", self.warn)
        if len(items) > MAX_FIELDS:
            raise YamlFault(f"a type has at most {MAX_FIELDS} fields", node.file, node.line, "fields")
        found: list[tuple[Field, Node]] = []
        persisted, seen = [], set()
        for item in items:
            options = self.options(item, TYPES)
            if options is None:
                continue
            self.require(options["name"] not in seen, f"the field {options['name']} is declared twice", item)
            seen.add(options["name"])
            persisted.append(options)
            found.append((_field(options), item))
        for declared, item in found:
            if declared.target:
                self.require(declared.target in seen, f"`targetField` of {declared.name} names no field of this type", item)
        return tuple(field for field, _ in found), persisted

    def options(self, node: Node, types: Iterable[str]) -> dict[str, Any] | None:
        """A field's persisted object; None, with faults noted, when its name or type cannot stand."""
        entries = {key: value for key, value in mapping(node, "fields").items() if not is_null(value)}
        name, kind = (text(entries[key], key).strip() if key in entries else "" for key in ("name", "type"))
        where = entries.get("name", node)
        if not NAME.match(name) or name in SQL_WORDS or name in RESERVED_FIELDS:
            self.note(f"the field name {name or '(none)'} is reserved or malformed; use small letters, digits and `_`", where)
            return None
        if kind not in types:
            known_types = ", ".join(sorted(types))
            self.note(f"the field {name} has the unknown type {kind or '(none)'}; known: {known_types}", entries.get("type", node))
            return None
        options: dict[str, Any] = {"name": name, "type": kind}
        known = {"name", "type", "required", "width"} | _OPTIONS.get(kind, set())
        for key, value in entries.items():
            if key not in known:
                self.note(f"the field {name} has the unknown option `{key}`, which is left out", value, WARNING)
            elif key not in options:
                options[key] = self.option(name, key, value)
        if kind == "array":
            options["arrayFields"] = options.get("arrayFields") or []
            self.require(bool(options["arrayFields"]), f"the field {name} is an array without `arrayFields`", node)
        return plain_key_order(options)

    def option(self, name: str, key: str, node: Node) -> Any:
        if key == "required":
            return boolean(node, key)
        if key == "allowedTypes":
            kinds = text_list(node, f"{name}.{key}", self.warn)
            self.require(set(kinds) <= MEDIA_KINDS, f"`allowedTypes` of {name} takes {', '.join(sorted(MEDIA_KINDS))}", node)
            return kinds
        if key == "arrayFields":
            items = map_list(node, f"{name}.{key}", self.warn)
            return [options for item in items[:MAX_FIELDS] if (options := self.options(item, ARRAY_TYPES)) is not None]
        if key in _TEXT_OPTIONS:
            value = text(node, key).strip()
            choices = _CHOICES.get(key)
            self.require(choices is None or value in choices, f"`{key}` of {name} must be one of {', '.join(choices or ())}", node)
            return value
        return core_value(node)

    def time(self, node: Node, key: str) -> str:
        moment = read_moment(text(node, key))
        if moment is None:
            raise YamlFault(f"`{key}` is wanted as a time such as 2026-05-23T00:00:00.000Z", node.file, node.line, key)
        return moment.iso if "T" in moment.iso else f"{moment.iso}T00:00:00.000Z"

    def require(self, right: bool, message: str, node: Node | None) -> None:
        if not right:
            self.note(message, node)

    def warn(self, node: Node, message: str) -> None:
        self.note(message, node, WARNING)

    def note(self, message: str, node: Node | None, severity: str = ERROR) -> None:
        self.faults.append(Diagnostic(severity, "content_type", self.path, message, node.line if node is not None else 1))


def _field(options: Mapping[str, Any]) -> Field:
    return Field(
        name=options["name"], type=options["type"], required=options.get("required", False), subtype=options.get("subtype", "integer"),
        target=options.get("targetField", ""), related=options.get("relatedSlug", ""), related_table=options.get("relatedTable", ""),
        related_field=options.get("relatedField", ""),
        relation=options.get("relationType", "many-to-one") if options["type"] == "relation" else "",
        items=tuple(_field(item) for item in options.get("arrayFields", ())),
    )


def _is_uuid(value: str) -> bool:
    try:
        return str(UUID(value)) == value.lower()
    except ValueError:
        return False
