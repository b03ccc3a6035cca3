"""`/api` of one site as an OpenAPI 3.1 document: exactly its types, their fields, parameters and replies.

Made from the catalog and from what the door itself reads parameters by, so that the two cannot part.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from apispec import APISpec

from cmsmcp.api.fields import Fields, fields_of
from cmsmcp.api.parameters import MAX_DEPTH
from cmsmcp.schema.answers import ANSWERS
from cmsmcp.schema.catalog import Catalog, Kind
from cmsmcp.schema.derived import REF, add_entries, new_spec, open_to_more
from cmsmcp.schema.examples import example
from cmsmcp.schema.json_schema import reachable
from cmsmcp.schema.names import query_name
from cmsmcp.schema.openapi_parameters import entry_parameters, filter_schemas, list_parameters, own_parameters, shared_parameters
from cmsmcp.schema.openapi_replies import headers, refusals, replies

PART = "{}.part"
LIST = "{}.list"
_ABOUT = (
    "Published entries of the content types, read-only. Every parameter that is not named here is refused. Times are ISO 8601 in UTC."
)
_BEARER = {"type": "http", "scheme": "bearer", "description": "A token of access read-only or full-access: cmsmcp tokens create."}

_ENTRY = {
    "name": "entry", "in": "path", "required": True, "schema": {"type": "string", "minLength": 1}, "example": "an-example",
    "description": "Slug or id; an id may hold slashes, encoded or not.",
}  # fmt: skip


def openapi(catalog: Catalog, release: str, slug: str | None = None, server: str = "/") -> dict[str, Any]:
    """Of every type, or of the one named. InvalidArguments for a type that is none.

    `release` is the server's version, `server` the URL that `/api` stands behind: absolute, or relative to where the file was read.
    """
    kinds = catalog.chosen(slug)
    info = {
        "description": _ABOUT, "x-schema-hash": catalog.digest, "x-locales": list(catalog.locales),
        "x-default-locale": catalog.default_locale,
    }  # fmt: skip
    spec = new_spec("Content API", release, info=info, servers=[{"url": server}], security=[{"bearer": []}])
    spec.components.security_scheme("bearer", _BEARER)
    add_entries(spec, catalog)
    _add_common(spec, catalog, [fields_of(kind, catalog.types) for kind in kinds])
    for kind in kinds:
        _add_type(spec, catalog, kind)
    _add_rest(spec, catalog)
    if slug is not None:
        _leave_out(spec, {catalog.names[kind["slug"]] for kind in catalog.types if kind["slug"] != slug})
    made = spec.to_dict()
    return {key: made[key] for key in ("openapi", "info", "servers", "security", "paths", "components")}


def _leave_out(spec: APISpec, others: set[str]) -> None:
    """What only other types are made of."""
    schemas = spec.components.schemas
    kept = reachable(schemas, [name for name in schemas if name not in others and "_" not in name])
    for name in [name for name in schemas if name not in kept]:
        del schemas[name]


def _add_common(spec: APISpec, catalog: Catalog, every: list[Fields]) -> None:
    for schema in ANSWERS:
        spec.components.schema(schema.Meta.component, schema=schema)
    open_to_more(spec)
    for name, parameter in shared_parameters(catalog.locales, catalog.default_locale).items():
        spec.components.parameters[name] = parameter
    for name, header in headers().items():
        spec.components.headers[name] = header
    for name, reply in refusals().items():
        spec.components.responses[name] = reply
    for name, declared in filter_schemas(every):
        spec.components.schemas[name] = declared


def _add_type(spec: APISpec, catalog: Catalog, kind: Kind) -> None:
    slug, name = kind["slug"], catalog.names[kind["slug"]]
    fields = fields_of(kind, catalog.types)
    schemas = spec.components.schemas
    schemas[name]["examples"] = [example(kind, catalog)]
    schemas[PART.format(name)] = _part(name, list(schemas[name]["properties"]))
    own = own_parameters(name, fields, list(_paths(catalog, kind, MAX_DEPTH)))
    spec.components.parameters |= own
    of_entry = entry_parameters(name, own)
    entry = {"anyOf": [{"$ref": REF + name}, {"$ref": REF + PART.format(name)}]}
    one = replies(entry, "The entry.", "Content-Language", "Last-Modified")
    add = _Adding(spec, slug)
    if kind["kind"] == "single":
        add(f"/api/{slug}", query_name(name), f"The entry of {kind['name']}", parameters=of_entry, responses=one)
        return
    schemas[LIST.format(name)] = _list(entry)
    many = replies({"$ref": REF + LIST.format(name)}, "A page of entries.", "Content-Language", "Link")
    parameters = list_parameters(name, own, fields)
    add(f"/api/{slug}", f"{query_name(name)}_list", f"Entries of {kind['name']}", parameters=parameters, responses=many)
    add(f"/api/{slug}/{{entry}}", query_name(name), f"One entry of {kind['name']}", parameters=[_ENTRY, *of_entry], responses=one)


def _add_rest(spec: APISpec, catalog: Catalog) -> None:
    slugs = {"type": "string", "enum": list(catalog.by_slug)}
    first = next(iter(catalog.by_slug), "post")
    of_type = {"name": "type", "in": "query", "description": "Slug of a content type.", "schema": slugs, "example": first}
    rows: list[tuple[str, str, str, list[Any], str]] = [
        ("authors/{slug}", "get_author", "An author and how much is theirs", [_slug("ada-lovelace")], "api.Author"),
        ("content-types", "get_content_types", "The content types", [], "api.ContentTypes"),
        ("content-types/{slug}", "get_content_type", "A content type with its fields", [_slug(first)], "api.ContentType"),
        ("locales", "get_locales", "The locales", [], "api.Locales"),
        ("navigation", "get_navigation", "Menus and published pages", ["locale"], "api.Navigation"),
        ("search", "get_search", "Search published entries of all types", ["q", of_type, "locale", "limit", "cursor"], "api.SearchPage"),
    ]
    add = _Adding(spec, "site")
    for path, operation, summary, parameters, component in rows:
        more = ("Content-Language",) if component in ("api.Navigation", "api.SearchPage") else ()
        add(f"/api/{path}", operation, summary, parameters=parameters, responses=replies({"$ref": REF + component}, f"{summary}.", *more))
    schema = {"type": "object", "properties": {"openapi": {"type": "string"}}, "required": ["openapi"]}
    add("/api/openapi.json", "get_openapi", "This document", parameters=[], responses=replies(schema, "This document."))


@dataclass(frozen=True, slots=True)
class _Adding:
    """Adds operations under one tag."""

    spec: APISpec
    tag: str

    def __call__(self, path: str, operation: str, summary: str, **declared: Any) -> None:
        self.spec.path(path=path, operations={"get": {"operationId": operation, "summary": summary, "tags": [self.tag], **declared}})


def _part(name: str, properties: list[str]) -> dict[str, Any]:
    return {
        "type": "object", "description": "With fields, select or exclude: id, and what was asked for.",
        "properties": {field: {"$ref": f"{REF}{name}/properties/{field}"} for field in properties}, "required": ["id"],
    }  # fmt: skip


def _slug(example: str) -> dict[str, Any]:
    return {"name": "slug", "in": "path", "required": True, "schema": {"type": "string", "minLength": 1}, "example": example}


def _list(entry: dict[str, Any]) -> dict[str, Any]:
    properties = {
        "data": {"type": "array", "items": entry},
        "total": {"type": "integer", "minimum": 0, "description": "Every match, on all pages."},
        "page": {"type": ["integer", "null"], "description": "null behind a cursor."},
        "limit": {"type": "integer"},
        "next_cursor": {"type": ["string", "null"], "description": "null on the last page."},
    }
    return {"type": "object", "properties": properties, "required": list(properties)}


def _paths(catalog: Catalog, kind: Kind, depth: int) -> Iterator[str]:
    """Those of the relations of a type, each before what it leads on to."""
    for options in kind["fields"]:
        if options["type"] == "relation":
            yield options["name"]
            if depth > 1:
                further = catalog.by_slug[catalog.target(options)]
                yield from (f"{options['name']}.{path}" for path in _paths(catalog, further, depth - 1))
