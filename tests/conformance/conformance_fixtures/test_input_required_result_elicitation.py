"""One question to the user before the result."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cmsmcp.core.capability import Blocks, Call
from conformance_fixtures._blocks import answered, form, said, talking_tool


@talking_tool()
def test_input_required_result_elicitation(arguments: Mapping[str, Any], call: Call) -> Blocks:
    """Greet the user by name."""
    answer = call.dialogue.ask({"user_name": form("What is your name?", name={"type": "string"})})["user_name"]
    return said(f"Hello, {answered(answer, 'name')}!")
