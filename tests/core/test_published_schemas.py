"""How schemas are derived and used (docs/rules.md, Published schemas). What clients take is linted in tests/contract."""

from __future__ import annotations

import jsonschema
import orjson
import pytest
from marshmallow import Schema, fields

import cmsmcp.capabilities
from cmsmcp.core.capability import tool
from cmsmcp.core.registry import discover
from cmsmcp.core.schemas import input_schema, schema_instance

REGISTRY = discover(cmsmcp.capabilities)


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
