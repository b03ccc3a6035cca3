"""A stream that ends before the reply; the client comes back for it."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from cmsmcp.core.capability import Blocks, Call
from conformance_fixtures._blocks import said, talking_tool


@talking_tool()
def test_reconnection(arguments: Mapping[str, Any], call: Call) -> Blocks:
    """Hang up, then reply."""
    call.dialogue.hang_up(100)
    time.sleep(0.2)
    return said("You came back for this.")
