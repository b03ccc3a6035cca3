"""Whatever arrives, the service answers with strict JSON or nothing, gives back every permit, and shows no internals (C002, C004)."""

from __future__ import annotations

import json

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from marshmallow import Schema, fields

from cmsmcp.core.capability import resource, tool
from cmsmcp.core.methods import METHODS
from cmsmcp.core.service import Connection


class Shape(Schema):
    text = fields.String(load_default="")


@tool(scope="read:content", audit="test", input=Shape, output=Shape)
def echo(arguments, call):
    """Says it again."""
    return arguments


@resource("test://{name}", scope="read:content", audit="test", output=Shape)
def named(variables, call):
    """By name."""
    return {"text": variables["name"]}


leaves = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=20)
values = st.recursive(
    leaves, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=10), inner, max_size=3), max_leaves=8
)
meta = st.fixed_dictionaries(
    {},
    optional={
        "io.modelcontextprotocol/protocolVersion": st.sampled_from(["2026-07-28", "2025-06-18", "x"]) | values,
        "io.modelcontextprotocol/clientCapabilities": st.just({}) | values,
    },
)
wishes = st.dictionaries(
    st.sampled_from(["toolsListChanged", "resourceSubscriptions", "taskIds"]), values | st.just(["test://a"]) | st.booleans(), max_size=3
)
params = st.fixed_dictionaries(
    {},
    optional={
        "name": st.sampled_from(["echo", "ecko"]) | values,
        "arguments": st.dictionaries(st.sampled_from(["text", "txet"]), values) | values,
        "uri": st.sampled_from(["test://a", "test://%", "x"]) | values,
        "cursor": values,
        "protocolVersion": st.sampled_from(["2026-07-28", "2025-03-26"]) | values,
        "requestId": values,
        "level": st.sampled_from(["info", "loud"]) | values,
        "notifications": wishes | values,
        "_meta": meta | values,
    },
)
messages = st.fixed_dictionaries(
    {"jsonrpc": st.sampled_from(["2.0", "2.0", "2.0", "1.0"]) | values},
    optional={
        "id": st.integers(0, 5) | st.text(max_size=3) | values,
        "method": st.sampled_from([*METHODS, "notifications/cancelled", "notifications/initialized", "no/such"]) | values,
        "params": params | values,
        "result": values,
        "error": values,
    },
)
headers = st.none() | st.fixed_dictionaries(
    {},
    optional={
        "mcp-protocol-version": st.sampled_from(["2026-07-28", "2025-11-25", "2025-03-26", "x", ""]),
        "mcp-method": st.sampled_from([*METHODS]),
        "mcp-name": st.sampled_from(["echo", "test://a", "=?base64?ZWNobw==?="]),
    },
)
revisions = st.sampled_from([None, "2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26"])


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(messages | st.lists(messages, max_size=4), headers, revisions)
def test_any_message_ends_in_strict_json_or_silence(bench, message, headers, revision) -> None:
    b = bench(echo, named)
    b.connection = Connection(revision)
    b.send(json.dumps(message).encode("utf-8", "surrogatepass"), headers)
    body = b.outcome.body
    if b.outcome.stream is not None:
        assert body is None
        b.outcome.stream.close()
    assert b.admission.balanced()
    if body is None:
        assert b.outcome.status in (200, 202)
        return
    assert b"\n" not in body
    assert b"Internal error" not in body
    replies = json.loads(body)
    for reply in replies if isinstance(replies, list) else [replies]:
        assert reply["jsonrpc"] == "2.0"
        assert ("result" in reply) != ("error" in reply)
        if "error" in reply:
            assert type(reply["error"]["code"]) is int
            assert "\n" not in reply["error"]["message"]
        if "id" in reply:
            assert type(reply["id"]) in (int, str)
