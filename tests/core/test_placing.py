"""Where the work of a call is done (core.placing): what a capability answers is the same in either place, and so is what it refuses."""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from marshmallow import Schema, fields

import cmsmcp.capabilities
from cmsmcp.core.capability import Blocks, Call, tool
from cmsmcp.core.deadline import Deadline, OverBudget
from cmsmcp.core.placing import BUDGET, perform
from cmsmcp.core.ports import Site
from cmsmcp.core.registry import RegistrationError, Registry, discover
from cmsmcp.governance.policy import Override, Policy
from cmsmcp.protocol import errors
from cmsmcp.site.entries.richtext import COST
from cmsmcp.site.open import OpenSite, open_site
from tests.core.conftest import SCOPES, Bench

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "site"
CALLS: list[tuple[str, dict[str, Any]]] = [
    *(("tools/call", {"name": name, "arguments": arguments}) for name, arguments in {
        "search_content": {"query": "telescope", "limit": 3}, "list_documents": {"limit": 3}, "get_document": {"slug": "about"},
        "get_navigation": {}, "export_schema": {"format": "json-schema"}, "get_project_documentation": {"path": "README.md"},
        "get_api_documentation": {}, "get_theme_manifest": {}, "get_theme_security_report": {"name": "carnival"}, "validate_theme": {},
        "list_plugins": {}, "get_plugin_status": {"name": "guestbook"}, "get_runtime_health": {}, "validate_configuration": {"limit": 7},
    }.items()),
    *(("resources/read", {"uri": uri}) for uri in (
        "foundry://content/pages/about", "foundry://content/collections/event", "foundry://themes/nightglass/manifest",
        "foundry://themes/nightglass/security-report", "foundry://plugins", "foundry://plugins/guestbook", "foundry://runtime/health",
        "foundry://docs/README.md", "plank://content-types", "plank://locales", "plank://content-types/page/schema",
    )),
    *(("prompts/get", {"name": name, "arguments": arguments}) for name, arguments in {
        "audit_page": {"page": "visit", "lang": "de"}, "describe_content_type": {"type": "event"},
        "locale_gaps": {"locale": "ja", "type": "page"}, "summarize_changes": {"since": "2026-10-01", "lang": "en"},
    }.items()),
    ("tools/call", {"name": "validate_theme", "arguments": {"name": "nightglas"}}),
    ("tools/call", {"name": "get_plugin_status", "arguments": {"name": "none"}}),
    ("tools/call", {"name": "get_runtime_health", "arguments": {"status": "draft"}}),
    ("tools/call", {"name": "get_theme_security_report", "arguments": {"name": 3}}),
    ("resources/read", {"uri": "foundry://plugins/none"}),
    ("prompts/get", {"name": "audit_page", "arguments": {"page": "not-there"}}),
    ("prompts/get", {"name": "audit_page", "arguments": {"page": "visit", "status": "all"}}),
]  # fmt: skip


class Beside:
    """A Runner whose other process is this one: the task and its answer still pass as bytes."""

    def __init__(self, site: Callable[[], Site], registry: Registry) -> None:
        self.site = site
        self.registry = registry
        self.asked = 0

    def run(self, task: bytes, deadline: Deadline, note: Callable[[bytes], None]) -> bytes:
        self.asked += 1
        return perform(task, deadline.remaining(), note, self.site, self.registry)


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OpenSite]:
    made = open_site(EXAMPLE, tmp_path_factory.mktemp("state"))
    made.start()
    made.state.await_ready(Deadline(60))
    yield made
    made.close()


def settled(reply: Any) -> Any:
    """Without what differs from one moment to the next."""
    text = json.dumps(reply)
    for name in ("generated_at", "uptime_seconds"):
        text = "".join(part if not number else part[part.find(",") :] for number, part in enumerate(text.split(name)))
    return text


def new_bench(bench: Callable[..., Bench], opened: OpenSite, *, beside: bool, **policy: Any) -> tuple[Bench, Beside]:
    registry = discover(cmsmcp.capabilities)
    runner = Beside(lambda: opened.site, registry)
    rules = Policy(enabled=True, scopes=SCOPES, audit=True, **policy)
    every = (*registry.tools.values(), *registry.resources.values(), *registry.prompts.values())
    made = bench(*every, policy=rules, site=lambda: opened.site, runner=runner if beside else None)
    return made, runner


