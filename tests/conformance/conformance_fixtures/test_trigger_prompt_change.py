"""A change that subscribers are told of."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cmsmcp.core.capability import Blocks, Call
from cmsmcp.core.sharing import Change
from conformance_fixtures._blocks import said, talking_tool


@talking_tool()
def test_trigger_prompt_change(arguments: Mapping[str, Any], call: Call) -> Blocks:
    """Say that the prompts are different."""
    call.dialogue.changed(Change(lists=frozenset({"prompts"})))
    return said("Said.")
