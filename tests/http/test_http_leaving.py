"""Clients that leave, and clients that take much: what they held is free for others (docs/rules.md, Event streams over HTTP).

What is left to itself would run for 50 s, longer than anything here takes; how soon it ends is measured by `bench/leaving.py`.
"""

from __future__ import annotations

import json
import socket
import struct
import threading
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import redis as redis_py
from flask import Flask

from cmsmcp.api.door import blueprint
from cmsmcp.api.reading import Reading
from cmsmcp.core.ports import Caller
from cmsmcp.core.service import Service
from cmsmcp.governance.policy import Policy
from cmsmcp.governance.scopes import READ_SCOPES
from cmsmcp.identity.cursors import CursorSeal
from cmsmcp.identity.gate import Gate
from cmsmcp.identity.peers import Peers
from cmsmcp.processes.presence import has_left
from cmsmcp.state.memory.admission import MemoryAdmission
from cmsmcp.state.redis.keys import Keys
from tests.waiting import until

LONG = 50.0
HERE = Path(__file__).parent
EXTRA = {"CMSMCP_CAPABILITIES": "sleepers,speakers", "PYTHONPATH": str(HERE), "CMSMCP_SECRET_KEY": "k" * 40}


class Host:
    """A server of one worker that runs four calls at once, and what its Redis knows of them."""

    def __init__(self, server: Any, redis: Any, name: str) -> None:
        self.server, self._redis, self._keys = server, redis, Keys(name)

    def token(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.server.place.token()}"}

    def call(self, headers: Mapping[str, str], tool: str, seconds: float) -> Any:
        return self.server.post(called(tool, seconds), headers)

    def send(self, headers: Mapping[str, str], body: bytes, *more: bytes) -> socket.socket:
        peer = socket.create_connection((self.server.host, self.server.port), timeout=60)
        peer.sendall(request(body, headers) + b"".join(more))
        return peer

    def running(self) -> int:
        return int(self._redis.zcard(self._keys.permits))

    def outcomes(self) -> list[dict[str, str]]:
        return [record for _, record in self._redis.xrange(self._keys.audit) if record["phase"] == "outcome"]


def request(body: bytes, headers: Mapping[str, str]) -> bytes:
    lines = ["POST /mcp HTTP/1.1", "Host: localhost", "Content-Type: application/json", f"Content-Length: {len(body)}"]
    return "\r\n".join([*lines, *(f"{name}: {value}" for name, value in headers.items()), "", ""]).encode() + body


def called(tool: str, seconds: float, id: int = 1) -> bytes:
    params = {"name": tool, "arguments": {"seconds": seconds}}
    return json.dumps({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}).encode()


@pytest.fixture(scope="module", params=["gevent", "gthread"])
def host(request: pytest.FixtureRequest, new_place: Callable[[], Any], start: Callable[..., Any], redis_url: str) -> Iterator[Host]:
    place, name = new_place().with_(REDIS_URL=redis_url, **EXTRA), f"leaving-{request.param}"
    config = place.site / "content/config/site.yaml"
    text = config.read_text()
    limits = "audit: true\n  max_concurrency: 4\n  rate_limit: {requests_per_minute: 600000, burst: 100000}\n"
    kept = "".join(line for line in text.splitlines(keepends=True) if not line.startswith("name:"))
    config.write_text(f"name: {name}\n{kept.replace('audit: true' + chr(10), limits, 1)}")
    server = start(place, "--workers", "1", "--worker-class", request.param)
    yield Host(server, redis_py.Redis.from_url(redis_url, decode_responses=True), name)
    server.stop()


@pytest.mark.parametrize("tool", ["sleep", "compute", "speak"])
@pytest.mark.parametrize("how", ["close", "reset"])
def test_a_client_that_leaves_stops_its_work_and_frees_its_permit(host: Host, tool: str, how: str) -> None:
    """docs/rules.md, Governance order: work that sleeps, that never pauses, and that could speak; a plain POST each time."""
    done = len(host.outcomes())
    peer = host.send(host.token(), called(tool, LONG))
    until(lambda: host.running() == 1)
    if how == "reset":
        peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    peer.close()
    [outcome] = until(lambda: host.outcomes()[done:])
    assert (outcome["capability"], outcome["reason"], outcome.get("code")) == (tool, "cancelled", None)
    until(lambda: host.running() == 0)


