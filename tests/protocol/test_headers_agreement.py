"""Headers of modern requests against their bodies (docs/rules.md, Revisions; H-03)."""

from __future__ import annotations

import base64
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cmsmcp.protocol.headers import decode, disagreement

VERSION = "2026-07-28"


def sent(**more: str) -> dict[str, str]:
    changed = {key.replace("_", "-"): text for key, text in more.items()}
    return {"mcp-protocol-version": VERSION, "mcp-method": "tools/call", "mcp-name": "echo", **changed}


def wrapped(text: str) -> str:
    return f"=?base64?{base64.b64encode(text.encode()).decode()}?="


def judge(headers: dict[str, str], params: dict[str, Any] | None = None) -> str | None:
    return disagreement(headers, VERSION, "tools/call", {"name": "echo"} if params is None else params)


def test_agreeing_headers_pass_with_outer_blanks() -> None:
    assert judge(sent(mcp_name="  echo ", mcp_method=" tools/call ")) is None
    assert judge(sent(mcp_name=wrapped("echo"))) is None


@pytest.mark.parametrize(
    "headers",
    [
        {key: value for key, value in sent().items() if key != "mcp-method"},
        {key: value for key, value in sent().items() if key != "mcp-name"},
        {key: value for key, value in sent().items() if key != "mcp-protocol-version"},
        sent(mcp_method="tools/list"),
        sent(mcp_method="TOOLS/CALL"),
        sent(mcp_name="Echo"),
        sent(mcp_name=""),
        sent(mcp_name="echo,echo"),
        sent(mcp_name="=?base64?ZWNobw?="),
        sent(mcp_name="=?base64?ZW!!bw==?="),
        sent(mcp_name="=?BASE64?ZWNobw==?="),
        sent(mcp_name="écho"),
    ],
)
def test_a_missing_differing_or_malformed_header_is_named(headers: dict[str, str]) -> None:
    found = judge(headers)
    assert found is not None
    assert "\n" not in found


def test_a_parameter_that_is_no_string_is_left_to_the_method() -> None:
    assert judge(sent(), {}) is None
    assert judge(sent(), {"name": 7}) is None


@pytest.mark.parametrize(
    ("method", "key"), [("resources/read", "uri"), ("prompts/get", "name"), ("tasks/get", "taskId"), ("tasks/cancel", "taskId")]
)
def test_the_name_header_mirrors_the_parameter_of_its_method(method: str, key: str) -> None:
    headers = {"mcp-protocol-version": VERSION, "mcp-method": method, "mcp-name": "a"}
    assert disagreement(headers, VERSION, method, {key: "a"}) is None
    assert disagreement(headers, VERSION, method, {key: "b"}) is not None


def test_a_method_without_a_name_needs_no_name_header() -> None:
    assert disagreement({"mcp-protocol-version": VERSION, "mcp-method": "tools/list"}, VERSION, "tools/list", {}) is None


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        ("=?base64?SGVsbG8=?=", "Hello"),
        ("=?base64??=", ""),
        ("SGVsbG8=", "SGVsbG8="),
        ("=?base64?SGVsbG8=", "=?base64?SGVsbG8="),
        ("=?base64?=", "=?base64?="),
        ("=?base64?SGVsbG8?=", None),
        ("=?base64?SGVs!!!bG8=?=", None),
        ("=?base64?SGVsbG9=?=", None),
        ("=?base64?/w==?=", None),
        ("caf\xe9", None),
        ("a\tb", None),
    ],
)
def test_the_sentinel_is_decoded_strictly_and_all_else_is_literal(raw: str, text: str | None) -> None:
    """H-03, including trailing bits that are not canonical."""
    assert decode(raw) == text


@given(st.text())
def test_every_text_survives_the_sentinel(text: str) -> None:
    assert decode(wrapped(text)) == text
