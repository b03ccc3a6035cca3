"""The HTTP door in process: order of checks, statuses, headers, bodies. The service, tokens and limits behind it are the real ones."""

from __future__ import annotations

import io
import json
import time
from collections.abc import Container
from functools import partial
from typing import Any

import gevent
import gevent.socket
import pytest
from flask.testing import FlaskClient

import cmsmcp.capabilities
from cmsmcp.app import create_app
from cmsmcp.core.ports import Caller, Site
from cmsmcp.core.registry import discover
from cmsmcp.core.service import Service
from cmsmcp.governance.policy import Policy, Rate
from cmsmcp.governance.scopes import READ_SCOPES
from cmsmcp.identity.gate import Gate
from cmsmcp.identity.keys import Keyring
from cmsmcp.identity.peers import Peers
from cmsmcp.identity.tokens import Grant, Tokens
from cmsmcp.processes.gunicorn_conf import TimedReader
from cmsmcp.protocol.mediatypes import accepts
from cmsmcp.state.memory.admission import MemoryAdmission
from cmsmcp.transports.http import Entrance, blueprint

LIMIT = 8_388_608
JSON = {"Content-Type": "application/json"}
PING = b'{"jsonrpc":"2.0","id":41,"method":"ping"}'
LIST = b'{"jsonrpc":"2.0","id":1,"method":"tools/list"}'
TOKENS = Tokens(Keyring([b"k" * 40], "tokens"), "urn:cmsmcp:test")
REGISTRY = discover(cmsmcp.capabilities)


class NoAudit:
    def append(self, record: Any) -> None:
        pass


def nothing() -> Site:
    raise AssertionError("no request of these tests reads the site")


def make_client(
    policy: Policy | None = None, peers: Peers | None = None, open_to: Caller | None = None, revoked: Container[str] = ()
) -> FlaskClient:
    policy = policy or Policy(enabled=True, audit=False, scopes=READ_SCOPES)
    admission = MemoryAdmission(policy, NoAudit(), revoked=revoked)
    service = Service(policy, lambda: REGISTRY, nothing, lambda: admission, "0.0.0")
    gate = Gate(peers or Peers(), partial(TOKENS.authenticate, door="mcp"), admission, policy.max_request_bytes)
    return create_app([blueprint(service, Entrance(gate, open_to))], list).test_client()


def bearer(access: str = "mcp-server", **grant: Any) -> dict[str, str]:
    return {"Authorization": "Bearer " + TOKENS.create(Grant("t", access, **grant)).token}


@pytest.fixture(scope="module")
def client() -> FlaskClient:
    return make_client(Policy(enabled=True, audit=False, scopes=READ_SCOPES, rate=Rate(60_000_000, 60_000_000)))


def post(client: FlaskClient, body: bytes = PING, path: str = "/mcp", **headers: str) -> Any:
    return client.post(path, data=body, headers={**JSON, **bearer(), **{k.replace("_", "-"): v for k, v in headers.items()}})


# C018
@pytest.mark.parametrize("path", ["/mcp", "/mcp/"])
def test_both_spellings_serve_directly(client: FlaskClient, path: str) -> None:
    reply = post(client, path=path)
    assert (reply.status_code, reply.json) == (200, {"jsonrpc": "2.0", "id": 41, "result": {}})
    assert client.head(path, headers=bearer()).status_code == 200


@pytest.mark.parametrize("path", ["//mcp", "/MCP", "/mcp//", "/", "/nope"])
def test_other_paths_are_404_json_without_a_redirect(client: FlaskClient, path: str) -> None:
    reply = post(client, path=path)
    assert (reply.status_code, reply.json) == (404, {"error": "Not found"})


@pytest.mark.parametrize("verb", ["PUT", "PATCH", "DELETE", "TRACE"])
def test_other_verbs_are_405_with_allow(client: FlaskClient, verb: str) -> None:
    """C018, P9; verbs are judged before tokens (docs/rules.md, HTTP order of checks)."""
    reply = client.open("/mcp", method=verb)
    assert reply.status_code == 405
    assert reply.headers["Allow"] == "GET, HEAD, POST, OPTIONS"
    if verb == "DELETE":
        assert reply.json == {"error": "Session termination is not supported"}


