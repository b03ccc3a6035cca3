"""A prompt with an image."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cmsmcp.core.capability import Call
from conformance_fixtures._blocks import fixture_prompt, image, text, user


@fixture_prompt()
def test_prompt_with_image(arguments: Mapping[str, Any], call: Call) -> list[dict[str, Any]]:
    """Ask about an image."""
    return [user(image()), user(text("Tell me about this image."))]
