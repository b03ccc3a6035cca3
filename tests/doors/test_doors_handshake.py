"""The handshake through every door: the seed's two revisions and the others, and what is then announced (F47, F1, F12, C012)."""

from __future__ import annotations

import pytest

OFFERED = {
    "2026-07-28": "2026-07-28",
    "2025-06-18": "2025-06-18",
    "2025-03-26": "2025-03-26",
    "2024-11-05": "2025-11-25",
    "not-a-date": "2025-11-25",
    "2025-11-25": "2025-11-25",
}


@pytest.mark.parametrize(("asked", "negotiated"), OFFERED.items())  # the last one is what the other tests of the stdio door speak
def test_the_negotiated_revision_is_reported(door, asked: str, negotiated: str) -> None:
    result = door.send("initialize", {"protocolVersion": asked, "capabilities": {}, "clientInfo": {"name": "t", "version": "0"}})["result"]
    assert result["protocolVersion"] == negotiated
    assert result["capabilities"].keys() >= {"prompts", "resources", "tools"}
    assert result["serverInfo"]["name"] == "cmsmcp"
    assert ("resultType" in result) is (negotiated == "2026-07-28")


def test_no_method_that_writes_exists(door) -> None:
    """F1, F12, F48."""
    for method in ("resources/write", "tools/create", "documents/delete", "resources/delete", "prompts/create"):
        assert door.send(method)["error"]["code"] == -32601
