"""Names of types in generated code: one for each slug, no two alike, the same whatever other types there are.

`sky-object` is `SkyObject`. A name of ours, or of a language it is written into, is left to its owner.
"""

from __future__ import annotations

from collections.abc import Iterable

OURS = frozenset({"Entries", "Locale", "Media", "MixedValue", "Moment", "NavigationItem", "Problem"})
THEIRS = frozenset({
    "Array", "Boolean", "Date", "Float", "Function", "ID", "Int", "Map", "Mutation", "Number", "Object", "Partial", "Promise", "Query",
    "Record", "Set", "String", "Subscription", "Symbol",
})  # fmt: skip


def name_of(slug: str) -> str:
    """Another slug has another name: a capital or `_` stands where a `-` stood, and only there."""
    first, *rest = slug.split("-")
    return first.capitalize() + "".join(part.capitalize() if part[:1].isalpha() else f"_{part}" for part in rest)


def names_of(slugs: Iterable[str]) -> dict[str, str]:
    """By slug. A reserved name gets `Type` behind it, until no other slug has it."""
    names = {slug: name_of(slug) for slug in slugs}
    taken = set(names.values()) | OURS | THEIRS
    for slug in [slug for slug, name in names.items() if name in OURS | THEIRS]:
        while names[slug] in taken:
            names[slug] += "Type"
        taken.add(names[slug])
    return names


def row_name(type_name: str, field: str) -> str:
    """Of the rows of an array. No type has it: after a type's `_` comes no small letter."""
    return f"{type_name}_{field}"


def query_name(type_name: str) -> str:
    """Of a field that gives entries of the type."""
    return type_name[0].lower() + type_name[1:]
