"""One governed call: the order of checks, what each failure looks like, and what governance sees of it."""

from __future__ import annotations

import json
import re
import threading
import time

import pytest
from marshmallow import Schema, fields
from marshmallow.validate import Range

from cmsmcp.core.capability import Text, resource, tool
from cmsmcp.core.ports import Caller, Verdict
from cmsmcp.core.session import Connection
from cmsmcp.governance.policy import Override, Policy, Rate
from cmsmcp.governance.scopes import READ_SCOPES, READ_UNPUBLISHED
from cmsmcp.protocol import errors
from cmsmcp.state.memory.admission import MemoryAdmission
from tests.waiting import until

ran: list[object] = []


class Words(Schema):
    text = fields.String(required=True)
    times = fields.Integer(strict=True, load_default=1, validate=Range(1, 5))


class Said(Schema):
    said = fields.String(required=True)
    token = fields.String()


@tool(scope="read:content", audit="test.echo", input=Words, output=Said)
def echo(arguments, call):
    """Says it again."""
    ran.append(arguments)
    return {"said": arguments["text"] * arguments["times"], "undeclared": "never leaves"}


@tool(scope="read:content", audit="test.secret", output=Said)
def leaky(arguments, call):
    """Holds a secret."""
    return {"said": "ok", "token": "s3cr3t-value-of-a-token"}


@tool(scope="read:content", audit="test.secret", output=Said)
def long_secret(arguments, call):
    """Would be short without it."""
    return {"said": "ok", "token": "s3cr3t" * 50_000}


@tool(scope="read:ops", audit="test.ops", output=Said)
def operate(arguments, call):
    """For operators."""
    return {"said": "ok"}


@tool(scope="read:content", audit="test.missing", output=Said)
def missing(arguments, call):
    """Finds nothing."""
    raise errors.NotFound("page", "abuot", known=["about"])


@tool(scope="read:content", audit="test.broken", output=Said)
def broken(arguments, call):
    """Fails."""
    raise RuntimeError("/srv/secret/path.py exploded")


@tool(scope="read:docs", audit="test.faulty", output=Said)
def faulty(arguments, call):
    """Meets a faulty file."""
    raise errors.CallError("docs/x.yaml, line 3: a colon is missing.", data={"path": "docs/x.yaml"})


@tool(scope="read:content", audit="test.unpublished", output=Said)
def peek(arguments, call):
    """Asks for drafts."""
    call.visibility("draft")
    return {"said": "seen"}


@resource("test://note/{name}", scope="read:content", audit="test.note", output=Said, indent=True)
def note(variables, call):
    """A note."""
    if variables["name"] == "absent":
        raise errors.NotFound("note", "absent")
    if variables["name"] == "untyped":
        raise errors.ContentTypeNotFound("untyped")
    if variables["name"] == "unfit":
        raise errors.InvalidArguments("No note is called 'unfit'.", argument="name")
    return {"said": variables["name"]}


@resource("test://file/{+path}", scope="read:docs", audit="test.file", mime_type="text/plain")
def file(variables, call):
    """A file."""
    return Text(variables["path"], "text/markdown")


ALL = (echo, leaky, operate, missing, broken, faulty, peek, note, file)


def test_a_call_returns_declared_keys_as_text_and_structure(bench) -> None:
    """C025, O-01, O-02, F43 aside: what is not in the output schema never leaves."""
    b = bench(*ALL)
    result = b.call("echo", {"text": "ab", "times": 2})["result"]
    assert result["structuredContent"] == {"said": "abab"}
    assert json.loads(result["content"][0]["text"]) == result["structuredContent"]
    assert "isError" not in result


