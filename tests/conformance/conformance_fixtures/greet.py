"""A greeting, at once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from marshmallow import Schema, fields

from cmsmcp.core.capability import Blocks, Call
from conformance_fixtures._blocks import fixture_tool, said


class Arguments(Schema):
    name = fields.String(required=True, metadata={"description": "Whom to greet."})


@fixture_tool(input=Arguments)
def greet(arguments: Mapping[str, Any], call: Call) -> Blocks:
    """Greet somebody."""
    return said(f"Hello, {arguments['name']}!")
