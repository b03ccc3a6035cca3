"""A log message for those who asked for a level."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cmsmcp.core.capability import Blocks, Call
from conformance_fixtures._blocks import said, talking_tool


@talking_tool()
def test_logging_tool(arguments: Mapping[str, Any], call: Call) -> Blocks:
    """Log a message."""
    call.dialogue.log("info", "a message for those who want it")
    return said("Done.")