def test_a_call_is_admitted_once_and_released_once_with_intent_and_outcome(bench) -> None:
    """docs/rules.md, Governance order: cost 1, a permit, intent and outcome."""
    b = bench(*ALL)
    b.call("echo", {"text": "ab"})
    [ask] = b.admission.asks
    assert (ask.cost, ask.permit, ask.client, ask.lease_ms) == (1, True, "local", 15_000)
    assert ask.intent is not None
    assert ask.intent["phase"] == "intent"
    [(released, outcome)] = b.admission.releases
    assert released == ask
    assert outcome is not None
    assert (outcome["phase"], outcome["capability"]) == ("outcome", "echo")
    assert outcome["result_bytes"] == str(len('{"said":"ab"}'))
    assert "reason" not in outcome


def test_without_audit_nothing_is_recorded(bench) -> None:
    b = bench(*ALL, policy=Policy(enabled=True, audit=False, scopes=frozenset({"read:content"})))
    b.call("echo", {"text": "ab"})
    b.call("operate")
    [ask] = b.admission.asks
    assert (ask.intent, ask.refusal, b.admission.releases[0][1], b.admission.records) == (None, None, None, [])


def test_a_fault_that_a_tool_can_name_is_a_result_that_says_so(bench) -> None:
    """T-11: a file of the site is broken, which is no internal error of ours."""
    b = bench(*ALL, policy=Policy(enabled=True, audit=True, scopes=frozenset({"read:docs"})))
    result = b.call("faulty")["result"]
    assert result["isError"] is True
    assert result["content"][0]["text"] == "docs/x.yaml, line 3: a colon is missing."


def test_an_operators_cost_timeout_and_size_apply(bench) -> None:
    overrides = {"echo": Override(timeout=2, max_result=20)}
    policy = Policy(enabled=True, audit=True, scopes=frozenset({"read:content"}), rate=Rate(costs={"echo": 7}), overrides=overrides)
    b = bench(*ALL, policy=policy)
    assert b.call("echo", {"text": "x" * 8})["result"]["structuredContent"] == {"said": "x" * 8}
    [ask] = b.admission.asks
    assert (ask.cost, ask.lease_ms) == (7, 7_000)
    result = b.call("echo", {"text": "x" * 10})["result"]
    assert result["isError"] is True
    assert "21 bytes; the limit is 20" in result["content"][0]["text"]
    outcome = b.admission.releases[1][1]
    assert (outcome["reason"], outcome["code"]) == ("size", "4130")


def test_a_disabled_capability_is_as_unknown_as_one_that_never_was(bench) -> None:
    b = bench(*ALL, policy=Policy(enabled=True, scopes=frozenset({"read:content"}), overrides={"echo": Override(enabled=False)}))
    disabled, unknown = b.call("echo")["error"], b.call("zzzz")["error"]
    assert disabled["code"] == unknown["code"] == errors.INVALID_PARAMS
    assert "echo" not in [entry["name"] for entry in b.ask("tools/list")["result"]["tools"]]


def test_an_unknown_tool_is_a_protocol_error_with_the_nearest_name(bench) -> None:
    """T-09."""
    b = bench(*ALL)
    error = b.call("ecko")["error"]
    assert error["code"] == errors.INVALID_PARAMS
    assert "'echo'" in error["message"]
    assert [ask.permit for ask in b.admission.asks] == [False], "an unknown name still costs a unit"


@pytest.mark.parametrize("params", [{}, {"name": 7}, {"name": None}, {"name": "echo", "arguments": []}, {"name": "echo", "arguments": "x"}])
def test_malformed_call_params_are_protocol_errors(bench, params) -> None:
    """T-10."""
    assert bench(*ALL).ask("tools/call", params)["error"]["code"] == errors.INVALID_PARAMS


def test_scope_comes_before_admission_and_arguments(bench) -> None:
    """F38: a scope that is off is denied; the refusal is recorded, the rate untouched."""
    b = bench(*ALL)
    b.caller = Caller("local", frozenset({"read:content"}))
    error = b.call("operate", {"unknown": 1})["error"]
    assert (error["code"], error["data"]) == (errors.SCOPE_REFUSED, {"required_scopes": ["read:ops"]})
    assert (b.outcome.status, b.outcome.scopes) == (403, ("read:ops",))
    assert b.admission.asks == []
    assert [(record["phase"], record["reason"]) for record in b.admission.records] == [("refusal", "scope")]


