"""Two questions, one after the other."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cmsmcp.core.capability import Blocks, Call
from conformance_fixtures._blocks import answered, form, said, talking_tool


@talking_tool()
def test_input_required_result_multi_round(arguments: Mapping[str, Any], call: Call) -> Blocks:
    """Ask the user twice."""
    name = answered(call.dialogue.ask({"step1": form("What is your name?", name={"type": "string"})}, bound=True)["step1"], "name")
    color = answered(call.dialogue.ask({"step2": form("Which color?", color={"type": "string"})}, bound=True)["step2"], "color")
    return said(f"{name} likes {color}.")
