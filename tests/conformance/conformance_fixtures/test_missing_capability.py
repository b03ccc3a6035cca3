"""A tool that is of no use without the client's model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cmsmcp.core.capability import Blocks, Call
from conformance_fixtures._blocks import said, sample, sampled, talking_tool


@talking_tool(requires={"sampling": {}})
def test_missing_capability(arguments: Mapping[str, Any], call: Call) -> Blocks:
    """Ask the model of the client."""
    answer = call.dialogue.ask({"model": sample("Say yes.", 10)})["model"]
    return said(sampled(answer))
