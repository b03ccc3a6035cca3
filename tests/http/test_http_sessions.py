"""Sessions of the legacy revisions at the HTTP door: given on `initialize`, read by any worker, 404 for what is none (A-01, A-05)."""

from __future__ import annotations

import json
from functools import partial
from typing import Any, cast

import pytest
from flask.testing import FlaskClient
from marshmallow import Schema, fields

from cmsmcp.app import create_app
from cmsmcp.core.capability import tool
from cmsmcp.core.ports import Site
from cmsmcp.core.registry import Registry
from cmsmcp.core.service import Service
from cmsmcp.governance.policy import Policy, Rate
from cmsmcp.governance.scopes import READ_SCOPES
from cmsmcp.identity.gate import Gate
from cmsmcp.identity.keys import Keyring
from cmsmcp.identity.peers import Peers
from cmsmcp.identity.sessions import PURPOSE, TTL, Sessions
from cmsmcp.identity.tokens import Grant, Tokens
from cmsmcp.state.memory.admission import MemoryAdmission
from cmsmcp.transports.http import Entrance, blueprint

MODERN = "2026-07-28"
REVISIONS = (MODERN, "2025-11-25", "2025-06-18", "2025-03-26")
META = {"io.modelcontextprotocol/protocolVersion": MODERN, "io.modelcontextprotocol/clientCapabilities": {}}
TOKENS = Tokens(Keyring([b"k" * 40], "tokens"), "urn:cmsmcp:test")
NOW = 1_790_000_000.0


class Output(Schema):
    ok = fields.Boolean(required=True)


@tool(scope="read:content", audit="test", output=Output)
def probe(arguments: Any, call: Any) -> Any:
    """Probes."""
    return {"ok": True}


class NoAudit:
    def append(self, record: Any) -> None:
        pass


class Worker:
    """One worker's application; several share nothing but the key."""

    def __init__(self, now: float = NOW, *, keyless: bool = False) -> None:
        policy = Policy(enabled=True, audit=False, scopes=READ_SCOPES, rate=Rate(60_000_000, 60_000_000))
        admission = MemoryAdmission(policy, NoAudit())
        service = Service(policy, lambda: Registry([probe]), lambda: cast(Site, None), lambda: admission, "0.0.0")
        sessions = None if keyless else Sessions(Keyring([b"k" * 40], PURPOSE), lambda: now)
        gate = Gate(Peers(), partial(TOKENS.authenticate, door="mcp"), admission, policy.max_request_bytes)
        self.client: FlaskClient = create_app([blueprint(service, Entrance(gate, sessions=lambda: sessions))], list).test_client()

    def post(self, bearer: dict[str, str], method: str, params: dict[str, Any] | None = None, **headers: str) -> Any:
        message = {"jsonrpc": "2.0", "id": 1, "method": method, **({"params": params} if params is not None else {})}
        return self.send(bearer, message, **headers)

    def send(self, bearer: dict[str, str], message: Any, **headers: str) -> Any:
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        return self.client.post("/mcp", data=json.dumps(message), headers={"Content-Type": "application/json", **bearer, **sent})

    def open(self, bearer: dict[str, str], revision: str) -> str:
        reply = self.post(bearer, "initialize", {"protocolVersion": revision, "capabilities": {"sampling": {}}})
        assert reply.json["result"]["protocolVersion"] == revision
        return reply.headers["Mcp-Session-Id"]


def bearer() -> dict[str, str]:
    return {"Authorization": "Bearer " + TOKENS.create(Grant("t")).token}


@pytest.fixture(scope="module")
def worker() -> Worker:
    return Worker()


ADA, BOB = bearer(), bearer()
CALL = {"name": "probe"}


