"""What a session, a lost one, or none means for a message (MCP 2025-11-25 basic/transports, Session Management; A-01, A-05)."""

from __future__ import annotations

import pytest

from cmsmcp.core.ports import Verdict
from cmsmcp.core.session import Connection
from cmsmcp.protocol.eras import declared

MODERN = "2026-07-28"
META = {"io.modelcontextprotocol/protocolVersion": MODERN, "io.modelcontextprotocol/clientCapabilities": {}}
MODERN_HEADERS = {"mcp-protocol-version": MODERN, "mcp-method": "tools/list"}
LEGACY = {"mcp-protocol-version": "2025-11-25"}


def initialize(version: str, capabilities: object = None) -> dict:
    return {"protocolVersion": version, "capabilities": capabilities or {}, "clientInfo": {"name": "t", "version": "0"}}


@pytest.fixture
def b(bench):
    return bench()


@pytest.fixture
def lost(b):
    b.connection = Connection(lost=True)
    return b


@pytest.mark.parametrize("headers", [{}, LEGACY])
@pytest.mark.parametrize("method", ["ping", "tools/list", "no/such"])
def test_a_request_of_a_lost_session_is_404_whatever_its_method(lost, headers: dict[str, str], method: str) -> None:
    reply = lost.ask(method, headers=headers, id="a")
    assert (lost.outcome.status, reply["id"], reply["error"]["code"]) == (404, "a", 4040)
    assert len(lost.admission.asks) == 1, "it costs its unit like any refused request"


def test_a_bad_version_is_told_before_a_lost_session(lost) -> None:
    assert lost.ask("ping", headers={"mcp-protocol-version": "1999-01-01"})["error"]["code"] == -32022


def test_initialize_and_modern_requests_do_not_care_for_a_lost_session(lost) -> None:
    assert "error" not in lost.ask("tools/list", {"_meta": META}, headers=MODERN_HEADERS)
    assert lost.ask("initialize", initialize("2025-06-18"), headers={})["result"]["protocolVersion"] == "2025-06-18"
    assert not lost.connection.lost and lost.connection.is_new
    assert lost.ask("ping", headers={})["result"] == {}


def test_what_is_never_answered_is_refused_too_when_its_session_is_lost(lost) -> None:
    for message in ({"jsonrpc": "2.0", "method": "notifications/initialized"}, {"jsonrpc": "2.0", "id": 1, "result": {}}):
        assert lost.send(message, LEGACY)["error"]["code"] == 4040
        assert (lost.outcome.status, lost.outcome.unpaid) == (404, True)
        assert lost.outcome.body is not None


def test_a_batch_of_a_lost_session_runs_nothing(lost) -> None:
    batch = [{"jsonrpc": "2.0", "id": 1, "method": "ping"}]
    assert lost.send(batch, {"mcp-protocol-version": "2025-03-26"})["error"]["code"] == 4040
    assert lost.outcome.status == 404
    assert lost.admission.asks == []


def test_modern_notifications_have_no_header_rules(lost) -> None:
    """2026-07-28 basic/transports/streamable-http: leniency; a session id means nothing there."""
    assert lost.send({"jsonrpc": "2.0", "method": "notifications/whatever"}, {"mcp-protocol-version": MODERN}) is None
    assert lost.outcome.status == 202


def test_a_response_is_for_legacy_revisions(b) -> None:
    answer = {"jsonrpc": "2.0", "id": 1, "result": {}}
    b.connection = Connection()
    assert b.send(answer, LEGACY) is None and b.outcome.status == 202
    assert b.send(answer, {"mcp-protocol-version": MODERN})["error"]["code"] == -32600
    assert (b.outcome.status, b.outcome.unpaid) == (400, True)
    b.connection = Connection(MODERN)
    assert b.send(answer, {"mcp-protocol-version": MODERN}) is None, "a session that was initialised with that revision is legacy"


def test_a_notification_under_an_unknown_revision_is_refused(b) -> None:
    notification = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    assert b.send(notification, {"mcp-protocol-version": "1999-01-01"})["error"]["code"] == -32022
    assert b.outcome.status == 400


PING = b'{"jsonrpc":"2.0","id":1,"method":"ping"}'


@pytest.mark.parametrize("raw", [b"{", b"[]", b'"text"', b"7", b"{}", b"[" + PING + b"]", PING.replace(b"1,", b"1.5,")])
def test_what_is_no_message_is_unpaid(b, raw: bytes) -> None:
    """docs/rules.md, HTTP order of checks: the door makes its sender's address pay."""
    assert "error" in b.send(raw, LEGACY)
    assert (b.outcome.status, b.outcome.unpaid) == (400, True)
    assert b.admission.asks == []


def test_a_faulty_member_of_a_batch_is_paid_by_its_client(b) -> None:
    """Else a list of 50 pieces of rubbish would be free, also for a token that was revoked."""
    b.connection = Connection("2025-03-26")
    rubbish = [{}, 7, {"jsonrpc": "2.0", "id": 1, "method": "initialize"}, {"jsonrpc": "2.0", "method": "notifications/x"}]
    assert [reply["error"]["code"] for reply in b.send(rubbish, {"mcp-protocol-version": "2025-03-26"})] == [-32600] * 3
    assert [(ask.cost, ask.permit) for ask in b.admission.asks] == [(1, False)] * 3 and b.admission.balanced()
    b.admission.verdict = Verdict("revoked")
    assert [reply["error"]["code"] for reply in b.send(rubbish, {"mcp-protocol-version": "2025-03-26"})] == [4010] * 3


def test_whatever_breaks_before_a_method_is_found_is_an_internal_error_and_frees_the_id(b, monkeypatch) -> None:
    """The service never raises: a door would answer in its own way, and the id would be taken for good."""

    def broken(*arguments: object) -> None:
        raise RuntimeError("no")

    with monkeypatch.context() as patch:
        patch.setattr("cmsmcp.core.service.classify", broken)
        reply = b.ask("ping", id="x")
        assert (reply["id"], reply["error"]["code"]) == ("x", -32603)
    with monkeypatch.context() as patch:
        patch.setattr("cmsmcp.core.service.Exchange", broken)
        assert b.ask("ping", id="x")["error"]["code"] == -32603
    assert b.ask("ping", id="x")["result"] == {}


def test_a_refused_request_is_paid_by_its_client(b) -> None:
    b.ask("no/such", headers=LEGACY)
    assert not b.outcome.unpaid and len(b.admission.asks) == 1


@pytest.mark.parametrize(
    ("capabilities", "names"),
    [
        ({}, set()),
        (None, set()),
        ([], set()),
        ({"sampling": {}, "roots": {"listChanged": True}}, {"sampling", "roots"}),
        ({"elicitation": {}}, {"elicitation"}),
        ({"elicitation": {"url": {}}}, {"elicitation-url"}),
        ({"elicitation": {"url": {}, "form": {}}}, {"elicitation", "elicitation-url"}),
        ({"elicitation": True, "sampling": None, "future": {}}, set()),
    ],
)
def test_the_handshake_keeps_what_may_be_needed_of_the_client(b, capabilities: object, names: set[str]) -> None:
    assert declared({"capabilities": capabilities}) == names
    b.ask("initialize", {"protocolVersion": "2025-11-25", "capabilities": capabilities}, headers={})
    assert b.connection.declared == names