def test_get_is_planks_metadata_and_needs_a_token(client: FlaskClient) -> None:
    """P8."""
    assert client.get("/mcp").status_code == 401
    reply = client.get("/mcp", headers=bearer())
    assert reply.status_code == 200
    assert reply.json["transport"] == "streamable-http" and reply.json["endpoint"] == "/mcp"
    assert reply.json["capabilities"] == ["completions", "logging", "prompts", "resources", "tools"], "those of initialize"
    assert reply.json["protocolVersion"] == "2025-11-25"


def test_metadata_costs_a_unit_and_is_not_for_revoked_tokens() -> None:
    revoked: set[str] = set()
    policy = Policy(enabled=True, audit=False, scopes=READ_SCOPES, rate=Rate(1, 3))
    client, held = make_client(policy, revoked=revoked), bearer()
    assert [client.get("/mcp", headers=held).status_code for _ in range(2)] == [200, 200]
    assert client.head("/mcp", headers=held).status_code == 200
    limited = client.get("/mcp", headers=held)
    assert (limited.status_code, limited.json["error"]["code"]) == (429, 4290) and int(limited.headers["Retry-After"]) > 0
    other = bearer()
    revoked.add(TOKENS.authenticate(other["Authorization"], "mcp").token_id or "")
    refused = client.get("/mcp", headers=other)
    assert (refused.status_code, refused.headers["WWW-Authenticate"]) == (401, 'Bearer error="invalid_token"')


@pytest.mark.parametrize("headers", [{"Accept": "text/event-stream"}, {"MCP-Protocol-Version": "2026-07-28"}])
def test_get_for_a_stream_or_from_a_modern_client_is_405(client: FlaskClient, headers: dict[str, str]) -> None:
    """A client takes 405 for "no stream here", and anything else for a stream."""
    assert client.get("/mcp", headers={**bearer(), **headers}).status_code == 405


# C019
@pytest.mark.parametrize(
    "accept",
    [
        None, "", "*/*", "application/*", "application/json", "text/event-stream, application/json",
        "APPLICATION/JSON; q=0.9, text/event-stream;q=0.1", "application/json, text/event-stream", "text/html, */*;q=0.1",
    ],
)
def test_an_accept_that_admits_json_gets_json(client: FlaskClient, accept: str | None) -> None:
    reply = post(client, LIST, **({} if accept is None else {"Accept": accept}))
    assert (reply.status_code, reply.mimetype) == (200, "application/json")


MODERN_LIST = (
    b'{"jsonrpc":"2.0","id":3,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",'
    b'"io.modelcontextprotocol/clientCapabilities":{}}}}'
)


@pytest.mark.parametrize(
    ("accept", "streamed"),
    [
        ("text/event-stream, application/json", True), ("application/json;q=0.5, text/event-stream;q=0.6", True),
        ("application/json, text/event-stream", False), ("text/event-stream;q=0.5, application/json", False),
        ("text/event-stream;q=x, application/json", False), ("text/event-stream, */*", False),
        ("text/event-stream;q=0, application/json;q=0", None),
    ],
)
def test_a_client_of_mcp_that_names_event_streams_first_gets_one(client: FlaskClient, accept: str, streamed: bool | None) -> None:
    """C019; docs/rules.md, HTTP order of checks. Refusals stay JSON."""
    legacy, modern = {"MCP-Protocol-Version": "2025-06-18"}, {"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/list"}
    for body, headers in ((LIST, legacy), (MODERN_LIST, modern)):
        reply = post(client, body, Accept=accept, **headers)
        if streamed is None:
            assert reply.status_code == 406
            continue
        assert (reply.status_code, reply.mimetype) == (200, "text/event-stream" if streamed else "application/json")
    refused = post(client, MODERN_LIST, Accept=accept, **{**modern, "Mcp-Method": "tools/call"})
    assert refused.status_code == (400 if streamed is not None else 406) and refused.mimetype == "application/json"


