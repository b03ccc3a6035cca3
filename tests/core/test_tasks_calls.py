"""The Tasks extension over the middle: two processes of a site that share a store, a bus and nothing else."""

from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pytest
from marshmallow import Schema, fields

from cmsmcp.core.capability import Capability, tool
from cmsmcp.core.dialogue import Elicit
from cmsmcp.core.ports import Caller, Site, Verdict
from cmsmcp.core.registry import Registry
from cmsmcp.core.service import Connection, Service
from cmsmcp.core.shared import Shared
from cmsmcp.core.tasks.ports import ENDS, MAX_PER_CLIENT, SILENCE_MS
from cmsmcp.core.tasks.watch import TaskWatch
from cmsmcp.governance.policy import Policy
from cmsmcp.identity.sealer import private_sealer
from cmsmcp.protocol import errors
from cmsmcp.state.memory.bus import MemoryBus
from cmsmcp.state.memory.events import MemoryEvents
from cmsmcp.state.memory.replies import MemoryReplies
from cmsmcp.state.memory.sessions import MemorySessions
from cmsmcp.state.memory.tasks import MemoryTasks

EXTENSION = "io.modelcontextprotocol/tasks"
DECLARED = {"elicitation": {}, "extensions": {EXTENSION: {}}}
SCOPES = frozenset({"read:content", "read:ops"})
ASK_NAME = {"user_name": Elicit("Who?", {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]})}
CONFIRM = Elicit("Sure?", {"type": "object", "properties": {"confirm": {"type": "boolean"}}, "required": ["confirm"]})
NAME = Elicit("Name?", {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]})

gates: dict[str, threading.Event] = {}
stopped: list[str] = []


class Said(Schema):
    said = fields.String(required=True)


class Gate(Schema):
    gate = fields.String(required=True)


def ours(**more: Any) -> Callable[[Callable[..., Any]], Capability]:
    return tool(**{"scope": "read:ops", "audit": "test.task", "output": Said, "task": "optional", **more})


@ours(input=Gate)
def slow(arguments, call):
    """Works until its gate opens, and looks whether it should go on."""
    while not gates[arguments["gate"]].wait(0.01):
        try:
            call.deadline.check()
        except BaseException:
            stopped.append(arguments["gate"])
            raise
    return {"said": "done"}


@ours(task="required")
def required(arguments, call):
    """Only as a task."""
    return {"said": "done"}


@ours()
def plain_error(arguments, call):
    """A fault that the model can mend."""
    raise errors.NotFound("page", "abuot")


@ours()
def protocol_error(arguments, call):
    """A fault of the call."""
    raise errors.ProtocolError("It cannot be said.", code=4999, data={"why": "because"})


@ours()
def broken(arguments, call):
    """A fault that nobody foresaw."""
    raise RuntimeError("/srv/secret/path.py exploded")


@ours()
def confirm(arguments, call):
    """One question."""
    answer = call.dialogue.ask({"confirm": CONFIRM})["confirm"]
    return {"said": f"{answer['action']} {answer.get('content')}"}


@ours()
def ask_twice(arguments, call):
    """The same key twice, two questions at once."""
    first = call.dialogue.ask({"confirm": CONFIRM, "name": NAME})
    second = call.dialogue.ask({"name": NAME})
    return {"said": f"{first['name']['content']['name']} {second['name']['content']['name']}"}


@ours(asks_first=ASK_NAME, task="required")
def greet_later(arguments, call):
    """Asks before there is a task."""
    return {"said": call.dialogue.ask(ASK_NAME)["user_name"]["content"]["name"]}


@ours()
def noted(arguments, call):
    """Says how it goes."""
    call.dialogue.log("error", "dropped")
    call.dialogue.progress(1, 2, "halfway with postgres://u:hunter22@h/db")
    gates["noted"].wait(60)
    return {"said": "done"}


@ours()
def unspeakable(arguments, call):
    """Fails with words that no JSON can hold."""
    raise errors.CallError("a file called \udcff")


@ours(task=None)
def direct(arguments, call):
    """Never a task."""
    return {"said": "done"}


@ours(max_result=2_000)
def large(arguments, call):
    """More than may leave."""
    return {"said": "x" * 5_000}


@ours(timeout=0.05)
def late(arguments, call):
    """Longer than it may."""
    time.sleep(0.2)
    return {"said": "late"}


