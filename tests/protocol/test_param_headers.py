"""`x-mcp-header`: which marks a schema may carry, and when headers agree with arguments (H-01 to H-04)."""

from __future__ import annotations

import base64
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cmsmcp.protocol.paramheaders import Mirrored, fault, mirrored

SCHEMA = {
    "type": "object",
    "properties": {
        "region": {"type": "string", "x-mcp-header": "Region"},
        "force": {"type": "boolean", "x-mcp-header": "Force"},
        "page": {"type": "object", "properties": {"limit": {"type": "integer", "x-mcp-header": "Limit"}}},
        "plain": {"type": "string", "default": {"x-mcp-header": "not a mark"}},
    },
}
MARKS = mirrored(SCHEMA)


def wrapped(text: str) -> str:
    return f"=?base64?{base64.b64encode(text.encode()).decode()}?="


def judge(arguments: dict[str, Any], **headers: str) -> str | None:
    return fault(MARKS, arguments, {f"mcp-param-{name}": value for name, value in headers.items()})


def test_marks_are_found_at_any_depth_of_properties() -> None:
    assert set(MARKS) == {
        Mirrored("Mcp-Param-Region", ("region",), "string"),
        Mirrored("Mcp-Param-Force", ("force",), "boolean"),
        Mirrored("Mcp-Param-Limit", ("page", "limit"), "integer"),
    }
    assert mirrored({"type": "object", "properties": {"x-mcp-header": {"type": "string"}}}) == (), "a property may be called so"


MARKED = {"type": "string", "x-mcp-header": "A"}


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object", "x-mcp-header": "A"},
        {"properties": {"a": {"type": "number", "x-mcp-header": "A"}}},
        {"properties": {"a": {"type": ["string", "null"], "x-mcp-header": "A"}}},
        {"properties": {"a": {"x-mcp-header": "A"}}},
        {"properties": {"a": {"type": "string", "x-mcp-header": ""}}},
        {"properties": {"a": {"type": "string", "x-mcp-header": "A B"}}},
        {"properties": {"a": {"type": "string", "x-mcp-header": "Ä"}}},
        {"properties": {"a": {"type": "string", "x-mcp-header": 7}}},
        {"properties": {"a": MARKED, "b": {"type": "string", "x-mcp-header": "a"}}},
        {"properties": {"a": {"type": "array", "items": MARKED}}},
        {"properties": {"a": {"type": "array", "items": {"type": "object", "properties": {"b": MARKED}}}}},
        {"anyOf": [{"properties": {"a": MARKED}}]},
        {"if": {"properties": {"a": MARKED}}},
        {"$defs": {"x": MARKED}},
        {"additionalProperties": MARKED},
    ],
)
def test_a_mark_where_it_may_not_stand_is_refused(schema: dict[str, Any]) -> None:
    with pytest.raises(ValueError):
        mirrored(schema)


@pytest.mark.parametrize(
    ("arguments", "headers"),
    [
        ({}, {}),
        ({"region": None, "page": None}, {}),
        ({"region": "eu"}, {"region": " eu "}),
        ({"region": "eu"}, {"region": "eu", "unknown": "ignored"}),
        ({"region": ""}, {"region": ""}),
        ({"region": "Zürich"}, {"region": wrapped("Zürich")}),
        ({"region": "SGVsbG8="}, {"region": "SGVsbG8="}),
        ({"region": "=?base64?SGVsbG8="}, {"region": "=?base64?SGVsbG8="}),
        ({"force": True}, {"force": "true"}),
        ({"force": False}, {"force": "false"}),
        ({"page": {"limit": 42}}, {"limit": "42.0"}),
        ({"page": {"limit": -42}}, {"limit": "-42"}),
        ({"page": {"limit": 9007199254740993}}, {"limit": "9007199254740993"}),
        ({"region": 7, "force": "x", "page": {"limit": 1.5}}, {"region": "7", "force": "x", "limit": "1.5"}),
    ],
)
def test_headers_that_agree_pass(arguments: dict[str, Any], headers: dict[str, str]) -> None:
    """H-02, H-03, H-04; an argument of a wrong type is the schema's to refuse."""
    assert judge(arguments, **headers) is None


@pytest.mark.parametrize(
    ("arguments", "headers"),
    [
        ({"region": "eu"}, {}),
        ({"region": ""}, {}),
        ({"region": "eu"}, {"region": "EU"}),
        ({"region": "eu"}, {"region": "eu,eu"}),
        ({"region": "Zürich"}, {"region": "Zürich"}),
        ({"region": "Hello"}, {"region": "=?base64?SGVsbG8?="}),
        ({"region": "Hello"}, {"region": "=?base64?SGVs!!!bG8=?="}),
        ({}, {"region": ""}),
        ({"region": None}, {"region": "eu"}),
        ({"force": True}, {"force": "True"}),
        ({"force": True}, {"force": "1"}),
        ({"page": {"limit": 42}}, {"limit": "42.5"}),
        ({"page": {"limit": 42}}, {"limit": "0x2a"}),
        ({"page": {"limit": 42}}, {"limit": "9" * 5_000}),
        ({"page": {"limit": 9007199254740993}}, {"limit": "9007199254740992"}),
        ({"page": 7}, {"limit": "7"}),
    ],
)
def test_a_header_that_is_missing_superfluous_or_other_is_told_in_one_line(arguments: dict[str, Any], headers: dict[str, str]) -> None:
    found = judge(arguments, **headers)
    assert found is not None and "\n" not in found and found.startswith("Mcp-Param-")


@given(st.text(min_size=1))
def test_every_text_agrees_through_the_sentinel(text: str) -> None:
    assert judge({"region": text}, region=wrapped(text)) is None
