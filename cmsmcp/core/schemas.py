"""JSON Schema (2020-12) of what capabilities declare, from marshmallow through apispec; each made once.

Published schemas are flat and plain: clients drop a whole server over one odd schema. Nested schemas are inlined, so
there is no `$ref`; the root is an object with `properties`, and `additionalProperties: false` on what goes in.
Imports the schema libraries, so nothing before the first reply may import this module.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from apispec import APISpec
from apispec.ext.marshmallow import MarshmallowPlugin
from marshmallow import Schema, fields

from cmsmcp.core.capability import Capability
from cmsmcp.protocol.paramheaders import Mirrored, mirrored
from cmsmcp.protocol.uritemplate import UriTemplate

_NOTHING: Mapping[str, Any] = {"type": "object", "properties": {}, "additionalProperties": False}


def input_schema(capability: Capability) -> Mapping[str, Any]:
    """What the capability accepts; an object without properties when it declares none."""
    if capability.input_schema is not None:
        return capability.input_schema
    return _NOTHING if capability.input is None else _derived(capability.input)


def argument_names(capability: Capability) -> tuple[str, ...]:
    """Of a tool or prompt, the arguments; of a resource, the variables of its template."""
    if capability.uri is not None:
        return UriTemplate(capability.uri).variables
    return tuple(input_schema(capability).get("properties", ()))


def output_schema(capability: Capability) -> Mapping[str, Any] | None:
    if capability.output_schema is not None:
        return capability.output_schema
    return None if capability.output is None else _derived(capability.output)


def mirrored_arguments(capability: Capability) -> tuple[Mirrored, ...]:
    """Arguments that a modern client repeats in headers. ValueError when the schema marks what may not be marked (H-01)."""
    if capability.input_schema is not None:
        return mirrored(capability.input_schema)
    return () if capability.input is None else _mirrored(capability.input)


@cache
def _mirrored(schema: type[Schema]) -> tuple[Mirrored, ...]:
    return mirrored(_derived(schema))


@cache
def schema_instance(schema: type[Schema]) -> Schema:
    """One shared instance: loading and dumping keep nothing on it."""
    return _reading_keys_only(schema())


def _reading_keys_only(schema: Schema) -> Schema:
    """Dump what a mapping holds and nothing it can do: marshmallow takes the method `dict.items` for an absent key `items`."""
    schema.get_attribute = _held  # type: ignore[method-assign, assignment]
    for field in schema.fields.values():
        for nested in _nested_in(field):
            _reading_keys_only(nested.schema)
    return schema


def _held(value: Any, name: str, default: Any) -> Any:
    return value.get(name, default) if isinstance(value, Mapping) else getattr(value, name, default)


def _nested_in(field: fields.Field) -> Iterator[fields.Nested]:
    if isinstance(field, fields.Nested):
        yield field
    elif isinstance(field, fields.List):
        yield from _nested_in(field.inner)
    elif isinstance(field, fields.Mapping) and field.value_field is not None:
        yield from _nested_in(field.value_field)


@cache
def _derived(schema: type[Schema]) -> Mapping[str, Any]:
    plugin = MarshmallowPlugin(schema_name_resolver=lambda _schema: "")
    APISpec(title="cmsmcp", version="1", openapi_version="3.1.0", plugins=[plugin])
    derived = plugin.converter.schema2jsonschema(schema_instance(schema)) if plugin.converter else {}
    return {"type": "object", "properties": {}, **derived}