ALL = (slow, required, plain_error, protocol_error, broken, confirm, ask_twice, greet_later, noted, direct, large, late, unspeakable)


class Clock:
    def __init__(self) -> None:
        self.late = 0

    def __call__(self) -> int:
        return time.time_ns() // 1_000_000 + self.late


class Admitting:
    """Admits what `verdict` says; keeps asks, releases and records."""

    def __init__(self) -> None:
        self.verdict = Verdict(None)
        self.admitting: Callable[[], None] = lambda: None
        self.asks: list[Any] = []
        self.released: dict[str, Any] = {}
        self.renewed: list[tuple[str, str, bool, bool]] = []
        self.records: list[Any] = []

    def admit(self, ask: Any) -> Verdict:
        self.asks.append(ask)
        self.admitting()
        return self.verdict

    def release(self, ask: Any, outcome: Any) -> None:
        assert ask.event_id not in self.released
        self.released[ask.event_id] = outcome

    def renew(self, asks: Any, lease_ms: int) -> None:
        self.renewed += [(ask.event_id, ask.client, ask.permit, ask.stream) for ask in asks]

    def record(self, event: Any) -> None:
        self.records.append(event)


class Worker:
    """One process: its own service and runs, on the store and the bus of all."""

    def __init__(self, sites: Sites) -> None:
        self.sites = sites
        self.shared = Shared(
            sites.bus, MemorySessions(), MemoryReplies(), MemoryEvents(), sites.sealer, sites.store,
        )  # fmt: skip
        registry = Registry(ALL)
        self.service = Service(
            Policy(enabled=True, scopes=SCOPES, audit=True, max_concurrency=8), lambda: registry, lambda: Site(*[None] * 7),  # type: ignore[arg-type]
            lambda: sites.admission, "9.9.9", shared=lambda: self.shared,
        )  # fmt: skip
        self.caller = Caller("local", SCOPES)
        self.connection = Connection()

    def ask(self, method: str, params: Mapping[str, Any] | None = None, declared: Any = DECLARED, **others: Any) -> Any:
        meta = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": declared}
        body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {**(params or {}), "_meta": meta}}
        outcome = self.service.handle(json.dumps(body).encode(), others.get("caller", self.caller), self.connection, others.get("headers"))
        return None if outcome.body is None else json.loads(outcome.body)

    def call(self, name: str, arguments: Mapping[str, Any] | None = None, **more: Any) -> Any:
        return self.ask("tools/call", {"name": name, "arguments": arguments or {}, **more})

    def start(self, name: str, arguments: Mapping[str, Any] | None = None, **more: Any) -> str:
        result = self.call(name, arguments, **more)["result"]
        assert result["resultType"] == "task", result
        return str(result["taskId"])

    def get(self, id: str) -> Any:
        return self.ask("tasks/get", {"taskId": id})["result"]

    def until(self, id: str, statuses: Any = ENDS, key: str = "") -> Any:
        """The task, once it has one of these statuses and, if one is named, a key."""
        end = time.monotonic() + 60
        while (task := self.get(id))["status"] not in statuses or (key and key not in task):
            assert time.monotonic() < end, task
            time.sleep(0.005)
        return task


class Sites:
    def __init__(self) -> None:
        self.clock = Clock()
        self.store = MemoryTasks(self.clock)
        self.bus = MemoryBus()
        self.sealer = private_sealer()
        self.admission = Admitting()
        self.one, self.other = Worker(self), Worker(self)

    def settled(self) -> bool:
        """Nothing runs any more, and every permit was given back."""
        end = time.monotonic() + 60
        while time.monotonic() < end:
            runs = len(self.one.shared.runs) + len(self.other.shared.runs)
            if not runs and {ask.event_id for ask in self.admission.asks} == set(self.admission.released):
                return True
            time.sleep(0.005)
        return False


@pytest.fixture
def sites() -> Iterator[Sites]:
    gates.clear()
    stopped.clear()
    made = Sites()
    yield made
    for gate in gates.values():
        gate.set()
    made.one.shared.feed.end_all()
    made.other.shared.feed.end_all()
    made.bus.close()


