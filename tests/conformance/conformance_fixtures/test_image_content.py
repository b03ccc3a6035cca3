"""One image."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cmsmcp.core.capability import Blocks, Call
from conformance_fixtures._blocks import fixture_tool, image


@fixture_tool()
def test_image_content(arguments: Mapping[str, Any], call: Call) -> Blocks:
    """Return an image."""
    return Blocks([image()])
