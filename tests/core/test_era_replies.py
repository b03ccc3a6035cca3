"""What each method answers in each revision (docs/rules.md, Revisions; A-01, C012, F47, P13, P14, P15)."""

from __future__ import annotations

import json

import jsonschema
import pytest
from marshmallow import Schema, fields

from cmsmcp.capabilities._offers import OFFERS
from cmsmcp.core.capability import resource, tool
from cmsmcp.core.service import Connection
from cmsmcp.protocol import errors

MODERN = "2026-07-28"
LEGACY = ("2025-11-25", "2025-06-18", "2025-03-26")
VERSION_KEY = "io.modelcontextprotocol/protocolVersion"
SERVER_KEY = "io.modelcontextprotocol/serverInfo"
META = {VERSION_KEY: MODERN, "io.modelcontextprotocol/clientCapabilities": {}}
SENTENCE = (
    "Use resources/list to discover available resources, then resources/read to load Plank content types, per-type schemas, and locales."
)


class Output(Schema):
    ok = fields.Boolean(required=True)


@tool(scope="read:content", audit="test", output=Output, title="Probe")
def probe(arguments, call):
    """Probes."""
    return {"ok": True}


@resource("test://thing", scope="read:content", audit="test", output=Output, title="Thing")
def thing(variables, call):
    """A thing."""
    return {"ok": True}


CALLS = {
    "tools/list": {},
    "tools/call": {"name": "probe"},
    "resources/list": {},
    "resources/templates/list": {},
    "resources/read": {"uri": "test://thing"},
}
CACHED = {"tools/list", "resources/list", "resources/templates/list", "resources/read"}

# The shapes the revisions agree on, written from the specification's rules, with nothing but what a strict client needs.
_TEXT = {"type": "object", "required": ["type", "text"], "properties": {"type": {"const": "text"}, "text": {"type": "string"}}}
_NAMED = {
    "name": {"type": "string", "pattern": "^[A-Za-z0-9_.-]{1,64}$"},
    "title": {"type": "string"},
    "description": {"type": "string", "minLength": 1},
}
_OBJECT_SCHEMA = {
    "type": "object",
    "required": ["type"],
    "properties": {"type": {"const": "object"}, "properties": {"additionalProperties": {"type": "object"}}},
}
SHAPES = {
    "tools/list": {
        "required": ["tools"],
        "properties": {
            "tools": {
                "items": {
                    "required": ["name", "inputSchema", "description"],
                    "properties": {
                        **_NAMED,
                        "inputSchema": _OBJECT_SCHEMA,
                        "outputSchema": _OBJECT_SCHEMA,
                        "annotations": {"type": "object"},
                    },
                }
            },
            "nextCursor": {"type": "string"},
        },
    },
    "tools/call": {
        "required": ["content"],
        "properties": {"content": {"type": "array", "items": _TEXT}, "structuredContent": {"type": "object"}},
    },
    "resources/list": {
        "required": ["resources"],
        "properties": {"resources": {"items": {"required": ["name", "uri"], "properties": {"uri": {"format": "uri"}}}}},
    },
    "resources/templates/list": {
        "required": ["resourceTemplates"],
        "properties": {
            "resourceTemplates": {"items": {"required": ["name", "uriTemplate"], "properties": {"uriTemplate": {"format": "uri-template"}}}}
        },
    },
    "resources/read": {
        "required": ["contents"],
        "properties": {
            "contents": {"items": {"required": ["uri", "text"], "not": {"required": ["blob"]}, "properties": {"uri": {"format": "uri"}}}}
        },
    },
}
MODERN_SHAPE = {
    "required": ["resultType", "_meta"],
    "properties": {
        "resultType": {"const": "complete"},
        "_meta": {"required": [SERVER_KEY], "properties": {SERVER_KEY: {"required": ["name", "version"]}}},
    },
}
CACHE_SHAPE = {
    "required": ["ttlMs", "cacheScope"],
    "properties": {"ttlMs": {"type": "integer", "minimum": 0}, "cacheScope": {"enum": ["private"]}},
}


def validate(result: object, shape: dict) -> None:
    jsonschema.validate(result, {"type": "object", **shape}, format_checker=jsonschema.Draft202012Validator.FORMAT_CHECKER)


@pytest.fixture
def b(bench):
    return bench(probe, thing)


@pytest.mark.parametrize("method", CALLS)
def test_modern_results_are_complete_and_say_who_answers(b, method) -> None:
    result = b.ask_modern(method, CALLS[method])["result"]
    validate(result, SHAPES[method])
    validate(result, MODERN_SHAPE)
    if method in CACHED:
        validate(result, CACHE_SHAPE)
    else:
        assert "ttlMs" not in result
    assert result["_meta"][SERVER_KEY]["name"] == "cmsmcp"


