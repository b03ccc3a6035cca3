"""What Redis keeps when it is restarted with the files we ship: config/redis.conf, config/users.acl (docs/operations.md, Redis)."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

import pytest

from cmsmcp.core.ports import Ask
from cmsmcp.core.sharing import Event
from cmsmcp.core.tasks.ports import COMPLETED, Task
from cmsmcp.governance.policy import Policy, Rate
from cmsmcp.state.redis.admission import RedisAdmission
from cmsmcp.state.redis.audit import RedisAudit
from cmsmcp.state.redis.client import Client
from cmsmcp.state.redis.events import RedisEvents
from cmsmcp.state.redis.keys import Keys
from cmsmcp.state.redis.replies import RedisReplies
from cmsmcp.state.redis.sessions import RedisSessions
from cmsmcp.state.redis.tasks import RedisTasks
from cmsmcp.state.redis.tokens import RedisTokens, TokenRecord
from tests.redis_servers import ShippedRedis

SITE = "s"
TOKENS, SESSIONS, CALLS, OPEN_CALLS, OPEN_STREAMS, TASKS, EVENTS = 20, 10, 40, 5, 3, 12, 6
POLICY = Policy(rate=Rate(1, 1000), max_concurrency=99, max_concurrency_per_client=OPEN_CALLS + 1, max_streams=OPEN_STREAMS + 1)
LEASE_MS = 3_600_000
AUDIT_RECORDS = 2 * CALLS + OPEN_CALLS + OPEN_STREAMS + 1


def fill(client: Client) -> None:
    """Something of everything, by the adapters that do it in service; each kind as often as its constant says."""
    now = int(time.time())
    tokens, sessions, admission = RedisTokens(client, SITE), RedisSessions(client, SITE), RedisAdmission(client, POLICY, SITE)
    for number in range(TOKENS):
        tokens.register(TokenRecord(f"j{number}", f"n{number}", "mcp-server", "read:content", now, now + 3600 + number))
    tokens.revoke("j0")
    for number in range(SESSIONS):
        sessions.set_level(f"x{number}", "info")
        assert sessions.subscribe(f"x{number}", "docs://a")
    for number in range(CALLS):
        event = f"done{number}"
        ask = Ask(event, "c", 1, True, LEASE_MS, "j1", True, intent={"event": event, "phase": "intent"})
        assert admission.admit(ask).reason is None
        admission.release(ask, {"event": event, "phase": "outcome"})
    for number in range(OPEN_CALLS + OPEN_STREAMS):
        event, stream = f"open{number}", number >= OPEN_CALLS
        ask = Ask(event, "c", 0, True, LEASE_MS, "j1", True, intent={"event": event, "phase": "intent"}, stream=stream)
        assert admission.admit(ask).reason is None
    admission.record({"event": "r", "phase": "refusal"})
    tasks, replies, events = RedisTasks(client, SITE), RedisReplies(client, SITE), RedisEvents(client, SITE)
    for number in range(TASKS):
        id = f"t{number}"
        assert tasks.create(Task(id, "c", "slow", ("read:ops",), LEASE_MS, 500), 1000) is None
        if number % 3 == 1:
            assert tasks.ask(id, {"a": b"q", "b": b"q"}) and tasks.answer(id, {"a": b"r"})
        if number % 3 == 2:
            assert tasks.end(id, COMPLETED, result=b"{}")
    replies.expect("x", "1", LEASE_MS / 1000)
    assert replies.deliver("x", "1", b"answer")
    for number in range(1, EVENTS + 1):
        events.append("x", "s", Event(number, b"d%d" % number))
    client.settle()
    assert client.unacknowledged == 0


def kept(client: Client) -> dict[str, Any]:
    """All of it, as the adapters find it."""
    keys, tasks = Keys(SITE), RedisTasks(client, SITE, silence_ms=LEASE_MS)
    places = (keys.permits, keys.permits_of("c"), keys.streams)
    permits, own, streams = (client.call("ZRANGE", key, 0, -1, "WITHSCORES") for key in places)
    return {
        "tokens": [asdict(record) for record in RedisTokens(client, SITE).newest()],
        "sessions": [RedisSessions(client, SITE).read(f"x{number}") for number in range(SESSIONS)],
        "permits": permits, "own": own, "streams": streams,
        "debt": client.call("GET", keys.rate("c")),
        "audit": [entry.record for entry in RedisAudit(client, SITE).since(0)],
        "tasks": [tasks.read(f"t{number}") for number in range(TASKS)],
        "answers": [tasks.answers(f"t{number}") for number in range(TASKS)],
        "reply": client.call("GET", keys.reply("x", "1")),
        "events": RedisEvents(client, SITE).after("x", "s", 0),
        "bus": client.call("XRANGE", keys.bus, "-", "+"),
    }


def counts(found: dict[str, Any]) -> dict[str, int]:
    numbers = {name: len(value) for name, value in found.items() if name not in ("debt", "reply")}
    return {**numbers, "revoked": sum(token["revoked"] is not None for token in found["tokens"]), "reply": len(found["reply"] or b"")}


EXPECTED = {
    "tokens": TOKENS, "revoked": 1, "sessions": SESSIONS, "permits": 2 * OPEN_CALLS, "own": 2 * OPEN_CALLS,
    "streams": 2 * OPEN_STREAMS, "audit": AUDIT_RECORDS, "tasks": TASKS, "answers": TASKS, "reply": len(b"answer"), "events": EVENTS,
    "bus": 1,
}


def assert_nothing_is_lost(redis: ShippedRedis, end: Callable[[], None]) -> None:
    """`end` ends it; then it is started again as it was, twice, because what was replayed is replayed again."""
    client = Client(redis.url, timeout=5.0)
    fill(client)
    before = kept(client)
    assert counts(before) == EXPECTED and before["debt"]
    while not redis.written():
        pass
    client.close()
    for _ in range(2):
        end()
        redis.start()
        client = Client(redis.url, timeout=5.0)
        assert counts(kept(client)) == EXPECTED
        assert kept(client) == before
        client.close()
    client = Client(redis.url, timeout=5.0)
    admission = RedisAdmission(client, POLICY, SITE)
    asks = [Ask(f"new{number}", "c", 1, True, LEASE_MS, token, True) for number, token in enumerate(("j0", "j1", "j1"))]
    assert [admission.admit(ask).reason for ask in asks] == ["revoked", None, "concurrency"], "as if it had never been away"
    client.close()


@pytest.mark.parametrize("how", ["stop", "kill"])
def test_a_restart_with_the_shipped_files_loses_nothing(shipped: ShippedRedis, how: str) -> None:
    """The replay of the append-only file runs as the user `default`, so what that may do decides what is kept."""
    assert_nothing_is_lost(shipped, getattr(shipped, how))
