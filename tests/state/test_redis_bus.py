"""The bus over a Redis that dies, stalls, forgets, guards itself or speaks TLS, and between processes (docs/rules.md, Redis)."""

from __future__ import annotations

import os
import signal
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from cmsmcp.core.sharing import Event
from cmsmcp.protocol.errors import Unavailable
from cmsmcp.state.redis import bus as module
from cmsmcp.state.redis.bus import RedisBus
from cmsmcp.state.redis.client import Client
from cmsmcp.state.redis.events import RedisEvents
from cmsmcp.state.redis.keys import Keys
from cmsmcp.state.redis.replies import RedisReplies
from cmsmcp.state.redis.sessions import RedisSessions
from tests.redis_servers import ShippedRedis
from tests.waiting import until

SECONDS = 60.0


class Ear:
    """A bus of its own that writes down the numbers it hears; "missed" among them."""

    def __init__(self, url: str, site: str = "s") -> None:
        self.client = Client(url)
        self.bus = RedisBus(self.client, site)
        self.heard: list[Any] = []
        self.bus.listen("n", lambda body: self.heard.append(body["n"]))
        self.bus.listen("missed", lambda body: self.heard.append("missed"))

    def say(self, number: Any) -> None:
        self.bus.publish("n", {"n": number})

    def says(self, number: Any) -> bool:
        """Whether it could be said."""
        try:
            self.say(number)
        except Unavailable:
            return False
        return True


@pytest.fixture
def ear(own_redis: Any) -> Iterator[Callable[[], Ear]]:
    made: list[Ear] = []

    def make() -> Ear:
        made.append(Ear(own_redis.url))
        return made[-1]

    yield make
    for each in made:
        each.bus.close()
        each.client.close()


def test_nothing_connects_before_somebody_listens(own_redis: Any) -> None:
    """A bus is made before a fork too, and by those that only publish."""
    client, other = Client(own_redis.url), Client(own_redis.url)
    threads = threading.active_count()
    bus = RedisBus(client, "s")
    bus.publish("n", {"n": 1})
    client.settle()
    connected = len(other.call("CLIENT", "LIST").splitlines())
    assert connected == 2 and threading.active_count() == threads
    bus.listen("n", lambda body: None)
    until(lambda: len(other.call("CLIENT", "LIST").splitlines()) == 3)
    bus.close()
    until(lambda: len(other.call("CLIENT", "LIST").splitlines()) == 2)
    client.close()
    other.close()


def test_a_killed_redis_that_comes_back_empty_means_missed_and_then_all_is_heard(own_redis: Any, ear: Callable[[], Ear]) -> None:
    """It lost the stream with everything else; what is published after it came back is heard, from any process."""
    a, b = ear(), ear()
    a.say(1)
    until(lambda: a.heard == b.heard == [1])
    own_redis.kill()
    until(lambda: not a.says("lost"))
    own_redis.start()
    until(lambda: "missed" in a.heard and "missed" in b.heard)
    until(lambda: a.says(2))
    for number in range(3, 20):
        a.say(number)
    until(lambda: a.heard[-17:] == b.heard[-17:] == list(range(3, 20)))
    assert a.heard.count("missed") == b.heard.count("missed") == 1


def test_a_redis_that_kept_its_data_means_nothing_is_missed(own_redis: Any, ear: Callable[[], Ear]) -> None:
    a, b = ear(), ear()
    a.say(1)
    until(lambda: a.heard == b.heard == [1])
    own_redis.kill()
    own_redis.start("--appendonly", "yes", "--appendfsync", "always")
    until(lambda: "missed" in a.heard and "missed" in b.heard)
    until(lambda: a.says(2))
    until(lambda: a.heard[-1:] == b.heard[-1:] == [2])
    for each in (a, b):
        each.heard.clear()
    own_redis.kill()
    own_redis.start("--appendonly", "yes", "--appendfsync", "always")
    until(lambda: b.says(3))
    until(lambda: 3 in a.heard and 3 in b.heard)
    assert "missed" not in a.heard + b.heard


def test_a_stalled_redis_loses_nothing_and_costs_nothing(own_redis: Any, ear: Callable[[], Ear], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "BLOCK_MS", 200)
    monkeypatch.setattr(module, "PATIENCE", 0.2)
    a, b = ear(), ear()
    a.say(1)
    until(lambda: a.heard == b.heard == [1])
    os.kill(own_redis.process.pid, signal.SIGSTOP)
    spent = time.process_time()
    time.sleep(1.5)  # the stall itself
    spent = time.process_time() - spent
    os.kill(own_redis.process.pid, signal.SIGCONT)
    until(lambda: b.says(2))
    until(lambda: a.heard[-1:] == b.heard[-1:] == [2])
    assert list(dict.fromkeys(a.heard)) == list(dict.fromkeys(b.heard)) == [1, 2], "at least once, and nothing else"
    assert spent < 0.3, f"{spent} s of computing in a stall of 1.5 s"


def test_a_redis_that_was_away_at_first_is_followed_when_it_comes(own_redis: Any, ear: Callable[[], Ear]) -> None:
    own_redis.kill()
    a = ear()
    own_redis.start()
    until(lambda: a.heard == ["missed"])
    until(lambda: a.says(1))
    until(lambda: a.heard == ["missed", 1])


