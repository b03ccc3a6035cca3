"""Redis away, full, paused, restarted, demoted: what callers get, for how long, and that it heals without a restart
(docs/operations.md, "When Redis is away"; bounds: a refusal within 0.5 s, service again within 2 s)."""

from __future__ import annotations

import json
import os
import re
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.redis_servers import RedisServer
from tests.waiting import until

PING = b'{"jsonrpc":"2.0","id":41,"method":"ping"}'
LIST = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "list_documents", "arguments": {}}}).encode()
SETTLED_SECONDS = 2.0
"""A worker that has not looked at Redis again by then is not going to: it looks once a second."""


class Redis(RedisServer):
    """Keeps its data."""

    def start(self, *options: str) -> None:
        super().start("--appendonly", "yes", *options)


@pytest.fixture(scope="module")
def redis() -> Iterator[Redis]:
    made = Redis()
    made.start()
    yield made
    made.remove()


@pytest.fixture(scope="module")
def host(new_place: Any, start: Any, redis: Redis) -> Any:
    place = new_place().with_(REDIS_URL=redis.url, CMSMCP_SECRET_KEY="k" * 40)
    config = place.site / "content/config/site.yaml"
    fast = "audit: true\n  max_concurrency: 4\n  rate_limit: {requests_per_minute: 1000000, burst: 100000}\n"
    limits = "  capabilities: {list_documents: {timeout: 0.2}}\n"
    config.write_text(config.read_text().replace("audit: true\n", fast + limits))
    return start(place, "--workers", "2")


@pytest.fixture(scope="module")
def headers(host: Any) -> dict[str, str]:
    return {"Authorization": f"Bearer {host.place.token()}"}


def assert_closed(host: Any, headers: dict[str, str]) -> None:
    """Refused with 5030 and a time to wait on both workers; alive all the same, but not ready. `bench/outage.py` has the times."""
    for _ in range(12):
        reply = host.post(PING, headers)
        assert (reply.status, reply.json["error"]["code"], reply.headers["Retry-After"]) == (503, 5030, "1")
        assert reply.json["error"]["data"] == {"retry_after": 1} and "redis" not in reply.json["error"]["message"].lower()
    assert host.post(b"", path="/healthz", method="GET").status == 200
    ready = host.post(b"", path="/readyz", method="GET")
    assert (ready.status, ready.json["missing"]) == (503, ["redis"])
    assert host.post(PING, {"Authorization": "Bearer wrong"}).status == 401, "a refusal needs no Redis"


def heals(host: Any, headers: dict[str, str]) -> bool:
    return bool(until(lambda: [host.post(LIST, headers).status for _ in range(6)] == [200] * 6))


def settle(host: Any, headers: dict[str, str]) -> None:
    """Both workers serve: six replies may be all of one, and the other may not have looked at Redis again since the case before."""
    began = time.monotonic()
    served_since = began
    while time.monotonic() - served_since < SETTLED_SECONDS:
        if host.post(LIST, headers).status != 200:
            served_since = time.monotonic()
        assert time.monotonic() - began < 60


@pytest.mark.parametrize("case", ["killed", "paused", "restarted", "scripts flushed"])
def test_it_heals_by_itself(host: Any, headers: dict[str, str], redis: Redis, case: str) -> None:
    settle(host, headers)
    if case == "killed":
        redis.kill()
        assert_closed(host, headers)
        redis.start()
    elif case == "paused":
        redis.process.send_signal(signal.SIGSTOP)
        until(lambda: host.post(PING, headers).status == 503)
        assert_closed(host, headers)
        time.sleep(3)  # the case: three seconds of silence
        redis.process.send_signal(signal.SIGCONT)
    elif case == "restarted":
        redis.kill()
        redis.start()
    else:
        redis.command("SCRIPT", "FLUSH")
        assert [host.post(LIST, headers).status for _ in range(6)] == [200] * 6, "not one refusal"
    assert heals(host, headers)
    permits = f"cmsmcp:{{{host.place.site.name}}}:permits"
    assert redis.command("EXISTS", permits) == 0 or redis.command("ZCARD", permits) <= 4


@pytest.mark.parametrize("case", [
    (("CONFIG", "SET", "maxmemory", "1"), ("CONFIG", "SET", "maxmemory", "0"), "memory is full"),
    (("REPLICAOF", "127.0.0.1", "1"), ("REPLICAOF", "NO", "ONE"), "read-only replica"),
], ids=["full", "read-only replica"])
def test_a_redis_that_cannot_write_serves_nobody(host: Any, headers: dict[str, str], redis: Redis, case: Any) -> None:
    """What cannot be recorded is not done. It answers, and is not ready all the same: the reason is told to whoever asks."""
    spoil, mend, word = case
    redis.command(*spoil)
    try:
        for _ in range(6):
            reply = host.post(LIST, headers)
            assert (reply.status, reply.json["error"]["code"], reply.headers["Retry-After"]) == (503, 5030, "1")
        assert host.post(b"", path="/healthz", method="GET").status == 200
        until(lambda: word in unready(host, redis))
    finally:
        redis.command(*mend)
    assert heals(host, headers)


def unready(host: Any, redis: Redis) -> str:
    """The reason that `/readyz` gives for `redis`, to anyone, so without its address; blank when all is well."""
    ready = host.post(b"", path="/readyz", method="GET")
    assert str(redis.folder) not in ready.body.decode()
    assert ready.json["missing"] == ([] if ready.status == 200 else ["redis"])
    return str(ready.json["reasons"]["redis"]) if ready.status == 503 else ""


