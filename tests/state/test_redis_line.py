"""The shared connection: order under load, under a stalled server, across fork (docs/rules.md, Redis)."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from cmsmcp.protocol.errors import Unavailable
from cmsmcp.state.redis.breaker import Breaker
from cmsmcp.state.redis.client import Client, Refused
from cmsmcp.state.redis.line import LineBroken, Pending


def test_every_thread_gets_its_own_reply(client: Client) -> None:
    def talk(who: int) -> None:
        for turn in range(300):
            word = f"{who}/{turn}/" + "x" * (turn * 37 % 5000)
            assert client.call("ECHO", word) == word.encode()
            if turn % 3 == 0:
                client.post([("INCR", "posted")])

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(talk, range(8)))
    client.settle()
    assert client.call("GET", "posted") == b"800"
    assert client.call("CLIENT", "LIST").count(b"\n") == 1, "one connection for all"


def test_a_stalled_server_loses_replies_but_swaps_none(own_redis: Any) -> None:
    """redis/redis-py#2624: a reply that comes late must not be taken for the next one."""
    client = Client(own_redis.url, timeout=0.05, breaker=Breaker(failures=10**9))
    stop = threading.Event()
    answered, lost, wrong = [0], [0], []

    def talk(who: int) -> None:
        turn = 0
        while not stop.is_set():
            turn += 1
            word = f"{who}/{turn}".encode()
            try:
                reply = client.call("ECHO", word)
            except Unavailable:
                lost[0] += 1
                continue
            answered[0] += 1
            if reply != word:
                wrong.append((word, reply))

    threads = [threading.Thread(target=talk, args=(who,)) for who in range(6)]
    for thread in threads:
        thread.start()
    for _ in range(5):
        time.sleep(0.1)
        os.kill(own_redis.process.pid, signal.SIGSTOP)
        time.sleep(0.12)
        os.kill(own_redis.process.pid, signal.SIGCONT)
    stop.set()
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive()
    assert not wrong
    assert answered[0] > 100 and lost[0] > 0
    client.close()


def test_a_reply_that_has_come_is_read_however_late_we_look(client: Client) -> None:
    """A worker that gets no time to run finds its timer over and the reply there, both at once: that is no outage."""
    client.call("PING")
    line = client._line
    assert line is not None
    socket = line._socket

    class Starved:
        naps = 1

        def recv(self, size: int) -> bytes:
            if self.naps:
                self.naps -= 1
                time.sleep(0.3)  # longer than the line's patience
                raise TimeoutError
            return socket.recv(size)

        def fileno(self) -> int:
            return socket.fileno()

    pending = line.send([("ECHO", "a")])
    line._socket = Starved()
    assert line.wait(pending) == [b"a"]
    line._socket = socket
    assert client.call("ECHO", "b") == b"b"


def test_a_stalled_server_is_given_up_in_time(own_redis: Any) -> None:
    client = Client(own_redis.url, timeout=1.0)
    client.call("PING")
    os.kill(own_redis.process.pid, signal.SIGSTOP)
    try:
        took = []
        for _ in range(6):
            began = time.monotonic()
            with pytest.raises(Unavailable):
                client.call("PING")
            took.append(time.monotonic() - began)
    finally:
        os.kill(own_redis.process.pid, signal.SIGCONT)
    assert max(took) < 30, "once, not again and again"
    assert took[-1] < 0.9, "the breaker is open"
    client.close()


def test_an_error_reply_is_the_callers_alone(client: Client) -> None:
    client.call("SET", "text", "not a number")
    replies = client.pipeline([("ECHO", "a"), ("INCR", "text"), ("ECHO", "b")])
    assert (replies[0], replies[2]) == (b"a", b"b")
    assert isinstance(replies[1], Refused) and replies[1].word == "ERR"
    with pytest.raises(Refused):
        client.call("NO-SUCH-COMMAND")
    client.post([("INCR", "text")])
    client.settle()
    assert client.call("PING") == b"PONG"


def test_what_was_posted_is_done_before_what_is_sent_later(client: Client) -> None:
    for number in range(600):
        client.post([("SET", "last", str(number))])
    assert client.call("GET", "last") == b"599"


def test_a_refused_post_is_counted_when_its_answer_is_read(client: Client) -> None:
    client.call("SET", "text", "not a number")
    client.post([("INCR", "text")])
    client.settle()
    assert client.unacknowledged == 1


