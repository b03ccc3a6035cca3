"""A failure that the model is told of."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cmsmcp.core.capability import Blocks, Call
from cmsmcp.protocol.errors import CallError
from conformance_fixtures._blocks import fixture_tool


@fixture_tool()
def test_error_handling(arguments: Mapping[str, Any], call: Call) -> Blocks:
    """Fail."""
    raise CallError("This tool fails whenever it is called.")
