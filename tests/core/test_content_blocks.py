"""Content blocks and binary resources, as they leave: shape, size, secrets, and what an older revision lacks (O-04, R-04)."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from cmsmcp.core.blocks import clean_block
from cmsmcp.core.capability import Blob, Blocks, resource, tool
from cmsmcp.protocol.eras import Era

LATEST, OLDEST = Era("2025-11-25"), Era("2025-03-26")
PNG = base64.b64encode(b"\x89PNG\r\n\x1a\n" + bytes(range(256))).decode()
LINK = {"type": "resource_link", "uri": "test://a", "name": "A", "description": "about a"}
GOOD = [
    {"type": "text", "text": "hello", "annotations": {"priority": 1}},
    {"type": "image", "data": PNG, "mimeType": "image/png"},
    {"type": "audio", "data": "", "mimeType": "audio/wav"},
    {"type": "resource", "resource": {"uri": "test://a", "text": "hello"}},
    {"type": "resource", "resource": {"uri": "test://a", "blob": PNG, "mimeType": "image/png"}},
    LINK,
]
BAD: list[Any] = [
    {},
    {"type": "video"},
    {"type": "text"},
    {"type": "text", "text": 5},
    {"type": "image", "data": PNG},
    {"type": "image", "data": "no base64!", "mimeType": "image/png"},
    {"type": "image", "data": PNG[:-1], "mimeType": "image/png"},
    {"type": "resource"},
    {"type": "resource", "resource": {"uri": "test://a"}},
    {"type": "resource", "resource": {"uri": "test://a", "text": "", "blob": ""}},
    {"type": "resource", "resource": {"text": ""}},
    {"type": "resource_link", "uri": "test://a"},
]


@tool(scope="read:content", audit="test.blocks", blocks=True, max_result=2_000)
def shown(arguments, call):
    """Returns blocks."""
    return Blocks(returned[0], is_error=len(returned) > 1)


@resource("test://binary", scope="read:content", audit="test.blob", mime_type="image/png", max_result=100)
def binary(variables, call):
    """Holds bytes."""
    return Blob(returned[0], "image/png")


returned: list[Any] = []


@pytest.fixture
def b(bench):
    returned.clear()
    return bench(shown, binary)


@pytest.mark.parametrize("block", GOOD, ids=lambda block: block["type"])
def test_a_good_block_leaves_as_it_is(b, block: Any) -> None:
    returned.append([block])
    assert b.call("shown")["result"] == {"content": [block]}


@pytest.mark.parametrize("block", BAD)
def test_a_malformed_block_is_a_fault_of_the_server(b, block: Any) -> None:
    """O-04: it never leaves; the caller gets a reference."""
    returned.append([block])
    error = b.call("shown")["error"]
    assert (error["code"], "reference" in error["message"]) == (-32603, True)
    assert b.admission.balanced()


def test_a_tool_may_say_that_its_blocks_are_a_failure(b) -> None:
    """T-11."""
    returned.extend([[{"type": "text", "text": "no"}], True])
    assert b.call("shown")["result"]["isError"] is True
    assert b.ask_modern("tools/call", {"name": "shown"})["result"]["resultType"] == "complete"


def test_secrets_leave_no_block_and_base64_stays_whole() -> None:
    """F40; chance may look like a secret in Base64, and a changed picture is none."""
    secret = "postgres://u:hunter22@h/db"
    for block in (
        {"type": "text", "text": secret},
        {"type": "resource", "resource": {"uri": "test://a", "text": secret}},
        {**LINK, "description": secret},
    ):
        assert "hunter22" not in str(clean_block(block, LATEST))
    looks_secret = "AAA+AKIAQ3EGRZ5WJ7ZXKPLM/AAA"
    assert clean_block({"type": "image", "data": looks_secret, "mimeType": "image/png"}, LATEST)["data"] == looks_secret
    blob = {"type": "resource", "resource": {"uri": "test://a", "blob": looks_secret}}
    assert clean_block(blob, LATEST) == blob


def test_the_oldest_revision_reads_a_link_as_text() -> None:
    assert clean_block(LINK, OLDEST) == {"type": "text", "text": "A: test://a"}


def test_blocks_are_counted_against_the_limit_of_their_tool(b) -> None:
    returned.append([{"type": "text", "text": "x" * 3_000}])
    result = b.call("shown")["result"]
    assert (result["isError"], "the limit is 2000" in result["content"][0]["text"]) == (True, True)


def test_a_binary_resource_has_a_blob_and_no_text(b) -> None:
    """R-04."""
    returned.append(b"\x00\xff\x10")
    [contents] = b.ask("resources/read", {"uri": "test://binary"})["result"]["contents"]
    assert contents == {"uri": "test://binary", "mimeType": "image/png", "blob": "AP8Q"}
    returned[0] = bytes(100)
    assert b.ask("resources/read", {"uri": "test://binary"})["error"]["code"] == 4130
