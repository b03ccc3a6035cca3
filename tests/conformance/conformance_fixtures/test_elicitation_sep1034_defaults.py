"""A form with a default in each of its fields."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cmsmcp.core.capability import Blocks, Call
from conformance_fixtures._blocks import form, said, talking_tool

FIELDS: dict[str, dict[str, Any]] = {
    "name": {"type": "string", "description": "A name", "default": "John Doe"},
    "age": {"type": "integer", "description": "Years", "default": 30},
    "score": {"type": "number", "description": "Points", "default": 95.5},
    "status": {"type": "string", "description": "One of three", "enum": ["active", "inactive", "pending"], "default": "active"},
    "verified": {"type": "boolean", "description": "Whether somebody looked", "default": True},
}


@talking_tool(requires={"elicitation": {}})
def test_elicitation_sep1034_defaults(arguments: Mapping[str, Any], call: Call) -> Blocks:
    """Ask the user with a form that is filled in."""
    answer = call.dialogue.ask({"user": form("Look over what is filled in.", required=False, **FIELDS)})["user"]
    return said(f"The user chose {answer['action']}: {answer.get('content')}")
