"""A task whose work breaks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cmsmcp.core.capability import Blocks, Call
from conformance_fixtures._blocks import talking_tool


@talking_tool(task="optional")
def protocol_error_job(arguments: Mapping[str, Any], call: Call) -> Blocks:
    """Break."""
    raise RuntimeError("this job breaks, so its task has failed")
