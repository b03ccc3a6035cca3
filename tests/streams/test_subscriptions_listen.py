"""subscriptions/listen over the middle (2026-07-28: basic/patterns/subscriptions; docs/rules.md: S-01 to S-07, TK-07)."""

from __future__ import annotations

import dataclasses
import json
import time

import pytest

from cmsmcp.core.ports import Caller
from cmsmcp.core.sharing import EVERYTHING
from cmsmcp.core.tasks.ports import COMPLETED, Task
from cmsmcp.governance.policy import Override, Rate
from cmsmcp.protocol import errors

TAG = "io.modelcontextprotocol/subscriptionId"
TASKS = "io.modelcontextprotocol/tasks"
LISTS = {"toolsListChanged": True, "promptsListChanged": True, "resourcesListChanged": True}


@pytest.mark.parametrize("id", ["L1", "", 0, 7, "7"])
def test_every_message_carries_the_request_id_with_its_type(place, id) -> None:
    """S-01, S-02, S-05."""
    p = place()
    heard = p.listen({"toolsListChanged": True}, id=id)
    acknowledged = heard.await_one()
    assert acknowledged == {
        "jsonrpc": "2.0",
        "method": "notifications/subscriptions/acknowledged",
        "params": {"_meta": {TAG: id}, "notifications": {"toolsListChanged": True}},
    }
    p.change(lists=("tools",))
    assert heard.await_one() == {"jsonrpc": "2.0", "method": "notifications/tools/list_changed", "params": {"_meta": {TAG: id}}}
    p.services[0].ports.shared().feed.end_all()
    final = heard.await_one()
    assert (final["id"], type(final["id"])) == (id, type(id))
    assert final["result"]["resultType"] == "complete" and final["result"]["_meta"][TAG] == id
    assert heard.take() is None


def test_the_acknowledgment_comes_first_whatever_happens_meanwhile(place) -> None:
    """S-01: a change that comes before the door has read anything waits behind it."""
    p = place()
    heard = p.listen({**LISTS, "resourceSubscriptions": ["doc://about"]})
    p.change(EVERYTHING, lists=("tools", "prompts", "resources"))
    p.fence()
    methods = [message["method"] for message in heard.take()]
    assert methods[0] == "notifications/subscriptions/acknowledged"
    assert sorted(methods[1:]) == sorted([*(f"notifications/{name}/list_changed" for name in ("tools", "prompts", "resources")),
                                          "notifications/resources/updated"])  # fmt: skip


def test_what_the_process_of_the_stream_hears_after_the_acknowledgment_is_told(place) -> None:
    """S-01: nothing lies between the acknowledgment and the registration."""
    p = place()
    for turn in range(50):
        heard = p.listen({"resourceSubscriptions": ["doc://about"]}, id=turn)
        p.change("content/about")
        messages = []
        while len(messages) < 2:
            messages += heard.await_some()
        assert [message["method"].split("/")[1] for message in messages] == ["subscriptions", "resources"]
        heard.stream.close()


def test_only_what_was_asked_for_is_told(place) -> None:
    """S-03."""
    p = place()
    heard = p.listen({"promptsListChanged": True, "toolsListChanged": False, "resourceSubscriptions": ["doc://about"]})
    assert heard.await_acknowledged() == {"promptsListChanged": True, "resourceSubscriptions": ["doc://about"]}
    p.change("content/news", "types", lists=("tools", "resources"))
    p.fence()
    assert heard.names() == []
    p.change("content/about", lists=("prompts", "tools"))
    p.fence()
    assert heard.names() == ["prompts", "doc://about"]


def test_a_stream_without_wishes_is_acknowledged_and_stays_silent(place) -> None:
    """S-04."""
    p = place()
    heard = p.listen({})
    assert heard.await_acknowledged() == {}
    p.change(EVERYTHING, lists=("tools", "prompts", "resources"))
    p.fence()
    assert heard.take() == []