@pytest.mark.parametrize("accept", ["text/event-stream", "text/*", "application/json;q=0.0, */*", "text/event-stream;q=0.1, text/html"])
def test_an_accept_that_admits_event_streams_alone_gets_one_event(client: FlaskClient, accept: str) -> None:
    """C019; 2026-07-28 basic/transports/streamable-http. Errors that a request was answered with come the same way."""
    for body in (PING, b'{"jsonrpc":"2.0","id":41,"method":"nope"}'):
        reply = post(client, body, Accept=accept)
        assert (reply.status_code, reply.mimetype) == (200, "text/event-stream")
        assert reply.headers["X-Accel-Buffering"] == "no" and "Content-Length" not in reply.headers
        first, data, *rest = reply.data.decode().split("\n")
        assert (first, data[:6], rest) == ("event: message", "data: ", ["", ""])
        assert json.loads(data[6:]) == post(client, body).json


def test_refusals_are_json_whatever_is_accepted(client: FlaskClient) -> None:
    """A client reads the code of a refusal from JSON; it comes before any event."""
    for body in (b"{", b"[]", PING):
        reply = post(client, body, Accept="text/event-stream", MCP_Protocol_Version="1999-01-01")
        assert (reply.status_code, reply.mimetype) == (400, "application/json")
    assert post(client, b'{"jsonrpc":"2.0","method":"notifications/initialized"}', Accept="text/event-stream").status_code == 202


@pytest.mark.parametrize("accept", ["text/html", "application/json;q=0", "application/json;q=0, text/event-stream;q=0, */*"])
def test_an_accept_that_admits_neither_is_406_with_a_json_body(client: FlaskClient, accept: str) -> None:
    reply = post(client, LIST, Accept=accept)
    assert reply.status_code == 406 and reply.json["error"]["code"] == -32600


@pytest.mark.parametrize("header", ["*/*;q=0", "application/*;q=0, */*", "text/*", "nonsense", ";;,,"])
def test_the_most_specific_range_decides(header: str) -> None:
    assert not accepts(header, "application/json")


# C021
def test_a_preflight_needs_no_token_and_lists_the_headers() -> None:
    client = make_client(peers=Peers(origins=["https://app.example"]))
    asked = {"Origin": "https://app.example", "Access-Control-Request-Method": "POST"}
    for _ in range(700):
        reply = client.options("/mcp", headers=asked)
    assert reply.status_code == 204
    assert reply.headers["Access-Control-Allow-Origin"] == "https://app.example" and reply.headers["Vary"] == "Origin"
    for name in ("authorization", "content-type", "accept", "mcp-protocol-version", "mcp-session-id", "last-event-id"):
        assert name in reply.headers["Access-Control-Allow-Headers"].lower()
    refused = client.post("/mcp", data=PING, headers={**JSON, "Origin": "https://app.example"})
    assert (refused.status_code, refused.headers["Access-Control-Allow-Origin"]) == (401, "https://app.example")


def test_every_refusal_can_be_read_by_an_allowed_origin() -> None:
    """C021: also those that come before the origin is looked at."""
    client = make_client(peers=Peers(origins=["https://app.example"]))
    for status, body, headers in (
        (413, b" " * (LIMIT + 1), {}),
        (415, PING, {"Content-Type": "text/plain"}),
        (400, b"{", {}),
        (404, PING, {"Mcp-Session-Id": "junk"}),
        (405, b"", {}),
    ):
        sent = {**JSON, **bearer(), "Origin": "https://app.example", **headers}
        reply = client.open("/mcp", method="PUT" if status == 405 else "POST", data=body, headers=sent)
        assert (reply.status_code, reply.headers.get("Access-Control-Allow-Origin")) == (status, "https://app.example")
        assert "Mcp-Session-Id" in reply.headers["Access-Control-Expose-Headers"]


def test_a_preflight_allows_the_parameter_headers_it_asks_for_and_no_others() -> None:
    """H-02 from a browser: `*` would not cover Authorization."""
    client = make_client(peers=Peers(origins=["https://app.example"]))
    asked = "mcp-param-region, Mcp-Param-Odd!Name, mcp-param-, x-other, mcp-param-a b, cookie"
    reply = client.options("/mcp", headers={"Origin": "https://app.example", "Access-Control-Request-Headers": asked})
    allowed = [name.strip() for name in reply.headers["Access-Control-Allow-Headers"].split(",")]
    assert allowed[-2:] == ["mcp-param-region", "Mcp-Param-Odd!Name"] and len(allowed) == 10
    assert "Content-Type" not in reply.headers and reply.data == b""


