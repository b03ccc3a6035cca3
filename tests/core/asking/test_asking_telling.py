"""Progress and log messages: who gets them, how many, and when no more (PR-01 to PR-03, LG-02 to LG-05, X-01)."""

from __future__ import annotations

import json
import threading
from typing import Any

import pytest

from cmsmcp.core.asking import telling
from cmsmcp.core.capability import Blocks, tool
from cmsmcp.core.sharing import Change
from cmsmcp.protocol.eras import LEVELS

DECLARATION: dict[str, Any] = {"scope": "read:content", "audit": "test.tell", "talks": True, "blocks": True}
PREFIX = "io.modelcontextprotocol/"
gate = threading.Event()
late: list[str] = []
PRIVATE = "postgres://u:hunter22@h/db"


def done() -> Blocks:
    return Blocks([{"type": "text", "text": "done"}])


@tool(**DECLARATION)
def steps(arguments, call):
    """Reports progress, not always forward."""
    for value in (0, 50, 50, 20, float("nan"), 100):
        call.dialogue.progress(value, 100, f"{value} of 100")
    return done()


@tool(**DECLARATION)
def flood(arguments, call):
    """Says far too much."""
    for value in range(2_000):
        call.dialogue.progress(value)
        call.dialogue.log("error", value)
    return done()


@tool(**DECLARATION)
def levels(arguments, call):
    """Logs at every level."""
    for level in LEVELS:
        call.dialogue.log(level, level, "test")
    return done()


@tool(**DECLARATION)
def careless(arguments, call):
    """Logs what it should not."""
    call.dialogue.log("error", {"password": "hunter22", "note": "x" * 20_000, "at": "postgres://u:hunter22@h/db"})
    call.dialogue.log("error", {"password": "hunter22", "ok": 1})
    call.dialogue.progress(1, message="postgres://u:hunter22@h/db" + "y" * 1_000)
    return done()


@tool(**DECLARATION)
def leaky(arguments, call):
    """Names a secret where a cut would go through it, and as who is logging."""
    call.dialogue.progress(1, message="x" * (telling.MAX_MESSAGE - 20) + f" {PRIVATE}")
    call.dialogue.log("error", "ok", f"for {PRIVATE}")
    return done()


@tool(**DECLARATION, timeout=0.2)
def overdue(arguments, call):
    """Goes on after its reply."""
    gate.wait(60)
    call.dialogue.progress(1)
    call.dialogue.log("error", "late")
    late.append("said")
    return done()


@tool(**DECLARATION)
def polled(arguments, call):
    """Closes its stream."""
    call.dialogue.hang_up(50)
    return done()


@tool(**DECLARATION)
def trigger(arguments, call):
    """Changes something."""
    call.dialogue.changed(Change(frozenset({"tools"})))
    return done()


@tool(scope="read:content", audit="test.tell", blocks=True)
def quiet(arguments, call):
    """May not talk, and is not heard when it does."""
    call.dialogue.progress(1)
    call.dialogue.log("error", "x")
    return done()


@pytest.fixture
def site(two_workers):
    gate.clear()
    late.clear()
    yield two_workers(steps, flood, levels, careless, leaky, overdue, polled, trigger, quiet)
    gate.set()


def modern(site, name: str, **meta: Any) -> list[Any]:
    keys = {"logLevel": PREFIX + "logLevel"}
    site.one.ask("tools/call", {"name": name}, meta={keys.get(key, key): value for key, value in meta.items()})
    return site.one.out.messages


@pytest.mark.parametrize("token", ["progress-test-1", 7, 0, "", 2**60])
def test_progress_grows_and_carries_the_token_as_it_was_sent(site, token: Any) -> None:
    """PR-01, PR-02: what does not grow is left out."""
    messages = modern(site, "steps", progressToken=token)
    assert [message["method"] for message in messages] == ["notifications/progress"] * 3
    assert [message["params"]["progress"] for message in messages] == [0, 50, 100]
    assert all(
        message["params"]["progressToken"] == token and type(message["params"]["progressToken"]) is type(token) for message in messages
    )
    assert messages[1]["params"] == {"progressToken": token, "progress": 50, "total": 100, "message": "50 of 100"}


