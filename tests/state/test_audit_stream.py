"""The audit stream read back and trimmed, and the two users of config/users.acl on the shipped Redis configuration (docs/audit.md)."""

from __future__ import annotations

import re
import time
from pathlib import Path
from typing import Any

import pytest
import redis

from cmsmcp.core.ports import Ask
from cmsmcp.governance.audit import FIELDS
from cmsmcp.governance.policy import Policy
from cmsmcp.protocol.errors import Unavailable
from cmsmcp.state.redis.admission import RedisAdmission
from cmsmcp.state.redis.audit import RedisAudit
from cmsmcp.state.redis.client import Client, Refused
from cmsmcp.state.redis.tokens import RedisTokens, TokenRecord
from tests.redis_servers import ShippedRedis

ROOT = Path(__file__).resolve().parents[2]


def test_the_documented_fields_are_those_of_the_records() -> None:
    """docs/audit.md is the contract."""
    section = (ROOT / "docs/audit.md").read_text().split("## Records")[1].split("## ")[0]
    assert re.findall(r"^\| `(\w+)` \| (.+) \|$", section, re.MULTILINE) == list(FIELDS)


def write(client: Client, key: str, ages: list[int]) -> None:
    now = int(client.call("TIME")[0])
    for number, age in enumerate(sorted(ages, reverse=True)):
        client.call("XADD", key, f"{(now - age) * 1000}-{number + 1}", "event", str(number))


def test_it_is_read_in_order_from_any_place(client: Client, site: str) -> None:
    audit = RedisAudit(client, site)
    assert list(audit.latest(5)) == [] and audit.end() == b"0-0" and list(audit.since(0)) == []
    write(client, audit.key, [1] * 1203)
    entries = list(audit.since(0))
    assert [entry.record["event"] for entry in entries] == [str(number) for number in range(1203)]
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", entries[0].record["time"])
    assert [entry.record["event"] for entry in audit.latest(3)] == ["1200", "1201", "1202"]
    behind = audit.after(entries[10].position)
    assert behind[0].record["event"] == "11" and 0 < len(behind) <= 500
    assert audit.after(audit.end()) == []
    assert list(audit.since(int(time.time() * 1000) + 60_000)) == []


@pytest.mark.parametrize(("old", "young"), [(0, 5), (1, 1), (25_000, 150)])
def test_what_is_older_than_the_retention_goes_and_nothing_else(client: Client, site: str, old: int, young: int) -> None:
    audit = RedisAudit(client, site)
    commands = [("XADD", audit.key, f"{(int(time.time()) - 4000) * 1000}-{number + 1}", "event", "old") for number in range(old)]
    for start in range(0, old, 500):
        client.pipeline(commands[start : start + 500])
    write(client, audit.key, [3000] * young)
    assert audit.trim(3600) == old
    assert len(list(audit.since(0))) == young
    assert audit.trim(3600) == 0 and audit.trim(10**9) == 0


def test_how_full_redis_is_counts_against_its_limit(own_redis: Any) -> None:
    client = Client(own_redis.url)
    assert RedisAudit(client, "s").fullness() == 0
    client.call("CONFIG", "SET", "maxmemory", "1gb")
    assert 0 < RedisAudit(client, "s").fullness() < 0.1
    client.close()


def test_the_apps_user_can_do_what_the_app_does_and_no_more(shipped: ShippedRedis) -> None:
    client = Client(f"{shipped.url}?db=1")
    admission = RedisAdmission(client, Policy(max_concurrency_per_client=3), "s")
    audit, tokens = RedisAudit(client, "s"), RedisTokens(client, "s")
    tokens.register(TokenRecord("j1", "n", "mcp-server", "read:content", int(time.time()), int(time.time()) + 60))
    asks = [Ask(f"e{number}", "c", 1, True, 1000, "j1", intent={"event": "e", "phase": "intent"}) for number in range(2)]
    assert [admission.admit(ask).reason for ask in asks] == [None, None], "EVAL, then EVALSHA"
    admission.renew(asks, 2000)
    admission.release(asks[0], {"event": "e", "phase": "outcome"})
    admission.record({"event": "e", "phase": "refusal"})
    client.settle()
    assert client.unacknowledged == 0
    assert tokens.newest()[0].used and tokens.revoke("j1").revoked
    assert len(list(audit.since(0))) == 4 == len(audit.latest(9)) and audit.trim(3600) == 0 and audit.fullness() > 0
    refused = [
        ("FLUSHALL",), ("KEYS", "*"), ("CONFIG", "SET", "maxmemory", "1"), ("DEL", audit.key), ("GET", "other"),
        ("XADD", "x", "*", "a", "b"),
        ("EVAL", "return redis.call('GET', 'other')", "0"), ("EVAL", "return redis.call('CONFIG', 'GET', '*')", "0"), ("ACL", "LIST"),
        ("SHUTDOWN",), ("DEBUG", "SLEEP", "0"), ("SUBSCRIBE", "x"), ("SCRIPT", "FLUSH"),
    ]
    for command in refused:
        with pytest.raises(Refused, match="NOPERM|not allowed|permissions|The user executing the script can't"):
            client.call(*command)
    client.close()


@pytest.mark.parametrize("said", [
    ("PING",), ("AUTH", ""), ("AUTH", "default", ""), ("AUTH", "default", "default"), ("HELLO", "3"), ("HELLO", "3", "AUTH", "default", ""),
    ("GET", "cmsmcp:{s}:audit"), ("XRANGE", "cmsmcp:{s}:audit", "-", "+"), ("MULTI",), ("EVAL", "return 1", "0"), ("FLUSHALL",),
    ("REPLICAOF", "NO", "ONE"), ("PSYNC", "?", "-1"), ("SYNC",), ("MONITOR",), ("ACL", "WHOAMI"), ("CONFIG", "GET", "*"),
    ("SHUTDOWN", "NOSAVE"),
], ids=" ".join)
def test_nobody_comes_in_without_a_name(shipped: ShippedRedis, said: tuple[str, ...]) -> None:
    """The user `default` has every right, for the replay of the append-only file, so nobody may become it."""
    with pytest.raises(Refused, match="^(NOAUTH|WRONGPASS) "):
        Client(shipped.anonymous_url).call(*said)


def test_the_dashboards_user_reads_the_audit_and_nothing_else(shipped: ShippedRedis) -> None:
    writer = Client(shipped.url)
    key = RedisAudit(writer, "s").key
    RedisAdmission(writer, Policy(), "s").record({"event": "e", "phase": "refusal"})
    dashboard = redis.Redis(unix_socket_path=str(shipped.socket), username="dashboard", password="dash-FAKE", decode_responses=True)
    assert dashboard.xread({key: "0"}) and dashboard.xrange(key) and dashboard.xlen(key) == 1
    for command in (
        ("XADD", key, "*", "a", "b"), ("XDEL", key, "0-1"), ("XTRIM", key, "MAXLEN", "0"), ("DEL", key), ("GET", "cmsmcp:{s}:rate:c"),
        ("HGETALL", "cmsmcp:{s}:token:j1"), ("XRANGE", "cmsmcp:{s}:permits", "-", "+"), ("KEYS", "*"), ("SCAN", "0"),
        ("CONFIG", "GET", "*"), ("EVAL", "return 1", "0"), ("FLUSHALL",), ("SUBSCRIBE", "x"), ("CLIENT", "LIST"),
    ):
        with pytest.raises(redis.exceptions.NoPermissionError):
            dashboard.execute_command(*command)
    with pytest.raises(Unavailable, match="refuses this user"):
        RedisAudit(Client(shipped.dashboard_url), "s").trim(1)