@pytest.mark.parametrize("origin", [
    "https://app.example:443", "HTTPS://App.Example.", "http://localhost.:3000", "http://[0::1]",
    "https://xn--bcher-kva.example",
])
def test_a_known_origin_is_known_in_each_of_its_spellings(origin: str) -> None:
    """RFC 6454: the default port is that of none; a name has no case, and a dot at its end changes nothing."""
    client = make_client(peers=Peers(origins=["https://app.example", "https://b\u00fccher.example:443"]))
    reply = client.post("/mcp", data=PING, headers={**JSON, **bearer()}, environ_overrides={"HTTP_ORIGIN": origin})
    assert (reply.status_code, reply.headers["Access-Control-Allow-Origin"]) == (200, origin)


@pytest.mark.parametrize("origin", ["https://other.example", "null", "http://localhost.evil.example", "localhost", "https://app.example:444"])
def test_a_foreign_origin_is_refused_on_every_verb(origin: str) -> None:
    """AU-08, P27."""
    client = make_client(peers=Peers(origins=["https://app.example"]))
    for verb in ("POST", "GET", "OPTIONS", "DELETE"):
        reply = client.open("/mcp", method=verb, headers={"Origin": origin, **bearer()})
        assert (reply.status_code, reply.json) == (403, {"error": "Origin not allowed"})
        assert "Access-Control-Allow-Origin" not in reply.headers


@pytest.mark.parametrize(("host", "known"), [
    ("localhost", True), ("127.0.0.1:8080", True), ("[::1]:8080", True), ("CMS.example", True), ("cms.example:444", True),
    ("port.example:8443", True), ("port.example", False), ("any.example:1", True), ("any.example", True),
    ("evil.example", False), ("localhost.evil.example", False), ("127.0.0.1.evil.example", False), ("", False),
    ("localhost,evil.example", False), ("localhost.", True), ("cms.example.", True), ("Cms.Example.:8080", True),
    ("port.example.:8443", True), ("port.example:08443", True), ("port.example:443", False),
    ("tls.example", True), ("tls.example:443", True), ("tls.example:80", False), ("tls.example:8443", False), ("cms.example:", True),
    ("[0:0:0:0:0:0:0:1]", True), ("[::1]", True), ("[::1", False), ("[::1]x", False), ("::1", False), ("[fe80::1%lo]", False),
    ("[2001:db8:0::1]", True), ("[2001:DB8::1]:80", True), ("[2001:db8::2]", False), ("xn--bcher-kva.example", True),
    ("XN--BCHER-KVA.example.", True), ("cms.example:99999", False), ("cms.example:\u0663", False),
    ("cms.example:80:80", False), ("a@cms.example", False), ("cms.example/", False),
])
def test_only_known_hosts_are_served(host: str, known: bool) -> None:
    """AU-08, CVE-2025-66416: a name that was rebound to loopback is still a foreign name; one name in another spelling is none."""
    hosts = ["cms.example", "port.example:8443", "any.example:*", "tls.example:443", "[2001:db8::1]", "b\u00fccher.example"]
    client = make_client(peers=Peers(hosts=hosts))
    reply = client.post("/mcp", data=PING, headers={**JSON, **bearer()}, environ_overrides={"HTTP_HOST": host})
    assert reply.status_code == (200 if known else 403)
    assert not any(Peers(hosts=hosts).knows_host(host) for host in ("cms.example..", ".cms.example", "", ".", "[", "]", ":", "[]"))


