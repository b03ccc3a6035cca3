"""Event streams of the HTTP door in process: when a reply is one, what is on it, and what it means when its reader leaves.

Works with a service that is told what to say; the door, sessions and tokens are the real ones (test_http_stream_server.py has the rest).
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable
from functools import partial
from types import SimpleNamespace
from typing import Any, cast

import pytest

from cmsmcp.app import create_app
from cmsmcp.core.out import Out, Stream
from cmsmcp.core.ports import Caller
from cmsmcp.core.service import Outcome, Pending, Service
from cmsmcp.core.session import Connection
from cmsmcp.governance.policy import Policy
from cmsmcp.governance.scopes import READ_SCOPES
from cmsmcp.identity.gate import Gate
from cmsmcp.identity.keys import Keyring
from cmsmcp.identity.peers import Peers
from cmsmcp.identity.sessions import PURPOSE, Sessions
from cmsmcp.identity.tokens import Grant, Tokens
from cmsmcp.processes.gunicorn_streams import carried_by
from cmsmcp.protocol.eras import MODERN, Era
from cmsmcp.state.memory.admission import MemoryAdmission
from cmsmcp.state.memory.events import MemoryEvents
from cmsmcp.transports.http import Entrance, blueprint, door, resuming, streaming
from cmsmcp.transports.http.openings import Openings
from tests.waiting import until

TOKENS = Tokens(Keyring([b"k" * 40], "tokens"), "urn:cmsmcp:test")
HELD = {"Authorization": "Bearer " + TOKENS.create(Grant("t")).token}
BOTH = "application/json, text/event-stream"
REPLY = b'{"jsonrpc":"2.0","id":1,"result":{}}'
NOTE = b'{"jsonrpc":"2.0","method":"notifications/message","params":{}}'
THREADED = {"wsgi.multithread": True}


class NoAudit:
    def append(self, record: Any) -> None:
        pass


class Told:
    """A service that does what it is told. `cancelled` is set when its request is withdrawn, `ended` when its work has ended."""

    def __init__(self, work: Callable[[Out | None], Outcome], *, talks: bool = True, era: Era | None = None) -> None:
        self.work = work
        self.talks = talks
        self.era = era or Era(MODERN, modern=True)
        self.events = MemoryEvents()
        self.feed = SimpleNamespace(ended=0, end_all=self._end_all)
        self.ports = SimpleNamespace(shared=lambda: SimpleNamespace(events=self.events, feed=self.feed))
        self.outs: list[Out | None] = []
        self.cancelled, self.ended = threading.Event(), threading.Event()
        self.streams: list[Stream] = []

    def begin(self, raw: bytes, caller: Caller, connection: Connection, headers: Any, out: Out | None) -> Pending:
        self.outs.append(out)
        flight = connection.begin(1)
        assert flight is not None
        flight.bind(SimpleNamespace(cancel=self.cancelled.set))

        def work() -> Outcome:
            try:
                return self.work(out)
            finally:
                self.ended.set()

        return Pending(work, lambda: self.talks and out is not None, self.era)

    def listen(self, caller: Caller, connection: Connection) -> Outcome:
        return Outcome(stream=self.open())

    def open(self) -> Stream:
        self.streams.append(Stream(self.ended.set))
        return self.streams[-1]

    def charge(self, *_: Any) -> None:
        return None

    def _end_all(self) -> None:
        self.feed.ended += 1
        for stream in self.streams:
            stream.end(REPLY)


class Door:
    def __init__(self, told: Told) -> None:
        policy = Policy(enabled=True, audit=False, scopes=READ_SCOPES)
        gate = Gate(Peers(), partial(TOKENS.authenticate, door="mcp"), MemoryAdmission(policy, NoAudit()), policy.max_request_bytes)
        self.sessions = Sessions(Keyring([b"k" * 40], PURPOSE))
        self.app = create_app([blueprint(cast(Service, told), Entrance(gate, sessions=lambda: self.sessions))], list)
        self.openings: Openings = self.app.extensions["cmsmcp"]

    def session(self, revision: str = "2025-11-25", held: dict[str, str] | None = None) -> str:
        return self.sessions.issue(TOKENS.authenticate((held or HELD)["Authorization"], "mcp"), revision, frozenset())

    def open(self, verb: str = "POST", *, threaded: bool = True, **headers: str) -> Any:
        sent = {"Accept": BOTH, **HELD, **({"Content-Type": "application/json"} if verb == "POST" else {})}
        sent |= {name.replace("_", "-"): value for name, value in headers.items()}
        overrides = THREADED if threaded else {}
        return self.app.test_client().open("/mcp", method=verb, data=b"{}", headers=sent, environ_overrides=overrides)


def events(text: str) -> list[dict[str, str]]:
    """The fields of each event; comments are left out."""
    blocks = [block for block in text.split("\n\n") if block.strip()]
    lines = [[line for line in block.split("\n") if not line.startswith(":")] for block in blocks]
    return [dict(line.split(": ", 1) for line in block) for block in lines if block]


def say(*messages: bytes) -> Callable[[Out | None], Outcome]:
    def work(out: Out | None) -> Outcome:
        for message in messages:
            if out is not None:
                out.send(message)
        return Outcome(REPLY)

    return work


def test_what_is_said_comes_before_the_reply_which_ends_the_stream() -> None:
    """W-04; 2026-07-28 basic/transports/streamable-http: no event ids, nothing between us and the client may hold events back."""
    told = Told(say(NOTE, NOTE))
    reply = Door(told).open()
    assert (reply.status_code, reply.mimetype, reply.headers["X-Accel-Buffering"]) == (200, "text/event-stream", "no")
    assert "Content-Length" not in reply.headers and reply.headers["Cache-Control"] == "no-store"
    found = events(reply.text)
    assert [one["data"].encode() for one in found] == [NOTE, NOTE, REPLY]
    assert all(set(one) == {"event", "data"} for one in found)
    reply.close()
    assert not told.cancelled.is_set(), "whoever has had everything has cancelled nothing"


@pytest.mark.parametrize("outcome", [Outcome(REPLY), Outcome(b'{"error":{}}', 4290, 7, 429), Outcome(b"{}", status=404)])
def test_an_outcome_with_nothing_before_it_is_a_plain_reply(outcome: Outcome) -> None:
    """Refusals keep their status, and come as JSON (docs/rules.md, HTTP order of checks)."""
    reply = Door(Told(lambda out: outcome)).open()
    assert (reply.status_code, reply.mimetype, reply.data) == (outcome.status, "application/json", outcome.body)
    assert reply.headers.get("Retry-After") == ("7" if outcome.status == 429 else None)


@pytest.mark.parametrize(("accept", "spoken"), [("application/json", False), ("*/*", False), ("", False), (BOTH, True), ("text/*", True)])
def test_only_who_takes_event_streams_is_spoken_to(accept: str, spoken: bool) -> None:
    """C019: JSON wherever nothing else is named; what would be said before it is left out."""
    told = Told(say(NOTE))
    reply = Door(told).open(Accept=accept)
    assert (told.outs[0] is not None, reply.mimetype == "text/event-stream") == (spoken, spoken)
    assert reply.json["result"] == {} if not spoken else len(events(reply.text)) == 2


def test_work_that_does_not_talk_gets_no_thread_of_its_own() -> None:
    threads = []
    told = Told(lambda out: (threads.append(threading.current_thread()), Outcome(REPLY))[1], talks=False)
    assert Door(told).open().json["result"] == {}
    assert threads == [threading.current_thread()]


def test_a_worker_of_one_thread_holds_no_stream() -> None:
    """W-01."""
    told = Told(say(NOTE))
    assert Door(told).open(threaded=False).json["result"] == {} and told.outs == [None]
    reply = Door(told).open("GET", threaded=False, Accept="text/event-stream", Mcp_Session_Id=Door(told).session())
    assert (reply.status_code, reply.json["error"]["code"]) == (503, 5031) and int(reply.headers["Retry-After"]) >= 1


def test_silence_becomes_a_stream_of_comments(monkeypatch: pytest.MonkeyPatch) -> None:
    """W-02, S-06: only a failed write shows that a client has gone."""
    monkeypatch.setattr(door, "FIRST_SECONDS", 0.02)
    monkeypatch.setattr(door, "WORKING_PULSE", 0.02)
    enough = threading.Event()
    reply = Door(Told(lambda out: Outcome(REPLY if enough.wait(60) else b""))).open()
    chunks = iter(reply.response)
    assert [next(chunks) for _ in range(3)] == [b":\n\n"] * 3
    enough.set()
    assert [one["data"].encode() for one in events(b"".join(chunks).decode())] == [REPLY]


def leave(told: Told, session: str | None, here: Door) -> None:
    reply = here.open(**({"Mcp_Session_Id": session} if session else {}))
    next(iter(reply.response))
    reply.close()


def waiting(told_to_end: threading.Event) -> Callable[[Out | None], Outcome]:
    def work(out: Out | None) -> Outcome:
        assert out is not None
        out.send(NOTE)
        assert told_to_end.wait(60)
        out.send(NOTE)
        return Outcome(REPLY)

    return work


@pytest.mark.parametrize("era", [Era(MODERN, modern=True), Era("2025-11-25")])
def test_a_client_without_a_session_that_leaves_has_cancelled(era: Era) -> None:
    """X-01: nothing further is sent. Without a session nobody could come back for the rest."""
    end = threading.Event()
    told = Told(waiting(end), era=era)
    here = Door(told)
    here.openings.limit(1)
    leave(told, None, here)
    assert told.cancelled.is_set()
    end.set()
    assert here.openings.enter(), "its place is free again"


def test_a_modern_request_that_names_a_session_is_cancelled_all_the_same() -> None:
    """2026-07-28: Mcp-Session-Id means nothing there."""
    end = threading.Event()
    told = Told(waiting(end))
    here = Door(told)
    leave(told, here.session(), here)
    assert told.cancelled.is_set()
    end.set()


@pytest.mark.parametrize("revision", ["2025-11-25", "2025-06-18", "2025-03-26"])
def test_the_work_of_a_session_runs_on(revision: str) -> None:
    """X-02."""
    end = threading.Event()
    told = Told(waiting(end), era=Era(revision))
    here = Door(told)
    leave(told, here.session(revision), here)
    assert not told.cancelled.is_set()
    end.set()
    assert told.ended.wait(60) and not told.cancelled.is_set()


def test_only_the_last_messages_wait_for_a_reader_who_does_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """A flood of notices costs bounded memory; the reply comes through."""
    monkeypatch.setattr(streaming, "MAX_WAITING", 10)
    told = Told(say(*[NOTE] * 500))
    talk = streaming.Speech()
    talk.run(told.begin(b"", Caller("t", frozenset()), Connection(), {}, talk), None, lambda: None, lambda: None)
    assert told.ended.wait(60)
    until(lambda: talk.wait(0) is None and talk._is_over)
    taken = talk.take(0)
    assert taken is not None and len(taken) == 10 and REPLY in taken[-1]


def test_over_the_streams_that_its_threads_can_carry_a_worker_refuses() -> None:
    """W-01; the place comes back with the end of the stream, and is not taken by a reply that never became one."""
    end = threading.Event()
    told = Told(waiting(end))
    here = Door(told)
    here.openings.limit(1)
    first = here.open()
    next(iter(first.response))
    for refused in (here.open(), here.open("GET", Accept="text/event-stream", Mcp_Session_Id=here.session())):
        assert (refused.status_code, refused.json["error"]["code"], refused.headers["Retry-After"]) == (503, 5031, "5")
    assert told.streams[-1].is_closed
    end.set()
    first.close()
    told.work = say()
    assert [here.open().status_code for _ in range(3)] == [200] * 3


@pytest.mark.parametrize(("threads", "streams"), [(1, 0), (2, 1), (4, 2), (8, 4), (9, 5), (32, 28)])
def test_threads_are_left_for_calls_and_for_the_answers_that_streams_wait_for(threads: int, streams: int) -> None:
    """W-01."""
    assert carried_by(threads) == streams


def test_the_end_of_a_process_waits_for_calls_whose_clients_have_left() -> None:
    """X-02: their replies are kept first."""
    end = threading.Event()
    told = Told(waiting(end), era=Era("2025-11-25"))
    here = Door(told)
    leave(told, here.session(), here)
    here.openings.settle(0.05)
    assert not told.ended.is_set()
    threading.Timer(0.05, end.set).start()
    here.openings.settle(5)
    assert told.ended.is_set()


def listening(**change: Any) -> tuple[Told, Door]:
    told = Told(lambda out: Outcome(stream=told.open()), talks=False)
    return told, Door(told)


def test_notices_come_as_events_until_the_stream_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    """S-01 to S-06: what the core puts on a stream is what a client reads; its last message ends the response."""
    monkeypatch.setattr(door, "IDLE_PULSE", 0.02)
    told, here = listening()
    reply = here.open()
    chunks = iter(reply.response)
    assert [next(chunks) for _ in range(2)] == [b":\n\n"] * 2, "headers at once, comments after"
    told.streams[0].put("a", NOTE)
    until(lambda: next(chunks) == b"event: message\ndata: " + NOTE + b"\n\n")
    told.streams[0].end(REPLY)
    assert REPLY in next(chunks) and list(chunks) == []
    reply.close()
    assert told.ended.is_set()


def test_a_stream_is_let_go_of_when_its_client_is_gone_even_before_the_first_byte() -> None:
    told, here = listening()
    here.openings.limit(1)
    here.open().close()
    assert told.ended.is_set() and here.openings.enter()


@pytest.mark.parametrize("accept", ["application/json", "text/event-stream;q=0, */*"])
def test_a_listener_that_takes_no_events_is_refused_before_anything_is_opened(accept: str) -> None:
    """406 by the header that must agree with the body; and should the two ever part, the stream is closed again."""
    told, here = listening()
    reply = here.open(Accept=accept, MCP_Protocol_Version=MODERN, Mcp_Method="subscriptions/listen")
    assert (reply.status_code, reply.json["error"]["code"]) == (406, -32600) and told.outs == []
    assert here.open(Accept=accept).status_code == 406 and told.streams[0].is_closed


def test_a_process_that_is_about_to_stop_ends_its_streams_and_those_opened_since() -> None:
    """S-05."""
    told, here = listening()
    before = here.open()
    here.openings.end_all()
    assert REPLY in b"".join(before.response)
    assert REPLY in b"".join(here.open().response) and told.feed.ended == 2


def test_the_stream_of_a_session_and_the_refusals_before_it() -> None:
    """2025-11-25 basic/transports, Listening for Messages from the Server; A-02."""
    told, here = listening()
    stream, id = {"Accept": "text/event-stream"}, here.session()
    stranger = here.session(held={"Authorization": "Bearer " + TOKENS.create(Grant("u")).token})
    for status, headers in (
        (400, stream),
        (404, {**stream, "Mcp_Session_Id": "junk"}),
        (404, {**stream, "Mcp_Session_Id": stranger}),
        (400, {**stream, "Mcp_Session_Id": id, "MCP_Protocol_Version": "1999-01-01"}),
        (400, {**stream, "Mcp_Session_Id": f"{id},{id}"}),
    ):
        reply = here.open("GET", **headers)
        assert (reply.status_code, reply.mimetype) == (status, "application/json") and "code" in reply.json["error"]
    assert here.open("GET", **stream, Mcp_Session_Id=id, MCP_Protocol_Version=MODERN).status_code == 405
    assert here.open("GET", **stream, Mcp_Session_Id=id, Authorization="").status_code == 401
    head = here.open("HEAD", **stream, Mcp_Session_Id=id)
    assert (head.status_code, head.mimetype, head.data, told.streams) == (200, "text/event-stream", b"", [])
    for session, named in ((id, "2025-11-25"), (here.session(MODERN), MODERN)):
        reply = here.open("GET", **stream, Mcp_Session_Id=session, MCP_Protocol_Version=named)
        began = time.monotonic()
        assert (reply.status_code, next(iter(reply.response))) == (200, b":\n\n")
        assert time.monotonic() - began < 5, "its headers come at once, not with the first comment"
        reply.close()
    assert all(stream.is_closed for stream in told.streams)


def test_without_sessions_a_get_for_a_stream_is_405() -> None:
    told, here = listening()
    here.app.view_functions["mcp.endpoint"].__self__._sessions = lambda: None
    assert here.open("GET", Accept="text/event-stream").status_code == 405


# resuming


def answered(told: Told, here: Door, session: str, after: str, **headers: str) -> Any:
    return here.open("GET", Accept="text/event-stream", Mcp_Session_Id=session, Last_Event_ID=after, **headers)


@pytest.mark.parametrize("revision", ["2025-11-25", MODERN])
def test_a_stream_that_can_be_resumed_says_so_first(revision: str) -> None:
    """S-11; 2025-11-25 basic/transports: an event with an id and no data, then ids on all."""
    told = Told(say(NOTE), era=Era(revision))
    here = Door(told)
    found = events(here.open(Mcp_Session_Id=here.session(revision)).text)
    assert [one["data"].encode() for one in found] == [b"", NOTE, REPLY]
    names = [one["id"].rpartition(".") for one in found]
    assert len({stream for stream, _, _ in names}) == 1 and [number for _, _, number in names] == ["1", "2", "3"]
    other = events(here.open(Mcp_Session_Id=here.session(revision)).text)
    assert not {one["id"] for one in other} & {one["id"] for one in found}


@pytest.mark.parametrize("revision", ["2025-06-18", "2025-03-26"])
def test_older_clients_get_no_ids_and_no_empty_event(revision: str) -> None:
    told = Told(say(NOTE), era=Era(revision))
    here = Door(told)
    found = events(here.open(Mcp_Session_Id=here.session(revision)).text)
    assert [one["data"].encode() for one in found] == [NOTE, REPLY] and all("id" not in one for one in found)


def test_a_client_that_was_hung_up_on_comes_back_for_the_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    """2025-11-25 basic/transports, Resumability: `retry`, then the end of the stream; the rest at once, then as it happens."""
    monkeypatch.setattr(resuming, "POLL_SECONDS", 0.01)
    later, last = threading.Event(), threading.Event()

    def work(out: Out | None) -> Outcome:
        assert out is not None
        out.hang_up(250)
        out.send(NOTE)
        later.set()
        assert last.wait(60)
        return Outcome(REPLY)

    told = Told(work, era=Era("2025-11-25"))
    here, elsewhere = Door(told), Door(told)
    session = here.session()
    first = here.open(Mcp_Session_Id=session).text
    assert [one.get("retry") for one in events(first)] == [None, "250"]
    assert later.wait(60) and not told.cancelled.is_set()
    rest = answered(told, elsewhere, session, events(first)[0]["id"])
    chunks = iter(rest.response)
    assert NOTE in next(chunks)
    last.set()
    found = events(b"".join(chunks).decode())
    assert [one["data"].encode() for one in found] == [REPLY] and found[0]["id"].endswith(".3")
    again = events(answered(told, elsewhere, session, events(first)[0]["id"]).text)
    assert [one["data"].encode() for one in again] == [NOTE, REPLY], "as often as it asks"
    assert answered(told, elsewhere, session, found[0]["id"]).text == "", "nothing follows the last event"


def test_nobody_else_is_hung_up_on() -> None:
    """Only who can come back for the rest is sent away."""

    def work(out: Out | None) -> Outcome:
        assert out is not None
        out.hang_up(1)
        return Outcome(REPLY)

    told = Told(work)
    assert Door(told).open().json["result"] == {}
    told.era = Era("2025-11-25")
    assert Door(told).open().json["result"] == {}


def test_an_event_id_opens_its_own_stream_in_its_own_session_and_nothing_else() -> None:
    """S-11."""
    told = Told(say(NOTE), era=Era("2025-11-25"))
    here = Door(told)
    mine, other = here.session(), here.session()
    first, second = (events(here.open(Mcp_Session_Id=mine).text)[0]["id"] for _ in range(2))
    stream = first.rpartition(".")[0]
    for session, id in (
        (other, first), (mine, f"{stream}.9"), (mine, stream), (mine, "x" * 16 + ".1"), (mine, ""), (mine, "1"),
        (mine, f"{first},{second}"), (mine, f"{stream}.-1"), (mine, f"{stream}.9999999"), (mine, f"{stream[:-1]}*.1"),
    ):  # fmt: skip
        reply = answered(told, here, session, id)
        assert (reply.status_code, reply.json["error"]["code"]) == (400, -32600), id
    assert len(events(answered(told, here, mine, second).text)) == 2


def test_a_call_that_was_withdrawn_ends_its_stream_without_a_reply() -> None:
    """X-01, also for who resumes."""
    end = threading.Event()

    def work(out: Out | None) -> Outcome:
        assert out is not None
        out.send(NOTE)
        return Outcome() if end.wait(60) else Outcome(REPLY)

    told = Told(work, era=Era("2025-11-25"))
    here = Door(told)
    session = here.session()
    reply = here.open(Mcp_Session_Id=session)
    end.set()
    found = events(reply.text)
    assert [json.loads(one["data"] or "{}").get("id") for one in found] == [None] * 3
    assert [one["data"] for one in events(answered(told, here, session, found[1]["id"]).text)] == [""]


def test_a_resumed_stream_ends_when_the_process_does_and_when_it_is_not_followed_any_more(monkeypatch: pytest.MonkeyPatch) -> None:
    end = threading.Event()
    told = Told(waiting(end), era=Era("2025-11-25"))
    here = Door(told)
    session = here.session()
    started = here.open(Mcp_Session_Id=session)
    id = events(next(iter(started.response)).decode())[0]["id"]
    started.close()
    monkeypatch.setattr(resuming, "FOLLOW_SECONDS", 0.05)
    assert len(events(answered(told, here, session, id).text)) == 1
    monkeypatch.setattr(resuming, "FOLLOW_SECONDS", 300.0)
    here.openings.end_all()
    assert len(events(answered(told, here, session, id).text)) == 1
    end.set()
