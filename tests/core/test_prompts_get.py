"""Prompts: what is listed, what filling one in takes, and what comes back (P-01, P-02, P-03, T-15, K-01, AU-10)."""

from __future__ import annotations

import json
import threading
import time

import pytest
from marshmallow import Schema, fields
from marshmallow.validate import Length

from cmsmcp.core.capability import prompt
from cmsmcp.core.ports import Caller, Verdict
from cmsmcp.governance.policy import Override, Policy, Rate
from cmsmcp.protocol import errors

IMAGE = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII="


class Input(Schema):
    slug = fields.String(required=True, validate=Length(max=20), metadata={"description": "Slug", "title": "The slug"})
    tone = fields.String(metadata={"description": "Tone"})


@prompt(scope="read:content", audit="test", input=Input, title="Greet", version="1.2")
def greet(arguments, call):
    """Greets somebody."""
    return f"Say hello to {arguments['slug']}, {arguments.get('tone', 'kindly')}. api_key: sk-1234567890abcdefghijklmnopqrstuv"


@prompt(scope="read:docs", audit="test")
def conversation(arguments, call):
    """Several messages."""
    return [
        {"role": "user", "content": {"type": "image", "data": IMAGE, "mimeType": "image/png"}},
        {"role": "assistant", "content": {"type": "resource", "resource": {"uri": "test://x", "mimeType": "text/plain", "text": "x"}}},
    ]


@prompt(
    scope="read:content", audit="test",
    input_schema={"type": "object", "properties": {"a": {"type": "string", "description": "A"}}, "required": ["a"]},
)
def literal(arguments, call):
    """Declared by a JSON Schema alone."""
    return arguments["a"]


def get(bench, name, arguments=None):
    return bench.ask("prompts/get", {"name": name, **({"arguments": arguments} if arguments is not None else {})})


@pytest.fixture
def b(bench):
    return bench(greet, conversation, literal)


def test_prompts_are_listed_by_name_with_their_arguments(b) -> None:
    """P-01, T-03, T-15."""
    listed = b.ask("prompts/list")["result"]
    assert [entry["name"] for entry in listed["prompts"]] == ["conversation", "greet", "literal"]
    assert listed["prompts"][1] == {
        "name": "greet",
        "title": "Greet",
        "description": "Greets somebody.",
        "arguments": [
            {"name": "slug", "title": "The slug", "description": "Slug", "required": True},
            {"name": "tone", "description": "Tone", "required": False},
        ],
        "_meta": {"dev.cmsmcp/version": "1.2"},
    }
    assert listed["prompts"][0]["arguments"] == []
    assert "nextCursor" not in listed


def test_the_modern_list_says_how_long_it_keeps_and_for_whom(b) -> None:
    """K-01."""
    listed = b.ask_modern("prompts/list")["result"]
    assert (listed["resultType"], listed["cacheScope"]) == ("complete", "private") and listed["ttlMs"] > 0
    assert not {"ttlMs", "cacheScope"} & b.ask_modern("prompts/get", {"name": "conversation"})["result"].keys()


def test_a_caller_is_told_of_nothing_it_may_not_use(bench) -> None:
    """AU-10: the scope that hides a prompt also refuses it; a disabled one does not exist."""
    scopes = frozenset({"read:content", "read:docs"})
    policy = Policy(enabled=True, scopes=scopes, audit=True, overrides={"literal": Override(enabled=False)})
    b = bench(greet, conversation, literal, policy=policy)
    b.caller = Caller("local", frozenset({"read:content"}))
    assert [entry["name"] for entry in b.ask("prompts/list")["result"]["prompts"]] == ["greet"]
    refused = get(b, "conversation")["error"]
    assert refused["code"] == errors.SCOPE_REFUSED and refused["data"] == {"required_scopes": ["read:docs"]}
    assert get(b, "literal", {"a": "x"})["error"]["code"] == errors.INVALID_PARAMS
    assert "conversation" not in get(b, "conversatio")["error"]["message"]


def test_a_text_becomes_one_message_of_the_user_without_its_secrets(b) -> None:
    result = get(b, "greet", {"slug": "ada"})["result"]
    [message] = result["messages"]
    assert result["description"] == "Greets somebody."
    assert message["role"] == "user" and message["content"]["type"] == "text"
    assert message["content"]["text"].startswith("Say hello to ada, kindly.")
    assert "sk-1234567890" not in message["content"]["text"]


@pytest.mark.parametrize("blank", [None, ""])
def test_an_argument_that_was_not_filled_in_was_not_given(b, blank: object) -> None:
    """Clients show a form, and send its empty fields as null or as an empty text."""
    assert get(b, "greet", {"slug": "ada", "tone": blank}) == get(b, "greet", {"slug": "ada"})
    assert get(b, "literal", {"a": blank})["error"]["message"].startswith("a is required")