def test_the_extension_is_advertised_in_discover_alone(sites) -> None:
    """EX-01, EX-02."""
    capabilities = sites.one.ask("server/discover")["result"]["capabilities"]
    assert capabilities["extensions"] == {EXTENSION: {}}
    assert "tasks" not in capabilities
    body = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-11-25", "capabilities": {"tasks": {}}}}
    legacy = json.loads(sites.one.service.handle(json.dumps(body).encode(), sites.one.caller, Connection()).body)["result"]["capabilities"]
    assert "extensions" not in legacy
    assert "tasks" not in legacy


def test_a_created_task_is_flat_and_readable_at_once_by_another_process(sites) -> None:
    """TK-02."""
    gates["g"] = threading.Event()
    result = sites.one.call("slow", {"gate": "g"})["result"]
    meta = result.pop("_meta")
    assert set(meta) == {"io.modelcontextprotocol/serverInfo"}
    assert set(result) == {"resultType", "taskId", "status", "createdAt", "lastUpdatedAt", "ttlMs", "pollIntervalMs"}
    assert (result["resultType"], result["status"]) == ("task", "working")
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", result["createdAt"])
    assert isinstance(result["ttlMs"], int)
    assert re.fullmatch(r"[0-9a-f]{32}", result["taskId"])
    seen = sites.other.get(result["taskId"])
    assert (seen["resultType"], seen["status"], seen["ttlMs"]) == ("complete", "working", result["ttlMs"])
    assert {"result", "error", "inputRequests"}.isdisjoint(seen)


def test_a_completed_task_carries_the_result_that_the_call_would_have_had(sites) -> None:
    """TK-03, TK-06: no related-task metadata."""
    gates["g"] = threading.Event()
    gates["g"].set()
    now = sites.one.ask("tools/call", {"name": "slow", "arguments": {"gate": "g"}}, {})["result"]
    assert now["resultType"] == "complete"
    task = sites.other.until(sites.one.start("slow", {"gate": "g"}))
    assert (task["status"], task["result"]) == ("completed", now)
    assert "error" not in task
    assert sites.settled()


def test_a_fault_for_the_model_completes_a_task(sites) -> None:
    """TK-03: isError is a result."""
    for name in ("plain_error", "large", "late"):
        task = sites.one.until(sites.one.start(name))
        assert (task["status"], task["result"]["isError"]) == ("completed", True), name
    assert sites.settled()


def test_a_json_rpc_error_fails_a_task(sites) -> None:
    """TK-03."""
    task = sites.one.until(sites.one.start("protocol_error"))
    assert (task["status"], task["error"]) == ("failed", {"code": 4999, "message": "It cannot be said.", "data": {"why": "because"}})
    assert "result" not in task


def test_an_unforeseen_fault_leaves_no_trace_in_a_task(sites) -> None:
    task = sites.one.until(sites.one.start("broken"))
    assert task["error"]["code"] == errors.INTERNAL_ERROR
    assert re.fullmatch(r"Internal error \(reference [0-9a-f]{12}\)", task["error"]["message"])


@pytest.mark.parametrize("declared", [{}, {"tasks": {}}, {"extensions": {}}, {"extensions": []}, {"extensions": {EXTENSION: None}}])
def test_without_the_extension_no_call_becomes_a_task(sites, declared) -> None:
    """TK-01, EX-02: nor does a `task` parameter ask for one."""
    gates["g"] = threading.Event()
    gates["g"].set()
    reply = sites.one.ask("tools/call", {"name": "slow", "arguments": {"gate": "g"}, "task": {"ttl": 1}}, declared)
    assert reply["result"]["resultType"] == "complete"
    error = sites.one.ask("tools/call", {"name": "required", "arguments": {}}, declared)["error"]
    assert (error["code"], error["data"]) == (errors.MISSING_CAPABILITY, {"requiredCapabilities": {"extensions": {EXTENSION: {}}}})


@pytest.mark.parametrize("method", ["tasks/get", "tasks/update", "tasks/cancel"])
def test_without_the_extension_a_task_cannot_even_be_asked_for(sites, method) -> None:
    """TK-05: -32021 before any look whether there is one."""
    gates["g"] = threading.Event()
    for id in ("never", sites.one.start("slow", {"gate": "g"}), 7):
        error = sites.one.ask(method, {"taskId": id, "inputResponses": {}}, {})["error"]
        assert (error["code"], error["data"]["requiredCapabilities"]) == (errors.MISSING_CAPABILITY, {"extensions": {EXTENSION: {}}})


