"""Progress before a result."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from cmsmcp.core.capability import Blocks, Call
from conformance_fixtures._blocks import said, talking_tool


@talking_tool()
def test_tool_with_progress(arguments: Mapping[str, Any], call: Call) -> Blocks:
    """Report progress three times."""
    for done in (0, 50, 100):
        call.dialogue.progress(done, 100, f"{done} of 100")
        time.sleep(0.05)
    return said("Done.")
