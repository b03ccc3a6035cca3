"""What a legacy session subscribes to and the stream it is told on, whichever process is asked (docs/rules.md: S-08 to S-10, LG-04)."""

from __future__ import annotations

import dataclasses
import json
import time

import pytest

from cmsmcp.core.ports import Caller
from cmsmcp.core.session import Connection
from cmsmcp.core.sharing import MAX_URIS
from cmsmcp.protocol import errors
from cmsmcp.protocol.eras import LEVELS

LEGACY = ("2025-11-25", "2025-06-18", "2025-03-26")
MODERN = "2026-07-28"


@pytest.fixture
def p(place):
    return place(2)


def session(revision: str = "2025-11-25", name: str = "s1") -> Connection:
    return Connection(revision, session=name)


def ask(p, method, params=None, *, connection=None, **more):
    """The result, or the error."""
    reply = json.loads(p.ask(method, params, connection=connection or session(), **more).body)
    return reply.get("result", reply.get("error"))


def opened(p, *, process=0, connection=None, caller=None):
    heard = p.open(connection or session(), process=process, caller=caller)
    p.fence()
    return heard


@pytest.mark.parametrize("revision", [*LEGACY, MODERN])
def test_a_session_is_told_of_lists_and_of_what_it_subscribed_to(p, revision) -> None:
    """S-08, S-10; also after an initialize with 2026-07-28 (A-01). Nothing is tagged."""
    heard = opened(p, connection=session(revision))
    assert ask(p, "resources/subscribe", {"uri": "doc://about"}, connection=session(revision)) == {}
    p.change("content/about", "content/news", lists=("tools", "prompts", "resources"))
    p.fence()
    told = heard.take()
    assert told[:3] == [{"jsonrpc": "2.0", "method": f"notifications/{name}/list_changed"} for name in ("prompts", "resources", "tools")]
    assert told[3:] == [{"jsonrpc": "2.0", "method": "notifications/resources/updated", "params": {"uri": "doc://about"}}]


def test_one_process_is_asked_and_another_tells(p) -> None:
    """S-08: no sticky sessions."""
    heard = opened(p, process=1)
    assert ask(p, "resources/subscribe", {"uri": "doc://about"}, process=0) == {}
    p.change("content/about")
    assert heard.await_one()["params"]["uri"] == "doc://about"
    assert ask(p, "resources/unsubscribe", {"uri": "doc://about"}, process=0) == {}
    p.change("content/about")
    p.fence()
    assert heard.take() == []


def test_what_was_subscribed_before_the_stream_was_opened_is_told(p) -> None:
    assert ask(p, "resources/subscribe", {"uri": "doc://about"}) == {}
    heard = opened(p)
    p.change("content/about")
    assert heard.await_one()["params"]["uri"] == "doc://about"


def test_other_sessions_hear_nothing_of_it(p) -> None:
    other = opened(p, connection=session(name="s2"))
    assert ask(p, "resources/subscribe", {"uri": "doc://about"}) == {}
    p.change("content/about")
    p.fence()
    assert other.take() == []


@pytest.mark.parametrize("processes", [(0, 0), (0, 1), (1, 0)])
def test_of_two_streams_of_a_session_the_newer_is_told(p, processes) -> None:
    """S-09."""
    older, newer = (opened(p, process=process) for process in processes)
    p.change(lists=("tools",))
    ask(p, "resources/subscribe", {"uri": "doc://about"})
    p.change("content/about")
    p.fence()
    assert (older.names(), newer.names()) == ([], ["tools", "doc://about"])


def test_a_change_just_before_and_just_after_a_second_stream_is_told_once_each(p) -> None:
    """S-09: all processes see the new stream at the same place among the changes."""
    ask(p, "resources/subscribe", {"uri": "doc://about"})
    older = opened(p, process=0)
    for turn in range(30):
        p.change("content/about")
        newer = p.open(session(), process=(turn + 1) % 2)
        p.change(lists=("tools",))
        p.fence()
        assert (older.names(), newer.names()) == (["doc://about"], ["tools"])
        older.stream.end()
        older.stream.close()
        older = newer


