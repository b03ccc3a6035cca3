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


LISTS = {"tools/list": "tools", "prompts/list": "prompts", "resources/list": "resources", "resources/templates/list": "resourceTemplates"}


def test_parameters_that_are_null_are_none(door) -> None:
    """Some clients write null for what they leave out, and could not even connect."""
    assert door.send("ping", None)["result"] == {}
    for method, key in LISTS.items():
        for params in (None, {"cursor": None, "_meta": None}, {"_meta": {"progressToken": None}}):
            assert door.send(method, params)["result"] == door.send(method)["result"], key
    plain = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "0"}}
    named = {"name": "t", "version": None, "title": None}
    for other in (
        {"capabilities": None, "_meta": None}, {"capabilities": {"sampling": None, "elicitation": None}}, {"clientInfo": None},
        {"clientInfo": named},
    ):  # fmt: skip
        assert door.send("initialize", {**plain, **other})["result"] == door.send("initialize", plain)["result"]
    assert door.send("tools/call", {"name": "list_documents", "arguments": None, "_meta": None})["result"]["structuredContent"]["total"]


def test_what_is_required_and_null_is_named(door) -> None:
    for method, params, word in (
        ("initialize", None, "protocolVersion"), ("initialize", {"protocolVersion": None}, "protocolVersion"),
        ("tools/call", None, "name"), ("prompts/get", None, "name"), ("resources/read", {"uri": None}, "uri"),
        ("completion/complete", None, "ref"), ("logging/setLevel", {"level": None}, "level"), ("server/discover", None, "_meta"),
    ):  # fmt: skip
        error = door.send(method, params)["error"]
        assert error["code"] == -32602 and word in error["message"]


def test_no_method_that_writes_exists(door) -> None:
    """F1, F12, F48."""
    for method in ("resources/write", "tools/create", "documents/delete", "resources/delete", "prompts/create"):
        assert door.send(method)["error"]["code"] == -32601