@pytest.mark.parametrize(
    ("verdict", "code", "retry", "status"),
    [
        (Verdict("rate", retry_after_ms=1_500), errors.RATE_LIMITED, 2, 429),
        (Verdict("concurrency", retry_after_ms=0), errors.CONCURRENCY_LIMITED, 1, 429),
        (Verdict("streams", retry_after_ms=5_000), errors.STREAMS_LIMITED, 5, 503),
        (Verdict("revoked"), errors.TOKEN_REVOKED, None, 401),
    ],
)
def test_a_refused_call_never_runs(bench, verdict, code, retry, status) -> None:
    """F45, C063: rejected, never queued; whole seconds of at least 1, the same in the body."""
    b = bench(*ALL)
    b.admission.verdict = verdict
    ran.clear()
    error = b.call("echo", {"text": "x"})["error"]
    assert error["code"] == b.outcome.code == code
    assert (b.outcome.retry_after, b.outcome.status) == (retry, status)
    assert error.get("data", {}).get("retry_after") == retry
    assert ran == []
    assert b.admission.releases == []
    assert b.admission.asks[0].refusal is not None


def test_a_governance_that_cannot_decide_serves_nothing(bench) -> None:
    b = bench(*ALL)

    def unreachable(ask):
        raise errors.Unavailable("Governance cannot be reached. Try again.", retry_after=3)

    b.admission.admit = unreachable
    error = b.call("echo", {"text": "x"})["error"]
    assert (error["code"], b.outcome.status, b.outcome.retry_after) == (errors.GOVERNANCE_UNAVAILABLE, 503, 3)


def test_a_release_that_cannot_be_delivered_does_not_lose_the_answer(bench) -> None:
    b = bench(*ALL)

    def unreachable(event_id, outcome):
        raise errors.Unavailable("gone")

    b.admission.release = unreachable
    assert b.call("echo", {"text": "x"})["result"]["structuredContent"] == {"said": "x"}


def test_bad_arguments_are_a_result_the_model_can_mend(bench) -> None:
    """T-11."""
    b = bench(*ALL)
    result = b.call("echo", {"txt": "x", "times": 9})["result"]
    assert result["isError"] is True
    assert "structuredContent" not in result
    text = result["content"][0]["text"]
    assert "\n" not in text
    for part in ("Unknown argument 'txt'; did you mean 'text'?", "text is required: a string.", "times must be an integer from 1 to 5."):
        assert part in text
    assert b.admission.releases[0][1]["reason"] == "arguments"
    assert b.admission.balanced()


def test_a_tool_that_takes_nothing_refuses_anything_by_name(bench) -> None:
    result = bench(*ALL).call("leaky", {"x": 1})["result"]
    assert result["isError"] is True
    assert "'x'" in result["content"][0]["text"]


def test_not_found_is_a_result_with_the_nearest_name(bench) -> None:
    result = bench(*ALL).call("missing")["result"]
    assert result["isError"] is True
    assert "'about'" in result["content"][0]["text"]


def test_secrets_are_masked_in_text_and_structure_alike(bench) -> None:
    """F40, C054."""
    raw = json.dumps(bench(*ALL).call("leaky"))
    assert "s3cr3t" not in raw


def test_a_crash_shows_a_reference_and_nothing_else(bench, caplog) -> None:
    """-32603, sanitized; the reference is in the log."""
    b = bench(*ALL)
    error = b.call("broken")["error"]
    assert error["code"] == errors.INTERNAL_ERROR
    reference = error["message"].removeprefix("Internal error (reference ").removesuffix(")")
    assert reference.isalnum()
    assert "data" not in error
    assert reference in caplog.text
    assert b.admission.releases[0][1]["code"] == str(errors.INTERNAL_ERROR)


def test_work_that_exits_ends_the_call_and_nothing_else(bench) -> None:
    @tool(scope="read:content", audit="test.exit", output=Said)
    def leave(arguments, call):
        """Exits."""
        raise SystemExit(3)

    b = bench(leave)
    assert b.call("leave")["error"]["code"] == errors.INTERNAL_ERROR
    assert b.admission.balanced()


