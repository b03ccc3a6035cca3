"""One contract for both adapters of `core.sharing`: in one process, and in a real Redis (issue 4: any worker serves any request)."""

from __future__ import annotations

import json
import threading
import time
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cmsmcp.core.sharing import (
    EVENTS_SECONDS,
    MAX_EVENT_BYTES,
    MAX_EVENTS,
    MAX_EVENTS_BYTES,
    MAX_MESSAGE_BYTES,
    MAX_REPLY_BYTES,
    MAX_URI_BYTES,
    MAX_URIS,
    Bus,
    Event,
    EventLog,
    Replies,
    SessionState,
    SessionStore,
)
from cmsmcp.protocol.errors import RESULT_TOO_LARGE
from cmsmcp.state.memory.bus import MemoryBus
from cmsmcp.state.memory.events import MemoryEvents
from cmsmcp.state.memory.replies import MemoryReplies
from cmsmcp.state.memory.sessions import MemorySessions
from cmsmcp.state.redis.bus import RedisBus
from cmsmcp.state.redis.client import Client
from cmsmcp.state.redis.events import RedisEvents
from cmsmcp.state.redis.replies import RedisReplies
from cmsmcp.state.redis.sessions import RedisSessions
from tests.waiting import until

SECONDS = 60.0


@dataclass(frozen=True)
class Place:
    bus: Bus
    sessions: SessionStore
    replies: Replies
    events: EventLog


@pytest.fixture(params=["memory", "redis"])
def place(request: pytest.FixtureRequest) -> Iterator[Place]:
    if request.param == "memory":
        made = Place(MemoryBus(), MemorySessions(), MemoryReplies(), MemoryEvents())
    else:
        client: Client = request.getfixturevalue("client")
        site = request.getfixturevalue("site")
        made = Place(RedisBus(client, site), RedisSessions(client, site), RedisReplies(client, site), RedisEvents(client, site))
    yield made
    made.bus.close()


class Heard:
    """What came over a bus, in order."""

    def __init__(self, bus: Bus, *kinds: str) -> None:
        self._changed = threading.Condition()
        self.all: list[tuple[str, Any]] = []
        for kind in kinds:
            bus.listen(kind, lambda body, kind=kind: self._add(kind, body))

    def _add(self, kind: str, body: Any) -> None:
        with self._changed:
            self.all.append((kind, body))
            self._changed.notify_all()

    def wait(self, count: int) -> list[tuple[str, Any]]:
        with self._changed:
            assert self._changed.wait_for(lambda: len(self.all) >= count, SECONDS), f"{len(self.all)} of {count} came"
            return list(self.all)


def new() -> str:
    return uuid.uuid4().hex


# the bus


def test_messages_of_a_kind_come_in_order_and_whole(place: Place) -> None:
    """core.sharing.Bus: this process too hears what it says."""
    place.bus.publish("change", {"early": True})
    heard = Heard(place.bus, "change", "task", "missed")
    for number in range(300):
        place.bus.publish(("change", "other", "task")[number % 3], {"n": number, "text": "é\n\u2028", "more": [None, 1.5]})
    expected = [(("change", "other", "task")[n % 3], {"n": n, "text": "é\n\u2028", "more": [None, 1.5]}) for n in range(300) if n % 3 != 1]
    assert heard.wait(200) == expected


def test_every_receiver_hears_although_one_fails(place: Place) -> None:
    def fail(body: Any) -> None:
        raise RuntimeError("boom")

    place.bus.listen("change", fail)
    heard, also = Heard(place.bus, "change"), Heard(place.bus, "change")
    place.bus.publish("change", {"a": 1})
    place.bus.publish("change", {"a": 2})
    assert heard.wait(2) == also.wait(2) == [("change", {"a": 1}), ("change", {"a": 2})]


def test_receivers_run_in_one_thread_that_is_not_the_publishers(place: Place) -> None:
    threads: list[threading.Thread] = []
    for kind in ("a", "b"):
        place.bus.listen(kind, lambda body: threads.append(threading.current_thread()))
    for kind in ("a", "b", "a"):
        place.bus.publish(kind, {})
    until(lambda: len(threads) == 3)
    assert len(set(threads)) == 1 and threads[0] is not threading.current_thread()


def test_a_slow_receiver_holds_up_no_publisher(place: Place) -> None:
    gate = threading.Event()
    place.bus.listen("change", lambda body: gate.wait(SECONDS) and None)
    began = time.monotonic()
    for number in range(200):
        place.bus.publish("change", {"n": number})
    assert time.monotonic() - began < SECONDS, "it waits for so long"
    gate.set()


