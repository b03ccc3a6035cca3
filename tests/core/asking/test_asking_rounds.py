"""Asking in 2026-07-28: rounds, what each carries, and what is refused (E-01 to E-09, K-02). No two rounds reach the same worker."""

from __future__ import annotations

import base64
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cmsmcp.core.asking import state
from cmsmcp.core.capability import Blocks, prompt, resource, tool
from cmsmcp.core.dialogue import Elicit, ListRoots, Sample
from cmsmcp.core.ports import Caller
from cmsmcp.core.session import Connection

DECLARATION: dict[str, Any] = {"scope": "read:content", "audit": "test.ask", "talks": True}
SAMPLE = Sample({"messages": [{"role": "user", "content": {"type": "text", "text": "?"}}], "maxTokens": 10})
SAMPLED = {"role": "assistant", "content": {"type": "text", "text": "Hi"}, "model": "m"}
ALICE = {"action": "accept", "content": {"name": "Alice"}}
YES = {"action": "accept", "content": {"ok": True}}
effects: list[str] = []
wording: list[str] = []


def form(message: str, **properties: Any) -> Elicit:
    return Elicit(message, {"type": "object", "properties": properties, "required": list(properties)})


NAME = form("Who?", name={"type": "string"})
OK = form("Sure?", ok={"type": "boolean"})


def said(text: str) -> Blocks:
    return Blocks([{"type": "text", "text": text}])


@tool(**DECLARATION, blocks=True)
def greet(arguments, call):
    """Asks once."""
    answer = call.dialogue.ask({"user": NAME})["user"]
    return said(f"{answer['action']} {answer.get('content', {}).get('name')}")


@tool(**DECLARATION, blocks=True, input_schema={"type": "object", "properties": {"page": {"type": "string"}}})
def wipe(arguments, call):
    """Asks before an effect."""
    answer = call.dialogue.ask({"confirm": form(f"Wipe {arguments.get('page', 'all')}?", ok={"type": "boolean"})}, bound=True)["confirm"]
    if answer.get("content", {}).get("ok"):
        effects.append("wiped")
    return said(answer["action"])


@tool(**DECLARATION, blocks=True)
def steps(arguments, call):
    """Asks twice."""
    first = call.dialogue.ask({"step1": NAME})["step1"]["content"]["name"]
    second = call.dialogue.ask({"step2": OK}, bound=True)["step2"]["content"]["ok"]
    return said(f"{first} {second}")


@tool(**DECLARATION, blocks=True)
def drifting(arguments, call):
    """Asks for a confirmation, then for more."""
    call.dialogue.ask({"confirm": form(f"Wipe {len(wording)}?", ok={"type": "boolean"})}, bound=True)
    return said(call.dialogue.ask({"user": NAME}, bound=True)["user"]["action"])


@tool(**DECLARATION, blocks=True)
def twofold(arguments, call):
    """Two confirmations at once."""
    answers = call.dialogue.ask({"confirm": OK, "user": NAME}, bound=True)
    return said(" ".join(answer["action"] for answer in answers.values()))


@tool(**DECLARATION, blocks=True)
def three(arguments, call):
    """Asks three things at once."""
    answers = call.dialogue.ask({"user": NAME, "words": SAMPLE, "roots": ListRoots()})
    return said(" ".join(sorted(answers)))


@tool(**DECLARATION, blocks=True, requires={"sampling": {}})
def needy(arguments, call):
    """Cannot do without sampling."""
    return said("ran")


@tool(scope="read:content", audit="test.ask", blocks=True)
def quiet(arguments, call):
    """Never asks."""
    return said("ran")


@tool(**DECLARATION, blocks=True)
def changing(arguments, call):
    """Asks something else each time."""
    effects.append("asked")
    return said(call.dialogue.ask({"confirm": form(f"Sure, {len(effects)}?", ok={"type": "boolean"})}, bound=True)["confirm"]["action"])


@resource("test://asked", **DECLARATION, mime_type="text/plain")
def asked(variables, call):
    """A resource that asks."""
    return f"for {call.dialogue.ask({'user': NAME})['user']['content']['name']}"


@prompt(**DECLARATION)
def asking_prompt(arguments, call):
    """A prompt that asks."""
    return f"Write to {call.dialogue.ask({'user': NAME})['user']['content']['name']}."


@pytest.fixture
def site(two_workers):
    effects.clear()
    wording.clear()
    return two_workers(greet, wipe, steps, three, needy, quiet, changing, drifting, twofold, asked, asking_prompt)


def text_of(reply: Any) -> str:
    return str(reply["result"]["content"][0]["text"])