@pytest.mark.parametrize("meta", [{}, *({"progressToken": token} for token in (None, True, 1.5, ["x"], 1001 * "x"))])
def test_without_a_token_there_is_no_progress(site, meta: Any) -> None:
    """PR-01."""
    assert modern(site, "steps", **meta) == []


def test_a_flood_is_cut_but_its_last_progress_arrives(site) -> None:
    """PR-03."""
    messages = modern(site, "flood", progressToken=1, logLevel="debug")
    progress = [message["params"]["progress"] for message in messages if message["method"] == "notifications/progress"]
    assert telling.BURST <= len(progress) < 200
    assert progress[-1] == 1_999
    assert progress == sorted(set(progress))
    assert len(messages) - len(progress) < 200


@pytest.mark.parametrize("level", LEVELS)
def test_a_modern_client_gets_what_it_asked_for_on_this_request(site, level: str) -> None:
    """LG-02."""
    messages = modern(site, "levels", logLevel=level)
    assert [message["params"]["level"] for message in messages] == list(LEVELS[LEVELS.index(level) :])
    assert messages[0] == {"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": level, "data": level, "logger": "test"}}


def test_a_modern_client_that_asked_for_nothing_gets_no_log(site) -> None:
    """LG-02: not even after another request asked."""
    modern(site, "levels", logLevel="debug")
    site.one.out.messages.clear()
    assert modern(site, "levels") == []


def test_a_legacy_session_gets_its_level_on_every_worker(site, client) -> None:
    """LG-04: before it says anything, what is of level info or above."""
    user = client()
    user.call(site.one, "levels")
    assert [message["params"]["level"] for message in site.one.out.messages] == list(LEVELS[1:])
    site.sessions.set_level("s1", "error")
    user.call(site.other, "levels")
    assert [message["params"]["level"] for message in site.other.out.messages] == list(LEVELS[4:])


def test_no_secret_and_no_bulk_leaves_in_a_log_message(site) -> None:
    """LG-05."""
    messages = modern(site, "careless", logLevel="debug", progressToken=1)
    text = json.dumps(messages)
    assert "hunter22" not in text
    assert len(text) < 2 * telling.MAX_LOG_BYTES
    assert messages[1]["params"]["data"]["ok"] == 1


def test_a_secret_is_taken_out_before_a_text_is_cut_and_from_the_loggers_name_too(site) -> None:
    """LG-05: half a secret is none that can be told from other text."""
    progress, log = (message["params"] for message in modern(site, "leaky", logLevel="debug", progressToken=1)[:2])
    assert "hunter" not in json.dumps([progress, log])
    assert len(progress["message"]) == telling.MAX_MESSAGE and log["logger"].startswith("for postgres://u:")


def test_nothing_follows_the_reply(site) -> None:
    """PR-02: work that goes on after its time is not heard any more."""
    meta = {"progressToken": 1, PREFIX + "logLevel": "debug"}
    assert site.one.ask("tools/call", {"name": "overdue"}, meta=meta)["result"]["isError"] is True
    gate.set()
    assert site.settled()
    assert late == ["said"]
    assert site.one.out.messages == []


def test_a_client_that_takes_no_stream_is_told_nothing(site, client) -> None:
    assert client().call(site.one, "steps", meta={"progressToken": 1}, out=None)["result"]["content"]


def test_a_tool_that_does_not_talk_is_not_heard(site) -> None:
    assert modern(site, "quiet", progressToken=1, logLevel="debug") == []


@pytest.mark.parametrize(("revision", "session", "closes"), [
    ("2025-11-25", "s1", True), ("2025-06-18", "s1", False), ("2025-03-26", "s1", False), ("2025-11-25", None, False),
])  # fmt: skip
def test_a_stream_is_closed_early_only_where_it_can_be_resumed(site, client, revision: str, session: str | None, closes: bool) -> None:
    """S-11."""
    client(revision=revision, session=session).call(site.one, "polled")
    assert site.one.out.hung_up == ([50] if closes else [])


def test_a_modern_stream_is_never_closed_early(site) -> None:
    modern(site, "polled")
    assert site.one.out.hung_up == []


def test_a_change_is_told_to_every_process(site) -> None:
    heard: list[Any] = []
    site.bus.listen("change", heard.append)
    modern(site, "trigger")
    site.until(lambda: heard)
    assert Change.from_message(heard[0]) == Change(frozenset({"tools"}))
