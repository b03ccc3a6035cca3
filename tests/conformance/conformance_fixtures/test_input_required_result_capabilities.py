"""Questions of those kinds alone that the client can answer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cmsmcp.core.capability import Blocks, Call
from conformance_fixtures._blocks import form, said, sample, talking_tool


@talking_tool()
def test_input_required_result_capabilities(arguments: Mapping[str, Any], call: Call) -> Blocks:
    """Ask what the client can answer."""
    known = {"elicit_input": form("Say something.", value={"type": "string"}), "sample_input": sample("Say something.", 50)}
    possible = {key: question for key, question in known.items() if call.dialogue.can_ask(question)}
    if not possible:
        return said("There is nobody to ask.")
    return said(f"Answered: {', '.join(sorted(call.dialogue.ask(possible)))}.")