@pytest.mark.parametrize("method", ["tasks/get", "tasks/update", "tasks/cancel"])
@pytest.mark.parametrize("id", ["never", "", None, 7, "x" * 5_000])
def test_an_unknown_task_is_bad_parameters(sites, method, id) -> None:
    """TK-05."""
    assert sites.one.ask(method, {"taskId": id, "inputResponses": {}})["error"]["code"] == errors.INVALID_PARAMS


def test_a_task_of_somebody_else_looks_like_none(sites) -> None:
    """TK-06."""
    gates["g"] = threading.Event()
    id = sites.one.start("slow", {"gate": "g"})
    stranger = Caller("token:b", SCOPES)
    for method in ("tasks/get", "tasks/update", "tasks/cancel"):
        foreign = sites.one.ask(method, {"taskId": id, "inputResponses": {}}, caller=stranger)["error"]
        unknown = sites.one.ask(method, {"taskId": "never", "inputResponses": {}}, caller=stranger)["error"]
        assert foreign == unknown
    assert sites.one.get(id)["status"] == "working"


def test_whoever_lost_the_scope_of_a_task_reads_it_no_more(sites) -> None:
    """TK-06: each request is authorised by itself."""
    gates["g"] = threading.Event()
    id = sites.one.start("slow", {"gate": "g"})
    lesser = Caller("local", frozenset({"read:content"}))
    for method in ("tasks/get", "tasks/update", "tasks/cancel"):
        error = sites.one.ask(method, {"taskId": id, "inputResponses": {}}, caller=lesser)["error"]
        assert (error["code"], error["data"]["required_scopes"]) == (errors.SCOPE_REFUSED, ["read:ops"])


@pytest.mark.parametrize("method", ["tasks/list", "tasks/result"])
def test_the_methods_of_an_older_wire_are_unknown(sites, method) -> None:
    """TK-05."""
    assert sites.one.ask(method, {"taskId": "x"})["error"]["code"] == errors.METHOD_NOT_FOUND


def test_tasks_do_not_exist_in_the_legacy_era(sites) -> None:
    """EX-02."""
    gates["g"] = threading.Event()
    gates["g"].set()
    connection = Connection("2025-11-25")

    def ask(method: str, params: Any) -> Any:
        body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        return json.loads(sites.one.service.handle(json.dumps(body).encode(), sites.one.caller, connection).body)

    assert "content" in ask("tools/call", {"name": "slow", "arguments": {"gate": "g"}, "task": {}})["result"]
    assert ask("tasks/get", {"taskId": "x"})["error"]["code"] == errors.METHOD_NOT_FOUND
    assert ask("tools/call", {"name": "required", "arguments": {}})["error"]["code"] == errors.INVALID_PARAMS


def test_a_question_waits_in_the_task_and_its_answer_comes_through_another_process(sites) -> None:
    """TK-03, TK-04."""
    id = sites.one.start("confirm")
    task = sites.other.until(id, {"input_required"})
    [(key, request)] = task["inputRequests"].items()
    assert (request["method"], request["params"]["mode"], request["params"]["message"]) == ("elicitation/create", "form", "Sure?")
    ack = sites.other.ask("tasks/update", {"taskId": id, "inputResponses": {key: {"action": "accept", "content": {"confirm": True}}}})
    assert set(ack["result"]) == {"resultType", "_meta"}
    assert ack["result"]["resultType"] == "complete"
    done = sites.one.until(id)
    assert (done["status"], done["result"]["structuredContent"]) == ("completed", {"said": "accept {'confirm': True}"})
    assert "inputRequests" not in done


def test_answers_may_come_in_parts_and_keys_are_never_used_again(sites) -> None:
    """TK-04."""
    id = sites.one.start("ask_twice")
    first = sites.one.until(id, {"input_required"})["inputRequests"]
    by_method = {key.rsplit("-", 1)[0]: key for key in first}
    answer = {"action": "accept", "content": {"name": "Ann", "confirm": True}}
    sites.other.ask("tasks/update", {"taskId": id, "inputResponses": {by_method["name"]: answer}})
    task = sites.other.get(id)
    assert (task["status"], set(task["inputRequests"])) == ("input_required", {by_method["confirm"]})
    late = {by_method["name"]: {"action": "decline"}, by_method["confirm"]: answer, "unknown": 7}
    sites.other.ask("tasks/update", {"taskId": id, "inputResponses": late})
    second = sites.one.until(id, {"input_required"})["inputRequests"]
    assert set(second).isdisjoint(first)
    sites.one.ask("tasks/update", {"taskId": id, "inputResponses": {key: {**answer, "content": {"name": "Bob"}} for key in second}})
    assert sites.one.until(id)["result"]["structuredContent"] == {"said": "Ann Bob"}