@pytest.mark.parametrize("processes", [(0, 0), (0, 1)])
def test_when_the_newer_stream_is_closed_the_older_takes_over(p, until, processes) -> None:
    """S-09: what changed in between is not lost, so everything counts as changed."""
    ask(p, "resources/subscribe", {"uri": "doc://about"})
    older, newer = (opened(p, process=process) for process in processes)
    newer.stream.close()
    p.change("content/about")
    p.fence()
    p.fence()
    assert sorted(older.names()) == ["doc://about", "prompts", "resources", "tools"]
    p.change(lists=("tools",))
    p.fence()
    assert older.names() == ["tools"]


def test_the_first_stream_is_told_of_what_was_subscribed_to_before_it(p) -> None:
    """S-08: a change in between was told to nobody, and may have come."""
    ask(p, "resources/subscribe", {"uri": "doc://about"})
    p.change("content/about")
    p.fence()
    heard = p.open(session())
    p.fence()
    assert heard.names() == ["doc://about"]


def test_closing_the_older_stream_changes_nothing(p) -> None:
    older, newer = opened(p), opened(p, process=1)
    older.stream.close()
    p.fence()
    assert newer.take() == []


def test_a_process_that_missed_messages_reads_the_session_again(p) -> None:
    heard = opened(p)
    p.sessions.subscribe("s1", "doc://about")  # its message was lost
    p.bus.publish("missed", {})
    p.fence()
    assert sorted(heard.names()) == ["doc://about", "prompts", "resources", "tools"]
    p.change("content/about")
    assert heard.await_one()["params"]["uri"] == "doc://about"


def test_a_session_whose_state_was_lost_is_told_all_the_same(p) -> None:
    """As after a Redis that came back empty (docs/rules.md, Redis)."""
    heard = opened(p)
    p.sessions._sessions.clear()
    p.bus.publish("missed", {})
    p.fence()
    p.fence()
    assert sorted(heard.names()) == ["prompts", "resources", "tools"]
    p.change(lists=("tools",))
    p.fence()
    assert heard.names() == ["tools"]


def test_what_is_kept_of_a_session_is_read_when_it_can_be(p, monkeypatch) -> None:
    """An outage between a subscription and its reading loses nothing: everything then counts as changed."""
    heard = opened(p)
    read = p.sessions.read
    tries = []

    def away(name):
        tries.append(name)
        if len(tries) < 3:
            raise errors.Unavailable("away")
        return read(name)

    monkeypatch.setattr("cmsmcp.core.feed.RETRY_SECONDS", 0.01)
    monkeypatch.setattr(p.sessions, "read", away)
    assert ask(p, "resources/subscribe", {"uri": "doc://about"}) == {}
    told = set()
    while "doc://about" not in told:
        told |= {message.get("params", {}).get("uri", message["method"]) for message in heard.await_some()}
    assert len(tries) >= 3


@pytest.mark.parametrize("uri", ["doc://draft", "doc://none", "doc://crash", "nope://x"])
def test_what_cannot_be_read_cannot_be_subscribed_to(p, uri) -> None:
    """R-02: a draft looks like what does not exist."""
    error = ask(p, "resources/subscribe", {"uri": uri})
    assert (error["code"], error["data"]) == (errors.RESOURCE_NOT_FOUND_LEGACY, {"uri": uri})
    assert error["message"] == ask(p, "resources/subscribe", {"uri": "doc://none"})["message"]
    assert not p.sessions.read("s1").uris


def test_a_subscription_takes_the_scope_of_the_resource(p) -> None:
    p.caller = Caller("local", frozenset({"read:content"}))
    assert ask(p, "resources/subscribe", {"uri": "ops://state"})["code"] == errors.SCOPE_REFUSED
    assert p.audit.of("refusal", "resources/subscribe")


def test_a_notice_takes_the_scope_at_that_moment(p) -> None:
    """S-07."""
    ask(p, "resources/subscribe", {"uri": "ops://state"})
    heard = opened(p, caller=Caller("local", frozenset({"read:content"})))
    p.change("resource/ops://state")
    p.fence()
    assert heard.take() == []


