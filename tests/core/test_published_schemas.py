"""The schemas clients see (docs/rules.md, Published schemas; F33; T-04, T-05, T-08, T-15)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import jsonschema
import orjson
import pytest
from marshmallow import Schema, fields

import cmsmcp.capabilities
from cmsmcp.core.capability import tool
from cmsmcp.core.registry import discover
from cmsmcp.core.schemas import input_schema, output_schema, schema_instance

REGISTRY = discover(cmsmcp.capabilities)
CAPABILITIES = [*REGISTRY.tools.values(), *REGISTRY.resources.values()]


def subschemas(schema: Any) -> Iterator[dict[str, Any]]:
    if isinstance(schema, dict):
        yield schema
        for value in schema.values():
            yield from subschemas(value)
    elif isinstance(schema, list):
        for value in schema:
            yield from subschemas(value)


@pytest.mark.parametrize(
    "capability", CAPABILITIES, ids=lambda capability: f"{capability.name}-{'tool' if capability.is_tool else 'resource'}"
)
def test_published_schemas_are_flat_and_plain(capability) -> None:
    """Several clients drop a whole server over one odd schema."""
    given, made = input_schema(capability), output_schema(capability)
    for schema in (given, made):
        if schema is None:
            continue
        jsonschema.Draft202012Validator.check_schema(schema)
        assert schema["type"] == "object"
        assert isinstance(schema["properties"], dict)
        assert not {"anyOf", "oneOf", "allOf", "$ref"} & schema.keys()
        for part in subschemas(schema):
            assert "$ref" not in part
            assert part.get("type") != "array" or isinstance(part.get("items"), dict)
            assert all(isinstance(child, dict) for child in dict(part.get("properties", {})).values()), "no boolean subschemas"
    assert given["additionalProperties"] is False


def test_the_tool_list_stays_small(bench) -> None:
    """docs/rules.md, Published schemas: context is what users pay for."""
    b = bench(*REGISTRY.tools.values())
    listed = b.ask("tools/list")["result"]["tools"]
    assert [tool["name"] for tool in listed] == list(REGISTRY.tools)
    assert len(b.outcome.body) < 1_850 * len(listed)


def test_a_tool_without_input_publishes_empty_properties() -> None:
    bare = tool(scope="read:content", audit="x", output_schema={"type": "object"}, name="bare", description="x")(lambda a, c: None)
    assert orjson.dumps(input_schema(bare)) == b'{"type":"object","properties":{},"additionalProperties":false}'


def test_a_schema_is_derived_once() -> None:
    class Input(Schema):
        word = fields.String()

    one = tool(scope="read:content", audit="x", input=Input, output=Input, name="one", description="x")(lambda a, c: None)
    assert input_schema(one) is input_schema(one)


def test_an_absent_key_stays_absent_though_a_dict_has_a_method_of_that_name() -> None:
    class Inner(Schema):
        items = fields.List(fields.String())
        keys = fields.String()

    class Outer(Schema):
        items = fields.List(fields.Nested(Inner))
        values = fields.Dict(keys=fields.String(), values=fields.List(fields.Nested(Inner)))
        copy = fields.Nested(Inner)

    whole = {"items": [{}, {"items": ["a"]}], "values": {"x": [{}]}, "copy": {"keys": "k"}}
    assert schema_instance(Outer).dump(whole) == whole
    assert schema_instance(Outer).dump({}) == {}


@pytest.mark.parametrize("name", REGISTRY.tools)
def test_a_declared_example_is_accepted(name: str) -> None:
    from cmsmcp.core.arguments import load

    capability = REGISTRY.tools[name]
    jsonschema.validate(dict(capability.example), dict(input_schema(capability)))
    load(capability, capability.example)