def test_who_falls_too_far_behind_is_told_so(place: Place) -> None:
    """core.sharing.Bus: `missed`; what comes after it is heard again."""
    gate, held = threading.Event(), threading.Event()

    def hold(body: Any) -> None:
        held.set()
        gate.wait(SECONDS)

    heard = Heard(place.bus, "change", "missed")
    place.bus.listen("stop", hold)
    place.bus.publish("stop", {})
    assert held.wait(SECONDS)
    for number in range(5000):
        place.bus.publish("change", {"n": number})
    gate.set()
    until(lambda: ("missed", {}) in heard.all)
    place.bus.publish("change", {"n": "last"})
    until(lambda: ("change", {"n": "last"}) in heard.all)
    assert heard.all.index(("missed", {})) < heard.all.index(("change", {"n": "last"}))


def test_a_message_over_its_size_is_refused_to_its_producer(place: Place) -> None:
    heard = Heard(place.bus, "change")
    with pytest.raises(ValueError, match=str(MAX_MESSAGE_BYTES)):
        place.bus.publish("change", {"x": "y" * MAX_MESSAGE_BYTES})
    place.bus.publish("change", {"x": "y" * (MAX_MESSAGE_BYTES - 8)})
    assert len(heard.wait(1)[0][1]["x"]) == MAX_MESSAGE_BYTES - 8


def test_a_closed_bus_says_no_more_and_its_thread_ends(place: Place) -> None:
    threads: list[threading.Thread] = []
    place.bus.listen("change", lambda body: threads.append(threading.current_thread()))
    place.bus.publish("change", {})
    until(lambda: bool(threads))
    place.bus.close()
    assert not threads[0].is_alive()
    place.bus.publish("change", {})
    place.bus.close()
    assert len(threads) == 1


# sessions


def test_a_session_keeps_what_it_said(place: Place) -> None:
    """S-08; a session that said nothing is blank."""
    a, b = new(), new()
    assert place.sessions.read(a) == SessionState()
    place.sessions.set_level(a, "warning")
    place.sessions.set_stream(a, "s1")
    assert all(place.sessions.subscribe(a, uri) for uri in ("docs://é/ü?x=1#%20", "level", "level"))
    place.sessions.set_level(a, "debug")
    assert place.sessions.read(a) == SessionState("debug", frozenset({"docs://é/ü?x=1#%20", "level"}), "s1")
    place.sessions.unsubscribe(a, "level")
    place.sessions.unsubscribe(a, "never")
    place.sessions.unsubscribe(b, "never")
    assert place.sessions.read(a).uris == {"docs://é/ü?x=1#%20"} and place.sessions.read(b) == SessionState()


def test_a_session_has_so_many_subscriptions_and_no_more(place: Place) -> None:
    """docs/rules.md: every input has a bound; what is held already is no more."""
    a = new()
    place.sessions.set_level(a, "info")
    place.sessions.set_stream(a, "s")
    assert all(place.sessions.subscribe(a, f"u:{number}") for number in range(MAX_URIS))
    assert not place.sessions.subscribe(a, "u:more") and place.sessions.subscribe(a, "u:0")
    place.sessions.unsubscribe(a, "u:1")
    assert place.sessions.subscribe(a, "u:more") and len(place.sessions.read(a).uris) == MAX_URIS
    assert not place.sessions.subscribe(new(), "x" * (MAX_URI_BYTES + 1)) and place.sessions.subscribe(new(), "x" * MAX_URI_BYTES)


