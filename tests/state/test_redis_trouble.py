"""What is said when Redis does not serve: each fault has a sentence of its own, once when it begins and once when it ends
(docs/operations.md, When Redis is away)."""

from __future__ import annotations

import os
import re
import signal
import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from cmsmcp.protocol.errors import Unavailable
from cmsmcp.state.redis.client import Client, Refused
from cmsmcp.state.redis.condition import Condition
from cmsmcp.state.redis.probe import probe
from cmsmcp.state.redis.trouble import DOWN, LOADING, lacking, of_refusal
from tests.redis_servers import ROOT, RedisServer, ShippedRedis
from tests.state.test_redis_tls import accept, certify

SECRET = "hunter-FAKE"
Url = Callable[[], str]


@pytest.fixture
def tcp(own_redis: RedisServer) -> Iterator[int]:
    """A port that leads to it."""
    with socket.socket() as probe_socket:
        probe_socket.bind(("127.0.0.1", 0))
        port = probe_socket.getsockname()[1]
    own_redis.command("CONFIG", "SET", "port", port)
    yield port


def said(url: str, timeout: float = 0.5) -> str:
    """The one line that is told, which holds no password; what the caller gets holds no address either."""
    lines: list[str] = []
    client = Client(url, timeout=timeout, tell=lines.append)
    trouble = probe(client, "s")
    assert trouble is not None
    with pytest.raises((Unavailable, Refused)) as refused:
        client.call("XADD", "cmsmcp:{s}:x", "*", "a", "b")
    assert len(lines) == 1 and trouble.sentence in lines[0] and client.address.shown in lines[0] and SECRET not in lines[0]
    if isinstance(refused.value, Unavailable):
        assert not re.search(r"127\.0|/tmp|redis", refused.value.message, re.IGNORECASE)
    assert not re.search(r"127\.0|/tmp|FAKE", trouble.sentence)
    client.close()
    return trouble.sentence


