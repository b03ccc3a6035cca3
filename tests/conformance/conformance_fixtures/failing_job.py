"""A task that ends with an error of the tool."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from cmsmcp.core.capability import Blocks, Call
from conformance_fixtures._blocks import said, talking_tool


@talking_tool(task="required")
def failing_job(arguments: Mapping[str, Any], call: Call) -> Blocks:
    """Work, then fail."""
    time.sleep(1)
    return said("The job has failed.", is_error=True)
