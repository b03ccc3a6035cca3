"""What changed between two exported schemas, and whether it breaks those who read entries: a program that was right about every entry
of the old schema must be right about every entry of the new one.

Compares JSON Schema as this room writes it, from a JSON Schema or an OpenAPI document. Knows no files.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from cmsmcp.schema.derived import REF
from cmsmcp.schema.json_schema import DEFINITIONS

_ALIKE = frozenset({"string", "text", "uid"})
"""Field types whose values are plain text, one as good as another to readers."""
_ONE = frozenset({"many-to-one", "one-to-one"})
_MANY = frozenset({"many-to-many", "one-to-many"})


class NoSchema(ValueError):
    """The document is none of ours; the message says what was looked for."""


@dataclass(frozen=True, slots=True)
class Change:
    """`where` is a type, or a type and a path of fields: `event.programme.at`."""

    where: str
    what: str
    breaking: bool


def changes(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[Change]:
    """What breaks first, else in the order of the types and their fields. Raises NoSchema."""
    try:
        before, after = _Document(old), _Document(new)
        found = [*_locale_changes(before, after), *_type_changes(before, after)]
    except (AttributeError, TypeError) as fault:
        raise NoSchema("it is not as cmsmcp schema export writes it") from fault
    return sorted(found, key=lambda change: not change.breaking)


class _Document:
    def __init__(self, document: Mapping[str, Any]) -> None:
        described = document.get("$defs")
        if described is None and isinstance(document.get("components"), Mapping):
            described = document["components"].get("schemas")
        if not isinstance(described, Mapping) or not all(isinstance(one, Mapping) for one in described.values()):
            raise NoSchema("it has neither $defs nor components.schemas")
        self.components: Mapping[str, Any] = described
        self.types = {str(one["x-content-type"]): one for one in described.values() if "x-content-type" in one}
        if not self.types:
            raise NoSchema("none of its schemas has x-content-type; take one that cmsmcp schema export wrote")
        info = document.get("info")
        told = info if "x-locales" not in document and isinstance(info, Mapping) else document
        self.locales = list(told.get("x-locales", ()))
        self.default_locale = told.get("x-default-locale")

    def resolved(self, schema: Mapping[str, Any]) -> Mapping[str, Any]:
        reference = schema.get("$ref")
        if not isinstance(reference, str):
            return schema
        name = reference.removeprefix(REF).removeprefix(DEFINITIONS)
        if not isinstance(self.components.get(name), Mapping):
            raise NoSchema(f"it refers to {reference[:80]}, which is not in it")
        found: Mapping[str, Any] = self.components[name]
        return found


def _locale_changes(before: _Document, after: _Document) -> Iterator[Change]:
    for code in before.locales:
        if code not in after.locales:
            yield Change("locales", f"{code} is gone", True)
    for code in after.locales:
        if code not in before.locales:
            yield Change("locales", f"{code} is new", False)
    if before.default_locale != after.default_locale:
        yield Change("locales", f"the default was {before.default_locale} and is {after.default_locale}", True)


def _type_changes(before: _Document, after: _Document) -> Iterator[Change]:
    for slug, old in before.types.items():
        new = after.types.get(slug)
        if new is None:
            yield Change(slug, "the type is gone", True)
            continue
        if old.get("x-kind") != new.get("x-kind"):
            yield Change(slug, f"was a {old.get('x-kind')} and is a {new.get('x-kind')}", True)
        yield from _Comparing(before, after).fields(slug, old, new)
    for slug in after.types:
        if slug not in before.types:
            yield Change(slug, "the type is new", False)


@dataclass(frozen=True, slots=True)
class _Comparing:
    before: _Document
    after: _Document

    def fields(self, where: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[Change]:
        had, has = old.get("properties", {}), new.get("properties", {})
        always_had, always_has = set(old.get("required", ())), set(new.get("required", ()))
        for name, declared in had.items():
            place = f"{where}.{name}"
            if name not in has:
                yield Change(place, "the field is gone", True)
                continue
            if name in always_had and name not in always_has:
                yield Change(place, "may be left out now", True)
            elif name in always_has and name not in always_had:
                yield Change(place, "is always there now", False)
            yield from self.field(place, declared, has[name])
        for name in has:
            if name not in had:
                yield Change(f"{where}.{name}", "the field is new", False)

    def field(self, where: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[Change]:
        was, is_ = old.get("x-field-type"), new.get("x-field-type")
        if was != is_:
            alike = was in _ALIKE and is_ in _ALIKE
            yield Change(where, f"was {was or 'no declared field'} and is {is_ or 'no declared field'}", not alike)
            if not alike:
                return
        yield from _relation_changes(where, old, new)
        if _alike(old, new):
            yield from self.values(where, old, new)

    def values(self, where: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[Change]:
        had, has = _kinds(old), _kinds(new)
        if "null" in has - had:
            yield Change(where, "may be null now", True)
        elif "null" in had - has:
            yield Change(where, "is never null now", False)
        wider, narrower = has - had - {"null"}, had - has - {"null"}
        if wider == {"integer"} and narrower == {"number"}:
            yield Change(where, "was any number and is a whole one", False)
        elif wider:
            yield Change(where, f"was {_listed(had - {'null'})} and is {_listed(has - {'null'})}", True)
        elif narrower:
            yield Change(where, f"is no {_listed(narrower)} any more", False)
        yield from _choice_changes(where, old, new)
        yield from _length_changes(where, old, new)
        if isinstance(old.get("items"), Mapping) and isinstance(new.get("items"), Mapping):
            yield from self.rows(where, old["items"], new["items"])

    def rows(self, where: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[Change]:
        """What a list holds: rows of fields, or values. A list of entries or media is told by its field type and target."""
        old, new = self.before.resolved(old), self.after.resolved(new)
        if "properties" in old and "properties" in new and "x-content-type" not in old:
            if old.get("title") != "An item of a menu":
                yield from self.fields(where, old, new)
        else:
            yield from self.values(f"{where}[]", old, new)


def _kinds(schema: Mapping[str, Any]) -> set[str]:
    """The JSON types of its values; a reference is an object."""
    if "$ref" in schema:
        return {"object"}
    parts = [*schema.get("anyOf", ()), *schema.get("oneOf", ())]
    if parts:
        return {kind for part in parts for kind in _kinds(part)}
    names = schema.get("type", ())
    return {names} if isinstance(names, str) else set(names)


def _relation_changes(where: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[Change]:
    if old.get("x-related") != new.get("x-related"):
        yield Change(where, f"led to {old.get('x-related')} and leads to {new.get('x-related')}", True)
    was, is_ = old.get("x-relation"), new.get("x-relation")
    if was != is_:
        yield Change(where, f"was {was} and is {is_}", not _alike(old, new))


def _alike(old: Mapping[str, Any], new: Mapping[str, Any]) -> bool:
    """Both to one entry, both to many, or neither a relation."""
    kinds = {old.get("x-relation"), new.get("x-relation")}
    return kinds <= _ONE or kinds <= _MANY or kinds == {None}


def _choice_changes(where: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[Change]:
    had, has = old.get("enum"), new.get("enum")
    if had is None and has is None:
        return
    if has is None:
        yield Change(where, "may have any value now", True)
    elif had is None:
        yield Change(where, f"is one of {_listed(has)} now", False)
    else:
        fresh, lost = [one for one in has if one not in had], [one for one in had if one not in has]
        if fresh:
            yield Change(where, f"may be {_listed(fresh)} too", True)
        if lost:
            yield Change(where, f"is never {_listed(lost)} any more", False)


def _length_changes(where: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[Change]:
    """A longer text breaks nobody who does not cut it off: told, not counted."""
    had, has = old.get("maxLength"), new.get("maxLength")
    if had != has:
        yield Change(where, f"has at most {has} characters now" if has else f"may have more than {had} characters now", False)


def _listed(values: Any) -> str:
    return " or ".join(sorted(map(str, values))) or "nothing"