def test_each_fault_has_a_sentence_of_its_own(own_redis: RedisServer, tcp: int, tmp_path: Path) -> None:
    """On a real Redis, by TCP, TLS and socket."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*certify(tmp_path, "localhost"))
    with socket.create_server(("127.0.0.1", 0)) as speaks_tls, socket.create_server(("127.0.0.1", 0)) as deaf:
        threading.Thread(target=accept, args=(speaks_tls, context, str(own_redis.socket)), daemon=True).start()
        tls, silent = speaks_tls.getsockname()[1], deaf.getsockname()[1]
        found = {
            "down": said(f"redis://:{SECRET}@127.0.0.1:1"),
            "no socket": said("unix:///tmp/nothing-here"),
            "unknown host": said("redis://redis.invalid:6379", 5.0),
            "timeout": said(f"redis://127.0.0.1:{silent}"),
            "TLS to a plain port": said(f"rediss://127.0.0.1:{tcp}"),
            "plain to a TLS port": said(f"redis://127.0.0.1:{tls}"),
            "certificate": said(f"rediss://localhost:{tls}"),
            "database": said(f"{own_redis.url}?db=99"),
        }
    own_redis.command("ACL", "SETUSER", "u", "on", ">p-FAKE", "~cmsmcp:*", "+@all", "-xadd")
    named = own_redis.url.replace("unix://", "unix://u:p-FAKE@")
    found["password"] = said(own_redis.url.replace("unix://", f"unix://u:{SECRET}@"))
    found["rights"] = said(named)
    own_redis.command("ACL", "SETUSER", "u", "+@all")
    own_redis.command("CONFIG", "SET", "maxmemory", "1")
    found["full"] = said(named)
    own_redis.command("CONFIG", "SET", "maxmemory", "0")
    own_redis.command("REPLICAOF", "127.0.0.1", "1")
    found["replica"] = said(named)
    own_redis.command("REPLICAOF", "NO", "ONE")
    own_redis.command("CONFIG", "SET", "requirepass", "x-FAKE")
    found["no password"] = said(own_redis.url)
    assert found.pop("no socket") == found["down"] == DOWN.sentence
    assert len(set(found.values())) == len(found) == 12
    for kind, word in {
        "TLS to a plain port": "redis://", "plain to a TLS port": "rediss://", "password": "password", "rights": "+xadd",
        "full": "maxmemory", "replica": "primary", "certificate": "certificate",
        "unknown host": "host name", "timeout": "in time", "database": "database",
    }.items():
        assert word in found[kind], found[kind]


@pytest.mark.parametrize(("reply", "word"), [
    ("LOADING Redis is loading the dataset in memory", "loading"), ("NOPERM User u has no permissions to run the 'xadd' command", "rights"),
    ("ERR The user executing the script can't run this command or subcommand script: ab, on @user_script:1.", "rights"),
    ("ERR unknown command 'GETDEL', with args beginning with: 'a' ", "old"), ("ERR unknown command `GETDEL`, with args", "old"),
    ("MISCONF Errors writing to the AOF file: No space left on device", "disk"), ("ERR max number of clients reached", "clients"),
    ("CLUSTERDOWN The cluster is down", "cluster"), ("MASTERDOWN Link with MASTER is down", "readonly"),
    ("OOM command not allowed", "full"), ("BUSY Redis is busy running a script", "busy"), ("ERR something\r\nnew", "refuses"),
])
def test_what_redis_answers_is_understood(reply: str, word: str) -> None:
    """Their wording is that of Redis 6.2 to 8."""
    found = of_refusal(reply)
    assert found is not None and found.word == word and found.sentence.isprintable()


def test_an_older_redis_is_named_with_its_version(own_redis: RedisServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """Redis 7 is the oldest that is served with."""
    pipeline = Client.pipeline

    def older(client: Client, commands: Any, **how: Any) -> list[Any]:
        return [re.sub(rb"redis_version:[\d.]+", b"redis_version:6.2.14", one) if isinstance(one, bytes) else one
                for one in pipeline(client, commands, **how)]

    monkeypatch.setattr(Client, "pipeline", older)
    found = probe(Client(own_redis.url), "s")
    assert found is not None and "(6.2.14)" in found.sentence and "7 or newer" in found.sentence


def test_the_probe_tries_every_right_that_the_shipped_user_has(shipped: ShippedRedis) -> None:
    """config/users.acl; and needs no more."""
    client = Client(shipped.url)
    assert probe(client, "s") is None
    rights = re.findall(r" \+(\w+)", next(line for line in (ROOT / "config/users.acl").read_text().splitlines() if "user cmsmcp" in line))
    tried = re.findall(r"{'(\w+)'", (ROOT / "cmsmcp/state/redis/probe.lua").read_text().lower())
    assert {*tried, "ping", "select", "info", "multi", "exec", "eval", "evalsha", "time"} == set(rights)
    client.close()


def test_a_hanging_redis_is_told_once_and_its_return_once(own_redis: RedisServer) -> None:
    lines: list[str] = []
    client = Client(own_redis.url, timeout=0.1, tell=lines.append)
    assert probe(client, "s") is None and lines == []
    assert own_redis.process is not None
    os.kill(own_redis.process.pid, signal.SIGSTOP)
    for _ in range(5):
        assert probe(client, "s") is not None
    assert len(lines) == 1 and "does not answer in time" in lines[0]
    os.kill(own_redis.process.pid, signal.SIGCONT)
    while probe(client, "s") is not None:
        pass
    assert len(lines) == 2 and re.search(r"serves again after \d+\.\d s \(it was: it does not answer in time", lines[1])
    client.close()


def test_how_an_outage_shows_may_change_without_a_word_but_another_reason_is_told() -> None:
    lines: list[str] = []
    condition = Condition("there", lines.append)
    condition.broke(DOWN)
    condition.broke(LOADING)
    condition.heard([("HSET", "a")], [Refused("NOPERM User u has no permissions to run the 'hset' command")])
    assert len(lines) == 2 and "nothing listens" in lines[0] and "+hset" in lines[1]
    condition.heard([("PING",)], [b"PONG"])
    assert len(lines) == 2, "what was refused has not succeeded"
    condition.heard([("HSET", "a")], [1])
    assert len(lines) == 3 and "serves again" in lines[2] and condition.trouble is None


def test_calls_and_probe_that_name_different_rights_are_one_outage() -> None:
    """Each call is refused for the first right it lacks, the probe names all: with traffic that was a line a second."""
    lines: list[str] = []
    condition = Condition("there", lines.append)
    for _ in range(3):
        condition.heard([("EVALSHA", "ab")], [Refused("NOPERM User u has no permissions to run the 'xadd' command")])
        condition.examined(lacking(["xadd", "hset"]))
    assert len(lines) == 1 and condition.trouble == lacking(["xadd", "hset"])
    condition.examined(None)
    assert len(lines) == 2 and condition.trouble is None
