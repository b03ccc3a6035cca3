"""Three kinds of content in one result."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cmsmcp.core.capability import Blocks, Call
from conformance_fixtures._blocks import embedded, fixture_tool, image, text


@fixture_tool()
def test_multiple_content_types(arguments: Mapping[str, Any], call: Call) -> Blocks:
    """Return a text, an image and a resource."""
    content = '{"test":"data","value":123}'
    return Blocks([text("A text"), image(), embedded("test://mixed-content-resource", content, "application/json")])
