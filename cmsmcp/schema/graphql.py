"""The types as GraphQL SDL: object types, and the queries a gateway in front of `/api` would answer."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from cmsmcp.core.entries import OWN_FIELDS
from cmsmcp.schema.catalog import Catalog, Kind
from cmsmcp.schema.entries import ALWAYS_THERE, TO_MANY, is_masked, is_masked_in
from cmsmcp.schema.names import query_name, row_name

_SCALARS = {
    "string": "String", "text": "String", "richtext": "String", "uid": "String", "boolean": "Boolean", "datetime": "Moment",
    "media": "Media", "mixed": "MixedValue",
}  # fmt: skip
_HEAD = '''# Entries of the content types. Schema {digest}

"""ISO 8601: a date, or a time in UTC with milliseconds."""
scalar Moment

"""What is known of a media file, or the reference as written."""
scalar Media

"""{{kind, value}}: a string, a number or a boolean."""
scalar MixedValue

type NavigationItem {{
  label: String!
  href: String!
  items: [NavigationItem!]
}}
'''


def graphql_sdl(catalog: Catalog, slug: str | None = None) -> str:
    """Of every type, or of the one named and those its relations lead to. InvalidArguments for a type that is none."""
    kinds = _with_related(catalog, slug)
    parts = [_HEAD.format(digest=catalog.digest)]
    for kind in kinds:
        parts += _types(catalog, kind)
    queries = "".join(line for kind in catalog.chosen(slug) for line in _queries(catalog, kind))
    return "\n".join([*parts, f"type Query {{\n{queries}}}\n"])


def _with_related(catalog: Catalog, slug: str | None) -> list[Kind]:
    found = {kind["slug"]: kind for kind in catalog.chosen(slug)}
    ahead = list(found.values())
    while ahead:
        for options in ahead.pop()["fields"]:
            target = catalog.target(options) if options["type"] == "relation" else ""
            if target and target not in found:
                found[target] = catalog.by_slug[target]
                ahead.append(found[target])
    return [kind for kind in catalog.types if kind["slug"] in found]


def _types(catalog: Catalog, kind: Kind) -> Iterator[str]:
    name = catalog.names[kind["slug"]]
    declared = {options["name"]: _field(catalog, name, options) for options in kind["fields"]}
    own = {
        field: ("Moment" if type_ == "datetime" else "String") + ("!" if field in ALWAYS_THERE else "")
        for field, type_ in OWN_FIELDS.items() if field not in declared
    }  # fmt: skip
    yield _type(name, {"id": "ID!", **declared, **{field: type_ for field, type_ in own.items() if field != "id"}}, str(kind["name"]))
    for options in kind["fields"]:
        if options["type"] == "array":
            rows = {one["name"]: _field(catalog, name, one, masked=is_masked_in(one["name"], options)) for one in options["arrayFields"]}
            yield _type(row_name(name, options["name"]), rows)


def _type(name: str, fields: Mapping[str, str], title: str = "") -> str:
    told = f"{json.dumps(title, ensure_ascii=False)}\n" if title else ""
    return f"{told}type {name} {{\n" + "".join(f"  {field}: {type_}\n" for field, type_ in fields.items()) + "}\n"


def _field(catalog: Catalog, type_name: str, options: Mapping[str, Any], *, masked: bool = False) -> str:
    masked = masked or is_masked(options["name"])
    kind, mark = options["type"], "!" if options.get("required") and not masked else ""
    if kind == "relation":
        target = catalog.names[catalog.target(options)]
        return f"[{target}!]!" if options.get("relationType") in TO_MANY else target
    if kind == "number":
        return ("Float" if options.get("subtype") == "float" else "Int") + mark
    lists = {"media-gallery": "[Media!]", "navigation": "[NavigationItem!]", "array": f"[{row_name(type_name, options['name'])}!]"}
    return lists.get(kind, _SCALARS.get(kind, "")) + mark


def _queries(catalog: Catalog, kind: Kind) -> Iterator[str]:
    name = catalog.names[kind["slug"]]
    if kind["kind"] == "single":
        yield f"  {query_name(name)}(locale: String): {name}\n"
        return
    yield f"  {query_name(name)}(ref: ID!, locale: String): {name}\n"
    yield f"  {query_name(name)}_list(locale: String, page: Int, limit: Int, sort: [String!]): [{name}!]!\n"
