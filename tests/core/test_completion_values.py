"""completion/complete: which values, in which order, for whom, at what price (C-01, C-02, C-03)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from marshmallow import Schema, fields

from cmsmcp.core.capability import prompt, resource, tool
from cmsmcp.core.completion import MAX_CANDIDATES, MOST_VALUES, ranked
from cmsmcp.core.deadline import Deadline
from cmsmcp.core.ports import Caller, Verdict
from cmsmcp.governance.policy import Override, Policy
from cmsmcp.protocol import errors

SEEN: list[tuple[str, dict[str, str]]] = []


class Output(Schema):
    ok = fields.Boolean()


class Input(Schema):
    type = fields.String(metadata={"description": "Type"})
    slug = fields.String(required=True, metadata={"description": "Slug"})
    free = fields.String(metadata={"description": "Anything"})


def slugs(typed, others, call):
    SEEN.append((typed, dict(others)))
    return ["news", "about", "old-news", "NEWEST", "news", f"{others.get('type', 'any')}-new"]


def numbers(typed, others, call):
    return (f"n{number:04}" for number in range(int(others.get("count", "2000"))))


@prompt(scope="read:content", audit="test", input=Input, complete={"slug": slugs, "type": lambda t, o, c: ["page", "post"]})
def audit(arguments, call):
    """Audits."""
    return "x"


@resource(
    "test://notes/{count}/{number}", scope="read:docs", audit="test", output=Output, name="note", description="x",
    complete={"number": numbers},
)
def note(variables, call):
    """A note."""


@tool(scope="read:content", audit="test", output=Output)
def plain(arguments, call):
    """A tool."""


PROMPT = {"type": "ref/prompt", "name": "audit"}
SLUG = {"name": "slug", "value": ""}
NOTE = {"type": "ref/resource", "uri": "test://notes/{count}/{number}"}


def ask(b, ref, name, value, **context):
    params = {"ref": ref, "argument": {"name": name, "value": value}, **({"context": {"arguments": context}} if context else {})}
    return b.ask("completion/complete", params)


@pytest.fixture(autouse=True)
def _nothing_seen() -> None:
    SEEN.clear()


@pytest.fixture
def b(bench):
    return bench(audit, note, plain)


def test_what_begins_with_the_text_comes_before_what_holds_it(b) -> None:
    """C-01: ranked, without repetition, whatever the case."""
    result = ask(b, PROMPT, "slug", "New")["result"]
    assert result == {"completion": {"values": ["news", "NEWEST", "old-news", "any-new"], "hasMore": False, "total": 4}}
    assert ask(b, PROMPT, "slug", "")["result"]["completion"]["values"] == ["news", "about", "old-news", "NEWEST", "any-new"]
    assert ask(b, PROMPT, "slug", "zzz")["result"]["completion"] == {"values": [], "hasMore": False, "total": 0}


def test_the_other_arguments_reach_the_completer(b) -> None:
    """C-02: those the prompt has, without the one that is completed."""
    ask(b, PROMPT, "slug", "n", type="post", slug="old", stranger="x")
    assert SEEN == [("n", {"type": "post"})]


def test_a_hundred_values_are_sent_and_the_rest_is_said_to_be_there(b) -> None:
    """C-01: no total beyond what was looked at."""
    few = ask(b, NOTE, "number", "", count="150")["result"]["completion"]
    assert (len(few["values"]), few["hasMore"], few["total"]) == (MOST_VALUES, True, 150)
    whole = ask(b, NOTE, "number", "", count="100")["result"]["completion"]
    assert (len(whole["values"]), whole["hasMore"], whole["total"]) == (100, False, 100)
    many = ask(b, NOTE, "number", "")["result"]["completion"]
    assert (len(many["values"]), many["hasMore"], "total" in many) == (MOST_VALUES, True, False)


def test_an_argument_without_a_completer_has_no_values(b) -> None:
    assert ask(b, PROMPT, "free", "x")["result"]["completion"] == {"values": [], "hasMore": False, "total": 0}
    assert ask(b, NOTE, "count", "x")["result"]["completion"]["values"] == []


@pytest.mark.parametrize(
    ("params", "words"),
    [
        ({}, ["ref"]),
        ({"ref": {"type": "ref/tool", "name": "plain"}}, ["ref/prompt"]),
        ({"ref": {"type": ["ref/prompt"], "name": "audit"}}, ["ref/prompt"]),
        ({"ref": {"type": "ref/prompt"}}, ["name, a string"]),
        ({"ref": {"type": "ref/prompt", "name": "audt"}}, ["'audt'", "Did you mean 'audit'?", "prompts/list"]),
        ({"ref": {"type": "ref/prompt", "name": "plain"}}, ["No prompt"]),
        ({"ref": {"type": "ref/resource", "uri": "test://notes/1/2"}}, ["resources/templates/list"]),
        ({"ref": {"type": "ref/resource", "name": "note"}}, ["uri, a string"]),
        ({"ref": PROMPT}, ["argument"]),
        ({"ref": PROMPT, "argument": {"name": "slug"}}, ["value"]),
        ({"ref": PROMPT, "argument": {"name": "slug", "value": 7}}, ["strings"]),
        ({"ref": PROMPT, "argument": {"name": "slog", "value": ""}}, ["'slog'", "type, slug, free"]),
        ({"ref": PROMPT, "argument": {"name": "slug", "value": "x" * 1_001}}, ["at most 1000"]),
        ({"ref": PROMPT, "argument": SLUG, "context": []}, ["context.arguments"]),
        ({"ref": PROMPT, "argument": SLUG, "context": {"arguments": {"type": 1}}}, ["strings"]),
        ({"ref": PROMPT, "argument": SLUG, "context": {"arguments": {"type": "x" * 10_001}}}, ["at most 10000"]),
        ({"ref": PROMPT, "argument": SLUG, "context": {"arguments": dict.fromkeys(map(str, range(65)), "")}}, ["64"]),
    ],
)
def test_what_cannot_be_completed_is_refused_with_the_way_out(b, params, words) -> None:
    """C-03: validated, bounded, and paid for."""
    for reply in (b.ask("completion/complete", params), b.ask_modern("completion/complete", params)):
        assert reply["error"]["code"] == errors.INVALID_PARAMS
        assert all(word in reply["error"]["message"] for word in words), reply["error"]["message"]
    assert [ask.cost for ask in b.admission.asks] == [1, 1] and b.admission.balanced()
    assert SEEN == []


def test_completion_costs_one_and_is_no_audited_call(b) -> None:
    """docs/rules.md, Governance order: like a list."""
    ask(b, PROMPT, "slug", "n")
    [one] = b.admission.asks
    assert (one.cost, one.permit, one.intent) == (1, True, None) and one.refusal is not None
    b.admission.verdict = Verdict("rate", 1500)
    assert ask(b, PROMPT, "slug", "n")["error"]["code"] == errors.RATE_LIMITED


def test_nothing_is_named_to_a_caller_without_the_scope(bench) -> None:
    """C-03."""
    policy = Policy(enabled=True, scopes=frozenset({"read:content"}), audit=True, overrides={"audit": Override(enabled=False)})
    b = bench(audit, note, policy=policy)
    b.caller = Caller("local", frozenset({"read:content"}))
    refused = ask(b, NOTE, "number", "")["error"]
    assert refused["code"] == errors.SCOPE_REFUSED and refused["data"]["required_scopes"] == ["read:docs"]
    assert b.admission.records[0]["reason"] == "scope"
    assert ask(b, PROMPT, "slug", "n")["error"]["code"] == errors.INVALID_PARAMS
    assert SEEN == []


def test_a_value_that_looks_like_a_secret_is_not_sent(bench) -> None:
    """C-03; docs/rules.md, Redaction."""
    held = ["plain", "ghp_0123456789abcdefghijklmnopqrstuvwxyz12"]

    @prompt(scope="read:content", audit="test", input=Input, complete={"slug": lambda t, o, c: held})
    def leaky(arguments, call):
        """Names too much."""

    assert ask(bench(leaky), {"type": "ref/prompt", "name": "leaky"}, "slug", "")["result"]["completion"]["values"] == ["plain"]


@given(st.lists(st.text(alphabet="abAB-é", max_size=5), max_size=40), st.text(alphabet="abAB-é", max_size=3))
def test_every_value_holds_what_was_typed_and_prefixes_come_first(candidates: list[str], typed: str) -> None:
    values, cut = ranked(candidates, typed, Deadline(5))
    wanted = typed.casefold()
    assert not cut and len(values) == len(set(values))
    assert set(values) == {one for one in candidates if wanted in one.casefold()}
    begins = [one.casefold().startswith(wanted) for one in values]
    assert begins == sorted(begins, reverse=True)
    first = [one for one in dict.fromkeys(candidates) if one.casefold().startswith(wanted)]
    assert values[: len(first)] == first


def test_endless_candidates_end() -> None:
    def endless():
        number = 0
        while True:
            yield f"x{number}"
            number += 1

    values, cut = ranked(endless(), "x", Deadline(5))
    assert cut and len(values) == MAX_CANDIDATES
