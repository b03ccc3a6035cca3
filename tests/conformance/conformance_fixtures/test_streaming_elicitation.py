"""A stream that ends with a question."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cmsmcp.core.capability import Blocks, Call
from conformance_fixtures._blocks import answered, form, said, talking_tool


@talking_tool(requires={"elicitation": {}})
def test_streaming_elicitation(arguments: Mapping[str, Any], call: Call) -> Blocks:
    """Report progress, then ask the user."""
    call.dialogue.progress(1, 2)
    answer = call.dialogue.ask({"user_name": form("What is your name?", name={"type": "string"})})["user_name"]
    return said(f"Hello, {answered(answer, 'name')}!")