@pytest.mark.parametrize(
    "answer", [7, None, [], {}, {"action": "maybe"}, {"action": "accept", "content": {"confirm": "x" * 9}}, {"action": "accept"}]
)
def test_an_answer_that_is_none_is_refused_and_the_question_still_waits(sites, answer) -> None:
    id = sites.one.start("confirm")
    [key] = sites.one.until(id, {"input_required"})["inputRequests"]
    assert sites.one.ask("tasks/update", {"taskId": id, "inputResponses": {key: answer}})["error"]["code"] == errors.INVALID_PARAMS
    assert set(sites.one.get(id)["inputRequests"]) == {key}


@pytest.mark.parametrize("responses", [{"never": 7}, {}, {"never": {"action": "accept"}}])
def test_an_answer_to_nothing_is_acknowledged(sites, responses) -> None:
    """TK-04."""
    id = sites.one.start("confirm")
    sites.one.until(id, {"input_required"})
    assert sites.one.ask("tasks/update", {"taskId": id, "inputResponses": responses})["result"]["resultType"] == "complete"
    assert sites.one.ask("tasks/update", {"taskId": id, "inputResponses": []})["error"]["code"] == errors.INVALID_PARAMS


def test_who_cannot_be_asked_gets_a_task_that_says_so(sites) -> None:
    result = sites.one.ask("tools/call", {"name": "confirm", "arguments": {}}, {"extensions": {EXTENSION: {}}})["result"]
    task = sites.one.until(result["taskId"])
    assert (task["status"], task["result"]["isError"]) == ("completed", True)


def test_what_is_asked_first_is_asked_without_a_task(sites) -> None:
    """TK-02: round one asks, round two makes the task, which knows the answer and has nothing of the rounds."""
    first = sites.one.call("greet_later")["result"]
    assert first["resultType"] == "input_required"
    assert "taskId" not in first
    answers = {key: {"action": "accept", "content": {"name": "Alice"}} for key in first["inputRequests"]}
    second = sites.other.call("greet_later", inputResponses=answers, requestState=first["requestState"])["result"]
    assert second["resultType"] == "task"
    assert {"requestState", "inputRequests"}.isdisjoint(second)
    assert sites.one.until(second["taskId"])["result"]["structuredContent"] == {"said": "Alice"}
    assert sites.settled()


def test_a_cancelled_task_is_over_at_once_and_its_work_stops_wherever_it_runs(sites, monkeypatch) -> None:
    """TK-04: idempotent, and the end stays."""
    monkeypatch.setattr("cmsmcp.core.tasks.runs.SILENCE_MS", 10_000_000)  # no beat comes to the rescue
    gates["g"] = threading.Event()
    id = sites.one.start("slow", {"gate": "g"})
    for _ in range(3):
        ack = sites.other.ask("tasks/cancel", {"taskId": id})["result"]
        assert set(ack) == {"resultType", "_meta"}
        assert sites.one.get(id)["status"] == "cancelled"
    assert sites.settled()
    assert stopped == ["g"]
    [outcome] = [one for one in sites.admission.released.values() if one and one["method"] == "tools/call"]
    assert outcome["reason"] == "cancelled"


def test_a_cancel_of_a_task_that_is_over_changes_nothing(sites) -> None:
    """TK-03, TK-04."""
    gates["g"] = threading.Event()
    gates["g"].set()
    id = sites.one.start("slow", {"gate": "g"})
    before = sites.one.until(id)
    assert sites.one.ask("tasks/cancel", {"taskId": id})["result"]["resultType"] == "complete"
    assert sites.one.get(id) == before


def test_a_cancel_reaches_a_task_that_waits_for_its_client(sites) -> None:
    id = sites.one.start("confirm")
    sites.one.until(id, {"input_required"})
    sites.other.ask("tasks/cancel", {"taskId": id})
    assert sites.settled()
    assert sites.one.get(id)["status"] == "cancelled"


