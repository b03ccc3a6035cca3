"""Event streams of real servers: disconnects, resuming at another process, signals, threads (docs/rules.md, Streams)."""

from __future__ import annotations

import http.client
import json
import signal
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.waiting import until

MODERN = "2026-07-28"
META = {
    "io.modelcontextprotocol/protocolVersion": MODERN,
    "io.modelcontextprotocol/clientCapabilities": {},
    "progressToken": "p",
}
SPEAKERS = {"CMSMCP_CAPABILITIES": "speakers", "PYTHONPATH": str(Path(__file__).parent), "CMSMCP_SECRET_KEY": "k" * 40}


class Client:
    """One caller of one server. Every request has a connection of its own, so any worker may get it."""

    def __init__(self, server: Any, held: Mapping[str, str], session: str = "") -> None:
        self.server = server
        self.held = held
        self.session = session

    @classmethod
    def new(cls, server: Any, *words: str, legacy: str = "") -> Client:
        client = cls(server, {"Authorization": f"Bearer {server.place.token(*words)}"})
        if legacy:
            params = {"protocolVersion": legacy, "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
            client.session = client.post("initialize", params).headers["Mcp-Session-Id"]
        return client

    def at(self, server: Any) -> Client:
        return Client(server, self.held, self.session)

    def post(self, method: str, params: Mapping[str, Any]) -> Events:
        body: dict[str, Any] = {"jsonrpc": "2.0", "id": 1, "method": method, "params": dict(params)}
        headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream", **self.held}
        if self.session:
            headers["Mcp-Session-Id"] = self.session
            body["params"]["_meta"] = {"progressToken": "p"}
        elif method != "initialize":
            headers |= {"MCP-Protocol-Version": MODERN, "Mcp-Method": method, "Mcp-Name": params.get("name", "")}
            body["params"]["_meta"] = META
        return Events(self.server, "POST", json.dumps(body), headers)

    def call(self, name: str, **arguments: Any) -> Events:
        return self.post("tools/call", {"name": name, "arguments": arguments})

    def listen(self) -> Events:
        return self.post("subscriptions/listen", {"notifications": {}})

    def get(self, **headers: str) -> Events:
        sent = {"Accept": "text/event-stream", "Mcp-Session-Id": self.session, **self.held}
        return Events(self.server, "GET", None, sent | {name.replace("_", "-"): value for name, value in headers.items()})

    def is_served(self) -> bool:
        with self.call("list_documents") as reply:
            return reply.status == 200


class Events:
    """A reply, read event by event if it is a stream."""

    def __init__(self, server: Any, verb: str, body: str | None, headers: Mapping[str, str]) -> None:
        self.connection = http.client.HTTPConnection(server.host, server.port, timeout=60)
        self.connection.request(verb, "/mcp", body, dict(headers))
        self.reply = self.connection.getresponse()
        self.status, self.headers = self.reply.status, self.reply.headers
        self.is_stream = self.headers["Content-Type"].startswith("text/event-stream")

    def next(self) -> dict[str, str]:
        """The fields of the next event, or what stands alone; empty at the end."""
        fields: dict[str, str] = {}
        while line := self.reply.readline().decode():
            name, _, value = line.rstrip("\n").partition(":")
            if name:
                fields[name] = value.strip()
            elif fields:
                return fields
        return fields

    def rest(self) -> list[Any]:
        """The messages that are still to come."""
        found = iter(self.next, {})
        return [json.loads(one["data"]) for one in found if one.get("data")]

    def __enter__(self) -> Events:
        return self

    def __exit__(self, *_: object) -> None:
        self.reply.close()
        self.connection.close()


@pytest.fixture(scope="module")
def servers(new_place: Any, start: Any, redis_url: str) -> list[Any]:
    """Two servers of one site and one Redis: what one knows, the other must. One call at a time, so that one that runs is seen."""
    place = new_place().with_(REDIS_URL=redis_url, **SPEAKERS)
    config = place.site / "content/config/site.yaml"
    config.write_text(config.read_text().replace("audit: true", "audit: true\n  max_concurrency: 1"))
    return [start(place, "--workers", workers) for workers in ("2", "1")]


@pytest.fixture(scope="module", autouse=True)
def _log(servers: list[Any]) -> Any:
    yield
    assert "Traceback" not in servers[0].log + servers[1].log


@pytest.fixture(scope="module")
def clients(servers: list[Any]) -> dict[str, Client]:
    return {revision: Client.new(servers[0], legacy=revision) for revision in ("", "2025-11-25")}


def test_messages_come_while_the_call_still_runs(clients: dict[str, Client]) -> None:
    """W-04, PR-03: under gevent nothing is held back until the end."""
    with clients[""].call("speak", seconds=3) as stream:
        assert (stream.status, stream.is_stream, stream.headers["X-Accel-Buffering"]) == (200, True, "no")
        assert stream.headers["Content-Length"] is None and stream.headers["Content-Encoding"] is None
        first = json.loads(stream.next()["data"])
        assert first["params"]["progress"] == 1
        assert not clients[""].is_served(), "the one permit is still held"
        assert [message.get("id") for message in stream.rest()] == [None, 1]


def test_a_modern_client_that_goes_has_cancelled_its_call(clients: dict[str, Client]) -> None:
    """X-01: its permit is free long before its work would have ended."""
    with clients[""].call("speak", seconds=9) as stream:
        stream.next()
        assert not clients[""].is_served(), "there is one permit, and it is taken"
    until(clients[""].is_served)


def test_the_call_of_a_session_runs_on_without_its_client(clients: dict[str, Client], servers: list[Any]) -> None:
    """X-02, S-11: what it says and its reply are there for who comes back, at any process."""
    client = clients["2025-11-25"]
    with client.call("speak", seconds=5) as stream:
        id = stream.next()["id"]
    time.sleep(4)  # two comments, after which a call of 2026-07-28 would have been withdrawn
    with client.at(servers[1]).get(Last_Event_ID=id) as rest:
        assert [message.get("id") for message in rest.rest()] == [None, None, 1]


def test_a_stream_is_resumed_at_another_process(clients: dict[str, Client], servers: list[Any]) -> None:
    client = clients["2025-11-25"]
    with client.call("come_back", seconds=0.5) as stream:
        primed, hung_up = stream.next(), stream.next()
        assert (primed["data"], hung_up, stream.next()) == ("", {"retry": "50"}, {})
    with client.at(servers[1]).get(Last_Event_ID=primed["id"]) as rest:
        assert rest.status == 200 and [message["result"]["content"][0]["text"] for message in rest.rest()] == ["worth the way"]
    other = Client.new(servers[0], legacy="2025-11-25")
    with other.at(servers[1]).get(Last_Event_ID=primed["id"]) as foreign:
        assert foreign.status == 400 and not foreign.is_stream


def test_a_refusal_is_no_stream(clients: dict[str, Client]) -> None:
    """Every refusal comes before the first event, with its own status, as JSON."""
    with clients[""].call("no_such_tool") as unknown, clients[""].post("subscriptions/listen", {}) as unfiltered:
        assert [json.loads(reply.reply.read())["error"]["code"] for reply in (unknown, unfiltered)] == [-32602, -32602]
        assert not unknown.is_stream and not unfiltered.is_stream
    with clients[""].call("speak", seconds=2) as running:
        running.next()
        with clients[""].call("speak") as refused:
            assert (refused.status, refused.is_stream) == (429, False) and refused.headers["Retry-After"]
        running.rest()


def test_a_stream_ends_with_its_token(clients: dict[str, Client], servers: list[Any]) -> None:
    """S-07."""
    client = Client.new(servers[0], "--ttl", "3s")
    with client.listen() as stream:
        assert [message.get("id") for message in stream.rest()] == [None, 1]


@pytest.fixture(scope="module")
def gevent_server(new_place: Any, start: Any) -> Any:
    return start(new_place().with_(**SPEAKERS), "--workers", "2")


@pytest.mark.parametrize("number", [signal.SIGHUP, signal.SIGTERM])
def test_streams_end_with_their_result_when_their_workers_do(gevent_server: Any, number: int) -> None:
    """S-05: when new workers take over, and at the end. Calls under way are let end as ever; no stream keeps a process from ending."""
    client, session = Client.new(gevent_server), Client.new(gevent_server, legacy="2025-11-25")
    with client.listen() as stream, session.get() as beside, client.call("speak", seconds=2) as running:
        assert "acknowledged" in stream.next()["data"] and running.next() and beside.status == 200
        id = _hang_up(session, 4) if number == signal.SIGHUP else ""
        gevent_server.process.send_signal(number)
        [final] = stream.rest()
        assert final["id"] == 1 and final["result"]["resultType"] == "complete"
        assert beside.rest() == []
        assert running.rest()[-1]["result"]["content"]
    if number == signal.SIGHUP:
        until(lambda: _is_served(client))
        assert until(lambda: _resumed(session, id))[-1]["result"]["content"], "its worker waited for it, though its client had left"
        return
    assert gevent_server.process.wait(60) == 0 and "Traceback" not in gevent_server.log


def _hang_up(client: Client, seconds: float) -> str:
    with client.call("come_back", seconds=seconds) as stream:
        return stream.next()["id"]


def _resumed(client: Client, id: str) -> list[Any]:
    """A worker that is about to stop ends it early; then one comes back once more."""
    with client.get(Last_Event_ID=id) as stream:
        return stream.rest()


def _is_served(client: Client) -> bool:
    try:
        with client.listen() as stream:
            return stream.is_stream and "acknowledged" in stream.next()["data"]
    except OSError:
        return False


def test_a_worker_of_threads_keeps_some_free_and_ends_its_streams(new_place: Any, start: Any) -> None:
    """W-01, S-05: of four threads two are free of streams, so that calls, and the answers that streams wait for, are served."""
    server = start(new_place().with_(**SPEAKERS), "--workers", "1", "--worker-class", "gthread", "--threads", "4")
    client = Client.new(server)
    with client.listen() as first, client.listen() as second:
        assert [one.next()["event"] for one in (first, second)] == ["message"] * 2
        with client.listen() as third, client.call("speak") as talk:
            assert [(one.status, one.headers["Retry-After"], one.is_stream) for one in (third, talk)] == [(503, "5", False)] * 2
        assert client.is_served()
        server.process.terminate()
        assert [len(one.rest()) for one in (first, second)] == [1, 1]
    assert server.process.wait(60) == 0 and "Traceback" not in server.log
