"""Asking in the legacy revisions: our request rides the call's own stream, its answer comes as a POST to any worker (E-11)."""

from __future__ import annotations

import threading
import time
from typing import Any

import pytest

from cmsmcp.core.asking import live
from cmsmcp.core.capability import Blocks, tool
from cmsmcp.core.dialogue import Elicit, ListRoots, Sample
from cmsmcp.core.session import Connection

DECLARATION: dict[str, Any] = {"scope": "read:content", "audit": "test.live", "talks": True, "blocks": True}
CHOICES = [{"const": "s", "title": "Small"}, {"const": "l", "title": "Large"}]
FORM = Elicit("Who?", {
    "type": "object",
    "properties": {"name": {"type": "string"}, "size": {"type": "string", "oneOf": CHOICES, "default": "s"}},
    "required": ["name"],
})  # fmt: skip
SAMPLE = Sample({"messages": [{"role": "user", "content": {"type": "text", "text": "?"}}], "maxTokens": 10})
ALICE = {"action": "accept", "content": {"name": "Alice"}}
ended: list[str] = []


def said(text: str) -> Blocks:
    return Blocks([{"type": "text", "text": text}])


@tool(**DECLARATION)
def greet(arguments, call):
    """Asks once."""
    answer = call.dialogue.ask({"user": FORM})["user"]
    return said(f"{answer['action']} {answer.get('content', {}).get('name')}")


@tool(**DECLARATION)
def both(arguments, call):
    """Asks two things at once."""
    answers = call.dialogue.ask({"user": FORM, "roots": ListRoots(), "words": SAMPLE})
    return said(" ".join(sorted(answers)))


@tool(**DECLARATION)
def several(arguments, call):
    """Has the user choose several."""
    field = {"type": "array", "items": {"type": "string", "enum": ["a", "b"]}}
    return said(str(call.dialogue.ask({"user": Elicit("Which?", {"type": "object", "properties": {"which": field}})})["user"]["content"]))


@tool(**DECLARATION, timeout=0.3)
def hurried(arguments, call):
    """Has little time."""
    try:
        return said(str(call.dialogue.ask({"user": FORM})))
    finally:
        ended.append("hurried")


@tool(**DECLARATION, requires={"sampling": {}})
def needy(arguments, call):
    """Cannot do without sampling."""
    return said("ran")


@tool(scope="read:content", audit="test.live", blocks=True)
def slow(arguments, call):
    """Works until it is withdrawn."""
    while True:
        try:
            call.deadline.check()
        except BaseException:
            ended.append("slow")
            raise


@pytest.fixture
def site(two_workers):
    ended.clear()
    return two_workers(greet, both, several, hurried, needy, slow)


def text_of(reply: Any) -> str:
    return str(reply["result"]["content"][0]["text"])


@pytest.mark.parametrize("where", ["one", "other"])
def test_an_answer_reaches_the_call_that_waits_whichever_worker_got_it(site, client, where: str) -> None:
    """E-11: 202 without a body; the id of our request cannot be guessed."""
    user = client()
    running = user.begin(site.one, "greet")
    [request] = site.one.out.wait_for("elicitation/create")
    assert len(request["id"]) == 29
    assert request["params"]["message"] == "Who?"
    outcome = user.answer(getattr(site, where), request["id"], ALICE)
    assert (outcome.status, outcome.body) == (202, None)
    assert text_of(running.reply()) == "accept Alice"
    assert site.settled()


def test_several_questions_go_out_together_and_may_be_answered_in_any_order(site, client) -> None:
    user = client()
    running = user.begin(site.one, "both")
    ids = {method: site.one.out.wait_for(method)[0]["id"] for method in ("roots/list", "sampling/createMessage", "elicitation/create")}
    user.answer(site.other, ids["elicitation/create"], {"action": "decline"})
    user.answer(site.one, ids["sampling/createMessage"], {"role": "assistant", "content": {"type": "text", "text": "x"}, "model": "m"})
    user.answer(site.other, ids["roots/list"], {"roots": []})
    assert text_of(running.reply()) == "roots user words"


def test_an_answer_that_nobody_announced_is_found_all_the_same(site, client, monkeypatch) -> None:
    """The bus lost it, say: one looks from time to time, and at once when the bus says that something was missed."""
    monkeypatch.setattr(live, "SURE_SECONDS", 0.05)
    running = client().begin(site.one, "greet")
    [request] = site.one.out.wait_for("elicitation/create")
    assert site.replies.deliver("s1", request["id"], b'{"result":{"action":"cancel"}}')
    assert text_of(running.reply()).startswith("cancel")