def test_neither_a_cancelled_request_nor_a_lost_connection_touches_a_task(sites) -> None:
    """TK-04: notifications/cancelled is for requests."""
    gates["g"] = threading.Event()
    id = sites.one.start("slow", {"gate": "g"})
    sites.one.connection.cancel(1)
    sites.one.connection.cancel(id)
    sites.one.connection.cancel_all()
    assert sites.one.get(id)["status"] == "working"
    gates["g"].set()
    assert sites.one.until(id)["status"] == "completed"


def test_a_client_that_leaves_while_its_task_is_made_does_not_stop_it(sites) -> None:
    """TK-04: the work has a life of its own from the beginning."""
    gates["g"] = threading.Event()
    gates["g"].set()
    sites.admission.admitting = lambda: sites.one.connection.cancel(1)
    assert sites.one.call("slow", {"gate": "g"}) is None
    assert sites.settled()
    [outcome] = sites.admission.released.values()
    assert "reason" not in outcome


def test_a_task_of_a_dead_process_has_failed_and_says_why(sites) -> None:
    """docs/rules.md, Tasks: seen by any process once the other has been silent."""
    gates["g"] = threading.Event()
    id = sites.one.start("slow", {"gate": "g"})
    sites.clock.late = SILENCE_MS + 1_000
    task = sites.other.get(id)
    assert task["status"] == "failed"
    assert task["error"]["code"] == errors.INTERNAL_ERROR
    assert "has ended" in task["error"]["message"]
    gates["g"].set()
    assert sites.settled()
    assert sites.other.get(id) == task


def test_a_living_process_keeps_its_tasks_and_their_permits(sites, monkeypatch) -> None:
    monkeypatch.setattr("cmsmcp.core.tasks.runs.SILENCE_MS", 60)
    gates["g"] = threading.Event()
    id = sites.one.start("slow", {"gate": "g"})
    end = time.monotonic() + 60
    while len(sites.admission.renewed) < 3 and time.monotonic() < end:
        time.sleep(0.005)
    held = {(ask.event_id, ask.client, ask.permit, ask.stream) for ask in sites.admission.asks if ask.permit}
    assert set(sites.admission.renewed) == held and len(held) == 1
    assert sites.one.get(id)["status"] == "working"


def test_a_process_that_missed_the_cancel_learns_of_it_with_its_next_beat(sites, monkeypatch) -> None:
    monkeypatch.setattr("cmsmcp.core.tasks.runs.SILENCE_MS", 60)
    gates["g"] = threading.Event()
    id = sites.one.start("slow", {"gate": "g"})
    sites.store.end(id, "cancelled")
    assert sites.settled()
    assert stopped == ["g"]


def test_a_process_that_stops_fails_what_it_cannot_finish(sites) -> None:
    """docs/rules.md, Tasks: in sight, not by silence."""
    gates["g"], gates["h"] = threading.Event(), threading.Event()
    stays, ends = sites.one.start("slow", {"gate": "g"}), sites.one.start("slow", {"gate": "h"})
    threading.Timer(0.05, gates["h"].set).start()
    sites.one.shared.runs.end_all(0.5)
    assert (sites.other.get(stays)["status"], sites.other.get(ends)["status"]) == ("failed", "completed")
    assert sites.settled()


def test_a_record_is_gone_after_its_time(sites) -> None:
    """TK-05."""
    gates["g"] = threading.Event()
    gates["g"].set()
    result = sites.one.call("slow", {"gate": "g"})["result"]
    sites.one.until(result["taskId"])
    sites.clock.late = result["ttlMs"] + 1_000
    assert sites.one.ask("tasks/get", {"taskId": result["taskId"]})["error"]["code"] == errors.INVALID_PARAMS


def test_whatever_refuses_a_call_is_answered_at_once_and_leaves_no_task(sites) -> None:
    """docs/rules.md, Governance order: arguments, limits and rights come before the task."""
    assert sites.one.call("slow", {"gaet": "g"})["result"]["isError"] is True
    refused = Caller("local", frozenset({"read:content"}))
    assert sites.one.ask("tools/call", {"name": "required"}, caller=refused)["error"]["code"] == errors.SCOPE_REFUSED
    assert sites.one.ask("tools/call", {"name": "required"}, {}, caller=refused)["error"]["code"] == errors.SCOPE_REFUSED
    sites.admission.verdict = Verdict("rate", 2_000)
    assert sites.one.call("required")["error"]["code"] == errors.RATE_LIMITED
    sites.admission.verdict = Verdict("concurrency", 2_000)
    assert sites.one.call("required")["error"]["code"] == errors.CONCURRENCY_LIMITED
    assert not len(sites.one.shared.runs)