def test_a_question_ends_the_request_and_the_retry_completes_it_elsewhere(site) -> None:
    """E-01, E-07: no worker remembers anything, and the permit is given back in between."""
    first = site.one.call("greet")["result"]
    assert set(first) == {"resultType", "inputRequests", "requestState", "_meta"}
    assert first["resultType"] == "input_required"
    request = first["inputRequests"]["user"]
    assert (request["method"], request["params"]["mode"], request["params"]["requestedSchema"]) == (
        "elicitation/create",
        "form",
        NAME.schema,
    )
    assert site.settled()
    done = site.other.call("greet", inputResponses={"user": ALICE}, requestState=first["requestState"])
    assert (done["result"]["resultType"], text_of(done)) == ("complete", "accept Alice")
    assert [outcome.get("reason") for outcome in site.admission.outcomes if outcome] == ["input", None]


@pytest.mark.parametrize("action", ["decline", "cancel"])
def test_a_tool_is_told_decline_from_cancel(site, action: str) -> None:
    """E-08."""
    first = site.one.call("wipe")["result"]
    done = site.other.call("wipe", inputResponses={"confirm": {"action": action}}, requestState=first["requestState"])
    assert text_of(done) == action
    assert not effects


def test_an_answer_without_state_counts_where_nothing_depends_on_it(site) -> None:
    """E-06: keys that nobody asked for are ignored, whatever they hold."""
    assert text_of(site.one.call("greet", inputResponses={"user": ALICE, "junk": 5, "more": None})) == "accept Alice"


@pytest.mark.parametrize("responses", [None, {"wrong_key": ALICE}, {}, {"user": {"action": "accept", "content": {}}}])
def test_a_missing_answer_is_asked_for_again(site, responses: Any) -> None:
    """E-06."""
    assert set(site.one.call("greet", inputResponses=responses)["result"]["inputRequests"]) == {"user"}


@pytest.mark.parametrize("responses", [5, [], "user", {"user": 12345}, {"user": None}, {"user": {"action": "yes"}}])
def test_a_malformed_answer_never_completes(site, responses: Any) -> None:
    """E-06: -32602."""
    assert site.one.call("greet", inputResponses=responses)["error"]["code"] == -32602


def test_a_bound_question_takes_no_answer_but_with_the_state_that_asked_it(site) -> None:
    """E-04: answers that come unasked, or with the state of another question, are not confirmations."""
    again = site.one.call("wipe", inputResponses={"confirm": YES})["result"]
    assert again["resultType"] == "input_required"
    other = site.one.call("steps")["result"]["requestState"]
    assert site.one.call("wipe", inputResponses={"confirm": YES}, requestState=other)["error"]["code"] == -32602
    assert not effects
    assert text_of(site.other.call("wipe", inputResponses={"confirm": YES}, requestState=again["requestState"])) == "accept"
    assert effects == ["wiped"]


def test_a_bound_question_that_reads_differently_by_now_is_asked_again(site) -> None:
    """E-04: a confirmation is one of what the user was shown."""
    first = site.one.call("changing")["result"]
    second = site.one.call("changing", inputResponses={"confirm": YES}, requestState=first["requestState"])["result"]
    assert second["resultType"] == "input_required"


def test_an_earlier_answer_to_a_bound_question_counts_for_what_was_shown_alone(site) -> None:
    """E-04: its words change while the second question is asked."""
    first = site.one.call("drifting")["result"]
    assert list(first["inputRequests"]) == ["confirm"]
    second = site.other.call("drifting", inputResponses={"confirm": YES}, requestState=first["requestState"])["result"]
    assert list(second["inputRequests"]) == ["user"]
    wording.append("9")
    third = site.one.call("drifting", inputResponses={"user": ALICE}, requestState=second["requestState"])["result"]
    assert list(third["inputRequests"]) == ["confirm"]


def test_of_the_states_of_one_bound_conversation_one_counts(site) -> None:
    """E-05: the first state asked for both answers, and would take them once more."""
    first = site.one.call("twofold")["result"]
    second = site.other.call("twofold", inputResponses={"confirm": YES}, requestState=first["requestState"])["result"]
    assert list(second["inputRequests"]) == ["user"]
    refused = site.one.call("twofold", inputResponses={"confirm": YES, "user": ALICE}, requestState=first["requestState"])["error"]
    assert (refused["code"], "used before" in refused["message"]) == (-32602, True)
    assert text_of(site.one.call("twofold", inputResponses={"user": ALICE}, requestState=second["requestState"])) == "accept accept"