@pytest.mark.parametrize("revision", REVISIONS)
def test_a_session_settles_the_revision_for_any_worker(worker: Worker, revision: str) -> None:
    """Design: a header-less request is of its session's revision. 2025-03-26 has no structured output, 2026-07-28 adds its fields."""
    session = worker.open(ADA, revision)
    assert all(0x21 <= ord(character) <= 0x7E for character in session)
    result = Worker().post(ADA, "tools/call", CALL, Mcp_Session_Id=session).json["result"]
    assert ("structuredContent" in result) is (revision != "2025-03-26")
    assert ("resultType" in result) is (revision == MODERN)
    assert Worker().post(ADA, "ping", Mcp_Session_Id=f"  {session} ").json["result"] == {}


def test_a_session_of_2026_is_served_without_envelope_also_under_its_own_header(worker: Worker) -> None:
    """A-01."""
    session = worker.open(ADA, MODERN)
    reply = worker.post(ADA, "tools/call", CALL, Mcp_Session_Id=session, MCP_Protocol_Version=MODERN)
    assert reply.json["result"]["resultType"] == "complete"
    assert worker.post(ADA, "ping", Mcp_Session_Id=session, MCP_Protocol_Version=MODERN).json["result"] == {}
    assert worker.post(ADA, "no/such", Mcp_Session_Id=session, MCP_Protocol_Version=MODERN).status_code == 200
    without = worker.post(ADA, "tools/call", CALL, MCP_Protocol_Version=MODERN)
    assert (without.status_code, without.json["error"]["code"]) == (400, -32602)


def test_without_a_session_a_legacy_request_is_served_all_the_same(worker: Worker) -> None:
    """A-05; P13."""
    assert "structuredContent" not in worker.post(ADA, "tools/call", CALL).json["result"]
    assert "structuredContent" in worker.post(ADA, "tools/call", CALL, MCP_Protocol_Version="2025-11-25").json["result"]


def broken(session: str) -> list[str]:
    other = session.replace("2025-11-25", "2025-06-18")
    return ["", "junk", session[:-1], session + "A", other, "A" + session[1:], session.replace(":", ".")]


def test_what_is_no_session_is_404_as_json(worker: Worker) -> None:
    """MCP 2025-11-25 basic/transports: then the client initialises again."""
    for session in broken(worker.open(ADA, "2025-11-25")):
        for headers in ({}, {"MCP_Protocol_Version": "2025-11-25"}):
            reply = worker.post(ADA, "tools/list", Mcp_Session_Id=session, **headers)
            assert (reply.status_code, reply.mimetype, reply.json["error"]["code"], reply.json["id"]) == (404, "application/json", 4040, 1)
            notification = worker.send(ADA, {"jsonrpc": "2.0", "method": "notifications/initialized"}, Mcp_Session_Id=session, **headers)
            assert (notification.status_code, notification.json["error"]["code"]) == (404, 4040)


def test_a_session_is_its_principals_alone(worker: Worker) -> None:
    session = worker.open(ADA, "2025-11-25")
    assert worker.post(BOB, "ping", Mcp_Session_Id=session).status_code == 404
    assert worker.post(ADA, "ping", Mcp_Session_Id=session).status_code == 200
    assert worker.post({}, "ping", Mcp_Session_Id=session).status_code == 401, "an id authenticates nobody"


@pytest.mark.parametrize("revision", REVISIONS)
def test_a_session_ends_by_time_and_initialize_opens_another(worker: Worker, revision: str) -> None:
    session = worker.open(ADA, revision)
    assert Worker(NOW + TTL - 1).post(ADA, "ping", Mcp_Session_Id=session).status_code == 200
    late = Worker(NOW + TTL)
    for headers in ({}, {"MCP_Protocol_Version": revision}):
        assert late.post(ADA, "ping", Mcp_Session_Id=session, **headers).status_code == 404
    again = late.post(ADA, "initialize", {"protocolVersion": revision}, Mcp_Session_Id=session)
    assert again.status_code == 200 and again.headers["Mcp-Session-Id"] != session