def test_tasks_take_at_most_half_of_the_permits(sites) -> None:
    """docs/rules.md, Tasks: one that waits for its client must not keep everybody else out."""
    gates["g"] = threading.Event()
    ids = [sites.one.start("slow", {"gate": "g"}) for _ in range(4)]
    error = sites.other.call("slow", {"gate": "g"})["error"]
    assert (error["code"], error["data"]) == (errors.CONCURRENCY_LIMITED, {"retry_after": 5})
    sites.other.ask("tasks/cancel", {"taskId": ids[0]})
    sites.other.start("slow", {"gate": "g"})


def test_one_client_keeps_only_so_many_tasks(sites) -> None:
    gates["g"] = threading.Event()
    gates["g"].set()
    for _ in range(MAX_PER_CLIENT):
        sites.one.until(sites.one.start("slow", {"gate": "g"}))
    error = sites.one.call("slow", {"gate": "g"})["error"]
    assert (error["code"], error["data"]) == (errors.CONCURRENCY_LIMITED, {"retry_after": 60})


def test_the_work_is_audited_once_and_its_permit_is_held_until_it_ends(sites) -> None:
    """docs/rules.md, Governance order: intent before the task, outcome after the work."""
    gates["g"] = threading.Event()
    id = sites.one.start("slow", {"gate": "g"})
    [ask] = sites.admission.asks
    assert (ask.intent["capability"], ask.permit, sites.admission.released) == ("slow", True, {})
    gates["g"].set()
    sites.one.until(id)
    assert sites.settled()
    outcome = sites.admission.released[ask.event_id]
    assert (outcome["phase"], outcome["capability"], outcome["result_bytes"]) == ("outcome", "slow", str(len('{"said":"done"}')))


def test_each_request_about_a_task_costs_one_and_a_cancel_is_on_record(sites) -> None:
    """docs/rules.md, Governance order."""
    gates["g"] = threading.Event()
    id = sites.one.start("slow", {"gate": "g"})
    del sites.admission.asks[:]
    sites.one.get(id)
    sites.one.ask("tasks/update", {"taskId": id, "inputResponses": {}})
    sites.one.ask("tasks/cancel", {"taskId": id})
    sites.one.ask("tasks/cancel", {"taskId": "never"})
    assert [(ask.cost, ask.permit) for ask in sites.admission.asks] == [(1, False)] * 4
    assert [ask.intent and (ask.intent["method"], ask.intent["capability"]) for ask in sites.admission.asks] == [
        None, None, ("tasks/cancel", "slow"), None,
    ]  # fmt: skip
    outcome = sites.admission.released[sites.admission.asks[2].event_id]
    assert (outcome["phase"], outcome["category"]) == ("outcome", "tasks.cancel")


def test_a_task_whose_result_cannot_be_written_has_failed(sites) -> None:
    """TK-03: it must not be kept alive for nothing."""
    failed = sites.other.until(sites.one.start("unspeakable"))
    assert (failed["status"], failed["error"]["code"]) == ("failed", -32603)
    end = time.monotonic() + 60
    while len(sites.one.shared.runs) and time.monotonic() < end:
        time.sleep(0.005)
    assert not len(sites.one.shared.runs)


def test_progress_is_the_message_of_the_task(sites) -> None:
    """TK-07: no progress or log messages exist for tasks. LG-05: nor does a secret leave in it."""
    gates["noted"] = threading.Event()
    id = sites.one.start("noted")
    said = sites.other.until(id, {"working"}, "statusMessage")["statusMessage"]
    assert said.startswith("halfway") and "hunter22" not in said
    gates["noted"].set()
    assert "statusMessage" not in sites.one.until(id)


@pytest.mark.parametrize("method", ["tasks/get", "tasks/update", "tasks/cancel"])
def test_a_header_that_names_another_task_is_refused(sites, method) -> None:
    """TK-06: docs/rules.md, Revisions."""
    headers = {"mcp-protocol-version": "2026-07-28", "mcp-method": method, "mcp-name": "other"}
    params = {"taskId": "this", "inputResponses": {}}
    assert sites.one.ask(method, params, headers=headers)["error"]["code"] == errors.HEADER_MISMATCH
    assert sites.one.ask(method, params, headers={**headers, "mcp-name": "this"})["error"]["code"] == errors.INVALID_PARAMS


