"""An input schema with much of what JSON Schema 2020-12 has."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cmsmcp.core.capability import Blocks, Call
from conformance_fixtures._blocks import fixture_tool, said

SCHEMA: Mapping[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {
        "address": {
            "$anchor": "addressDef",
            "type": "object",
            "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
        },
    },
    "properties": {
        "name": {"type": "string"},
        "address": {"$ref": "#/$defs/address"},
        "contactMethod": {"type": "string", "enum": ["phone", "email"]},
        "phone": {"type": "string"},
        "email": {"type": "string"},
    },
    "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
    "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
    "then": {"required": ["phone"]},
    "else": {"required": ["email"]},
    "additionalProperties": False,
}


@fixture_tool(input_schema=SCHEMA)
def json_schema_2020_12_tool(arguments: Mapping[str, Any], call: Call) -> Blocks:
    """Take a person and a way to reach them."""
    return said("Taken.")
