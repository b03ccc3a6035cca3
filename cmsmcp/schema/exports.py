"""The formats in which the types can be had, by name. What makes each is imported when it is asked for."""

from __future__ import annotations

import json

from cmsmcp.protocol.linebreaks import escape_line_breaks
from cmsmcp.schema.catalog import Catalog

FORMATS = ("json-schema", "typescript", "openapi", "graphql-sdl")


def export(catalog: Catalog, format_: str, slug: str | None, release: str, *, server: str = "/", indent: bool = True) -> str:
    """One of FORMATS, of all types or of one (and what it leads to), ending in a line break. InvalidArguments for a type that is none.

    OpenAPI alone names the `server` that `/api` stands behind.
    """
    # Outside of strings none of the four has such a line break, and inside each reads the escape.
    return escape_line_breaks(_exported(catalog, format_, slug, release, server=server, indent=indent).encode()).decode()


def _exported(catalog: Catalog, format_: str, slug: str | None, release: str, *, server: str, indent: bool) -> str:
    if format_ == "typescript":
        from cmsmcp.schema.typescript import typescript

        return typescript(catalog, slug)
    if format_ == "graphql-sdl":
        from cmsmcp.schema.graphql import graphql_sdl

        return graphql_sdl(catalog, slug)
    if format_ == "openapi":
        from cmsmcp.schema.openapi import openapi

        return _written(openapi(catalog, release, slug, server), indent)
    from cmsmcp.schema.json_schema import json_schema

    return _written(json_schema(catalog, slug), indent)


def _written(document: object, indent: bool) -> str:
    separators = None if indent else (",", ":")
    return json.dumps(document, ensure_ascii=False, indent=2 if indent else None, separators=separators) + "\n"
