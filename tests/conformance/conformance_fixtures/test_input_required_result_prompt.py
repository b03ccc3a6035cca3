"""A prompt that asks the user first."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cmsmcp.core.capability import Call
from conformance_fixtures._blocks import answered, fixture_prompt, form


@fixture_prompt(talks=True)
def test_input_required_result_prompt(arguments: Mapping[str, Any], call: Call) -> str:
    """Ask the user for what the prompt is about."""
    answer = call.dialogue.ask({"user_context": form("What is it about?", context={"type": "string"})})["user_context"]
    return f"Write about {answered(answer, 'context')}."