def test_a_missed_message_makes_everyone_look(site, client) -> None:
    running = client().begin(site.one, "greet")
    [request] = site.one.out.wait_for("elicitation/create")
    assert site.replies.deliver("s1", request["id"], b'{"result":{"action":"cancel"}}')
    site.bus.publish("missed", {})
    assert text_of(running.reply()).startswith("cancel")


@pytest.mark.parametrize(
    ("answer", "word"),
    [
        ({"result": {"action": "perhaps"}}, "action"),
        ({"result": {"action": "accept", "content": {}}}, "required"),
        ({"result": {"action": "accept", "content": {"name": 5}}}, "name must be a string"),
        ({"result": 7}, "object"),
        ({"error": {"code": -1, "message": "User \n rejected it"}}, "User rejected it"),
        ({"error": {"code": -1}}, "an error"),
        ({"error": {"code": -1, "message": {"deep": 1}}}, "deep"),
    ],
)
def test_an_answer_that_is_none_ends_the_call_with_a_line_for_the_model(site, client, answer: Any, word: str) -> None:
    """E-06, E-11."""
    user = client()
    running = user.begin(site.one, "greet")
    [request] = site.one.out.wait_for("elicitation/create")
    user.answer(site.other, request["id"], **answer)
    reply = running.reply()
    assert reply["result"]["isError"] is True
    assert word in text_of(reply)


def test_responses_to_nothing_are_taken_and_ignored(site, client) -> None:
    """E-11: another session cannot answer either, and an answer counts once."""
    user = client()
    running = user.begin(site.one, "greet")
    [request] = site.one.out.wait_for("elicitation/create")
    stranger = client(session="s2")
    for id in ("x", 5, "cmsmcp-" + "A" * 22):
        assert user.answer(site.other, id, ALICE).status == 202
    assert stranger.answer(site.other, request["id"], {"action": "cancel"}).status == 202
    assert user.answer(site.other, request["id"], ALICE).status == 202
    assert text_of(running.reply()) == "accept Alice"
    assert user.answer(site.one, request["id"], {"action": "cancel"}).status == 202


def test_looking_up_a_response_that_nobody_waits_for_costs_its_sender(site, client) -> None:
    """A flood of made-up answers draws on the bucket of its address; a client that answers pays nothing."""
    assert client().answer(site.one, "cmsmcp-" + "A" * 22, ALICE).unpaid
    assert not client().answer(site.one, "mine", ALICE).unpaid


@pytest.mark.parametrize(
    ("more", "able"),
    [
        ({}, True),
        ({"revision": "2025-06-18"}, True),
        ({"revision": "2026-07-28"}, True),
        ({"revision": "2025-03-26"}, False),
        ({"declared": frozenset({"sampling", "elicitation-url"})}, False),
        ({"session": None}, False),
    ],
)
def test_forms_go_only_to_those_who_declared_them_and_can_be_reached(site, client, more: Any, able: bool) -> None:
    """E-02, E-11: the others are told as isError."""
    user = client(**more)
    user.headers = {} if more.get("revision") == "2026-07-28" else user.headers
    running = user.begin(site.one, "greet")
    if able:
        [request] = site.one.out.wait_for("elicitation/create")
        user.answer(site.one, request["id"], ALICE)
    reply = running.reply()
    assert reply["result"].get("isError", False) is not able
    assert bool(site.one.out.messages) is able


def test_a_client_that_takes_no_stream_is_not_asked(site, client) -> None:
    assert client().call(site.one, "greet", out=None)["result"]["isError"] is True


def test_2025_06_18_gets_titles_as_enum_names_and_no_mode(site, client) -> None:
    """E-09."""
    user = client(revision="2025-06-18")
    running = user.begin(site.one, "greet")
    [request] = site.one.out.wait_for("elicitation/create")
    assert "mode" not in request["params"]
    assert request["params"]["requestedSchema"]["properties"]["size"] == {
        "type": "string", "default": "s", "enum": ["s", "l"], "enumNames": ["Small", "Large"],
    }  # fmt: skip
    user.answer(site.one, request["id"], {"action": "accept", "content": {"name": "A", "size": "l"}})
    assert text_of(running.reply()) == "accept A"