def test_refused_posts_are_told_when_they_happen_not_when_the_line_ends(client: Client) -> None:
    """They are the audit's losses: an operator must hear of them on a line that never breaks."""
    client.call("SET", "text", "not a number")
    client.post([("INCR", "text")])
    assert client.call("PING") == b"PONG"
    assert client.unacknowledged == 1


def test_a_reader_that_meets_a_drop_takes_nobody_elses_turn(client: Client) -> None:
    """The queue is emptied and filled again between the last reply and the turn that ends: that other one must not wait for ever."""
    client.call("PING")
    line = client._line
    assert line is not None
    other, ended = Pending(1, awaited=True), []

    class Trap(deque[Pending]):
        is_set = True

        def popleft(self) -> Pending:
            if self.is_set:
                self.is_set = False
                line.drop()  # another thread gave up …
                self.append(other)  # … and a third one had found the line whole just before
            return super().popleft()

    def wait_for(pending: Pending) -> None:
        with pytest.raises(LineBroken):
            line.wait(pending)
        ended.append(pending)

    mine = line.send([("PING",)])
    line._queue = Trap(line._queue)
    wait_for(mine)
    thread = threading.Thread(target=wait_for, args=(other,), daemon=True)
    thread.start()
    thread.join(60)
    assert ended == [mine, other]


def test_whoever_waits_on_a_broken_line_is_told(client: Client) -> None:
    client.call("PING")
    line = client._line
    assert line is not None
    line.drop()
    forgotten = Pending(1, awaited=True)
    thread = threading.Thread(target=lambda: pytest.raises(LineBroken, line.wait, forgotten), daemon=True)
    thread.start()
    thread.join(60)
    assert not thread.is_alive() and forgotten.lost


def test_a_post_survives_the_line_it_would_have_gone_by(own_redis: Any) -> None:
    """A permit must not stay taken, nor an outcome unsaid, because a connection was cut while the call ran."""
    client, other = Client(own_redis.url), Client(own_redis.url)
    client.call("PING")
    other.call("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
    client.post([("RPUSH", "said", "once")])
    client.settle()
    assert other.call("LRANGE", "said", 0, -1) == [b"once"] and client.unacknowledged == 0
    client.close()
    other.close()


def test_what_was_posted_and_lost_is_sent_once_more_on_the_next_line(own_redis: Any) -> None:
    client = Client(own_redis.url)
    client.call("PING")
    os.kill(own_redis.process.pid, signal.SIGSTOP)
    client.post([("RPUSH", "said", "a")])
    client.post([("RPUSH", "said", "b")])
    own_redis.kill()
    own_redis.start()
    assert client.call("LRANGE", "said", 0, -1) == [b"a", b"b"]
    assert client.unacknowledged == 0
    client.close()


def test_what_is_lost_twice_is_counted(own_redis: Any) -> None:
    client = Client(own_redis.url)
    client.post([("SET", "a", "1")])
    client.settle()
    line = client._line
    assert line is not None
    line.send([("SET", "a", "2")], awaited=False, again=True)
    own_redis.kill()
    client.close()
    assert client.unacknowledged == 1


def test_a_forked_child_opens_its_own_line(client: Client) -> None:
    """Clients are made before fork at times; a shared socket would mix two processes' replies."""
    mine = client.call("CLIENT", "ID")
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.write(write, str(client.call("CLIENT", "ID")).encode())
        finally:
            os._exit(0)
    os.waitpid(child, 0)
    assert int(os.read(read, 100)) != mine
    assert client.call("CLIENT", "ID") == mine


def test_a_killed_connection_fails_one_call_and_the_next_works(client: Client) -> None:
    client.call("PING")
    killer = Client(client.address)
    killer.call("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
    for _ in range(2):
        try:
            assert client.call("PING") == b"PONG"
        except Unavailable:
            continue
    assert client.call("PING") == b"PONG"
    killer.close()


def test_the_breaker_opens_after_three_and_probes_once_a_second() -> None:
    now = [0.0]
    breaker = Breaker(clock=lambda: now[0])
    for _ in range(3):
        assert breaker.permits()
        breaker.failed()
    assert [breaker.permits() for _ in range(3)] == [False] * 3
    now[0] = 1.0
    assert [breaker.permits() for _ in range(3)] == [True, False, False], "one probe"
    breaker.failed()
    now[0] = 1.9
    assert not breaker.permits()
    now[0] = 2.0
    assert breaker.permits()
    breaker.succeeded()
    assert all(breaker.permits() for _ in range(5))