def test_an_admission_that_crashes_is_an_internal_error(bench) -> None:
    b = bench(*ALL)

    def crash(ask):
        raise RuntimeError("no")

    b.admission.admit = crash
    for method in ("ping", "no/such", "tools/list"):
        assert b.ask(method)["error"]["code"] == errors.INTERNAL_ERROR
    assert b.call("echo", {"text": "x"})["error"]["code"] == errors.INTERNAL_ERROR


def test_asking_for_drafts_without_the_scope_is_a_scope_error(bench) -> None:
    b = bench(*ALL)
    error = b.call("peek")["error"]
    assert (error["code"], error["data"]) == (errors.SCOPE_REFUSED, {"required_scopes": ["read:content", "read:unpublished"]})


@pytest.mark.parametrize("held", [{"read:content"}, {"read:unpublished"}, {"read:ops"}])
def test_a_token_made_as_a_refusal_says_is_not_refused_again(bench, held: set[str]) -> None:
    """Every scope the call needs is named at once, whichever is missed first."""

    @tool(scope="read:content", audit="test.any", output=Said, input=Schema.from_dict({"status": fields.String()}))
    def listed(arguments, call):
        """Lists."""
        call.visibility(arguments.get("status"))
        return {"said": "seen"}

    b = bench(listed, policy=Policy(enabled=True, scopes=READ_SCOPES | {READ_UNPUBLISHED}))
    b.caller = Caller("x", frozenset(held), frozenset({"*"}))
    error = b.call("listed", {"status": "draft"})["error"]
    assert error["data"]["required_scopes"] == ["read:content", "read:unpublished"]
    flags = re.findall(r"--scope ([a-z:]+)", error["message"])
    b.caller = Caller("x", frozenset(flags), frozenset({"*"}))
    assert b.call("listed", {"status": "draft"})["result"]["structuredContent"] == {"said": "seen"}


def test_the_size_limit_measures_one_copy_of_a_result(bench) -> None:
    """docs/rules.md, Limits: what leaves of a tool is that copy as structure, and again as text; in 2025-03-26 as text alone."""
    b = bench(*ALL)
    text = "x" * 200_000
    for revision, copies in (("2025-11-25", 2), ("2025-06-18", 2), ("2025-03-26", 1)):
        b.connection = Connection(revision)
        result = b.call("echo", {"text": text})["result"]
        assert not result.get("isError")
        assert b.outcome.body is not None and b.outcome.body.count(text.encode()) == copies
        assert len(json.dumps(json.loads(result["content"][0]["text"]), separators=(",", ":"))) < 262_144 < 2 * len(text)
    refused = b.call("echo", {"text": text, "times": 2})["result"]
    size = len('{"said":""}') + 2 * len(text)
    assert refused["isError"] and f"{size} bytes; the limit is 262144" in refused["content"][0]["text"]


def test_a_suggestion_names_only_tools_this_caller_is_told_of(bench) -> None:
    """A tool that is switched off does not suggest itself, nor does one beyond the token."""
    off = {"echo": Override(enabled=False)}
    b = bench(*ALL, policy=Policy(enabled=True, scopes=READ_SCOPES, overrides=off))
    for asked, told in (("echo", None), ("operat", None), ("leeky", "leaky")):
        b.caller = Caller("x", frozenset({"read:content"}))
        message = b.call(asked)["error"]["message"]
        assert (f"Did you mean {told!r}?" in message) if told else ("Did you mean" not in message), message


def test_a_resource_is_indented_json_with_its_uri_echoed(bench) -> None:
    """P19."""
    b = bench(*ALL)
    [content] = b.ask("resources/read", {"uri": "test://note/a%62c"})["result"]["contents"]
    assert content == {"uri": "test://note/a%62c", "mimeType": "application/json", "text": '{\n  "said": "abc"\n}'}


