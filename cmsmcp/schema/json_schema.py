"""The types as one JSON Schema document (2020-12), a definition for each: what a generator or a validator takes, and `diff` compares."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from cmsmcp.schema.catalog import Catalog
from cmsmcp.schema.derived import REF, components

DIALECT = "https://json-schema.org/draft/2020-12/schema"
DEFINITIONS = "#/$defs/"
TITLE = "Entries of the content types"


def json_schema(catalog: Catalog, slug: str | None = None) -> dict[str, Any]:
    """Of every type, or of the one named and what its entries are made of. A document is valid when it is an entry of one of them.

    InvalidArguments for a type that is none.
    """
    wanted = [catalog.names[kind["slug"]] for kind in catalog.chosen(slug)]
    every = components(catalog)
    kept = reachable(every, wanted)
    return {
        "$schema": DIALECT, "title": TITLE, "x-schema-hash": catalog.digest, "x-locales": list(catalog.locales),
        "x-default-locale": catalog.default_locale, "anyOf": [{"$ref": DEFINITIONS + name} for name in wanted],
        "$defs": {name: moved(every[name]) for name in every if name in kept},
    }  # fmt: skip


def reachable(every: Mapping[str, Any], wanted: list[str]) -> set[str]:
    """The components that these lead to, themselves included."""
    found, ahead = set(wanted), list(wanted)
    while ahead:
        for name in _named(every[ahead.pop()]):
            if name not in found:
                found.add(name)
                ahead.append(name)
    return found


def moved(schema: Any) -> Any:
    """The same with its references among definitions instead of components."""
    if isinstance(schema, Mapping):
        return {key: value.replace(REF, DEFINITIONS) if key == "$ref" else moved(value) for key, value in schema.items()}
    return [moved(one) for one in schema] if isinstance(schema, list) else schema


def _named(schema: Any) -> Iterator[str]:
    if isinstance(schema, Mapping):
        if isinstance(schema.get("$ref"), str):
            yield schema["$ref"].removeprefix(REF).partition("/")[0]
        for value in schema.values():
            yield from _named(value)
    elif isinstance(schema, list):
        for one in schema:
            yield from _named(one)
