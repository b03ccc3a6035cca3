"""A question to the user."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from marshmallow import Schema, fields

from cmsmcp.core.capability import Blocks, Call
from conformance_fixtures._blocks import form, said, talking_tool


class Arguments(Schema):
    message = fields.String(required=True, metadata={"description": "What to ask the user."})


@talking_tool(requires={"elicitation": {}}, input=Arguments)
def test_elicitation(arguments: Mapping[str, Any], call: Call) -> Blocks:
    """Ask the user."""
    person = {"username": {"type": "string", "description": "Your name"}, "email": {"type": "string", "description": "Your address"}}
    answer = call.dialogue.ask({"user": form(arguments["message"], **person)})["user"]
    return said(f"The user chose {answer['action']}: {answer.get('content')}")
