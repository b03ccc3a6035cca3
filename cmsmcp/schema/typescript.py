"""The types as TypeScript: an interface for each, for `strict` and for declaration files. Printed from their JSON Schema."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from cmsmcp.schema.catalog import Catalog
from cmsmcp.schema.derived import REF, components
from cmsmcp.schema.json_schema import reachable

_TYPES = {"string": "string", "integer": "number", "number": "number", "boolean": "boolean", "null": "null"}
_FORMATS = {"richtext": "Markdown, or HTML with format=html", "datetime": "ISO 8601: a date, or a time in UTC"}


def typescript(catalog: Catalog, slug: str | None = None) -> str:
    """An ES module. InvalidArguments for a type that is none."""
    kinds = catalog.chosen(slug)
    every = components(catalog)
    kept = reachable(every, [catalog.names[kind["slug"]] for kind in kinds])
    parts = [f"// Entries of the content types. Schema {catalog.digest}\n"]
    parts += ["".join(_interface(name, every[name])) for name in every if name in kept]
    types = "".join(f"  {json.dumps(kind['slug'])}: {catalog.names[kind['slug']]};\n" for kind in kinds)
    parts.append(f"/** Entries by the slug of their type. */\nexport interface Entries {{\n{types}}}\n")
    locales = " | ".join(json.dumps(code, ensure_ascii=False) for code in catalog.locales)
    parts.append(f"export type Locale = {locales};\n")
    return "\n".join(parts)


def _interface(name: str, schema: Mapping[str, Any]) -> Iterator[str]:
    if "title" in schema:
        yield _comment(str(schema["title"]), "")
    yield f"export interface {name} {{\n"
    required = set(schema.get("required", ()))
    for field, declared in schema["properties"].items():
        told = _FORMATS.get(declared.get("x-field-type", ""))
        if told:
            yield _comment(told, "  ")
        yield f"  {field}{'' if field in required else '?'}: {_written(declared)};\n"
    yield "}\n"


def _comment(text: str, indent: str) -> str:
    """`*/` in a name would end the comment, and a line break would leave it."""
    return f"{indent}/** {' '.join(text.replace('*/', '* /').split())} */\n"


def _written(schema: Mapping[str, Any]) -> str:
    if "$ref" in schema:
        return str(schema["$ref"]).removeprefix(REF)
    if "enum" in schema:
        return " | ".join(json.dumps(value, ensure_ascii=False) for value in schema["enum"])
    for union in ("anyOf", "oneOf"):
        if union in schema:
            return " | ".join(dict.fromkeys(_written(one) for one in schema[union]))
    names = schema.get("type", ())
    found = [_of_type(one, schema) for one in ([names] if isinstance(names, str) else names)]
    return " | ".join(found) or "unknown"


def _of_type(name: str, schema: Mapping[str, Any]) -> str:
    if name == "array":
        inner = _written(schema["items"])
        return f"({inner})[]" if " | " in inner else f"{inner}[]"
    if name == "object":
        return "{ " + "; ".join(f"{key}: {_written(value)}" for key, value in schema["properties"].items()) + " }"
    return _TYPES[name]
