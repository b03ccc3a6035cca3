"""One text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cmsmcp.core.capability import Blocks, Call
from conformance_fixtures._blocks import fixture_tool, said


@fixture_tool()
def test_simple_text(arguments: Mapping[str, Any], call: Call) -> Blocks:
    """Return a text."""
    return said("This is a simple text.")
