"""A prompt without arguments."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cmsmcp.core.capability import Call
from conformance_fixtures._blocks import fixture_prompt


@fixture_prompt()
def test_simple_prompt(arguments: Mapping[str, Any], call: Call) -> str:
    """Say something simple."""
    return "This is a simple prompt."
