"""A tool that marks an argument `x-mcp-header`: header and argument must agree before it runs (H-01, H-02)."""

from __future__ import annotations

from typing import Any

import pytest
from marshmallow import Schema, fields

from cmsmcp.core.capability import tool
from cmsmcp.core.ports import Caller
from cmsmcp.core.registry import RegistrationError, Registry

MODERN = "2026-07-28"
META = {"io.modelcontextprotocol/protocolVersion": MODERN, "io.modelcontextprotocol/clientCapabilities": {}}


class Input(Schema):
    region = fields.String(required=True, metadata={"x-mcp-header": "Region"})


class Output(Schema):
    region = fields.String(required=True)


ran: list[str] = []


@tool(scope="read:content", audit="test", input=Input, output=Output)
def regional(arguments, call):
    """Says its region."""
    ran.append(arguments["region"])
    return {"region": arguments["region"]}


@pytest.fixture
def b(bench):
    ran.clear()
    return bench(regional)


def call(b: Any, arguments: dict[str, Any], **headers: str) -> Any:
    sent = {"mcp-protocol-version": MODERN, "mcp-method": "tools/call", "mcp-name": "regional"}
    params = {"name": "regional", "arguments": arguments, "_meta": META}
    return b.ask("tools/call", params, headers={**sent, **{name.replace("_", "-"): value for name, value in headers.items()}})


def test_the_mark_is_published_and_an_agreeing_header_passes(b) -> None:
    listed = b.ask_modern("tools/list")["result"]["tools"][0]["inputSchema"]
    assert listed["properties"]["region"]["x-mcp-header"] == "Region"
    assert call(b, {"region": "eu"}, mcp_param_region="eu")["result"]["structuredContent"] == {"region": "eu"}
    assert b.outcome.status == 200


@pytest.mark.parametrize("headers", [{}, {"mcp_param_region": "us"}])
def test_one_that_is_missing_or_differs_is_400_before_the_tool_runs(b, headers: dict[str, str]) -> None:
    assert call(b, {"region": "eu"}, **headers)["error"]["code"] == -32020
    assert b.outcome.status == 400
    assert ran == [] and b.admission.balanced() and len(b.admission.asks) == 1


def test_bad_arguments_are_still_told_by_the_schema(b) -> None:
    assert call(b, {})["result"]["isError"]
    assert call(b, {"region": 7}, mcp_param_region="7")["result"]["isError"]


def test_a_missing_scope_is_told_first(b) -> None:
    b.caller = Caller("other", frozenset())
    assert call(b, {"region": "eu"})["error"]["code"] == 4030
    assert b.outcome.status == 403


def test_legacy_requests_and_stdio_have_no_such_headers(b) -> None:
    assert b.call("regional", {"region": "eu"})["result"]["structuredContent"] == {"region": "eu"}
    params = {"name": "regional", "arguments": {"region": "eu"}}
    legacy = b.ask("tools/call", params, headers={"mcp-protocol-version": "2025-11-25", "mcp-param-region": "us"})
    assert legacy["result"]["structuredContent"] == {"region": "eu"}
    assert b.ask_modern("tools/call", params)["result"]["structuredContent"] == {"region": "eu"}


def test_a_mark_on_what_cannot_carry_one_stops_the_start() -> None:
    class Numbers(Schema):
        share = fields.Float(metadata={"x-mcp-header": "Share"})

    @tool(scope="read:content", audit="test", input=Numbers, output=Output)
    def faulty(arguments, call):
        """Is faulty."""

    with pytest.raises(RegistrationError, match="faulty: x-mcp-header"):
        Registry([faulty])