@pytest.mark.parametrize(("revision", "able"), [("2025-06-18", False), ("2025-11-25", True)])
def test_a_choice_of_several_is_put_only_to_revisions_that_know_it(site, client, revision: str, able: bool) -> None:
    """E-09."""
    user = client(revision=revision)
    running = user.begin(site.one, "several")
    if able:
        [request] = site.one.out.wait_for("elicitation/create")
        user.answer(site.one, request["id"], {"action": "accept", "content": {"which": ["b"]}})
    assert running.reply()["result"].get("isError", False) is not able


def test_what_a_tool_cannot_do_without_is_told_to_the_model_before_it_is_admitted(site, client) -> None:
    """E-03."""
    reply = client(declared=frozenset({"roots"})).call(site.one, "needy")
    assert (reply["result"]["isError"], "sampling" in text_of(reply)) == (True, True)
    assert [ask.permit for ask in site.admission.asks] == [False]
    assert text_of(client().call(site.one, "needy")) == "ran"


def test_a_call_whose_time_is_over_takes_its_question_back(site, client) -> None:
    """X-05; nobody waits any more, and a late answer changes nothing."""
    user = client()
    reply = user.call(site.one, "hurried")
    assert reply["result"]["isError"] is True
    [request] = site.one.out.of("elicitation/create")
    [withdrawn] = site.one.out.of("notifications/cancelled")
    assert withdrawn["params"]["requestId"] == request["id"]
    assert site.settled()
    assert ended == ["hurried"]
    assert user.answer(site.other, request["id"], ALICE).unpaid
    assert not site.one.shared.waiting._woken


def test_the_question_is_taken_back_before_the_reply_even_if_the_work_is_stuck(site, client, monkeypatch) -> None:
    """PR-02: nothing of a call follows its reply."""
    stuck = threading.Event()
    monkeypatch.setattr(live.Live, "_wait", lambda self, woken: stuck.wait(60) and self._deadline.check())
    client().call(site.one, "hurried")
    assert [message["method"] for message in site.one.out.messages] == ["elicitation/create", "notifications/cancelled"]
    stuck.set()
    assert site.settled()
    assert len(site.one.out.messages) == 2


@pytest.mark.parametrize("where", ["one", "other"])
@pytest.mark.parametrize("name", ["greet", "slow"])
def test_a_cancel_reaches_the_call_whichever_worker_got_it(site, client, where: str, name: str) -> None:
    """X-01, X-03: a call that waits for its client stops too; nothing is sent for it afterwards."""
    user = client()
    user.call(site.other, "needy", id=99)  # that worker listens as well
    running = user.begin(site.one, name, id="c1")
    site.until(lambda: len(site.admission.open) == 1)
    assert user.cancel(getattr(site, where), "c1").status == 202
    assert running.reply() is None
    assert site.settled()
    assert not site.one.out.of("notifications/cancelled")


def test_nobody_begins_to_wait_for_a_client_that_has_ended_its_input(site, client) -> None:
    """E-11; ST-03: the process ends with its calls, so these are told at once."""
    site.one.shared.waiting.give_up()
    began = time.monotonic()
    assert "ended its input" in text_of(client().call(site.one, "greet"))
    assert time.monotonic() - began < live.SURE_SECONDS / 2


def test_a_session_that_a_modern_client_names_gives_no_power_over_its_calls(site, client) -> None:
    """1.7, 2026-07-28: a session id means nothing there, and nobody looked whose it is."""
    user = client()
    running = user.begin(site.one, "greet", id=7)
    [request] = site.one.out.wait_for("elicitation/create")
    cancel = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 7}}
    for worker in (site.one, site.other):
        worker.send(cancel, Connection(lost=True, session="s1"), {"mcp-protocol-version": "2026-07-28"})
        assert worker.outcome.status == 202
    user.answer(site.other, request["id"], ALICE)
    assert text_of(running.reply()) == "accept Alice"


def test_cancels_of_others_and_of_nothing_are_ignored(site, client) -> None:
    """X-03: the session and the type of the id count."""
    user = client()
    running = user.begin(site.one, "greet", id=7)
    [request] = site.one.out.wait_for("elicitation/create")
    client(session="s2").cancel(site.one, 7)
    for id in ("7", 8, True, None, [7], 7.5, 70_000 * "x"):
        user.cancel(site.other, id)
        user.cancel(site.one, id)
    user.answer(site.other, request["id"], ALICE)
    assert text_of(running.reply()) == "accept Alice"
    assert not site.one.service._flights._held