def test_a_modern_stream_and_a_session_without_one_are_left_alike(host: Host) -> None:
    """X-01; docs/rules.md, Event streams over HTTP: a reply that cannot be resumed is nobody's."""
    headers = host.token()
    opening = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    opened = host.server.post(json.dumps({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": opening}), headers)
    session = {"Mcp-Session-Id": opened.headers["Mcp-Session-Id"], "MCP-Protocol-Version": "2025-11-25"}
    events = {"Accept": "application/json, text/event-stream"}
    for more in (session, events):  # without a session: no revision of those that resume
        done = len(host.outcomes())
        peer = host.send({**headers, **more}, called("speak", LONG))
        until(lambda: host.running() == 1)
        peer.close()
        [outcome] = until(lambda done=done: host.outcomes()[done:])
        assert outcome["reason"] == "cancelled"


def test_the_work_of_a_session_that_can_resume_it_runs_on(host: Host) -> None:
    """X-02: its reply is kept."""
    headers = host.token()
    opening = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    opened = host.server.post(json.dumps({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": opening}), headers)
    session = {"Mcp-Session-Id": opened.headers["Mcp-Session-Id"], "MCP-Protocol-Version": "2025-11-25"}
    done = len(host.outcomes())
    peer = host.send({**headers, **session, "Accept": "application/json, text/event-stream"}, called("speak", 1.5))
    assert peer.recv(20).startswith(b"HTTP/1.1 200")
    peer.close()
    [outcome] = until(lambda: host.outcomes()[done:])
    assert outcome["capability"] == "speak" and "reason" not in outcome


def test_who_sends_the_next_request_behind_the_first_has_not_left(host: Host) -> None:
    """RFC 9112, 9.3.2: pipelined bytes say nothing about leaving, nor do they hide it."""
    headers = host.token()
    with host.send(headers, called("sleep", 1.0), request(called("sleep", 0.0, id=2), headers)) as peer:
        received = b""
        while received.count(b"slept") < 2:
            chunk = peer.recv(65_536)
            assert chunk, received
            received += chunk
    assert received.count(b"HTTP/1.1 200") == 2
    done = len(host.outcomes())
    peer = host.send(headers, called("sleep", LONG), request(called("sleep", LONG, id=2), headers))
    until(lambda: host.running() == 1)
    peer.close()
    assert until(lambda: host.outcomes()[done:])[0]["reason"] == "cancelled"


def test_who_shuts_down_its_own_side_gets_what_is_quick_and_is_told_of_the_rest(host: Host) -> None:
    """docs/rules.md, Event streams over HTTP: nobody can tell it from one that has gone until something is written to it."""
    for seconds, reply in ((0.0, b"slept"), (LONG, b"Keep it open until the reply")):
        with host.send(host.token(), called("sleep", seconds)) as peer:
            peer.shutdown(socket.SHUT_WR)
            received = b"".join(iter(lambda peer=peer: peer.recv(65_536), b""))
        assert reply in received, received


def test_one_client_leaves_room_for_another_and_has_its_share_back_once_it_leaves(host: Host) -> None:
    """docs/rules.md, Limits: three of four."""
    greedy, modest = host.token(), host.token()
    peers = [host.send(greedy, called("sleep", LONG)) for _ in range(3)]
    until(lambda: host.running() == 3)
    refused = host.call(greedy, "sleep", 0.0)
    assert (refused.status, refused.json["error"]["code"]) == (429, 4291)
    assert refused.json["error"]["message"] == "This client has 3 calls running, the most that one client may have. Try again in 1 s."
    assert host.call(modest, "sleep", 0.0).status == 200
    peers.append(host.send(modest, called("sleep", LONG)))
    until(lambda: host.running() == 4)
    refused = host.call(host.token(), "sleep", 0.0)
    assert refused.status == 429 and "This site has 4 calls of all its clients running" in refused.json["error"]["message"]
    for peer in peers:
        peer.close()
    until(lambda: host.call(greedy, "sleep", 0.0).status == 200)
    until(lambda: host.running() == 0)


def pair(family: int) -> tuple[socket.socket, socket.socket]:
    if family == socket.AF_UNIX:
        return socket.socketpair()
    with socket.create_server(("127.0.0.1", 0)) as listener:
        client = socket.create_connection(listener.getsockname())
        return listener.accept()[0], client


@pytest.mark.parametrize("family", [socket.AF_INET, socket.AF_UNIX])
def test_a_socket_is_asked_and_nothing_is_taken_from_it(family: int) -> None:
    served, client = pair(family)
    environ = {"gunicorn.socket": served}
    with served:
        assert not has_left(environ)
        client.sendall(b"GET /")
        assert not has_left(environ)
        client.shutdown(socket.SHUT_WR)
        until(lambda: has_left(environ) == (family == socket.AF_INET))
        served.sendall(b"reply")
        assert client.recv(9) == b"reply" and served.recv(9) == b"GET /"
        client.close()
        until(lambda: has_left(environ))
    assert has_left(environ), "the server has closed it"
    assert not has_left({}), "another server, which does not say"


def test_who_leaves_a_question_to_the_api_stops_its_work() -> None:
    """The same for a GET; over a socket of its own, since no question of ours takes so long by itself."""
    began, reasons = threading.Event(), []

    class Slow(Reading):
        def _read(self, visit: Any, question: Any, call: Any) -> Any:
            began.set()
            while True:
                call.deadline.check()

    class Audit:
        def append(self, record: Mapping[str, str]) -> None:
            reasons.append((record["phase"], record.get("reason")))

    policy = Policy(enabled=True, audit=True, scopes=READ_SCOPES)
    admission = MemoryAdmission(policy, Audit())
    ports = Service(policy, lambda: None, lambda: None, lambda: admission, "0").ports  # type: ignore[arg-type, return-value]
    gate = Gate(Peers(), lambda _: Caller("c", READ_SCOPES), admission, policy.max_request_bytes, has_left)
    app = Flask("t")
    app.register_blueprint(blueprint(Slow(ports, CursorSeal), gate))
    served, client = pair(socket.AF_INET)
    replies: list[Any] = []

    def ask() -> None:
        replies.append(app.test_client().get("/api/post", environ_overrides={"gunicorn.socket": served}))

    asking = threading.Thread(target=ask)
    with served:
        asking.start()
        assert began.wait(60)
        client.close()
        asking.join(60)
    assert reasons == [("intent", None), ("outcome", "cancelled")]
    assert replies[0].status_code == 400 and "Keep it open" in replies[0].json["error"]
