"""A task that waits for two answers at once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cmsmcp.core.capability import Blocks, Call
from conformance_fixtures._blocks import answered, form, said, talking_tool


@talking_tool(task="optional")
def multi_input(arguments: Mapping[str, Any], call: Call) -> Blocks:
    """Ask the user two things."""
    questions = {
        "who": form("What is your name?", name={"type": "string"}),
        "sure": form("Are you sure?", confirm={"type": "boolean"}),
    }
    answers = call.dialogue.ask(questions)
    return said(f"{answered(answers['who'], 'name')} is sure: {answered(answers['sure'], 'confirm')}.")
