"""One resource within a result."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cmsmcp.core.capability import Blocks, Call
from conformance_fixtures._blocks import embedded, fixture_tool


@fixture_tool()
def test_embedded_resource(arguments: Mapping[str, Any], call: Call) -> Blocks:
    """Return a resource."""
    return Blocks([embedded("test://embedded-resource", "The content of an embedded resource.")])