@pytest.mark.parametrize("modern", [False, True])
@pytest.mark.parametrize("name", ["absent", "untyped", "unfit"])
def test_the_audit_of_a_missing_resource_has_the_code_the_client_got(bench, name: str, modern: bool) -> None:
    """docs/audit.md, `code`; R-02, A-03: the revisions differ in it."""
    b = bench(note)
    ask = b.ask_modern if modern else b.ask
    error = ask("resources/read", {"uri": f"test://note/{name}"})["error"]
    _, outcome = b.admission.releases[-1]
    assert outcome["code"] == str(error["code"]) and outcome["reason"] in ("not found", "arguments")


def test_a_text_resource_names_its_own_media_type(bench) -> None:
    [content] = bench(*ALL).ask("resources/read", {"uri": "test://file/a/b.md"})["result"]["contents"]
    assert (content["mimeType"], content["text"]) == ("text/markdown", "a/b.md")


@pytest.mark.parametrize("uri", ["test://note/absent", "test://note/unfit", "test://nothing", "foundry-plugin://x", "a b"])
def test_a_missing_resource_has_the_code_of_its_era_and_the_uri(bench, uri) -> None:
    """R-02, R-03."""
    b = bench(*ALL)
    legacy, modern = b.ask("resources/read", {"uri": uri})["error"], b.ask_modern("resources/read", {"uri": uri})["error"]
    assert (legacy["code"], legacy["data"]) == (errors.RESOURCE_NOT_FOUND_LEGACY, {"uri": uri})
    assert (modern["code"], modern["data"]) == (errors.INVALID_PARAMS, {"uri": uri})


def test_an_unknown_content_type_keeps_planks_message_in_both_eras(bench) -> None:
    """P25, A-03."""
    b = bench(*ALL)
    uri = "test://note/untyped"
    legacy, modern = b.ask("resources/read", {"uri": uri})["error"], b.ask_modern("resources/read", {"uri": uri})["error"]
    for error, code in ((legacy, -32004), (modern, errors.INVALID_PARAMS)):
        assert error == {"code": code, "message": "Content type not found", "data": {"slug": "untyped", "uri": uri}}


@pytest.mark.parametrize("params", [{}, {"uri": 7}, {"uri": ""}, {"uri": "test://" + "x" * 9_000}])
def test_a_read_needs_a_uri_of_sane_length(bench, params) -> None:
    assert bench(*ALL).ask("resources/read", params)["error"]["code"] == errors.INVALID_PARAMS


@pytest.mark.parametrize("params", [{}, {"name": 7}, {"name": "echo", "arguments": ["x"]}])
def test_a_malformed_call_costs_a_unit_like_an_answer(bench, params: dict) -> None:
    """docs/rules.md, Governance order: a flood of them is not free."""
    b = bench(*ALL)
    assert b.ask("tools/call", params)["error"]["code"] == -32602
    assert [(ask.cost, ask.permit) for ask in b.admission.asks] == [(1, False)] and b.admission.balanced()


@pytest.mark.parametrize("unit", ["x", "\0", "é", "😀", '"', "\\"])
@pytest.mark.parametrize("over", [0, 1])
def test_the_size_cap_is_exact_in_encoded_bytes(bench, unit, over) -> None:
    """F42, F43: escapes and UTF-8 count as they are sent; nothing is cut."""
    size = len(json.dumps({"said": unit * 50}, ensure_ascii=False, separators=(",", ":")).encode())
    policy = Policy(enabled=True, scopes=frozenset({"read:content"}), overrides={"echo": Override(max_result=size - over)})
    result = bench(*ALL, policy=policy).call("echo", {"text": unit * 50})["result"]
    assert bool(result.get("isError")) is bool(over)
    if over:
        assert f"{size} bytes; the limit is {size - 1}" in result["content"][0]["text"]


