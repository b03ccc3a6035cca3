"""Log messages before a result."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from cmsmcp.core.capability import Blocks, Call
from conformance_fixtures._blocks import said, talking_tool


@talking_tool()
def test_tool_with_logging(arguments: Mapping[str, Any], call: Call) -> Blocks:
    """Log three messages."""
    for step in ("started", "under way", "nearly done"):
        call.dialogue.log("info", step)
        time.sleep(0.05)
    return said("Done.")
