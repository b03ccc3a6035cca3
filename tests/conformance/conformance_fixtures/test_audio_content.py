"""One sound."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cmsmcp.core.capability import Blocks, Call
from conformance_fixtures._blocks import WAV, fixture_tool


@fixture_tool()
def test_audio_content(arguments: Mapping[str, Any], call: Call) -> Blocks:
    """Return a sound."""
    return Blocks([{"type": "audio", "data": WAV, "mimeType": "audio/wav"}])
