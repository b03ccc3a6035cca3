"""One question to the client's model before the result."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cmsmcp.core.capability import Blocks, Call
from conformance_fixtures._blocks import said, sample, sampled, talking_tool


@talking_tool()
def test_input_required_result_sampling(arguments: Mapping[str, Any], call: Call) -> Blocks:
    """Ask the model of the client for a capital."""
    answer = call.dialogue.ask({"capital_question": sample("What is the capital of France?", 100)})["capital_question"]
    return said(sampled(answer))