@pytest.mark.parametrize("revision", LEGACY)
@pytest.mark.parametrize("method", CALLS)
def test_legacy_results_carry_nothing_modern(b, revision, method) -> None:
    b.connection = Connection(revision)
    result = b.ask(method, CALLS[method])["result"]
    validate(result, SHAPES[method])
    assert not {"resultType", "ttlMs", "cacheScope", "_meta"} & result.keys()


@pytest.mark.parametrize(("revision", "structured"), [(MODERN, True), ("2025-11-25", True), ("2025-06-18", True), ("2025-03-26", False)])
def test_structure_is_left_out_where_the_revision_has_none(b, revision, structured) -> None:
    """docs/rules.md, Revisions; the text stays."""
    b.connection = Connection(revision)
    assert ("structuredContent" in b.call("probe")["result"]) is structured
    assert ("outputSchema" in b.ask("tools/list")["result"]["tools"][0]) is structured
    assert json.loads(b.call("probe")["result"]["content"][0]["text"]) == {"ok": True}


@pytest.mark.parametrize("method", CALLS)
def test_a_client_that_initialised_with_2026_gets_the_additive_fields(b, method) -> None:
    """A-01."""
    b.connection = Connection()
    assert b.ask("initialize", {"protocolVersion": MODERN})["result"]["protocolVersion"] == MODERN
    result = b.ask(method, CALLS[method])["result"]
    validate(result, SHAPES[method])
    validate(result, MODERN_SHAPE)
    assert b.ask("ping")["result"] == {}
    assert b.ask("resources/read", {"uri": "test://none"})["error"]["code"] == errors.RESOURCE_NOT_FOUND_LEGACY
    assert b.ask("server/discover")["error"]["code"] == errors.INVALID_PARAMS


@pytest.mark.parametrize(
    ("asked", "given"),
    [
        (MODERN, MODERN),
        *((version, version) for version in LEGACY),
        ("2024-11-05", "2025-11-25"),
        ("2099-01-01", "2025-11-25"),
        ("", "2025-11-25"),
    ],
)
def test_initialize_answers_with_the_negotiated_revision_and_binds_it(b, asked, given) -> None:
    """C012, F47."""
    b.connection, b.registry.offers = Connection(), OFFERS
    result = b.ask("initialize", {"protocolVersion": asked, "capabilities": {}, "clientInfo": {"name": "p", "version": "0"}})["result"]
    assert result["protocolVersion"] == b.connection.revision == given
    assert {"tools", "resources", "prompts"} <= result["capabilities"].keys()
    assert result["serverInfo"]["name"] == "cmsmcp"
    assert result["serverInfo"]["version"] == "9.9.9"
    assert SENTENCE in result["instructions"]
    assert ("resultType" in result) is (given == MODERN)


@pytest.mark.parametrize("params", [{}, {"protocolVersion": None}, {"protocolVersion": 123}])
def test_initialize_without_a_version_binds_nothing(b, params) -> None:
    b.connection = Connection()
    error = b.ask("initialize", params)["error"]
    assert error["code"] == errors.INVALID_PARAMS
    assert MODERN in error["data"]["supported"]
    assert b.connection.revision is None


def test_discover_lists_all_revisions_and_keeps_identity_in_meta(b) -> None:
    """ST-06: answered first thing, without a handshake."""
    b.connection = Connection()
    result = b.ask_modern("server/discover")["result"]
    validate(result, MODERN_SHAPE)
    validate(result, CACHE_SHAPE)
    assert result["supportedVersions"] == [MODERN, *LEGACY]
    assert "serverInfo" not in result
    assert b.connection.revision is None, "a modern request binds nothing"


def test_the_handshake_waits_for_neither_capabilities_nor_site(bench) -> None:
    """docs/rules.md, Revisions."""
    from cmsmcp.core.service import Service
    from cmsmcp.governance.policy import Policy

    b = bench(probe)

    def never():
        raise AssertionError("opened too early")

    b.service = Service(Policy(enabled=True), never, never, lambda: b.admission, "1", offers=lambda: OFFERS)
    b.connection = Connection()
    assert "result" in b.ask_modern("server/discover")
    assert "result" in b.ask("initialize", {"protocolVersion": MODERN})
    assert b.ask("ping")["result"] == {}


@pytest.mark.parametrize(
    "method", ["initialize", "ping", "logging/setLevel", "resources/subscribe", "resources/unsubscribe", "unknown/method", "tasks/list"]
)
def test_what_the_modern_era_does_not_have_is_unknown_there(b, method) -> None:
    """docs/rules.md, Revisions: over HTTP a 404 with a JSON-RPC body."""
    params = {"protocolVersion": MODERN} if method == "initialize" else {}
    error = b.ask_modern(method, params)["error"]
    assert error["code"] == errors.METHOD_NOT_FOUND
    assert b.outcome.status == 404
    assert error["data"]["method"] == method
    assert ("supported" in error["data"]) is (method == "initialize")


