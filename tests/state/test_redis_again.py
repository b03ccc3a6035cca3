"""Connections that Redis has closed: by CLIENT KILL, by its own `timeout`, in a failover, or between a command and its answer
(docs/rules.md, Redis: what is sent twice)."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Iterator
from importlib.resources import files
from math import ceil
from pathlib import Path
from typing import Any

import pytest

from cmsmcp.core.ports import Ask
from cmsmcp.core.sharing import Event
from cmsmcp.core.tasks.ports import COMPLETED, WORKING, Task
from cmsmcp.governance.policy import Policy, Rate
from cmsmcp.protocol.errors import Unavailable
from cmsmcp.state.redis.admission import RedisAdmission
from cmsmcp.state.redis.audit import RedisAudit
from cmsmcp.state.redis.bus import RedisBus
from cmsmcp.state.redis.client import Client
from cmsmcp.state.redis.events import RedisEvents
from cmsmcp.state.redis.keys import Keys
from cmsmcp.state.redis.replies import RedisReplies
from cmsmcp.state.redis.sessions import RedisSessions
from cmsmcp.state.redis.signers import RedisSigners
from cmsmcp.state.redis.tasks import RedisTasks
from cmsmcp.state.redis.tokens import RedisTokens, TokenRecord

POLICY = Policy(rate=Rate(1, 1000), max_concurrency=99, max_concurrency_per_client=50, max_streams=50)


def ask(event: str, *, permit: bool, stream: bool = False) -> Ask:
    return Ask(event, "c", 1, permit, 60_000, intent={"event": event, "phase": "intent"}, stream=stream)


def everything(client: Client, site: str) -> dict[str, Callable[[], Any]]:
    """Every command that is sent on the shared line, in an order in which each has something to do."""
    admission, sessions = RedisAdmission(client, POLICY, site), RedisSessions(client, site)
    replies, events, tasks = RedisReplies(client, site), RedisEvents(client, site), RedisTasks(client, site)
    tokens, audit, signers = RedisTokens(client, site), RedisAudit(client, site), RedisSigners(client, site)
    now, held = int(time.time()), ask("held", permit=True)
    return {
        "admit a call": lambda: admission.admit(held).reason is None,
        "admit a stream": lambda: admission.admit(ask("stream", permit=True, stream=True)).reason is None,
        "admit without a permit": lambda: admission.admit(ask("list", permit=False)).reason is None,
        "renew": lambda: admission.renew([held], 60_000),
        "release": lambda: admission.release(held, {"event": "held", "phase": "outcome"}),
        "record": lambda: admission.record({"event": "r", "phase": "refusal"}),
        "set level": lambda: sessions.set_level("x", "info"),
        "set stream": lambda: sessions.set_stream("x", "s"),
        "subscribe": lambda: sessions.subscribe("x", "u") is True,
        "read session": lambda: sessions.read("x").uris == {"u"},
        "unsubscribe": lambda: sessions.unsubscribe("x", "u"),
        "expect": lambda: replies.expect("x", "1", 60),
        "deliver": lambda: replies.deliver("x", "1", b"r") is True,
        "take": lambda: replies.take("x", "1") == b"r",
        "forget": lambda: replies.forget("x", "1"),
        "append": lambda: events.append("x", "s", Event(1, b"d")),
        "after": lambda: len(events.after("x", "s", 0) or ()) == 1,
        "create task": lambda: tasks.create(Task("t", "c", "slow", (), 60_000, 500), 1) is None,
        "beat": lambda: tasks.beat("t") == WORKING,
        "note": lambda: tasks.note("t", "half") is True,
        "ask": lambda: tasks.ask("t", {"a": b"q"}) is True,
        "answer": lambda: tasks.answer("t", {"a": b"r"}) is True,
        "answers": lambda: tasks.answers("t") == {"a": b"r"},
        "end": lambda: tasks.end("t", COMPLETED) is True,
        "read task": lambda: tasks.read("t") is not None,
        "register": lambda: tokens.register(TokenRecord("j", "n", "mcp-server", "", now, now + 60)),
        "revoke": lambda: tokens.revoke("j").revoked is not None,
        "list tokens": lambda: len(tokens.newest()) == 1,
        "signers": lambda: signers.add("k", now + 60) == {"k": now + 60},
        "publish": lambda: RedisBus(client, site).publish("n", {}),
        "audit": lambda: len(list(audit.since(0))) > 0 and len(audit.latest(1)) == 1 and audit.trim(3600) == 0,
    }


def units(client: Client, site: str) -> int:
    """What is owed of the rate, in requests; one a minute is paid back meanwhile."""
    return ceil(int(client.call("GET", Keys(site).rate("c")).split()[0]) / 60_000_000)


def test_no_command_is_refused_because_redis_had_closed_the_connection(redis_server: Any, client: Client, site: str) -> None:
    """CLIENT KILL before each of them, right after the one before."""
    other = Client(redis_server.url)
    for name, command in everything(client, site).items():
        client.call("PING")
        other.call("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
        assert command() in (True, None), name
    client.settle()
    assert client.unacknowledged == 0 and client.condition.trouble is None
    found = Keys(site)
    assert other.call("ZCARD", found.permits) == 0 and other.call("ZCARD", found.streams) == 1
    assert units(other, site) == 3, "three were charged, once each"
    assert [entry.record["phase"] for entry in RedisAudit(other, site).since(0)] == ["intent"] * 3 + ["outcome", "refusal"]
    other.close()


def test_a_connection_that_idled_too_long_for_redis_is_opened_anew(own_redis: Any) -> None:
    """Its own `timeout`."""
    client, other = Client(own_redis.url), Client(own_redis.url)
    client.call("PING")
    mine = client.call("CLIENT", "ID")
    client.call("CONFIG", "SET", "timeout", "1")
    end = time.monotonic() + 60
    while f"id={mine} ".encode() in other.call("CLIENT", "LIST") and time.monotonic() < end:
        time.sleep(0.05)
    assert RedisAdmission(client, POLICY, "s").admit(ask("e", permit=True)).reason is None
    client.close()
    other.close()


class Cutter:
    """Stands before Redis. Once `cut` is set, what is sent next is done, but instead of its answer the connection ends, once."""

    def __init__(self, target: Path, place: Path) -> None:
        self.cut = threading.Event()
        self.url = f"unix://{place}"
        self._target = target
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(place))
        self._listener.listen()
        threading.Thread(target=self._run, daemon=True).start()

    def close(self) -> None:
        self._listener.close()

    def _run(self) -> None:
        while True:
            try:
                near, _ = self._listener.accept()
            except OSError:
                return
            far = socket.socket(socket.AF_UNIX)
            far.connect(str(self._target))
            threading.Thread(target=self._pass, args=(near, far), daemon=True).start()
            threading.Thread(target=self._pass, args=(far, near, True), daemon=True).start()

    def _pass(self, source: socket.socket, target: socket.socket, answers: bool = False) -> None:
        try:
            while data := source.recv(65_536):
                if answers and self.cut.is_set():
                    self.cut.clear()
                    break
                target.sendall(data)
        except OSError:
            pass
        for end in (source, target):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass


@pytest.fixture
def cutter(own_redis: Any) -> Iterator[Cutter]:
    made = Cutter(own_redis.socket, own_redis.folder / "c")
    yield made
    made.close()


@pytest.mark.parametrize("kind", ["call", "stream", "without a permit"])
def test_an_admission_whose_answer_was_lost_is_done_once(own_redis: Any, cutter: Cutter, kind: str) -> None:
    """One permit, one unit of the rate, one intent: the event names it."""
    client, other, keys = Client(cutter.url), Client(own_redis.url), Keys("s")
    admission = RedisAdmission(client, POLICY, "s")
    other.call("SCRIPT", "LOAD", files("cmsmcp.state.redis").joinpath("admission.lua").read_bytes())
    client.call("PING")
    cutter.cut.set()
    wanted = ask("e", permit=kind != "without a permit", stream=kind == "stream")
    assert admission.admit(wanted).reason is None and not cutter.cut.is_set()
    assert other.call("ZCARD", keys.permits) == other.call("ZCARD", keys.permits_of("c")) == int(kind == "call")
    assert other.call("ZCARD", keys.streams) == int(kind == "stream")
    assert units(other, "s") == 1
    assert other.call("XLEN", keys.audit) == 1
    admission.release(wanted, None)
    client.settle()
    assert other.call("ZCARD", keys.permits) == other.call("ZCARD", keys.permits_of("c")) == other.call("ZCARD", keys.streams) == 0
    client.close()
    other.close()


def test_every_command_whose_answer_was_lost_is_done_once_or_fails_in_sight(own_redis: Any, cutter: Cutter) -> None:
    """Those that say by their answer whether they changed something are not asked again: their caller is told that it is not known."""
    client = Client(cutter.url)
    told = set()
    for name, command in everything(client, "s").items():
        client.call("PING")
        cutter.cut.set()
        try:
            assert command() in (True, None), name
        except Unavailable:
            told.add(name)
        if cutter.cut.is_set():  # nobody waits for the answer
            with pytest.raises(Unavailable):
                client.settle()
    client.call("PING")
    client.settle()
    assert client.unacknowledged == 0
    assert told == {"take", "ask", "answer", "end"}
    client.close()