def test_threads_subscribe_up_to_the_bound_and_not_one_more(place: Place) -> None:
    a, admitted = new(), []
    threads = [
        threading.Thread(target=lambda t=t: admitted.extend(place.sessions.subscribe(a, f"{t}:{n}") for n in range(60))) for t in range(5)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert admitted.count(True) == MAX_URIS == len(place.sessions.read(a).uris)


# replies


def test_an_answer_reaches_who_waits_and_nobody_else_once(place: Place) -> None:
    a, b = new(), new()
    assert not place.replies.deliver(a, "1", b"{}") and place.replies.take(a, "1") is None
    place.replies.expect(a, "1", 60)
    assert place.replies.take(a, "1") is None
    assert not place.replies.deliver(b, "1", b"forged") and not place.replies.deliver(a, "2", b"other")
    assert place.replies.deliver(a, "1", b'{"r":"\xc3\xa9"}')
    assert place.replies.take(a, "1") == b'{"r":"\xc3\xa9"}'
    assert place.replies.take(a, "1") is None and not place.replies.deliver(a, "1", b"late")


def test_names_that_run_together_are_different_waits(place: Place) -> None:
    a = new()
    place.replies.expect(a, "b1", 60)
    assert not place.replies.deliver(a + "b", "1", b"x") and not place.replies.deliver(a, "1", b"x")


def test_what_is_forgotten_or_overdue_takes_no_answer(place: Place) -> None:
    a = new()
    place.replies.expect(a, "1", 60)
    place.replies.forget(a, "1")
    place.replies.forget(a, "never")
    assert not place.replies.deliver(a, "1", b"x")
    place.replies.expect(a, "2", 0.05)
    until(lambda: not place.replies.deliver(a, "2", b"x"))
    assert place.replies.take(a, "2") is None


def test_an_answer_that_is_too_large_arrives_as_an_error_that_says_so(place: Place) -> None:
    a = new()
    place.replies.expect(a, "q-1", 60)
    assert place.replies.deliver(a, "q-1", b"x" * (MAX_REPLY_BYTES + 1))
    taken = json.loads(place.replies.take(a, "q-1") or b"")
    assert taken["id"] == "q-1" and taken["error"]["code"] == RESULT_TOO_LARGE
    assert taken["error"]["data"] == {"size": MAX_REPLY_BYTES + 1, "limit": MAX_REPLY_BYTES}
    place.replies.expect(a, "q-2", 60)
    assert place.replies.deliver(a, "q-2", b"x" * MAX_REPLY_BYTES) and place.replies.take(a, "q-2") == b"x" * MAX_REPLY_BYTES


# events


def test_what_followed_an_event_is_had_again(place: Place) -> None:
    """S-11: in order, of this stream and this session alone."""
    a = new()
    events = [Event(number, b"\x00\xff data %d" % number, last=number == 5) for number in range(1, 6)]
    for event in events:
        place.events.append(a, "s", event)
    place.events.append(a, "t", Event(1, b"other"))
    assert [list(place.events.after(a, "s", number) or ()) for number in range(6)] == [events[number:] for number in range(6)]
    for session, stream, number in ((new(), "s", 0), (a, "u", 0), (a, "s", 6), (a, "s", -1), (a, "s", 10**30)):
        assert place.events.after(session, stream, number) is None


def test_an_event_said_twice_is_kept_once(place: Place) -> None:
    a = new()
    for number in (1, 2, 2, 1):
        place.events.append(a, "s", Event(number, b"d"))
    assert [event.number for event in place.events.after(a, "s", 0) or ()] == [1, 2]


def test_only_so_many_events_are_kept_and_a_gap_is_no_resumption(place: Place) -> None:
    a = new()
    for number in range(1, MAX_EVENTS + 4):
        place.events.append(a, "s", Event(number, b"d"))
    assert place.events.after(a, "s", 2) is None
    assert len(place.events.after(a, "s", 3) or ()) == MAX_EVENTS
    assert place.events.after(a, "s", MAX_EVENTS + 3) == []


def test_only_so_many_bytes_are_kept(place: Place) -> None:
    a, size = new(), MAX_EVENT_BYTES
    for number in range(1, 2 + MAX_EVENTS_BYTES // size):
        place.events.append(a, "s", Event(number, b"x" * size))
    assert place.events.after(a, "s", 0) is None and len(place.events.after(a, "s", 1) or ()) == MAX_EVENTS_BYTES // size


def test_a_stream_resumes_after_an_event_that_was_too_large_and_not_from_before(place: Place) -> None:
    a = new()
    for number in (1, 2, 3, 4):
        place.events.append(a, "s", Event(number, b"x" * (MAX_EVENT_BYTES + 1 if number == 3 else 10)))
    assert [place.events.after(a, "s", number) for number in (0, 1, 2)] == [None] * 3
    assert [event.number for event in place.events.after(a, "s", 3) or ()] == [4]


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(st.integers(1, 2), st.integers(0, 3)), max_size=25))
def test_both_logs_keep_the_same(client: Client, site: str, steps: list[tuple[int, int]]) -> None:
    """A memory twin that kept more or less than Redis would hide faults."""
    logs: tuple[EventLog, ...] = (MemoryEvents(), RedisEvents(client, site))
    session, sizes, number = new(), (0, 10, MAX_EVENT_BYTES, MAX_EVENT_BYTES + 1), 0
    for step, size in steps:
        number += step - 1  # 0: said twice; a stream leaves no number out
        for log in logs:
            if number:
                log.append(session, "s", Event(number, b"x" * sizes[size]))
    for asked in range(number + 2):
        assert logs[0].after(session, "s", asked) == logs[1].after(session, "s", asked)


def test_a_stream_is_forgotten_in_time() -> None:
    now = [0.0]
    events = MemoryEvents(lambda: now[0])
    events.append("a", "s", Event(1, b"d"))
    now[0] = EVENTS_SECONDS - 1
    events.append("a", "s", Event(2, b"d"))
    now[0] += EVENTS_SECONDS - 1
    assert len(events.after("a", "s", 0) or ()) == 2
    now[0] += 1
    assert events.after("a", "s", 0) is None