def test_a_stream_that_was_emptied_means_missed(own_redis: Any, ear: Callable[[], Ear], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "BLOCK_MS", 100)
    a = ear()
    a.say(1)
    until(lambda: a.heard == [1])
    a.client.call("FLUSHALL")
    until(lambda: a.heard == [1, "missed"])
    a.say(2)
    until(lambda: a.heard == [1, "missed", 2])


def test_the_stream_is_bounded_and_goes_by_itself(own_redis: Any, ear: Callable[[], Ear]) -> None:
    a = ear()
    for number in range(3 * module.MAX_KEPT):
        a.say(number)
    a.client.settle()
    until(lambda: a.heard[-1:] == [3 * module.MAX_KEPT - 1])
    key = Keys("s").bus
    assert a.client.call("XLEN", key) < 1.2 * module.MAX_KEPT and 0 < a.client.call("PTTL", key) <= module.KEEP_MS


OTHER = """
import sys, time
from cmsmcp.state.redis.bus import RedisBus
from cmsmcp.state.redis.client import Client
client = Client(sys.argv[1])
bus = RedisBus(client, "s")
bus.listen("ping", lambda body: bus.publish("n", {"n": time.monotonic() - body["sent"]}))
bus.publish("n", {"n": "ready"})
client.settle()
time.sleep(60)
"""


@pytest.mark.parametrize("patch", ["", "from gevent import monkey; monkey.patch_all()"], ids=["threads", "gevent"])
def test_another_process_hears_at_once(own_redis: Any, ear: Callable[[], Ear], patch: str) -> None:
    """Two processes of one machine have one monotonic clock. `bench/streams.py` has the times."""
    a = ear()
    other = subprocess.Popen([sys.executable, "-c", patch + OTHER, own_redis.url])
    try:
        until(lambda: a.heard == ["ready"])
        for count in range(200):
            a.bus.publish("ping", {"sent": time.monotonic()})
            until(lambda count=count: len(a.heard) == count + 2)  # type: ignore[misc]
    finally:
        other.kill()
        other.wait()
    assert statistics.median(a.heard[1:]) < 0.5, statistics.median(a.heard[1:])


def test_no_key_shows_a_session_and_each_expires(client: Client, site: str) -> None:
    """docs/rules.md, Redis: keys in one place; a session id is its client's secret."""
    session = "key:2025-11-25:roots:1:abc:SIGNATURE"
    RedisSessions(client, site).set_level(session, "info")
    RedisSessions(client, site).subscribe(session, "docs://x")
    RedisSessions(client, site).subscribe("another", "docs://x")
    RedisReplies(client, site).expect(session, "1", 60)
    RedisEvents(client, site).append(session, "s", Event(1, b"d"))
    RedisBus(client, site).publish("n", {"n": 1})
    keys = client.call("KEYS", f"*{site}*")
    assert len(keys) == 5
    for key in keys:
        assert key.startswith(Keys(site).bus[: -len("bus")].encode()) and b"SIGNATURE" not in key
        assert client.call("PTTL", key) > 0, key


def test_the_apps_user_may_do_all_of_it(shipped: ShippedRedis) -> None:
    """config/users.acl, on the shipped configuration."""
    a = Ear(f"{shipped.url}?db=1")
    a.say(1)
    until(lambda: a.heard == [1])
    a.bus.close()
    sessions, replies, events = RedisSessions(a.client, "s"), RedisReplies(a.client, "s"), RedisEvents(a.client, "s")
    sessions.set_level("x", "info")
    assert sessions.subscribe("x", "u") and sessions.read("x").uris == {"u"}
    sessions.unsubscribe("x", "u")
    for id in ("1", "2"):
        replies.expect("x", id, 60)
        assert replies.deliver("x", id, b"r")
    assert replies.take("x", "1") == b"r"
    replies.forget("x", "2")
    for number in range(1, 8):
        events.append("x", "s", Event(number, b"d" * 500_000))
    assert events.after("x", "s", 6)
    a.client.settle()
    assert a.client.unacknowledged == 0
    a.client.close()


def test_a_full_redis_is_unavailable_and_still_gives_out_what_it_has(own_redis: Any) -> None:
    client = Client(own_redis.url)
    sessions, replies, events = RedisSessions(client, "s"), RedisReplies(client, "s"), RedisEvents(client, "s")
    sessions.set_level("x", "info")
    replies.expect("x", "1", 60)
    assert replies.deliver("x", "1", b"r")
    client.call("CONFIG", "SET", "maxmemory", "1")
    for refused in (
        lambda: sessions.set_level("x", "debug"), lambda: sessions.subscribe("x", "u"), lambda: replies.expect("x", "2", 60),
        lambda: replies.deliver("x", "1", b"s"), lambda: events.append("x", "s", Event(1, b"d")),
    ):
        with pytest.raises(Unavailable, match="cannot record"):
            refused()
    assert sessions.read("x").level == "info" and events.after("x", "s", 0) is None
    client.close()
