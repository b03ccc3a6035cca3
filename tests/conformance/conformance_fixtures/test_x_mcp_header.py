"""An argument that clients repeat in a header."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cmsmcp.core.capability import Blocks, Call
from conformance_fixtures._blocks import fixture_tool, said

SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {"region": {"type": "string", "description": "Any text.", "x-mcp-header": "Region"}},
    "required": ["region"],
    "additionalProperties": False,
}


@fixture_tool(input_schema=SCHEMA)
def test_x_mcp_header(arguments: Mapping[str, Any], call: Call) -> Blocks:
    """Take a region."""
    return said(f"The region is {arguments['region']}.")
