"""Open streams of two processes over one Redis: told across processes, ended by a revocation, and capped for the site (S-07 to S-09)."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from typing import Any

import pytest

from cmsmcp.core.capability import resource
from cmsmcp.core.out import Stream
from cmsmcp.core.ports import Caller, Site
from cmsmcp.core.registry import Registry
from cmsmcp.core.service import Connection, Service
from cmsmcp.core.shared import Shared
from cmsmcp.core.sharing import Change
from cmsmcp.governance.policy import Policy
from cmsmcp.identity.sealer import private_sealer
from cmsmcp.protocol import errors
from cmsmcp.state.redis.admission import RedisAdmission
from cmsmcp.state.redis.bus import RedisBus
from cmsmcp.state.redis.client import Client
from cmsmcp.state.redis.events import RedisEvents
from cmsmcp.state.redis.replies import RedisReplies
from cmsmcp.state.redis.sessions import RedisSessions
from cmsmcp.state.redis.tasks import RedisTasks
from cmsmcp.state.redis.tokens import RedisTokens, TokenRecord

SCOPES = frozenset({"read:content"})
META = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}


@resource(
    "doc://{name}", scope="read:content", audit="t", mime_type="text/plain", topics=lambda variables: [f"content/{variables['name']}"]
)
def document(variables: Any, call: Any) -> str:
    """A document."""
    return "text"


class Process:
    """A worker as far as streams see it: a client of Redis, a bus, a service."""

    def __init__(self, url: str, site: str) -> None:
        self.client = Client(url)
        policy = Policy(enabled=True, scopes=SCOPES, max_streams=3)
        admission = RedisAdmission(self.client, policy, site)
        self.shared = Shared(
            RedisBus(self.client, site), RedisSessions(self.client, site), RedisReplies(self.client, site), RedisEvents(self.client, site),
            private_sealer(), RedisTasks(self.client, site),
        )  # fmt: skip
        registry = Registry([document])
        nothing = Site(*[None] * 7)  # type: ignore[arg-type]
        self.service = Service(policy, lambda: registry, lambda: nothing, lambda: admission, "1", shared=lambda: self.shared)
        self.caller = Caller("c", SCOPES)

    def listen(self, wanted: Any, caller: Caller | None = None, id: Any = 1) -> Any:
        params = {"notifications": wanted, "_meta": META}
        raw = json.dumps({"jsonrpc": "2.0", "id": id, "method": "subscriptions/listen", "params": params}).encode()
        return self.service.handle(raw, caller or self.caller, Connection())

    def subscribe(self, uri: str, connection: Connection) -> Any:
        raw = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "resources/subscribe", "params": {"uri": uri}}).encode()
        return json.loads(self.service.handle(raw, self.caller, connection).body or b"")

    def change(self, *topics: str, lists: tuple[str, ...] = ()) -> None:
        self.shared.bus.publish("change", Change(frozenset(lists), frozenset(topics)).as_message())

    def close(self) -> None:
        self.shared.feed.end_all()
        self.shared.bus.close()
        self.client.close()


@pytest.fixture
def two(redis_server: Any, site: str) -> Iterator[tuple[Process, Process]]:
    both = Process(redis_server.url, site), Process(redis_server.url, site)
    yield both
    for process in both:
        process.close()


def next_of(stream: Stream) -> Any:
    taken = stream.take(5)
    assert taken, "nothing came"
    return json.loads(taken[0])


def test_a_change_published_by_one_process_is_told_by_the_other(two) -> None:
    one, other = two
    stream = other.listen({"resourceSubscriptions": ["doc://a"]}).stream
    assert next_of(stream)["params"]["notifications"] == {"resourceSubscriptions": ["doc://a"]}
    one.change("content/b", "content/a")
    assert next_of(stream)["params"]["uri"] == "doc://a"


def test_a_session_subscribes_at_one_process_and_is_told_by_the_other(two) -> None:
    """S-08, S-09: also when its stream moves."""
    one, other = two
    connection = Connection("2025-11-25", session="s")
    older = other.service.listen(other.caller, connection).stream
    one.change(lists=("resources",))
    assert next_of(older)["method"] == "notifications/resources/list_changed", "it has read what the session subscribed to: nothing"
    assert one.subscribe("doc://a", connection)["result"] == {}
    one.change("content/a")
    assert next_of(older)["params"]["uri"] == "doc://a"
    newer = one.service.listen(one.caller, connection).stream
    other.change("content/a")
    assert next_of(newer)["params"]["uri"] == "doc://a"
    assert older.take(0) == []


def test_revoking_a_token_ends_its_streams(two, site) -> None:
    """S-07."""
    one, other = two
    tokens, now = RedisTokens(one.client, site), int(time.time())
    tokens.register(TokenRecord("t1", "t", "mcp-server", "read:content", now, now + 600))
    stream = other.listen({}, Caller("c", SCOPES, token_id="t1", registered=True)).stream
    next_of(stream)
    tokens.revoke("t1")
    assert next_of(stream)["result"]["resultType"] == "complete"
    assert stream.take(0) is None
    assert other.listen({}, Caller("c", SCOPES, token_id="t1", registered=True)).code == errors.TOKEN_REVOKED


def test_the_cap_is_that_of_the_site(two) -> None:
    """S-07."""
    one, other = two
    end = time.monotonic() + 60
    streams = [process.listen({}, id=number).stream for number, process in enumerate((one, one, other))]
    assert other.listen({}).code == errors.STREAMS_LIMITED
    streams[0].close()
    while other.listen({}).stream is None:  # the release is sent, not waited for
        assert time.monotonic() < end