# C023, P4-P6, P23, P24
@pytest.mark.parametrize(
    ("authorization", "status", "error"),
    [
        (None, 401, "API token required"),
        ("Basic eDp5", 401, "API token required"),
        ("Bearer", 401, "API token required"),
        ("Bearer  ", 401, "API token required"),
        ("Bearer wrong", 401, "Invalid API token"),
        ("Bearer " + "a" * 70_000, 401, "Invalid API token"),
        (bearer()["Authorization"] + ",Bearer wrong", 401, "Invalid API token"),
        (bearer("read-only")["Authorization"], 403, "This token cannot access this endpoint"),
        (bearer("full-access")["Authorization"], 403, "This token cannot access this endpoint"),
        (bearer("operator")["Authorization"], 403, "This token cannot access this endpoint"),
    ],
)
def test_without_a_token_of_this_door_nothing_is_served(client: FlaskClient, authorization: str | None, status: int, error: str) -> None:
    reply = client.post("/mcp", data=LIST, headers={**JSON, **({"Authorization": authorization} if authorization is not None else {})})
    assert (reply.status_code, reply.json["error"]) == (status, error)
    assert "Authorization: Bearer" in reply.json["hint"] and "access type mcp-server" in reply.json["hint"]
    assert reply.headers["WWW-Authenticate"].startswith("Bearer")
    assert ("invalid_token" in reply.headers["WWW-Authenticate"]) is (error == "Invalid API token")


def test_the_scheme_has_no_case_and_a_token_in_the_query_is_none(client: FlaskClient) -> None:
    """C023, AU-06."""
    token = bearer()["Authorization"].split()[1]
    assert client.post("/mcp", data=PING, headers={**JSON, "Authorization": f"bearer {token}"}).status_code == 200
    assert client.post(f"/mcp?access_token={token}", data=PING, headers=JSON).status_code == 401


@pytest.mark.parametrize(
    "mime", [None, "text/plain", "application/json-rpc", "application/x-www-form-urlencoded", "application/json,application/json"]
)
def test_another_content_type_is_415(client: FlaskClient, mime: str | None) -> None:
    """It also keeps simple cross-site forms out. P7's "missing type" keeps its code."""
    reply = client.post("/mcp", data=PING, headers={**bearer(), **({"Content-Type": mime} if mime else {})})
    assert (reply.status_code, reply.json["error"]["code"]) == (415, -32600)


def test_a_charset_is_fine_and_an_encoded_body_is_not(client: FlaskClient) -> None:
    assert post(client, **{"Content-Type": "application/json; charset=utf-8"}).status_code == 200
    assert post(client, Content_Encoding="gzip").status_code == 415


# C029, W-05
def test_a_body_of_the_cap_is_read_and_one_byte_more_is_413(client: FlaskClient) -> None:
    exact = PING[:-1] + b',"p":"' + b"x" * (LIMIT - len(PING) - 7) + b'"}'
    assert len(exact) == LIMIT
    assert post(client, exact).status_code == 200
    over = post(client, exact + b" ")
    assert over.status_code == 413 and over.json["error"]["code"] == -32600
    unknown = client.post("/mcp", headers=JSON, environ_overrides={"CONTENT_LENGTH": str(10**30)})
    assert unknown.status_code == 413, "size is judged before the token"


@pytest.mark.parametrize("length", ["0" * 30 + str(2 * LIMIT), "0" * 19 + "5", "٣" * 3])
def test_a_size_announced_in_an_odd_way_gets_nobody_past_the_cap(client: FlaskClient, length: str) -> None:
    """Zeros before a number must not hide it, and no more than the cap is ever read into memory."""

    class Endless(io.RawIOBase):
        most = 0

        def read(self, size: int = -1) -> bytes:
            self.most = max(self.most, size)
            return b" " * min(size, LIMIT + 1)

    source = Endless()
    reply = client.post("/mcp", headers={**JSON, **bearer()}, environ_overrides={"wsgi.input": source, "CONTENT_LENGTH": length})
    assert reply.status_code == 413
    assert source.most <= LIMIT + 1


def test_a_chunked_body_is_read_and_capped(client: FlaskClient) -> None:
    def chunked(body: bytes) -> Any:
        environ = {"wsgi.input": io.BytesIO(body), "wsgi.input_terminated": True, "HTTP_TRANSFER_ENCODING": "chunked"}
        return client.post("/mcp", headers={**JSON, **bearer()}, environ_overrides={**environ, "CONTENT_LENGTH": ""})

    assert chunked(PING).json["result"] == {}
    assert chunked(PING + b" " * LIMIT).status_code == 413


