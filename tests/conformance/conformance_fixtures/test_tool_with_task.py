"""Questions first, then a task."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cmsmcp.core.capability import Blocks, Call
from conformance_fixtures._blocks import answered, form, said, talking_tool

QUESTIONS = {"user_name": form("What is your name?", name={"type": "string"})}


@talking_tool(task="required", asks_first=QUESTIONS)
def test_tool_with_task(arguments: Mapping[str, Any], call: Call) -> Blocks:
    """Ask the user, then work."""
    answer = call.dialogue.ask(QUESTIONS)["user_name"]
    return said(f"The work of {answered(answer, 'name')} is done.")
