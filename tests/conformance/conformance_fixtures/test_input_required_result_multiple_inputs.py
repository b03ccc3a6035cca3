"""Three kinds of question at once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cmsmcp.core.capability import Blocks, Call
from cmsmcp.core.dialogue import ListRoots
from conformance_fixtures._blocks import answered, form, said, sample, sampled, talking_tool


@talking_tool()
def test_input_required_result_multiple_inputs(arguments: Mapping[str, Any], call: Call) -> Blocks:
    """Ask the user and the client."""
    questions = {
        "user_name": form("What is your name?", name={"type": "string"}),
        "greeting": sample("Write a greeting.", 50),
        "client_roots": ListRoots(),
    }
    answers = call.dialogue.ask(questions, bound=True)
    roots = answers.get("client_roots", {}).get("roots", [])
    return said(f"{sampled(answers.get('greeting', {}))} {answered(answers.get('user_name', {}), 'name')} has {len(roots)} root(s).")