@pytest.mark.parametrize("body", [b"", b"{", b"\xff", b"[" * 100_000, b'{"jsonrpc":"2.0","id":1,"method":"ping","id":2}', b"NaN"])
def test_what_is_no_json_is_400_with_a_parse_error(client: FlaskClient, body: bytes) -> None:
    """C065 (an empty body); docs/rules.md, Revisions."""
    reply = post(client, body)
    assert (reply.status_code, reply.json["error"]["code"]) == (400, -32700)


@pytest.mark.parametrize("name", ["MCP-Protocol-Version", "Mcp-Method", "Mcp-Session-Id"])
def test_a_repeated_routing_header_is_refused(client: FlaskClient, name: str) -> None:
    """WSGI folds repeated headers, and picking one would be a guess."""
    reply = post(client, **{name: "2025-11-25,2025-06-18"})
    assert (reply.status_code, reply.json["error"]["code"]) == (400, -32020)


def test_statuses_follow_the_outcome(client: FlaskClient) -> None:
    """docs/rules.md, HTTP order of checks."""
    assert post(client, b'{"jsonrpc":"2.0","method":"notifications/initialized"}').status_code == 202
    assert post(client, b'{"jsonrpc":"2.0","method":"notifications/initialized"}').data == b""
    assert post(client, b'{"jsonrpc":"2.0","id":1,"method":"nope"}').status_code == 200, "legacy: 404 would mean a lost session"
    assert post(client, MCP_Protocol_Version="1999-01-01").status_code == 400


def test_a_scope_that_is_not_enabled_is_403_and_named() -> None:
    """AU-03; F38."""
    client = make_client(Policy(enabled=True, audit=False, scopes=frozenset({"read:docs"})))
    call = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "get_runtime_health", "arguments": {}}})
    reply = client.post("/mcp", data=call, headers={**JSON, **bearer()})
    assert reply.status_code == 403
    assert reply.headers["WWW-Authenticate"] == 'Bearer error="insufficient_scope", scope="read:ops"'


def test_over_the_rate_is_429_with_retry_after() -> None:
    """F45, C063."""
    client = make_client(Policy(enabled=True, audit=False, scopes=READ_SCOPES, rate=Rate(1, 3)))
    headers = {**JSON, **bearer()}
    statuses = [client.post("/mcp", data=PING, headers=headers).status_code for _ in range(4)]
    assert statuses == [200, 200, 200, 429]
    reply = client.post("/mcp", data=PING, headers=headers)
    assert int(reply.headers["Retry-After"]) >= 1 and reply.json["error"]["data"]["retry_after"] == int(reply.headers["Retry-After"])
    assert reply.json["id"] == 41


def test_refusals_of_one_address_run_dry_and_do_not_touch_its_tokens() -> None:
    """docs/rules.md, HTTP order of checks: floods of rubbish are not free; a good token behind the same address is not punished."""
    client = make_client(Policy(enabled=True, audit=False, scopes=READ_SCOPES, rate=Rate(1, 3)))
    statuses = [client.post("/mcp", data=PING, headers=JSON).status_code for _ in range(5)]
    assert statuses == [401, 401, 401, 429, 429]
    assert post(client).status_code == 200


RUBBISH = [(b"{", {}), (b"[]", {}), (b'{"jsonrpc":"2.0","method":"x"}', {"Mcp-Session-Id": "junk"}), (PING, {"Content-Type": "text/plain"})]


@pytest.mark.parametrize(("body", "headers"), RUBBISH)
def test_rubbish_under_a_good_token_is_paid_by_the_address_too(body: bytes, headers: dict[str, str]) -> None:
    """docs/rules.md, HTTP order of checks: up to here nobody's budget was asked. Valid traffic from there is served all the while."""
    client = make_client(Policy(enabled=True, audit=False, scopes=READ_SCOPES, rate=Rate(1, 3)))
    sent = {**JSON, **bearer(), **headers}
    replies = [client.post("/mcp", data=body, headers=sent) for _ in range(5)]
    assert [reply.status_code for reply in replies][3:] == [429, 429] and all(reply.status_code != 429 for reply in replies[:3])
    assert replies[4].json["error"]["code"] == 4290
    assert replies[4].json["error"]["data"]["retry_after"] == int(replies[4].headers["Retry-After"]) >= 1
    same = {name: value for name, value in sent.items() if name == "Authorization"} | JSON
    assert [client.post("/mcp", data=PING, headers=same).status_code for _ in range(4)] == [200, 200, 200, 429]