def test_messages_come_as_they_are(b) -> None:
    """O-04: bytes are no text to look for secrets in."""
    first, second = get(b, "conversation")["result"]["messages"]
    assert first == {"role": "user", "content": {"type": "image", "data": IMAGE, "mimeType": "image/png"}}
    assert second["role"] == "assistant" and second["content"]["resource"]["text"] == "x"


@pytest.mark.parametrize(
    ("name", "arguments", "words"),
    [
        ("gret", None, ["'gret'", "Did you mean 'greet'?", "prompts/list"]),
        ("greet", None, ["slug is required", "greet takes slug (required), tone"]),
        ("greet", {"slug": 7}, ["slug must be a string"]),
        ("greet", {"slug": None}, ["slug is required"]),
        ("greet", {"slug": ""}, ["slug is required"]),
        ("greet", {"slug": "x", "tune": None}, ["'tune'", "did you mean 'tone'?"]),
        ("greet", {"slug": ["a"], "tone": "x"}, ["slug must be a string"]),
        ("greet", {"slug": "x" * 21}, ["slug", "at most 20 characters"]),
        ("greet", {"slug": "x", "tune": "y"}, ["'tune'", "did you mean 'tone'?"]),
        ("greet", ["slug"], ["object"]),
        ("greet", {str(number): "x" for number in range(65)}, ["object of at most 64"]),
        ("literal", {}, ["a is required"]),
        ("literal", {"a": True}, ["a must be a string"]),
        ("literal", {"a": "x" * 10_001}, ["at most 10000"]),
        ("literal", {"a": "x", "b": "y"}, ["'b'", "literal takes a (required)"]),
        (7, None, ["name, a string"]),
    ],
)
def test_what_cannot_be_filled_in_is_refused_with_the_way_out(b, name, arguments, words) -> None:
    """P-02, P-03; in both eras -32602, and paid for."""
    for reply in (get(b, name, arguments), b.ask_modern("prompts/get", {"name": name, "arguments": arguments})):
        assert reply["error"]["code"] == errors.INVALID_PARAMS
        assert all(word in reply["error"]["message"] for word in words), reply["error"]["message"]
        assert b.outcome.status == 200
    assert len(b.admission.asks) == 2 and b.admission.balanced()


def test_a_prompt_is_governed_like_a_tool(bench) -> None:
    """docs/rules.md, Governance order: its cost, a permit, intent and outcome; the limit of its result."""
    policy = Policy(
        enabled=True, scopes=frozenset({"read:content"}), audit=True, rate=Rate(costs={"greet": 5}),
        overrides={"literal": Override(max_result=200)},
    )  # fmt: skip
    b = bench(greet, literal, policy=policy)
    get(b, "greet", {"slug": "ada"})
    [ask] = b.admission.asks
    assert (ask.cost, ask.permit) == (5, True)
    assert ask.intent is not None and ask.intent["capability"] == "greet" and ask.intent["method"] == "prompts/get"
    [(_, outcome)] = b.admission.releases
    assert outcome is not None and int(outcome["result_bytes"]) > 0
    assert get(b, "literal", {"a": "x" * 300})["error"]["code"] == errors.RESULT_TOO_LARGE
    b.admission.verdict = Verdict("rate", 1500)
    assert get(b, "greet", {"slug": "ada"})["error"]["code"] == errors.RATE_LIMITED
    assert b.outcome.status == 429


def test_a_prompt_that_takes_too_long_is_an_error(bench) -> None:
    """F43."""
    go_on = threading.Event()

    @prompt(scope="read:content", audit="test", timeout=0.1)
    def slow(arguments, call):
        """Waits."""
        go_on.wait(60)
        return "late"

    b = bench(slow)
    assert get(b, "slow")["error"]["code"] == errors.TIMED_OUT
    go_on.set()
    end = time.monotonic() + 60
    while not b.admission.balanced():
        assert time.monotonic() < end
        time.sleep(0.01)


def test_a_malformed_message_is_our_fault_and_says_nothing(bench) -> None:
    @prompt(scope="read:content", audit="test")
    def broken(arguments, call):
        """Gives rubbish."""
        return [{"role": "user", "content": {"type": "image", "data": "no base64 at all!", "mimeType": "image/png"}}]

    error = get(bench(broken), "broken")["error"]
    assert error["code"] == errors.INTERNAL_ERROR
    assert "Base64" not in json.dumps(error)


def test_pages_of_prompts_go_on_with_a_cursor(bench) -> None:
    """G-01, G-02, G-04."""
    many = [prompt(scope="read:content", audit="test", name=f"p{n:03}", description="x")(lambda a, c: "x") for n in range(130)]
    b = bench(*many)
    first = b.ask("prompts/list")["result"]
    second = b.ask("prompts/list", {"cursor": first["nextCursor"]})["result"]
    assert [entry["name"] for entry in first["prompts"] + second["prompts"]] == [f"p{n:03}" for n in range(130)]
    assert "nextCursor" not in second
    assert b.ask("prompts/list", {"cursor": "bm8"})["error"]["code"] == errors.INVALID_PARAMS