def test_a_tool_that_is_no_task_stays_none(sites) -> None:
    assert sites.one.call("direct")["result"]["resultType"] == "complete"


def listen(worker: Worker, ids: list[str], **more: Any) -> tuple[Any, Callable[[str], Any]]:
    """The acknowledged filter, and a way to wait for the notice of a status."""
    meta = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": DECLARED}
    params = {"notifications": {"taskIds": ids}, "_meta": meta}
    body = {"jsonrpc": "2.0", "id": "l", "method": "subscriptions/listen", "params": params}
    stream = worker.service.handle(json.dumps(body).encode(), more.get("caller", worker.caller), worker.connection).stream
    assert stream is not None
    notices = [json.loads(message) for message in stream.take(5) or ()]
    acknowledged = notices.pop(0)["params"]["notifications"]

    def wait(status: str) -> Any:
        end = time.monotonic() + 60
        while time.monotonic() < end:
            for notice in notices:
                if notice["params"]["status"] == status:
                    return notice
            notices.extend(json.loads(message) for message in stream.take(0.1) or ())
        raise AssertionError(notices)

    return acknowledged, wait


def test_a_stream_tells_the_whole_task_each_time_it_is_different(sites) -> None:
    """TK-07: what tasks/get would say, tagged with the stream, wherever the task runs."""
    id = sites.one.start("confirm")
    asked = sites.one.until(id, {"input_required"})
    acknowledged, wait = listen(sites.other, [id, "never"])
    assert acknowledged == {"taskIds": [id]}
    [key] = asked["inputRequests"]
    sites.one.ask("tasks/update", {"taskId": id, "inputResponses": {key: {"action": "decline"}}})
    notice = wait("completed")
    assert notice["method"] == "notifications/tasks"
    meta = notice["params"].pop("_meta")
    assert meta == {"io.modelcontextprotocol/subscriptionId": "l"}
    whole = sites.one.get(id)
    assert {**notice["params"], "resultType": "complete", "_meta": whole["_meta"]} == whole


def test_a_stream_is_told_when_the_process_of_a_task_dies(sites, monkeypatch) -> None:
    """TK-07: nobody is left to announce it."""
    monkeypatch.setattr("cmsmcp.core.tasks.watch.LOOK_SECONDS", 0.05)
    gates["g"] = threading.Event()
    id = sites.one.start("slow", {"gate": "g"})
    _acknowledged, wait = listen(sites.other, [id])
    sites.clock.late = SILENCE_MS + 1_000
    assert "has ended" in wait("failed")["params"]["error"]["message"]


def test_a_task_that_is_wanted_while_others_are_looked_at_is_looked_at_next(monkeypatch) -> None:
    """TK-07: it may have changed before its stream was there to hear of it."""
    monkeypatch.setattr("cmsmcp.core.tasks.watch.LOOK_SECONDS", 60)
    wanted, read = {"first": lambda task: None}, []

    class Store:
        def read(self, id: str) -> None:
            read.append(id)
            if len(read) == 1:
                wanted["second"] = lambda task: None
                watch.wake()

    watch = TaskWatch(Store(), lambda: dict(wanted))
    watch.wake()
    end = time.monotonic() + 60
    while "second" not in read and time.monotonic() < end:
        time.sleep(0.01)
    assert "second" in read
    wanted.clear()
    watch.wake()


def test_a_stream_never_shows_a_task_of_somebody_else(sites) -> None:
    """TK-06."""
    gates["g"] = threading.Event()
    id = sites.one.start("slow", {"gate": "g"})
    assert listen(sites.other, [id], caller=Caller("token:b", SCOPES))[0] == {"taskIds": []}
    assert listen(sites.one, [id], caller=Caller("local", frozenset({"read:content"})))[0] == {"taskIds": []}


def test_to_hear_of_tasks_takes_the_extension(sites) -> None:
    """TK-07."""
    error = sites.one.ask("subscriptions/listen", {"notifications": {"taskIds": []}}, {})["error"]
    assert (error["code"], error["data"]["requiredCapabilities"]) == (errors.MISSING_CAPABILITY, {"extensions": {EXTENSION: {}}})