def test_a_late_call_is_answered_at_once_and_keeps_its_permit_until_it_stops(bench) -> None:
    """docs/rules.md, Governance order: a permit is held until the work has stopped."""
    stopped, go = threading.Event(), threading.Event()

    @tool(scope="read:content", audit="test.stuck", output=Said, timeout=0.1)
    def stuck(arguments, call):
        """Ignores its deadline."""
        go.wait(60)
        stopped.set()
        return {"said": "late"}

    b = bench(stuck)
    began = time.monotonic()
    result = b.call("stuck")["result"]
    assert time.monotonic() - began < 50
    assert result["isError"] is True
    assert "0.1 s" in result["content"][0]["text"]
    assert b.admission.releases == []
    go.set()
    assert stopped.wait(60)
    end = time.monotonic() + 60
    while not b.admission.balanced() and time.monotonic() < end:
        time.sleep(0.01)
    [(_, outcome)] = b.admission.releases
    assert (outcome["reason"], outcome["code"]) == ("timeout", str(errors.TIMED_OUT))


class Forgetful:
    def append(self, record) -> None:
        """An audit that nobody reads."""


class Stuck:
    """A tool that ignores its deadline until `go`; `running` counts those at work."""

    def __init__(self) -> None:
        self.go = threading.Event()
        self.running = 0
        self.most = 0

        @tool(scope="read:content", audit="test.stuck", output=Said, timeout=0.05)
        def stuck(arguments, call):
            """Ignores its deadline."""
            self.running += 1
            self.most = max(self.most, self.running)
            self.go.wait(60)
            self.running -= 1
            return {"said": "late"}

        self.tool = stuck


def test_work_that_outlives_its_lease_keeps_its_permit(bench, monkeypatch) -> None:
    """docs/rules.md, Governance order: with a cap of 1, never two at once, however late the one is."""
    monkeypatch.setattr("cmsmcp.core.entry.LEASE_MARGIN_MS", 100)
    stuck = Stuck()
    policy = Policy(enabled=True, audit=True, scopes=frozenset({"read:content"}), max_concurrency=1, rate=Rate(60_000, 60_000))
    first, b = bench(stuck.tool, policy=policy), bench(stuck.tool, policy=policy)  # two processes with one store
    first.admission = b.admission = MemoryAdmission(policy, Forgetful())
    assert first.call("stuck")["result"]["isError"] is True
    end = time.monotonic() + 1.0  # many leases of 150 ms
    while time.monotonic() < end:
        assert b.call("stuck")["error"]["code"] == errors.CONCURRENCY_LIMITED
        time.sleep(0.01)
    assert stuck.most == 1
    stuck.go.set()
    until(lambda: "result" in b.call("stuck"))


def test_work_that_ends_in_time_is_never_renewed(bench) -> None:
    b = bench(*ALL)
    b.call("echo", {"text": "x"})
    assert (len(b.service.ports.overdue), b.admission.renewals) == (0, [])


def test_a_process_full_of_stuck_work_takes_no_more(bench) -> None:
    """Also when the store has forgotten their permits: threads cannot be killed, so their number must be bounded here."""
    stuck = Stuck()
    b = bench(stuck.tool, echo, policy=Policy(enabled=True, audit=True, scopes=frozenset({"read:content"}), max_concurrency=2))
    for _ in range(2):
        assert b.call("stuck")["result"]["isError"] is True
    for name in ("stuck", "echo"):
        assert b.call(name, {"text": "x"})["error"]["code"] == b.outcome.code == errors.CONCURRENCY_LIMITED
        assert (b.outcome.status, b.outcome.retry_after) == (429, 1)
    assert b.ask("tools/list")["error"]["code"] == errors.CONCURRENCY_LIMITED
    assert b.ask("ping")["result"] == {}, "what needs no permit is answered"
    assert [(record["reason"], record["code"]) for record in b.admission.records] == [("concurrency", "4291")] * 3
    assert stuck.most == 2
    stuck.go.set()
    until(lambda: len(b.service.ports.overdue) == 0)
    assert b.call("echo", {"text": "x"})["result"]["structuredContent"] == {"said": "x"}