@pytest.mark.parametrize("method", ["subscriptions/subscribe", "tasks/get", "no/such", "", "tools/call/"])
def test_an_undeclared_method_is_unknown_but_never_a_404_in_the_legacy_era(b, method) -> None:
    """docs/rules.md, Revisions: legacy clients would initialise again."""
    assert b.ask(method)["error"]["code"] == errors.METHOD_NOT_FOUND
    assert b.outcome.status == 200
    assert [ask.permit for ask in b.admission.asks] == [False]


def test_ping_costs_one_without_a_permit_and_is_exactly_empty(b) -> None:
    """docs/rules.md, Governance order; LG-04."""
    for revision in (MODERN, *LEGACY, None):
        b.connection = Connection(revision)
        assert b.ask("ping", id="alive") == {"jsonrpc": "2.0", "id": "alive", "result": {}}
    assert {(ask.cost, ask.permit, ask.intent) for ask in b.admission.asks} == {(1, False, None)}
    assert b.admission.balanced()


@pytest.mark.parametrize(
    ("message", "code", "status"),
    [
        (b"{nope", errors.PARSE_ERROR, 400),
        (b'{"jsonrpc":"2.0","id":1,"method":7}', errors.INVALID_REQUEST, 400),
        (b"[]", errors.INVALID_REQUEST, 400),
        (b'[{"jsonrpc":"2.0","id":1,"method":"ping"}]', errors.INVALID_REQUEST, 400),
    ],
)
def test_what_is_no_message_is_refused_before_anything_is_charged(b, message, code, status) -> None:
    """C004, C008."""
    assert b.send(message)["error"]["code"] == code
    assert (b.outcome.code, b.outcome.status) == (code, status)
    assert b.admission.asks == []


@pytest.mark.parametrize(
    "message",
    [
        {"method": "notifications/initialized"},
        {"method": "notifications/roots/list_changed"},
        {"method": "notifications/not-a-thing", "params": []},
        {"method": "notifications/cancelled"},
        {"method": "notifications/cancelled", "params": {"requestId": {"a": 1}}},
        {"method": "tools/list"},
        {"id": 7, "result": {}},
        {"id": 7, "error": {"code": 1, "message": "x"}},
    ],
)
def test_notifications_and_responses_are_never_answered_nor_charged(b, message) -> None:
    """C006; docs/rules.md, Governance order."""
    assert b.send({"jsonrpc": "2.0", **message}) is None
    assert (b.outcome.body, b.outcome.status) == (None, 202)
    assert b.admission.asks == []


def test_a_notification_with_an_id_gets_one_reply(b) -> None:
    """C006."""
    assert b.ask("notifications/initialized", id="n1")["id"] == "n1"


def test_a_client_response_is_refused_in_the_modern_era_over_http(b) -> None:
    b.connection = Connection()
    reply = b.send({"jsonrpc": "2.0", "id": 7, "result": {}}, headers={"mcp-protocol-version": MODERN})
    assert reply["error"]["code"] == errors.INVALID_REQUEST
    assert b.outcome.status == 400


def test_protocol_refusals_over_http_are_400_and_cost_a_unit(b) -> None:
    """docs/rules.md, HTTP order of checks."""
    b.connection = Connection()
    for headers in ({"mcp-protocol-version": MODERN}, {"mcp-protocol-version": "1999-01-01"}):
        assert "error" in b.ask("tools/list", headers=headers)
        assert b.outcome.status == 400
    assert len(b.admission.asks) == 2


def test_the_oldest_revision_has_batches(b) -> None:
    """A-06, ST-11."""
    b.connection = Connection("2025-03-26")
    ping = {"jsonrpc": "2.0", "method": "ping"}
    batch = [{**ping, "id": 1}, {"jsonrpc": "2.0", "method": "notifications/initialized"}, 3, {**ping, "id": "b"}]
    replies = b.send([*batch, {"jsonrpc": "2.0", "id": 9, "method": "initialize", "params": {"protocolVersion": MODERN}}])
    assert [reply.get("id") for reply in replies] == [1, None, "b", 9]
    enveloped = {"jsonrpc": "2.0", "id": 4, "method": "tools/list", "params": {"_meta": META}}
    assert [reply["error"]["code"] for reply in b.send([enveloped])] == [errors.INVALID_REQUEST]
    assert [reply.get("error", {}).get("code") for reply in replies] == [None, errors.INVALID_REQUEST, None, errors.INVALID_REQUEST]
    assert b.connection.revision == "2025-03-26"
    assert b.send([{"jsonrpc": "2.0", "method": "notifications/initialized"}]) is None
    assert b.outcome.status == 202