@pytest.mark.parametrize(
    "wanted",
    [
        None, [], "tools", True, {"toolsListChanged": "yes"}, {"promptsListChanged": 1}, {"resourceSubscriptions": "doc://about"},
        {"resourceSubscriptions": [7]}, {"resourceSubscriptions": [f"doc://{n}" for n in range(201)]}, {"taskIds": {}},
    ],
)  # fmt: skip
def test_a_malformed_filter_is_refused_before_the_stream_and_paid(place, wanted) -> None:
    """S-04."""
    p = place(max_streams=1)
    error = p.refused(wanted)
    assert error["code"] == errors.INVALID_PARAMS
    assert "\n" not in error["message"]
    assert not p.audit
    assert p.listen({}).await_acknowledged() == {}, "no permit was kept"


def test_kinds_that_do_not_exist_are_left_out(place) -> None:
    """S-04, E-14."""
    p = place()
    assert p.listen({"weatherChanged": True, "toolsListChanged": True}).await_acknowledged() == {"toolsListChanged": True}


def test_a_list_whose_changes_are_not_declared_is_left_out(place, monkeypatch) -> None:
    """S-04, S-10."""
    monkeypatch.setattr("cmsmcp.core.announced.FEATURES", {"tools": {"listChanged": True}, "prompts": {}})
    p = place()
    heard = p.listen(LISTS)
    assert heard.await_acknowledged() == {"toolsListChanged": True}
    p.change(lists=("tools", "prompts", "resources"))
    assert heard.await_one()["method"] == "notifications/tools/list_changed"


def test_uris_that_cannot_be_read_look_all_alike(place) -> None:
    """S-04: a draft, what does not exist, what breaks, what is registered nowhere, what is too long, and what takes another scope."""
    p = place()
    p.caller = Caller("local", frozenset({"read:content"}))
    uris = ["doc://draft", "doc://about", "doc://none", "doc://crash", "nope://x", "", "doc://" + "x" * 9_000, "ops://state", "doc://about"]
    heard = p.listen({"resourceSubscriptions": uris})
    assert heard.await_acknowledged() == {"resourceSubscriptions": ["doc://about"]}
    p.change("content/draft", "resource/ops://state", "resource/nope://x")
    p.fence()
    assert heard.take() == []


def test_a_resource_that_is_switched_off_is_not_acknowledged(place) -> None:
    p = place(overrides={"document": Override(enabled=False)})
    assert p.listen({"resourceSubscriptions": ["doc://about", "ops://state"]}).await_acknowledged() == {
        "resourceSubscriptions": ["ops://state"]
    }


def test_the_site_is_asked_only_for_resources_that_are_named(place) -> None:
    p = place()
    p.listen(LISTS)
    assert p.read == []


def test_a_resource_without_topics_is_told_by_its_own_uri(place) -> None:
    """docs/rules.md, MCP rules by id: S-10."""
    p = place()
    heard = p.listen({"resourceSubscriptions": ["ops://state"]})
    heard.await_acknowledged()
    p.change("resource/ops://state")
    assert heard.await_one()["params"]["uri"] == "ops://state"


def test_notices_that_wait_are_told_once(place) -> None:
    """S-06's counterpart: a reader that is slow costs no memory and misses nothing."""
    p = place()
    heard = p.listen({"toolsListChanged": True, "resourceSubscriptions": ["doc://about", "doc://news"]})
    heard.await_acknowledged()
    for _ in range(100):
        p.change("content/about", lists=("tools",))
    p.change("content/news")
    p.fence()
    assert sorted(heard.names()) == ["doc://about", "doc://news", "tools"]
    p.change("content/about")
    p.fence()
    assert heard.names() == ["doc://about"]


def test_several_streams_of_one_client_hear_each_its_own(place) -> None:
    """S-04."""
    p = place()
    one, two = p.listen({"toolsListChanged": True}, id=1), p.listen({"resourceSubscriptions": ["doc://about"]}, id=2)
    one.await_acknowledged(), two.await_acknowledged()
    p.change("content/about", lists=("tools",))
    assert one.await_one()["params"] == {"_meta": {TAG: 1}}
    assert two.await_one()["params"] == {"_meta": {TAG: 2}, "uri": "doc://about"}


def test_a_change_made_in_one_process_is_told_in_another(place) -> None:
    p = place(2)
    heard = [p.listen({"toolsListChanged": True}, process=process) for process in (0, 1)]
    for one in heard:
        one.await_acknowledged()
    p.change(lists=("tools",))
    for one in heard:
        assert one.await_one()["method"] == "notifications/tools/list_changed"