def test_no_reply_leaves_before_its_permit_is_given_back(bench) -> None:
    """docs/rules.md, Governance order: release and outcome before the reply's first byte."""
    b = bench(*ALL)
    releasing, go, replies = threading.Event(), threading.Event(), []
    written = b.admission.release

    def slow(event_id, outcome):
        releasing.set()
        go.wait(60)
        written(event_id, outcome)

    b.admission.release = slow
    caller = threading.Thread(target=lambda: replies.append(b.call("echo", {"text": "x"})))
    caller.start()
    assert releasing.wait(60)
    caller.join(0.2)
    assert caller.is_alive() and replies == []
    go.set()
    caller.join(60)
    assert replies[0]["result"]["structuredContent"] == {"said": "x"} and b.admission.balanced()


def test_secrets_are_masked_in_a_text_resource(bench) -> None:
    """F40."""
    [content] = bench(*ALL).ask("resources/read", {"uri": "test://file/password%3D%20s3cr3t-value-9/x"})["result"]["contents"]
    assert "s3cr3t" not in content["text"]


def test_a_call_that_heeds_its_deadline_stops_itself(bench) -> None:
    @tool(scope="read:content", audit="test.loop", output=Said, timeout=0.05)
    def loop(arguments, call):
        """Checks its deadline."""
        while True:
            call.deadline.check()

    b = bench(loop)
    assert b.call("loop")["result"]["isError"] is True
    end = time.monotonic() + 60
    while not b.admission.balanced() and time.monotonic() < end:
        time.sleep(0.01)
    assert b.admission.balanced()


def test_a_cancelled_call_stops_and_says_nothing(bench) -> None:
    """C013, ST-08, X-01: nothing is sent, the permit is freed."""
    running = threading.Event()

    @tool(scope="read:content", audit="test.wait", output=Said)
    def wait(arguments, call):
        """Waits to be cancelled."""
        running.set()
        while True:
            call.deadline.check()

    b = bench(wait)
    raw = json.dumps({"jsonrpc": "2.0", "id": "w", "method": "tools/call", "params": {"name": "wait"}}).encode()
    pending = b.service.begin(raw, b.caller, b.connection)
    replies: list[object] = []
    thread = threading.Thread(target=lambda: replies.append(pending().body))
    thread.start()
    assert running.wait(60)
    for request_id in ("never-sent", None, True, "w", "w"):
        b.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": request_id}})
    thread.join(60)
    assert replies == [None]
    end = time.monotonic() + 60
    while not b.admission.balanced() and time.monotonic() < end:
        time.sleep(0.01)
    assert b.admission.releases[0][1]["reason"] == "cancelled"


def test_a_call_cancelled_before_it_began_never_runs(bench) -> None:
    b = bench(*ALL)
    ran.clear()
    raw = json.dumps({"jsonrpc": "2.0", "id": 5, "method": "tools/call", "params": {"name": "echo", "arguments": {"text": "x"}}}).encode()
    pending = b.service.begin(raw, b.caller, b.connection)
    b.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 5}})
    assert pending().body is None
    assert ran == []
    assert b.admission.balanced()


def test_an_id_in_flight_is_taken_until_it_is_answered(bench) -> None:
    """ST-13; 1 and "1" are different ids."""
    b = bench(*ALL)
    raw = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "echo", "arguments": {"text": "x"}}}).encode()
    pending = b.service.begin(raw, b.caller, b.connection)
    assert b.ask("ping", id=1)["error"]["code"] == errors.INVALID_REQUEST
    assert b.ask("ping", id="1")["result"] == {}
    assert json.loads(pending().body)["result"]["structuredContent"] == {"said": "x"}
    assert b.ask("ping", id=1)["result"] == {}


def test_a_result_is_measured_before_its_secrets_are_looked_for(bench) -> None:
    """docs/rules.md, Governance order: redaction takes time for each byte, and a worker answers nobody meanwhile."""
    reply = bench(long_secret).call("long_secret")
    assert reply["result"]["isError"]
    assert re.search(r"The result is 3000\d\d bytes; the limit is 262144", reply["result"]["content"][0]["text"])
