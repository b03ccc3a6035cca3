"""The client's roots before the result."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cmsmcp.core.capability import Blocks, Call
from cmsmcp.core.dialogue import ListRoots
from conformance_fixtures._blocks import said, talking_tool


@talking_tool()
def test_input_required_result_list_roots(arguments: Mapping[str, Any], call: Call) -> Blocks:
    """Name the roots of the client."""
    roots = call.dialogue.ask({"client_roots": ListRoots()})["client_roots"]["roots"]
    return said(", ".join(root["uri"] for root in roots))
