"""Tool arguments that a client repeats in `Mcp-Param-*` headers, because the tool's schema marks them `x-mcp-header` (H-01, H-02, H-04).

Pure: schemas, arguments and headers in, a fault in one line out. Header values are untrusted; they are compared and never used.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from cmsmcp.protocol.headers import decode

MARK = "x-mcp-header"
PREFIX = "Mcp-Param-"
_TOKEN = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,64}")
_INTEGER = re.compile(r"(-?[0-9]{1,20})(?:\.0{1,20})?")
_DATA = frozenset({"enum", "const", "default", "examples"})


@dataclass(frozen=True, slots=True)
class Mirrored:
    """One marked property: `header` as it is sent, `path` of property names from the arguments down, JSON `type`."""

    header: str
    path: tuple[str, ...]
    type: str


def mirrored(schema: Mapping[str, Any]) -> tuple[Mirrored, ...]:
    """The marked properties of an input schema. ValueError when a mark stands where, or on what, it may not: clients drop such a tool."""
    found: list[Mirrored] = []
    for path, node in _nodes(schema, ()):
        if MARK not in node:
            continue
        name, kind = node[MARK], node.get("type")
        if not path:
            raise ValueError("a mark is reachable through properties only")
        if not isinstance(name, str) or not _TOKEN.fullmatch(name):
            raise ValueError("a mark is an HTTP token of at most 64 characters")
        if kind not in ("string", "integer", "boolean"):
            raise ValueError("a marked property is a string, an integer or a boolean")
        found.append(Mirrored(PREFIX + name, path, kind))
    if len({mark.header.lower() for mark in found}) != len(found):
        raise ValueError("two properties share one header")
    return tuple(found)


def fault(marks: tuple[Mirrored, ...], arguments: Mapping[str, Any], headers: Mapping[str, str]) -> str | None:
    """One line on the first header that is missing, malformed, superfluous or unlike its argument. `headers` have lower-case names."""
    for mark in marks:
        raw, value = headers.get(mark.header.lower()), _value(arguments, mark.path)
        where = "params.arguments." + ".".join(mark.path)
        if value is None:
            if raw is not None:
                return f"{mark.header} was sent, but {where} is absent."
        elif raw is None:
            return f"{mark.header} is missing: it must equal {where}."
        elif (text := decode(raw)) is None:
            return f"{mark.header} is malformed: send printable ASCII, or =?base64?…?= around the UTF-8 bytes."
        elif not _agrees(mark.type, text, value):
            return f"{mark.header} differs from {where}."
    return None


def _nodes(schema: Any, path: tuple[str, ...] | None) -> Iterator[tuple[tuple[str, ...], Mapping[str, Any]]]:
    """Every subschema, with the property names that lead to it; an empty path for the root and for what else than properties leads to."""
    if isinstance(schema, list):
        for entry in schema:
            yield from _nodes(entry, None)
    if not isinstance(schema, Mapping):
        return
    yield path or (), schema
    for key, below in schema.items():
        if key == "properties" and isinstance(below, Mapping):
            for name, entry in below.items():
                yield from _nodes(entry, None if path is None else (*path, name))
        elif key not in _DATA:
            yield from _nodes(below, None)


def _value(arguments: Mapping[str, Any], path: tuple[str, ...]) -> Any:
    value: Any = arguments
    for name in path:
        value = value.get(name) if isinstance(value, Mapping) else None
    return value


def _agrees(kind: str, text: str, value: Any) -> bool:
    """An argument of another type than the schema's agrees with anything: the schema refuses it in its own words."""
    if kind == "string":
        return text == value or not isinstance(value, str)
    if kind == "boolean":
        return text == str(value).lower() or not isinstance(value, bool)
    if isinstance(value, bool) or not isinstance(value, int):
        return True
    found = _INTEGER.fullmatch(text)
    return found is not None and int(found[1]) == value