def test_a_bound_state_counts_once_on_all_workers(site) -> None:
    """E-05."""
    retry = {"inputResponses": {"confirm": YES}, "requestState": site.one.call("wipe")["result"]["requestState"]}
    assert text_of(site.one.call("wipe", **retry)) == "accept"
    for worker in (site.one, site.other):
        refused = worker.call("wipe", **retry)["error"]
        assert (refused["code"], "used before" in refused["message"]) == (-32602, True)
    assert effects == ["wiped"]


def test_an_unbound_state_may_be_sent_again(site) -> None:
    retry = {"inputResponses": {"user": ALICE}, "requestState": site.one.call("greet")["result"]["requestState"]}
    assert [text_of(site.one.call("greet", **retry)) for _ in range(2)] == ["accept Alice"] * 2


def test_each_round_has_a_state_of_its_own_that_carries_the_answers_so_far(site) -> None:
    """E-07: the third request brings only the second answer."""
    first = site.one.call("steps")["result"]
    second = site.other.call("steps", inputResponses={"step1": ALICE}, requestState=first["requestState"])["result"]
    assert list(second["inputRequests"]) == ["step2"]
    assert second["requestState"] != first["requestState"]
    done = site.one.call("steps", inputResponses={"step2": YES}, requestState=second["requestState"])
    assert text_of(done) == "Alice True"
    assert site.other.call("steps", inputResponses={"step2": YES}, requestState=second["requestState"])["error"]["code"] == -32602


def test_some_answers_of_several_are_kept_and_the_rest_asked_again(site) -> None:
    """E-06."""
    first = site.one.call("three")["result"]
    assert set(first["inputRequests"]) == {"user", "words", "roots"}
    second = site.other.call("three", inputResponses={"words": SAMPLED, "user": ALICE}, requestState=first["requestState"])["result"]
    assert set(second["inputRequests"]) == {"roots"}
    done = site.one.call("three", inputResponses={"roots": {"roots": []}}, requestState=second["requestState"])
    assert text_of(done) == "roots user words"


def test_only_what_the_request_declares_is_asked(site) -> None:
    """E-02: what was declared on an earlier request counts for nothing."""
    site.one.call("three")
    assert set(site.one.call("three", declared={"sampling": {}})["result"]["inputRequests"]) == {"words"}
    assert set(site.one.call("three", declared={"elicitation": {"url": {}}, "roots": {}})["result"]["inputRequests"]) == {"roots"}
    refused = site.one.call("three", declared={})["result"]
    assert (refused["isError"], "has not declared" in refused["content"][0]["text"]) == (True, True)


def test_what_a_tool_cannot_do_without_is_refused_before_it_is_admitted(site) -> None:
    """E-03: 400 and -32021 over HTTP, with the capabilities as an object; no permit was taken."""
    error = site.one.call("needy", declared={"elicitation": {}})["error"]
    assert (error["code"], error["data"]) == (-32021, {"requiredCapabilities": {"sampling": {}}})
    assert site.one.outcome.status == 400
    assert [ask.permit for ask in site.admission.asks] == [False]
    assert text_of(site.one.call("needy", declared={"sampling": {}})) == "ran"


def test_whoever_lacks_the_scope_is_not_told_what_the_tool_needs(site) -> None:
    site.one.caller = Caller("local", frozenset())
    assert site.one.call("needy", declared={})["error"]["code"] == 4030


def test_resources_and_prompts_ask_like_tools(site) -> None:
    """E-01; and K-02: what a retry read is nobody else's."""
    for method, target in (("resources/read", {"uri": "test://asked"}), ("prompts/get", {"name": "asking_prompt"})):
        first = site.one.ask(method, target)["result"]
        assert first["resultType"] == "input_required"
        done = site.other.ask(method, {**target, "inputResponses": {"user": ALICE}, "requestState": first["requestState"]})["result"]
        assert done["resultType"] == "complete"
        assert done.get("ttlMs", 0) == 0
        assert "Alice" in str(done)


def test_a_door_is_told_which_requests_may_speak_before_their_reply(site) -> None:
    """PR-03: only for these does it keep a stream ready."""
    targets = {"tools/call": {"greet": True, "quiet": False, "no_such": False}, "prompts/get": {"asking_prompt": True}}
    cases = [(method, {"name": name}, talks) for method, names in targets.items() for name, talks in names.items()]
    cases += [("resources/read", {"uri": "test://asked"}, True), ("resources/read", {"uri": "test://none"}, False)]
    for method, params, talks in [*cases, ("resources/read", {"uri": 5}, False), ("tools/list", {}, False)]:
        site.one.ask(method, params)
        assert site.one.begun.talks is talks, (method, params)