def test_the_address_behind_a_trusted_proxy_counts_and_a_forged_one_does_not() -> None:
    """Left of the last trusted proxy anyone may have written what X-Forwarded-For says."""
    peers = Peers(proxies=["10.0.0.0/8"])
    assert peers.address("10.0.0.1", "6.6.6.6, 203.0.113.9, 10.0.0.2") == "203.0.113.9"
    assert peers.address("203.0.113.5", "6.6.6.6") == "203.0.113.5"
    assert peers.address("10.0.0.1", "") == "10.0.0.1"


@pytest.mark.parametrize("hop", ["203.0.113.51:{}", "[2001:db8::9]:{}", "unknown{}", "_hidden{}"])
def test_a_proxy_that_names_a_port_makes_no_new_address_of_it(hop: str) -> None:
    """Azure's gateways write `address:port`: each connection would have a bucket of its own, and refusals would be free."""
    policy = Policy(enabled=True, audit=False, scopes=READ_SCOPES, rate=Rate(1, 3))
    client = make_client(policy, peers=Peers(proxies=["127.0.0.1"]))
    statuses = [client.post("/mcp", data=PING, headers={**JSON, "X-Forwarded-For": hop.format(40_000 + n)}).status_code for n in range(6)]
    assert statuses == [401, 401, 401, 429, 429, 429]


def test_without_tokens_only_this_host_is_served() -> None:
    """`mcp.auth: none`."""
    client = make_client(open_to=Caller(client="local", scopes=READ_SCOPES))
    assert client.post("/mcp", data=PING, headers=JSON).status_code == 200
    assert client.post("/mcp", data=PING, headers=JSON, environ_overrides={"REMOTE_ADDR": "192.0.2.1"}).status_code == 403
    assert client.post("/mcp", data=PING, headers=JSON, environ_overrides={"REMOTE_ADDR": ""}).status_code == 403, "a unix socket"
    for name in ("X-Forwarded-For", "Forwarded", "X-Real-IP", "Via", "X-Forwarded-Proto"):
        assert client.post("/mcp", data=PING, headers={**JSON, name: "127.0.0.1"}).status_code == 403, name


def test_probes_need_no_token_and_name_what_is_missing() -> None:
    app = create_app([], lambda: {"redis": "it is down", "index": ""}).test_client()
    assert app.get("/healthz").status_code == 200
    reply = app.get("/readyz", headers={"Host": "probe.internal"})
    said = {"status": "waiting", "missing": ["redis", "index"], "reasons": {"redis": "it is down"}}
    assert (reply.status_code, reply.json) == (503, said)
    assert create_app([], dict).test_client().get("/readyz").status_code == 200


def test_a_crash_is_json_and_says_nothing() -> None:
    def broken() -> dict[str, str]:
        raise RuntimeError("secret detail in /home/somewhere")

    reply = create_app([], broken).test_client().get("/readyz")
    assert (reply.status_code, reply.json) == (500, {"error": "Internal server error"})


def test_a_body_that_drips_in_ends_at_its_deadline() -> None:
    """C065: "slow ones end by time limit"; real greenlets on a real socket pair."""
    ours, theirs = gevent.socket.socketpair()

    class Socket:
        def read(self, size: int) -> bytes:
            return ours.recv(size)

    reader = TimedReader(Socket(), 0.3)
    dripping = gevent.spawn(lambda: [(theirs.sendall(b"x"), gevent.sleep(0.05)) for _ in range(10_000)])
    began = time.monotonic()
    with pytest.raises(TimeoutError):
        while reader.read(1):
            pass
    assert time.monotonic() - began > 0.2
    dripping.kill()
    ours.close()
    theirs.close()


def test_a_body_that_came_too_slowly_is_408(client: FlaskClient) -> None:
    class Slow(io.BytesIO):
        def read(self, size: int | None = -1) -> bytes:
            raise TimeoutError

    reply = client.post("/mcp", headers={**JSON, **bearer()}, environ_overrides={"wsgi.input": Slow(), "CONTENT_LENGTH": "5"})
    assert (reply.status_code, reply.json["error"]["code"]) == (408, -32700)