@pytest.mark.parametrize("place", ["isolated as declared", "everything"])
def test_an_answer_is_the_same_wherever_the_work_was_done(
    bench: Callable[..., Bench], opened: OpenSite, place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Visibility, redaction, size, errors and their codes: to the byte, but for the moment."""
    if place == "everything":
        monkeypatch.setattr("cmsmcp.core.placing.BUDGET", -1)
    here, _ = new_bench(bench, opened, beside=False)
    there, runner = new_bench(bench, opened, beside=True)
    for method, params in CALLS:
        assert settled(there.ask(method, params)) == settled(here.ask(method, params)), params
        outcomes = [dict(bench.admission.releases[-1][1] or {}) if bench.admission.releases else {} for bench in (there, here)]
        assert [outcome.get("code") for outcome in outcomes[:1]] == [outcome.get("code") for outcome in outcomes[1:]], params
    assert runner.asked >= (len(CALLS) - 3 if place == "everything" else 14)


def test_every_capability_is_among_the_calls() -> None:
    """A new one is compared too."""
    registry = discover(cmsmcp.capabilities)
    named = {params["name"] for _, params in CALLS if "name" in params}
    read = {found[0].name for _, params in CALLS if "uri" in params and (found := registry.find_resource(params["uri"]))}
    assert named | read == {*registry.tools, *registry.prompts, *(one.name for one in registry.resources.values())}


def test_what_is_too_large_is_refused_alike(bench: Callable[..., Bench], opened: OpenSite) -> None:
    """The limit is the operator's, here and there."""
    overrides = {"get_theme_manifest": Override(max_result=100)}
    replies = [new_bench(bench, opened, beside=beside, overrides=overrides)[0].call("get_theme_manifest") for beside in (False, True)]
    assert replies[0] == replies[1]
    assert "the limit is 100" in replies[0]["result"]["content"][0]["text"]


class Length(Schema):
    length = fields.Integer(load_default=0)


class Sum(Schema):
    at = fields.String()


@tool(scope="read:content", audit="tests", input=Length, output=Sum)
def reads(arguments: Any, call: Call) -> Any:
    """Reads so many bytes."""
    call.deadline.spend(arguments["length"])
    return {"at": type(call.dialogue).__name__}


def test_what_needs_more_than_the_budget_begins_again_beside(bench: Callable[..., Bench]) -> None:
    runner = Beside(lambda: Site(*[None] * 7), Registry([reads]))  # type: ignore[arg-type]
    made = bench(reads, runner=runner)
    assert not runner.asked and made.call("reads", {"length": BUDGET})["result"]["structuredContent"] == {"at": "Silence"}
    assert not runner.asked
    assert made.call("reads", {"length": BUDGET + 1})["result"]["structuredContent"] == {"at": "_Notes"}
    assert runner.asked == 1
    assert made.admission.balanced() and len(made.admission.asks) == 2


def test_where_there_is_no_runner_there_is_no_budget(bench: Callable[..., Bench]) -> None:
    assert bench(reads).call("reads", {"length": 100 * BUDGET})["result"]["structuredContent"] == {"at": "Silence"}


def test_a_budget_is_spent_by_whatever_takes_long() -> None:
    """`check` says so too: SQLite, which is stopped by it, cannot."""
    deadline = Deadline(60)
    deadline.spend(10**9)
    deadline.limit(10)
    deadline.spend(10)
    assert not deadline.is_over
    for step in (lambda: deadline.spend(1), deadline.check):
        with pytest.raises(OverBudget):
            step()
    assert deadline.is_over
    deadline.limit(None)
    deadline.check()


def test_a_body_of_32_kib_is_the_longest_that_a_worker_renders() -> None:
    assert 32 * 1024 * COST == BUDGET


@pytest.mark.parametrize("error", [
    errors.CallError("a", data={"b": 1}), errors.InvalidArguments("a", argument="b"), errors.NotFound("theme", "a", known=["ab"], hint="c"),
    errors.ContentTypeNotFound("a"), errors.ScopeRefused("a", scopes=("b", "c")), errors.Unavailable("a", retry_after=7),
    errors.ResultTooLarge(3, 2, "a"), errors.TimedOut(3), errors.CallError("a", code=7), errors.WorkLost(5),
], ids=lambda error: type(error).__name__)  # fmt: skip
def test_a_refusal_from_a_child_is_the_one_that_was_raised_there(error: errors.CallError, monkeypatch: pytest.MonkeyPatch) -> None:
    from cmsmcp.core import placing

    def fails(*_: Any) -> Any:
        raise error

    monkeypatch.setattr(placing, "fails", fails, raising=False)
    fails.__module__, fails.__qualname__ = placing.__name__, "fails"
    task = pickle.dumps((fails, None, None, frozenset(), "read:content", {}))
    answer = perform(task, 5.0, lambda _said: None, lambda: None, Registry([]))  # type: ignore[arg-type, return-value]
    with pytest.raises(type(error)) as raised:
        placing._unpacked(answer)
    assert type(raised.value) is type(error) and raised.value.message == error.message
    assert json.dumps({**vars(raised.value), "code": raised.value.code}) == json.dumps({**vars(error), "code": error.code})


def test_what_nobody_foresaw_is_told_without_its_words(caplog: pytest.LogCaptureFixture) -> None:
    answer = perform(pickle.dumps((print, None)), 5.0, lambda _said: None, lambda: None, Registry([]))  # type: ignore[arg-type, return-value]
    assert json.loads(answer) == {"broken": "ValueError"}
    assert "internal error" in caplog.text


def test_what_speaks_with_its_client_cannot_be_isolated() -> None:
    for declared in ({"talks": True}, {"blocks": True}):
        @tool(scope="read:content", audit="tests", isolated=True, output=None if "blocks" in declared else Sum, **declared)
        def speaks(arguments: Any, call: Call) -> Any:
            """Speaks."""
            return Blocks([])

        with pytest.raises(RegistrationError, match="isolated"):
            Registry([speaks])
