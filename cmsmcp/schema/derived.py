"""JSON Schema of everything the catalog has, derived from marshmallow through apispec: components by name, `$ref`s among them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from apispec import APISpec
from apispec.ext.marshmallow import MarshmallowPlugin
from marshmallow import fields

from cmsmcp.schema.catalog import Catalog
from cmsmcp.schema.common import COMMON
from cmsmcp.schema.entries import schemas_of
from cmsmcp.schema.fields import Component, Described

REF = "#/components/schemas/"


def new_spec(title: str, version: str, **options: Any) -> APISpec:
    """An empty OpenAPI 3.1 document that knows our fields; schemas stand in it under their `component` name."""
    plugin = MarshmallowPlugin(schema_name_resolver=lambda schema: _class(schema).Meta.component)
    spec = APISpec(title, version, "3.1.0", plugins=[plugin], **options)
    assert plugin.converter is not None
    plugin.converter.add_attribute_function(_described)
    return spec


def add_entries(spec: APISpec, catalog: Catalog) -> None:
    """A component for each type, in the order of their slugs, and after them for what they are made of."""
    schemas = schemas_of(catalog)
    held = spec.components.schemas
    for kind in catalog.types:
        if catalog.names[kind["slug"]] not in held:
            spec.components.schema(catalog.names[kind["slug"]], schema=schemas.of(kind["slug"]))
    for schema in COMMON:
        if schema.Meta.component not in held:
            spec.components.schema(schema.Meta.component, schema=schema)
    for kind in reversed(catalog.types):
        name = catalog.names[kind["slug"]]
        held[name] |= {"x-content-type": kind["slug"], "x-kind": kind["kind"]}
    first = [catalog.names[kind["slug"]] for kind in catalog.types]
    ordered = {name: held[name] for name in [*first, *(name for name in held if name not in first)]}
    held.clear()
    held |= ordered
    open_to_more(spec)


def components(catalog: Catalog) -> Mapping[str, Any]:
    """Every component of the catalog's entries by name."""
    spec = new_spec("", "")
    add_entries(spec, catalog)
    found: dict[str, Any] = spec.to_dict()["components"]["schemas"]
    return found


def open_to_more(spec: APISpec) -> None:
    """Required keys in the order of all; and readers must bear with one more, so that a field that is added breaks nobody."""
    for component in spec.components.schemas.values():
        component.pop("additionalProperties", None)
        if "required" in component:
            component["required"] = [name for name in component["properties"] if name in component["required"]]


def _class(schema: Any) -> type[Component]:
    return schema if isinstance(schema, type) else type(schema)


def _described(_converter: Any, field: fields.Field[Any], ret: dict[str, Any]) -> dict[str, Any]:
    if not isinstance(field, Described):
        return {}
    ret.pop("type", None)
    return field.described()
