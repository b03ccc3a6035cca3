"""Rules for a theme's field contracts (docs/rules.md, Themes): each fault once, at the line it stands in."""

from __future__ import annotations

from collections.abc import Iterator

from cmsmcp.site.config.reader import ConfigReader
from cmsmcp.site.manifest import MAX_FIELD_DEPTH, Diagnostic, Manifest, diagnostic, rows, words
from cmsmcp.site.model import ERROR
from cmsmcp.site.themes.manifest import contract_scope
from cmsmcp.site.yaml.loader import Mapping

_OBJECTS = frozenset({"object"})
_REPEATERS = frozenset({"repeater", "list", "array"})


def check_contracts(manifest: Manifest) -> Iterator[Diagnostic]:
    seen: set[str] = set()
    for position, row in enumerate(rows(manifest.reader, "field_contracts")):
        key = words(row, "key")
        called = f"field contract {key!r}" if key else f"field contract {position + 1}"
        for message in _contract_faults(row, key, seen):
            yield diagnostic(ERROR, manifest.path, row.tree.line, f"{called} {message}")
        seen.add(key)
        for line, message in _field_faults(rows(row, "fields"), 0):
            yield diagnostic(ERROR, manifest.path, line, f"{called}: {message}")


def _contract_faults(row: ConfigReader, key: str, seen: set[str]) -> Iterator[str]:
    if not key:
        yield "has no key"
    elif key in seen:
        yield "has the key of an earlier one; keys must differ"
    scope = contract_scope(words(row, "target.scope"))
    if scope == "document":
        if not any(row.texts(f"target.{part}", ()) for part in ("types", "layouts", "slugs")):
            yield "has no target; name at least one of target.types, target.layouts, target.slugs"
    elif scope == "shared":
        if not words(row, "target.key"):
            yield "is shared but names no target.key"
    else:
        yield f"has the unknown target.scope {scope!r}; write document or shared"
    if not rows(row, "fields"):
        yield "has no fields"


def _field_faults(fields: list[ConfigReader], depth: int) -> Iterator[tuple[int, str]]:
    seen: set[str] = set()
    for field in fields:
        name, line = words(field, "name"), field.tree.line
        if not name:
            yield line, "a field has no name"
        elif name in seen:
            yield line, f"the field {name!r} is declared twice"
        seen.add(name)
        yield from _type_faults(field, name or "without a name", depth)


def _type_faults(field: ConfigReader, name: str, depth: int) -> Iterator[tuple[int, str]]:
    kind, line = words(field, "type").lower(), field.tree.line
    if not kind:
        yield line, f"the field {name!r} has no type"
    elif kind in _OBJECTS:
        below = rows(field, "fields")
        if not below:
            yield line, f"the object {name!r} has no fields"
        elif depth >= MAX_FIELD_DEPTH:
            yield line, f"the object {name!r} is nested more than {MAX_FIELD_DEPTH} deep"
        else:
            yield from _field_faults(below, depth + 1)
    elif kind in _REPEATERS:
        item = field.node("item")
        if not isinstance(item, Mapping):
            yield line, f"the repeater {name!r} has no item"
        elif depth < MAX_FIELD_DEPTH:
            yield from _field_faults([field.below(item, f"{field.prefix}item.")], depth + 1)
