"""State that must come back as it was given."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cmsmcp.core.capability import Blocks, Call
from conformance_fixtures._blocks import answered, form, said, talking_tool


@talking_tool()
def test_input_required_result_tampered_state(arguments: Mapping[str, Any], call: Call) -> Blocks:
    """Ask the user to confirm."""
    answer = call.dialogue.ask({"confirm": form("Go on?", ok={"type": "boolean"})}, bound=True)["confirm"]
    return said("Confirmed." if answered(answer, "ok") else "The user did not confirm.")