def test_only_a_handshake_that_succeeded_gives_an_id(worker: Worker) -> None:
    session = worker.open(ADA, "2025-11-25")
    replies = [
        worker.post(ADA, "initialize", {}),
        worker.post(ADA, "ping", Mcp_Session_Id=session),
        worker.send(ADA, [{"jsonrpc": "2.0", "id": 1, "method": "ping"}], MCP_Protocol_Version="2025-03-26"),
        worker.send(ADA, {"jsonrpc": "2.0", "method": "notifications/initialized"}, Mcp_Session_Id=session),
    ]
    assert all("Mcp-Session-Id" not in reply.headers for reply in replies)
    assert [reply.status_code for reply in replies] == [200, 200, 200, 202]


def test_the_modern_era_neither_reads_nor_gives_one(worker: Worker) -> None:
    for method, status in (("tools/list", 200), ("server/discover", 200), ("initialize", 404)):
        reply = worker.post(ADA, method, {"_meta": META}, MCP_Protocol_Version=MODERN, Mcp_Method=method, Mcp_Session_Id="junk")
        assert reply.status_code == status
        assert "Mcp-Session-Id" not in reply.headers
    assert reply.json["error"]["code"] == -32601
    notification = {"jsonrpc": "2.0", "method": "notifications/x"}
    assert worker.send(ADA, notification, MCP_Protocol_Version=MODERN, Mcp_Session_Id="junk").status_code == 202


def test_without_a_key_there_are_no_ids_and_calls_are_served() -> None:
    """Sessions are optional (MCP 2025-11-25); `mcp.auth: none` under plain gunicorn has no key."""
    keyless = Worker(keyless=True)
    reply = keyless.post(ADA, "initialize", {"protocolVersion": "2025-11-25"})
    assert reply.status_code == 200 and "Mcp-Session-Id" not in reply.headers
    assert keyless.post(ADA, "ping").status_code == 200
    assert keyless.post(ADA, "ping", Mcp_Session_Id="junk").status_code == 404


def test_a_session_is_not_ended_by_its_client(worker: Worker) -> None:
    """A-04, P9."""
    session = worker.open(ADA, "2025-11-25")
    reply = worker.client.delete("/mcp", headers={**ADA, "Mcp-Session-Id": session})
    assert (reply.status_code, reply.json) == (405, {"error": "Session termination is not supported"})
    assert worker.post(ADA, "ping", Mcp_Session_Id=session).status_code == 200


def test_a_batch_belongs_to_sessions_of_the_oldest_revision(worker: Worker) -> None:
    """A-06."""
    batch = [{"jsonrpc": "2.0", "id": 1, "method": "ping"}, {"jsonrpc": "2.0", "method": "notifications/x"}]
    oldest, newer = worker.open(ADA, "2025-03-26"), worker.open(ADA, "2025-11-25")
    assert worker.send(ADA, batch, Mcp_Session_Id=oldest).json == [{"jsonrpc": "2.0", "id": 1, "result": {}}]
    assert worker.send(ADA, batch, Mcp_Session_Id=newer).json["error"]["code"] == -32600


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 200),
        ({"Accept": "application/json, text/event-stream"}, 200),
        ({"Accept": "text/event-stream"}, 400),
        ({"Accept": "application/json, text/event-stream", "Mcp-Session-Id": "any"}, 404),
        ({"Accept": "text/event-stream", "Mcp-Session-Id": "any", "MCP-Protocol-Version": MODERN}, 405),
        ({"Accept": "*/*", "Mcp-Session-Id": "any"}, 200),
        ({"Accept": "application/json, text/event-stream;q=0", "Mcp-Session-Id": "any"}, 200),
        ({"MCP-Protocol-Version": MODERN}, 405),
        ({"MCP-Protocol-Version": "2025-11-25"}, 200),
        ({"MCP-Protocol-Version": "1999-01-01"}, 400),
    ],
)
def test_a_get_is_metadata_unless_a_stream_is_meant(worker: Worker, headers: dict[str, str], status: int) -> None:
    """P8, A-02: a stream needs a session, and 2026-07-28 has none to GET; Plank's readers get what they came for."""
    for verb in ("GET", "HEAD"):
        assert worker.client.open("/mcp", method=verb, headers={**ADA, **headers}).status_code == status