def test_what_was_missed_counts_as_changed(place) -> None:
    p = place()
    heard = p.listen({"toolsListChanged": True, "resourceSubscriptions": ["doc://about"]})
    heard.await_acknowledged()
    p.bus.publish("missed", {})
    p.fence()
    assert heard.names() == ["tools", "doc://about"]


@pytest.mark.parametrize(("names", "burst", "units"), [(9, 120, 0), (10, 120, 1), (200, 120, 20), (200, 3, 2), (200, 1, 0)])
def test_looking_at_many_resources_has_its_price(place, names: int, burst: int, units: int) -> None:
    """docs/rules.md, Governance order: one request does not buy 200 readings for one unit, and no price is above the burst."""
    p = place(rate=Rate(1, burst))
    wanted = {"resourceSubscriptions": [f"doc://{number}" for number in range(names)]}
    p.listen(wanted).await_acknowledged()
    for _ in range(burst - 1 - units):
        assert "result" in json.loads(p.ask("ping").body)
    p.read.clear()
    error = p.refused(wanted)
    assert error["code"] == errors.RATE_LIMITED and not p.read


def test_a_stream_that_could_not_look_is_none(place) -> None:
    """The permit of one that is refused for that price is free again."""
    p = place(rate=Rate(1, 10), max_streams=1)
    for _ in range(2):
        assert "result" in json.loads(p.ask("ping").body)
    assert p.refused({"resourceSubscriptions": [f"doc://{number}" for number in range(80)]})["code"] == errors.RATE_LIMITED
    p.listen({"toolsListChanged": True}).await_acknowledged()


def test_opening_and_end_are_recorded_and_cost_one(place) -> None:
    """docs/rules.md, Governance order."""
    p = place()
    heard = p.listen({"resourceSubscriptions": ["doc://about"]})
    (intent,) = p.audit.of("intent", "subscriptions/listen")
    assert (intent["category"], json.loads(intent["arguments"])) == ("stream", {"resourceSubscriptions": "array(1)"})
    assert not p.audit.of("outcome", "subscriptions/listen")
    heard.stream.close()
    heard.stream.close()
    (outcome,) = p.audit.of("outcome", "subscriptions/listen")
    assert outcome["event"] == intent["event"] and "reason" not in outcome


def test_streams_have_a_cap_of_their_own(place) -> None:
    """S-07; docs/errors.md: 5031."""
    p = place(max_streams=2, max_concurrency=1)
    heard = [p.listen({"resourceSubscriptions": ["doc://about"]}, id=n) for n in range(2)]
    error = p.refused({})
    assert (error["code"], error["data"]["retry_after"] >= 1) == (errors.STREAMS_LIMITED, True)
    outcome = p.ask("subscriptions/listen", {"notifications": {}}, modern=True)
    assert outcome.retry_after and outcome.status == 503
    assert json.loads(p.ask("resources/read", {"uri": "doc://about"}).body)["result"], "a call needs no place among them"
    heard[0].stream.close()
    p.listen({}).await_acknowledged()


def test_a_stream_is_withdrawn_like_any_request(place, until) -> None:
    """ST-08, X-01: nothing follows the cancel, the id is free, the permit goes back."""
    from cmsmcp.core.session import Connection

    p = place(max_streams=1)
    connection = Connection()
    heard = p.listen({"toolsListChanged": True}, id="L", connection=connection)
    heard.await_acknowledged()
    again = p.ask("subscriptions/listen", {"notifications": {}}, id="L", modern=True, connection=connection)
    assert again.code == errors.INVALID_REQUEST, "ST-13"
    p.change(lists=("tools",))
    until(lambda: heard.stream._waiting)
    p.services[0].handle(b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"L"}}', p.caller, connection)
    assert heard.take() is None and heard.stream.is_closed
    again = p.listen({}, id="L", connection=connection)
    again.stream.close()
    p.listen({}, id="L", connection=connection).await_acknowledged()


def test_a_stream_ends_with_its_token(place, until) -> None:
    """S-07."""
    p = place()
    heard = p.listen({"toolsListChanged": True}, caller=dataclasses.replace(p.caller, expires=int(time.time()) + 1))
    heard.await_acknowledged()
    final = heard.await_one()
    assert final["result"]["resultType"] == "complete"
    assert heard.take() is None
    heard.stream.close()
    (outcome,) = p.audit.of("outcome", "subscriptions/listen")
    assert outcome["reason"] == "expired"


