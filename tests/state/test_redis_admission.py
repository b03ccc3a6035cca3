"""What only Redis can show: exactness across processes, killed workers, lost scripts, outages (docs/rules.md, Redis)."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import uuid
from pathlib import Path
from typing import Any

import pytest

from cmsmcp.core.ports import Ask
from cmsmcp.governance.policy import Policy, Rate
from cmsmcp.protocol.errors import NotFound, Unavailable
from cmsmcp.state.redis.admission import RedisAdmission
from cmsmcp.state.redis.breaker import Breaker
from cmsmcp.state.redis.client import Client
from cmsmcp.state.redis.keys import Keys
from cmsmcp.state.redis.tokens import RedisTokens, TokenRecord

FAST = Rate(60_000_000, 60_000_000)
ROOT = Path(__file__).resolve().parents[2]

# One worker: hammers the same client for `seconds`, prints how many were admitted and when it was first and last admitted.
HAMMER = """
import sys, time, uuid
from cmsmcp.core.ports import Ask
from cmsmcp.governance.policy import Policy, Rate
from cmsmcp.state.redis.admission import RedisAdmission
from cmsmcp.state.redis.client import Client
url, site, rpm, burst, seconds = sys.argv[1:]
admission = RedisAdmission(Client(url), Policy(rate=Rate(int(rpm), int(burst))), site)
print("ready", flush=True); sys.stdin.readline()
end, admitted = time.monotonic() + float(seconds), 0
while time.monotonic() < end:
    verdict = admission.admit(Ask(uuid.uuid4().hex, "one client", 1, False, 1000))
    admitted += verdict.reason is None
    if verdict.reason: time.sleep(0.002)
