"""The content types and locales of a site at one moment: what everything in this room is made from."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from typing import Any

from cmsmcp.core.ports import ContentTypes
from cmsmcp.protocol.errors import InvalidArguments
from cmsmcp.schema.names import names_of

Kind = Mapping[str, Any]
_TOLD = ("name", "type", "required", "subtype", "relationType", "relatedSlug", "relatedField", "allowedTypes")
"""Options of a field that readers can tell; its width, say, is the editor's."""
_DEFAULTS = {"subtype": "integer", "relationType": "many-to-one"}


@dataclass(frozen=True, eq=False)
class Catalog:
    """`types` are Plank's objects, sorted by slug. Equal only to itself, so that it can name what was derived from it."""

    types: tuple[Kind, ...]
    default_locale: str
    locales: tuple[str, ...]

    @cached_property
    def by_slug(self) -> Mapping[str, Kind]:
        return {kind["slug"]: kind for kind in self.types}

    @cached_property
    def names(self) -> Mapping[str, str]:
        """The name in generated code, by slug."""
        return names_of(self.by_slug)

    @cached_property
    def digest(self) -> str:
        """64 hexadecimal digits: the same wherever readers get the same fields and locales, whatever else changed about the types."""
        told = {
            "types": [
                {"slug": kind["slug"], "name": kind["name"], "kind": kind["kind"], "fields": [self._told(one) for one in kind["fields"]]}
                for kind in self.types
            ],
            "locales": sorted(self.locales), "default": self.default_locale,
        }  # fmt: skip
        return sha256(json.dumps(told, ensure_ascii=False, sort_keys=True).encode()).hexdigest()

    def target(self, options: Mapping[str, Any]) -> str:
        """The slug of the type that a relation leads to."""
        return str(options.get("relatedSlug") or self._by_table[options["relatedTable"]])

    def chosen(self, slug: str | None) -> tuple[Kind, ...]:
        """All types, or the one named. InvalidArguments says which there are."""
        if slug is None:
            return self.types
        if slug not in self.by_slug:
            raise InvalidArguments(f"No content type {slug[:40]!r}. Types: {', '.join(list(self.by_slug)[:50])}.", argument="type")
        return (self.by_slug[slug],)

    @cached_property
    def _by_table(self) -> Mapping[str, str]:
        return {kind["tableName"]: kind["slug"] for kind in self.types}

    def _told(self, options: Mapping[str, Any]) -> dict[str, Any]:
        """What is left out is what stands there by default, so that spelling it out changes nothing."""
        told = {key: value for key in _TOLD if (value := options.get(key)) and value != _DEFAULTS.get(key)}
        if options["type"] == "relation":
            told["relatedSlug"] = self.target(options)
        if "arrayFields" in options:
            told["arrayFields"] = [self._told(item) for item in options["arrayFields"]]
        return told


def catalog_of(types: ContentTypes) -> Catalog:
    """The same object as long as the types are: what is derived from it is derived once."""
    every: Sequence[Kind] = types.all()
    locales = types.locales()
    key = (tuple(map(id, every)), locales["defaultLocale"], tuple(locales["locales"]))
    held = _LAST.get(key)
    if held is None:
        held = Catalog(tuple(sorted(every, key=lambda kind: str(kind["slug"]))), locales["defaultLocale"], tuple(locales["locales"]))
        _LAST.clear()
        _LAST[key] = held
    return held


_LAST: dict[Any, Catalog] = {}
"""The types seen last. It holds the objects whose identities name it, so no other ones can take them."""