def changes(host: Any) -> list[tuple[str, str]]:
    """What the log says of Redis: the process, and the words."""
    without_times = re.sub(r"(?m)^\[.*?\] ", "", host.log)
    return re.findall(r"(?m)^(.*?)(?: \[WARNING\] )?Redis at \S+ (does not serve.*|serves again.*)", without_times)


def quiet(host: Any, headers: dict[str, str]) -> int:
    """How many changes were told, once every process has told of the end of what it told the beginning of."""
    settle(host, headers)
    until(lambda: all(said.startswith("serves") for said in dict(changes(host)).values()))
    return len(changes(host))


def test_an_outage_is_told_once_at_its_start_and_once_at_its_end_by_every_process(host: Any, headers: dict[str, str], redis: Redis) -> None:
    """Both workers and the sidecar, though nobody calls; each line with its reason."""
    before = quiet(host, headers)
    redis.kill()
    until(lambda: len(changes(host)) >= before + 3)
    time.sleep(3)  # the case: it lasts, and nothing more is said
    told = changes(host)[before:]
    assert len(told) == 3 == len(dict(told))
    assert all("nothing listens there: start Redis" in said or "closes the connection" in said for _, said in told)
    redis.start()
    until(lambda: len(changes(host)) >= before + 6)
    assert quiet(host, headers) == before + 6
    told = changes(host)[before + 3 :]
    assert len(dict(told)) == 3 and all(re.match(r"serves again after [0-9.]+ s \(it was: .+\)", said) for _, said in told)


def test_a_user_without_rights_is_told_what_is_missing(host: Any, headers: dict[str, str], redis: Redis) -> None:
    """In the log, to `/readyz`, and to the operator who starts a server; nobody outside learns where Redis is."""
    before = quiet(host, headers)
    redis.command("ACL", "SETUSER", "default", "-xadd", "-hset")
    try:
        until(lambda: len(changes(host)) >= before + 3)
        until(lambda: "+hset, +xadd" in unready(host, redis))
        reply = host.post(LIST, headers)
        assert reply.status == 503 and "xadd" not in reply.body.decode().lower()
        done = host.place.run("serve", "--site", str(host.place.site), "--bind", "127.0.0.1:0")
        assert done.returncode == 2 and "+hset, +xadd" in done.stderr and "config/users.acl" in done.stderr
    finally:
        redis.command("ACL", "SETUSER", "default", "+xadd", "+hset")
    until(lambda: len(changes(host)) >= before + 6)
    assert quiet(host, headers) == before + 6, "one line at its start and one at its end, with calls between"
    until(lambda: unready(host, redis) == "")


def test_the_health_report_says_what_is_wrong_with_redis(host: Any, headers: dict[str, str], redis: Redis) -> None:
    """A right that calls do without, and sessions need."""
    settle(host, headers)
    asked = LIST.replace(b"list_documents", b"get_runtime_health")

    def health() -> Any:
        return json.loads(host.post(asked, headers).json["result"]["content"][0]["text"])

    def is_told() -> bool:
        report = health()
        (check,) = [check for check in report["checks"] if check["name"] == "redis"]
        assert (check["status"] == "pass") == report["ready"] and (report["ready"] or report["status"] == "degraded")
        return "+hdel" in check["message"]

    until(lambda: health()["ready"])
    redis.command("ACL", "SETUSER", "default", "-hdel")
    try:
        until(is_told)
    finally:
        redis.command("ACL", "SETUSER", "default", "+hdel")
    until(lambda: not is_told())


def test_a_revocation_while_redis_is_away_fails_loudly(host: Any, redis: Redis) -> None:
    """C061."""
    redis.kill()
    try:
        done = host.place.run("tokens", "revoke", "--site", str(host.place.site), "0" * 32)
        assert done.returncode == 2 and "REDIS_URL" in done.stderr
    finally:
        redis.start()


def test_a_killed_worker_leaks_no_permit(host: Any, headers: dict[str, str], redis: Redis) -> None:
    """Its permits lapse with their lease (time limit and 5 s), not before: the work might still run."""
    permits = f"cmsmcp:{{{host.place.site.name}}}:permits"
    for _ in range(20):
        stop = threading.Event()
        callers = [threading.Thread(target=_ask, args=(host, headers, stop)) for _ in range(8)]
        for caller in callers:
            caller.start()
        until(lambda: redis.command("ZCARD", permits) > 0)
        for worker in _workers(host):
            os.kill(worker, signal.SIGKILL)
        stop.set()
        for caller in callers:
            caller.join()
        if redis.command("ZCARD", permits) > 0:
            break
    leaked = redis.command("ZCARD", permits)
    assert 0 < leaked <= 4
    redis.command("ZADD", permits, str(int(time.time() * 1000) + 3_000), "one", str(int(time.time() * 1000) + 3_000), "two",
                  str(int(time.time() * 1000) + 3_000), "three", str(int(time.time() * 1000) + 3_000), "four")
    until(lambda: host.post(LIST, headers).status == 429)
    until(lambda: host.post(LIST, headers).status == 200)
    until(lambda: [_count(redis, permits)] == [0])


def _count(redis: Redis, key: str) -> int:
    now = int(time.time() * 1000)
    return int(redis.command("ZCOUNT", key, str(now), "+inf"))


def _ask(host: Any, headers: dict[str, str], stop: threading.Event) -> None:
    while not stop.is_set():
        try:
            host.post(LIST, headers)
        except (OSError, ValueError, Exception):  # noqa: BLE001 - its worker was killed
            continue


def _workers(host: Any) -> list[int]:
    def children(process: int) -> list[int]:
        return [int(child) for child in Path(f"/proc/{process}/task/{process}/children").read_text().split()]

    gunicorn = next(one for one in children(host.process.pid) if b"gunicorn" in Path(f"/proc/{one}/cmdline").read_bytes())
    return children(gunicorn)
