"""A text to subscribe to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cmsmcp.core.capability import Call, Text
from conformance_fixtures._blocks import fixture_resource


@fixture_resource("test://watched-resource", title="A text to subscribe to", mime_type="text/plain", topics=lambda variables: ["resource/test://watched-resource"])
def watched_resource(variables: Mapping[str, Any], call: Call) -> Text:
    """A text that subscribers could hear of."""
    return Text("This is watched.", "text/plain")