@pytest.mark.parametrize("method", ["resources/subscribe", "resources/unsubscribe"])
@pytest.mark.parametrize("params", [{}, {"uri": 7}, {"uri": ""}, {"uri": "doc://" + "x" * 4_096}])
def test_a_subscription_names_a_uri(p, method, params) -> None:
    assert ask(p, method, params)["code"] == errors.INVALID_PARAMS


def test_what_is_gone_can_be_unsubscribed_from(p) -> None:
    ask(p, "resources/subscribe", {"uri": "doc://about"})
    p.published.remove("about")
    assert ask(p, "resources/unsubscribe", {"uri": "doc://about"}) == {}
    assert not p.sessions.read("s1").uris
    assert ask(p, "resources/unsubscribe", {"uri": "nope://x"}) == {}


def test_subscriptions_are_bounded(p) -> None:
    for number in range(MAX_URIS):
        p.sessions.subscribe("s1", f"doc://{number}")
    error = ask(p, "resources/subscribe", {"uri": "doc://about"})
    assert error["code"] == errors.INVALID_PARAMS and str(MAX_URIS) in error["message"]


def test_subscribing_is_recorded(p) -> None:
    """docs/rules.md, Governance order."""
    ask(p, "resources/subscribe", {"uri": "doc://about"})
    (intent,), (outcome,) = p.audit.of("intent", "resources/subscribe"), p.audit.of("outcome", "resources/subscribe")
    assert (intent["capability"], intent["event"]) == ("document", outcome["event"])


@pytest.mark.parametrize("revision", [*LEGACY, MODERN])
@pytest.mark.parametrize("level", LEVELS)
def test_a_level_is_kept_for_the_session(p, revision, level) -> None:
    """LG-04: exactly `{}`; every process goes by it."""
    assert ask(p, "logging/setLevel", {"level": level}, connection=session(revision)) == {}
    assert p.sessions.read("s1").level == level


@pytest.mark.parametrize("level", ["loud", "", "INFO", None, 3, ["info"], {}])
def test_other_levels_are_refused(p, level) -> None:
    """LG-03."""
    assert ask(p, "logging/setLevel", {"level": level})["code"] == errors.INVALID_PARAMS
    assert p.sessions.read("s1").level is None


def test_without_a_session_a_level_is_taken_and_a_subscription_is_not(p) -> None:
    """A-05: nothing could ever be told."""
    bare = Connection("2025-03-26")
    assert ask(p, "logging/setLevel", {"level": "info"}, connection=bare) == {}
    for method in ("resources/subscribe", "resources/unsubscribe"):
        error = ask(p, method, {"uri": "doc://about"}, connection=bare)
        assert error["code"] == errors.INVALID_REQUEST and "initialize" in error["message"]


@pytest.mark.parametrize(
    ("connection", "code", "status"),
    [(Connection(), errors.INVALID_REQUEST, 400), (Connection(lost=True), errors.SESSION_NOT_FOUND, 404)],
)
def test_a_stream_belongs_to_a_session(p, connection, code, status) -> None:
    outcome = p.services[0].listen(p.caller, connection)
    assert (outcome.code, outcome.status, outcome.stream) == (code, status, None)
    assert "id" not in json.loads(outcome.body)


def test_a_session_stream_is_governed_and_recorded(place) -> None:
    """S-07; docs/rules.md, Governance order."""
    p = place(max_streams=1)
    stream = p.services[0].listen(p.caller, session()).stream
    refused = p.services[0].listen(p.caller, session())
    assert (refused.code, refused.status) == (errors.STREAMS_LIMITED, 503) and refused.retry_after
    stream.close()
    (outcome,) = p.audit.of("outcome", "session/listen")
    assert outcome["category"] == "stream"
    p.revoked.add("t1")
    revoked = p.services[0].listen(dataclasses.replace(p.caller, token_id="t1"), session())
    assert (revoked.code, revoked.status) == (errors.TOKEN_REVOKED, 401)


def test_a_session_stream_ends_with_its_token_and_with_its_process(p) -> None:
    """S-07; it has no result."""
    short = opened(p, caller=dataclasses.replace(p.caller, expires=int(time.time()) + 1), connection=session(name="s2"))
    assert short.take(5) is None
    heard = opened(p)
    p.services[0].ports.shared().feed.end_all()
    assert heard.take(5) is None