def test_no_notice_goes_to_an_expired_token(place) -> None:
    """S-07: also before its stream was ended."""
    p = place()
    heard = p.listen({"toolsListChanged": True})
    heard.await_acknowledged()
    (subscriber,) = p.services[0].ports.shared().feed.subscribers()
    expired = dataclasses.replace(p.caller, expires=int(time.time()) - 1)
    subscriber.visit = dataclasses.replace(subscriber.visit, caller=expired)
    p.change(lists=("tools",))
    p.fence()
    assert not [message for message in heard.take() or [] if "method" in message]


def test_a_notice_takes_the_scope_at_that_moment(place) -> None:
    """S-07."""
    p = place()
    heard = p.listen({"resourceSubscriptions": ["doc://about", "ops://state"]})
    heard.await_acknowledged()
    (subscriber,) = p.services[0].ports.shared().feed.subscribers()
    subscriber.visit = dataclasses.replace(subscriber.visit, caller=dataclasses.replace(p.caller, scopes=frozenset({"read:content"})))
    p.change(EVERYTHING)
    p.fence()
    assert heard.names() == ["doc://about"]


def test_a_stream_ends_when_its_token_is_revoked(place) -> None:
    """S-07."""
    p = place()
    token = dataclasses.replace(p.caller, token_id="t1", registered=True)
    mine, other = p.listen(LISTS, caller=token), p.listen(LISTS, id=2)
    mine.await_acknowledged(), other.await_acknowledged()
    p.bus.publish("revoked", {"token": "t1"})
    assert mine.await_one()["result"]
    p.change(lists=("tools",))
    assert other.await_one()["method"] == "notifications/tools/list_changed"


def test_a_revocation_that_was_missed_is_found_in_the_registry(place) -> None:
    """S-07."""
    p = place()
    token = dataclasses.replace(p.caller, token_id="t1")
    mine = p.listen({}, caller=token)
    mine.await_acknowledged()
    p.revoked.add("t1")
    p.bus.publish("missed", {})
    assert mine.await_one()["result"]
    assert mine.take() is None


def test_a_process_that_stops_opens_no_stream_that_stays(place) -> None:
    """S-05."""
    p = place()
    p.services[0].ports.shared().feed.end_all()
    heard = p.listen(LISTS)
    assert [("method" in message, "result" in message) for message in [*heard.await_some(), *heard.await_some()]] == [
        (True, False), (False, True),
    ]  # fmt: skip
    assert heard.take() is None


def test_tasks_are_told_whole_to_their_owner(place) -> None:
    """TK-07."""
    p = place(2)
    mine = Task("task-1", "local", "slow", ("read:content",), 60_000, 1_000)
    p.tasks.create(mine, 10)
    p.tasks.create(dataclasses.replace(mine, id="task-2", owner="somebody"), 10)
    heard = p.listen({"taskIds": ["task-1", "task-2", "none", ""]}, extensions=(TASKS,), process=1)
    assert heard.await_acknowledged() == {"taskIds": ["task-1"]}
    p.tasks.end("task-1", COMPLETED, result=b'{"content":[]}')
    p.bus.publish("task", {"task": "task-1", "status": COMPLETED})
    p.bus.publish("task", {"task": "task-2", "status": COMPLETED})
    told = heard.await_one()
    assert told["method"] == "notifications/tasks"
    assert told["params"].items() >= {"_meta": {TAG: "L1"}, "taskId": "task-1", "status": COMPLETED, "result": {"content": []}}.items()
    p.fence()
    assert heard.take() == []


@pytest.mark.parametrize("extensions", [(), ("io.modelcontextprotocol/ui",)])
def test_tasks_take_the_extension(place, extensions) -> None:
    """TK-07: -32021, whether or not there are such tasks."""
    error = place().refused({"taskIds": []}, extensions=extensions)
    assert error["code"] == errors.MISSING_CAPABILITY
    assert error["data"]["requiredCapabilities"] == {"extensions": {TASKS: {}}}


def test_the_legacy_era_does_not_have_it(place) -> None:
    """docs/rules.md, Revisions."""
    outcome = place().ask("subscriptions/listen", {"notifications": {}})
    assert outcome.code == errors.INVALID_PARAMS and outcome.stream is None
