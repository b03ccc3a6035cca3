"""A text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cmsmcp.core.capability import Call, Text
from conformance_fixtures._blocks import fixture_resource


@fixture_resource("test://static-text", title="A text", mime_type="text/plain")
def static_text(variables: Mapping[str, Any], call: Call) -> Text:
    """A text that never changes."""
    return Text("This is a static text.", "text/plain")