print(admitted, flush=True)
"""

# One worker that takes permits and is killed while it holds them.
HOLD = """
import sys, uuid
from cmsmcp.core.ports import Ask
from cmsmcp.governance.policy import Policy, Rate
from cmsmcp.state.redis.admission import RedisAdmission
from cmsmcp.state.redis.client import Client
url, site, lease = sys.argv[1:]
admission = RedisAdmission(Client(url), Policy(rate=Rate(60_000_000, 60_000_000), max_concurrency=9, max_concurrency_per_client=4), site)
print(sum(admission.admit(Ask(uuid.uuid4().hex, "c", 1, True, int(lease))).reason is None for _ in range(6)), flush=True)
sys.stdin.readline()
"""


def worker(code: str, *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen([sys.executable, "-c", code, *arguments], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def ask(name: str, *, permit: bool = True, lease_ms: int = 60_000) -> Ask:
    return Ask(name, "c", 1, permit, lease_ms)


def test_four_processes_together_get_the_rate_to_the_unit(redis_server: Any, client: Client, site: str) -> None:
    """docs/rules.md, Limits: 600 per minute and a burst of 120 give 120 + 10 a second, whoever asks.

    A burst of twelve seconds: a pause that a busy machine makes must not let what was owed run out, or the units of that time are lost.
    """
    rate, seconds = Rate(600, 120), 2.0
    workers = [worker(HAMMER, redis_server.url, site, "600", "120", str(seconds)) for _ in range(4)]
    for each in workers:
        assert each.stdout is not None and each.stdout.readline() == "ready\n"
    started = time.monotonic()
    for each in workers:
        assert each.stdin is not None
        each.stdin.write("go\n")
        each.stdin.flush()
    admitted = sum(int(each.communicate(timeout=120)[0]) for each in workers)
    longest = time.monotonic() - started
    debt = int(client.call("GET", Keys(site).rate("one client")).split()[0]) / 60_000_000
    assert admitted <= rate.burst + rate.requests_per_minute / 60 * longest
    assert admitted >= rate.burst + rate.requests_per_minute / 60 * seconds - 6, f"{admitted} admitted, {debt} owed"


def test_a_killed_worker_leaks_no_permit(redis_server: Any, client: Client, site: str) -> None:
    """docs/rules.md, Governance order: kill -9 while holding; 0 leaked after the lease."""
    holder = worker(HOLD, redis_server.url, site, "700")
    assert holder.stdout is not None and holder.stdout.readline() == "4\n"
    holder.kill()
    holder.communicate()
    admission = RedisAdmission(client, Policy(rate=FAST, max_concurrency=4, max_concurrency_per_client=4), site)
    assert admission.admit(ask("early")).reason == "concurrency"
    end, admitted = time.monotonic() + 60, 0
    while admitted < 4:
        assert time.monotonic() < end
        admitted += admission.admit(ask(f"later {admitted}")).reason is None
        time.sleep(0.02)
    assert admission.admit(ask("one too many")).own


def test_lost_scripts_are_loaded_again_within_the_call(client: Client, site: str) -> None:
    """docs/rules.md, Redis: NOSCRIPT after a restart, a failover or SCRIPT FLUSH."""
    admission = RedisAdmission(client, Policy(rate=Rate(1, 3)), site)
    for remaining in (2, 1, 0):
        client.call("SCRIPT", "FLUSH")
        assert admission.admit(ask(f"x{remaining}", permit=False)).remaining == remaining


def test_every_key_is_in_one_hash_tag_and_all_but_the_audit_expire(client: Client) -> None:
    """docs/rules.md, Redis: keys in one place, each with an expiry; the audit stream is trimmed by its archiver alone."""
    site = "a {b} ü site " * 20
    admission = RedisAdmission(client, Policy(max_concurrency_per_client=1), site)
    tokens = RedisTokens(client, site)
    tokens.register(TokenRecord("j1", "n", "mcp-server", "read:content", int(time.time()), int(time.time()) + 60))
    admission.admit(Ask("e", "a client {x}", 1, True, 1000, "j1", intent={"event": "e"}))
    tag = Keys(site).audit[: -len("audit")]
    keys = [key.decode() for key in client.call("KEYS", tag.replace("[", "\\[") + "*")]
    assert len(keys) == 6
    for key in keys:
        assert (client.call("PTTL", key) > 0) == (not key.endswith(":audit")), key


def test_a_redis_that_is_gone_is_unavailable_at_once_and_heals_by_itself(own_redis: Any) -> None:
    """docs/rules.md, Redis: nothing is asked again and again, and nobody has to restart. `bench/outage.py` has the times."""
    client = Client(own_redis.url)
    admission = RedisAdmission(client, Policy(rate=FAST), "s")
    assert admission.admit(ask("a")).reason is None
    own_redis.kill()
    slowest = 0.0
    for number in range(50):
        began = time.monotonic()
        with pytest.raises(Unavailable) as refused:
            admission.admit(ask(f"b{number}"))
        slowest = max(slowest, time.monotonic() - began)
        assert refused.value.retry_after == 1 and str(own_redis.socket) not in refused.value.message
    assert slowest < 30
    own_redis.start()
    end = time.monotonic() + 60
    while True:
        try:
            assert admission.admit(ask("c")).reason is None
            break
        except Unavailable:
            assert time.monotonic() < end
            time.sleep(0.02)
    client.close()


def test_a_restart_that_nobody_noticed_costs_no_refusal(own_redis: Any) -> None:
    """A line that was closed while idle is opened anew, not used."""
    client = Client(own_redis.url)
    assert client.call("PING") == b"PONG"
    own_redis.kill()
    own_redis.start()
    line = client._line
    assert line is not None
    line.used -= 60
    assert client.call("PING") == b"PONG"
    client.close()


def test_a_full_redis_refuses_but_still_lets_permits_go(own_redis: Any) -> None:
    """docs/rules.md, Redis: out of memory. Nothing that cannot be recorded is admitted."""
    client = Client(own_redis.url)
    admission = RedisAdmission(client, Policy(rate=FAST, max_concurrency=9, max_concurrency_per_client=2), "s")
    held = ask("held")
    assert admission.admit(held).reason is None
    client.call("CONFIG", "SET", "maxmemory", "1")
    for permit in (False, True):
        with pytest.raises(Unavailable, match="cannot record"):
            admission.admit(ask("refused", permit=permit))
    admission.release(held, {"event": "held", "phase": "outcome"})
    client.settle()
    assert client.unacknowledged == 1, "the outcome that could not be kept is counted"
    client.call("CONFIG", "SET", "maxmemory", "0")
    assert [admission.admit(ask(name)).own for name in ("next", "and another", "one more")] == [False, False, True]
    client.close()


def test_a_revocation_that_cannot_be_written_is_an_error(own_redis: Any) -> None:
    """C061: revoking while Redis is down must fail loudly."""
    client = Client(own_redis.url, breaker=Breaker())
    tokens = RedisTokens(client, "s")
    tokens.register(TokenRecord("j1", "n", "mcp-server", "read:content", 1, int(time.time()) + 60))
    client.call("REPLICAOF", "127.0.0.1", "1")
    with pytest.raises(Unavailable, match="Nothing was changed"):
        tokens.revoke("j1")
    own_redis.kill()
    with pytest.raises(Unavailable):
        tokens.revoke("j1")
    client.close()


def test_the_registry_lists_uses_and_revocations(client: Client, site: str) -> None:
    """docs/rules.md, Tokens and roles: name, created, last used, revoked."""
    tokens, now = RedisTokens(client, site), int(time.time())
    for number in range(3):
        tokens.register(TokenRecord(f"j{number}", f"name {number}", "mcp-server", "read:content read:docs", now, now + 60 * (number + 1)))
    admission = RedisAdmission(client, Policy(), site)
    admission.admit(Ask("e", "c", 1, False, 1000, "j1"))
    revoked = tokens.revoke("j2")
    assert revoked.revoked is not None and tokens.revoke("j2") == revoked, "twice is once"
    listed = tokens.newest()
    assert [record.jti for record in listed] == ["j2", "j1", "j0"]
    assert [record.used is not None for record in listed] == [False, True, False]
    assert listed[2] == TokenRecord("j0", "name 0", "mcp-server", "read:content read:docs", now, now + 60)
    with pytest.raises(NotFound, match="No token named .unknown."):
        tokens.revoke("unknown")


def test_a_permit_that_a_stalled_redis_grants_too_late_is_given_back(own_redis: Any) -> None:
    """docs/rules.md, Redis: whoever was told that it is not served holds nothing once Redis goes on."""
    admission = RedisAdmission(Client(own_redis.url), Policy(rate=FAST, max_concurrency=1, max_concurrency_per_client=1), "stalled")

    def ask() -> Ask:
        return Ask(uuid.uuid4().hex, "c", 1, True, 60_000)

    first = ask()
    assert admission.admit(first).reason is None
    admission.release(first, None)
    os.kill(own_redis.process.pid, signal.SIGSTOP)
    with pytest.raises(Unavailable):
        admission.admit(ask())
    os.kill(own_redis.process.pid, signal.SIGCONT)
    end = time.monotonic() + 60
    while True:
        try:
            if admission.admit(ask()).reason is None:
                break
        except Unavailable:
            pass
        assert time.monotonic() < end, "the permit of the call that was not served is still held"
        time.sleep(0.02)