def test_what_is_not_begun_has_loaded_nothing_and_leaves_nothing(site) -> None:
    """ST-07: whoever reads a pipe goes on reading. A door that has no room for a stream never begins it."""
    service = site.one.service
    used = []
    object.__setattr__(service.ports, "registry", lambda: used.append("registry") or site.registry)
    call = b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"greet"}}'
    begun = service.begin(call, site.one.caller, Connection("2025-11-25", session="s1"), {}, site.one.out)
    assert (used, service._flights._held) == ([], {})
    assert begun.talks and used


def test_a_tool_that_never_asks_ignores_answers_and_state(site) -> None:
    """E-14."""
    assert text_of(site.one.call("quiet", inputResponses=None, requestState=5)) == "ran"


@pytest.mark.parametrize("change", [
    {"arguments": {"page": "other"}}, {"name": "greet"}, {"requestState": 7}, {"requestState": ""},
])  # fmt: skip
def test_state_of_another_request_is_refused(site, change: Any) -> None:
    """E-04."""
    first = site.one.call("wipe", {"page": "about"})["result"]
    retry = {"name": "wipe", "arguments": {"page": "about"}, "inputResponses": {"confirm": YES}, "requestState": first["requestState"]}
    assert site.other.ask("tools/call", {**retry, **change})["error"]["code"] == -32602
    assert not effects
    assert text_of(site.other.ask("tools/call", retry)) == "accept"


def test_a_state_that_is_null_is_none(site) -> None:
    """E-04, E-06: some clients write null for what they leave out; without its state a bound question is asked again."""
    for params in ({}, {"inputResponses": {"confirm": YES}}):
        again = site.one.call("wipe", {"page": "about"}, requestState=None, **params)["result"]
        assert set(again["inputRequests"]) == {"confirm"} and again["requestState"]
    assert not effects


def test_state_of_another_caller_is_refused(site) -> None:
    """E-04."""
    first = site.one.call("greet")["result"]
    site.other.caller = Caller("somebody else", site.one.caller.scopes)
    assert site.other.call("greet", inputResponses={"user": ALICE}, requestState=first["requestState"])["error"]["code"] == -32602


def test_state_expires(site, monkeypatch) -> None:
    """E-04."""
    monkeypatch.setattr(state, "SECONDS", -1.0)
    first = site.one.call("greet")["result"]
    assert site.one.call("greet", inputResponses={"user": ALICE}, requestState=first["requestState"])["error"]["code"] == -32602


def test_a_request_does_not_go_back_and_forth_for_ever(site, monkeypatch) -> None:
    monkeypatch.setattr(state, "MAX_ROUNDS", 2)
    reply = site.one.call("greet")
    for _ in range(2):
        held = reply["result"]["requestState"]
        reply = site.one.call("greet", requestState=held)
    assert reply["error"]["code"] == -32602


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.integers(0, 10_000), st.sampled_from("ABCXYZabcxyz0189-_.=~é"), st.integers(0, 3))
def test_no_changed_state_is_taken(site, place: int, letter: str, kind: int) -> None:
    """E-04: any other character anywhere, cut, or lengthened. What is drawn knows no state, which is another one each time."""
    text = site.one.call("wipe")["result"]["requestState"]
    place %= len(text)
    letter = "!" if letter == text[place] else letter
    changed = (text[:place] + letter + text[place + 1 :], text[:place], text + letter, letter + text)[kind]
    assert site.one.call("wipe", inputResponses={"confirm": YES}, requestState=changed)["error"]["code"] == -32602


def test_state_shows_a_client_nothing(site) -> None:
    held = site.one.call("steps", inputResponses={"step1": ALICE})["result"]["requestState"]
    raw = base64.urlsafe_b64decode(held.rpartition(".")[2] + "==")
    assert b"Alice" not in raw
    assert b"step" not in raw


def test_answers_that_are_too_much_to_carry_are_told(site) -> None:
    """A second question after a large answer; the text says what to do."""
    large = {"action": "accept", "content": {"name": "x" * 20_000}}
    reply = site.one.call("three", inputResponses={"user": large, "words": {**SAMPLED, "content": {"type": "text", "text": "y" * 20_000}}})
    assert (reply["result"]["isError"], "answer with less" in text_of(reply)) == (True, True)


@pytest.mark.parametrize("level", ["loud", "INFO", 3, "", ["info"], {}])
def test_a_log_level_that_is_none_is_refused_whatever_the_method(site, level: Any) -> None:
    """LG-03: before anything is sent, as 400."""
    for method, params in (("tools/call", {"name": "quiet"}), ("tools/list", {})):
        assert site.one.ask(method, params, meta={"io.modelcontextprotocol/logLevel": level})["error"]["code"] == -32602
        assert site.one.outcome.status == 400
