"""A task that waits for the user."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from marshmallow import Schema, fields

from cmsmcp.core.capability import Blocks, Call
from conformance_fixtures._blocks import answered, form, said, talking_tool


class Arguments(Schema):
    filename = fields.String(load_default="a file", metadata={"description": "Which file."})


@talking_tool(input=Arguments, task="optional")
def confirm_delete(arguments: Mapping[str, Any], call: Call) -> Blocks:
    """Ask the user before a file would be deleted."""
    question = form(f"Delete {arguments['filename']}?", confirm={"type": "boolean"})
    answer = call.dialogue.ask({"delete": question})["delete"]
    return said("It would be deleted." if answered(answer, "confirm") else "Nothing would be deleted.")
