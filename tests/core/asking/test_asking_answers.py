"""What counts as an answer to a question of ours, and what a client must have declared to be asked (E-02, E-06, E-08, E-09, E-10)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cmsmcp.core.asking.questions import MAX_ANSWER_BYTES, as_request, check_answer, declared_for, lacking
from cmsmcp.core.dialogue import Elicit, ListRoots, Sample
from cmsmcp.protocol.errors import ProtocolError

FIELDS = {
    "name": {"type": "string", "minLength": 2, "maxLength": 5},
    "age": {"type": "integer", "minimum": 18, "maximum": 120},
    "score": {"type": "number", "maximum": 100},
    "ok": {"type": "boolean"},
    "color": {"type": "string", "enum": ["red", "green"]},
    "size": {"type": "string", "oneOf": [{"const": "s", "title": "Small"}, {"const": "l", "title": "Large"}]},
    "tags": {"type": "array", "minItems": 1, "maxItems": 2, "items": {"type": "string", "enum": ["a", "b", "c"]}},
    "marks": {"type": "array", "items": {"anyOf": [{"const": "x", "title": "X"}, {"const": "y", "title": "Y"}]}},
}
FORM = Elicit("Who?", {"type": "object", "properties": FIELDS, "required": ["name"]})
SAMPLE = Sample({"messages": [{"role": "user", "content": {"type": "text", "text": "?"}}], "maxTokens": 10})
GOOD = {"role": "assistant", "content": {"type": "text", "text": "Paris"}, "model": "m"}


def accept(**content: Any) -> dict[str, Any]:
    return {"action": "accept", "content": content}


@pytest.mark.parametrize(
    ("field", "good", "bad"),
    [
        ("name", ["ab", "abcde"], ["a", "abcdef", 5, True, ["ab"]]),
        ("age", [18, 120, 30.0], [17, 121, 30.5, "30", True]),
        ("score", [95.5, 100, -3], [100.5, "1", False]),
        ("ok", [True, False], [0, 1, "true"]),
        ("color", ["red"], ["blue", "Red", 1]),
        ("size", ["s", "l"], ["Small", "m"]),
        ("tags", [["a"], ["a", "c"]], [[], ["a", "b", "c"], ["d"], ["a", "a"], "a", [1], {"a": 1}]),
        ("marks", [[], ["x", "y"]], [["X"], [["x"]]]),
    ],
)
def test_content_is_checked_against_the_form_field_by_field(field: str, good: list[Any], bad: list[Any]) -> None:
    """E-09: every kind of primitive, enums in each spelling, floats where whole numbers are meant."""
    for value in good:
        answer = check_answer(FORM, accept(**{"name": "ab", field: value}))
        assert answer is not None and answer["content"][field] == value
    for value in bad:
        with pytest.raises(ProtocolError) as refused:
            check_answer(FORM, accept(**{"name": "ab", field: value}), "who")
        assert refused.value.code == -32602
        assert field in refused.value.message and "'who'" in refused.value.message


def test_a_whole_float_becomes_an_integer_and_unknown_fields_are_left_out() -> None:
    """E-06: extra fields are tolerated."""
    answer = check_answer(FORM, {**accept(name="ab", age=30.0, extra={"deep": 1}), "_meta": {}})
    assert answer == {"action": "accept", "content": {"name": "ab", "age": 30}}
    assert isinstance(answer["content"]["age"], int)


@pytest.mark.parametrize("content", [{}, {"age": 20}, {"name": None}, None])
def test_a_form_without_its_required_fields_is_asked_again(content: Any) -> None:
    """E-06: missing information is asked for again, not refused."""
    assert check_answer(FORM, {"action": "accept", "content": content}) is None


@pytest.mark.parametrize("action", ["decline", "cancel"])
def test_decline_and_cancel_are_told_apart_and_bring_no_content(action: str) -> None:
    """E-08."""
    assert check_answer(FORM, {"action": action, "content": {"name": "ab"}}) == {"action": action}


@pytest.mark.parametrize(
    "answer", [None, 12345, "yes", [], True, {}, {"action": "yes"}, {"action": ["accept"]}, {"action": "accept", "content": 3}]
)
def test_what_is_no_answer_is_refused(answer: Any) -> None:
    """E-06: malformed ones are -32602."""
    with pytest.raises(ProtocolError) as refused:
        check_answer(FORM, answer)
    assert refused.value.code == -32602


def test_a_sampled_message_may_have_one_block_or_several() -> None:
    assert check_answer(SAMPLE, {**GOOD, "stopReason": "endTurn", "_meta": {}}) == {**GOOD, "stopReason": "endTurn"}
    assert check_answer(SAMPLE, {**GOOD, "content": [GOOD["content"]]})
    for broken in (
        {**GOOD, "content": "Paris"},
        {**GOOD, "content": []},
        {**GOOD, "content": {"type": "text"}},
        {**GOOD, "role": "system"},
        {},
    ):
        with pytest.raises(ProtocolError):
            check_answer(SAMPLE, broken)


def test_roots_are_a_bounded_list_of_uris() -> None:
    roots = {"roots": [{"uri": "file:///a", "name": "A", "_meta": {}}, {"uri": "file:///b"}]}
    assert check_answer(ListRoots(), roots) == {"roots": [{"uri": "file:///a", "name": "A"}, {"uri": "file:///b"}]}
    for broken in ({}, {"roots": {}}, {"roots": [{}]}, {"roots": ["file:///a"]}, {"roots": [{"uri": "file:///a"}] * 201}):
        with pytest.raises(ProtocolError):
            check_answer(ListRoots(), broken)


def test_an_answer_that_is_too_large_is_refused() -> None:
    with pytest.raises(ProtocolError, match="larger than"):
        check_answer(SAMPLE, {**GOOD, "content": {"type": "text", "text": "x" * MAX_ANSWER_BYTES}})


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from([*FIELDS, "action", "content", "x"]), inner, max_size=4),
    max_leaves=8,
)


@given(st.sampled_from([FORM, SAMPLE, ListRoots()]), JSON | JSON.map(lambda value: {"action": "accept", "content": value}))
def test_any_json_is_an_answer_is_asked_again_or_is_refused(question: Any, value: Any) -> None:
    """E-06; and what is taken for an answer is one when it comes back, as it does in sealed state."""
    try:
        answer = check_answer(question, value)
    except ProtocolError as refused:
        assert refused.code == -32602
        return
    if answer is not None:
        assert isinstance(answer, Mapping)
        assert check_answer(question, answer) == answer


def test_a_form_that_no_server_may_send_is_a_fault_of_its_author() -> None:
    """E-09, E-10."""
    for properties in ({"address": {"type": "object"}}, {"api_key": {"type": "string"}}, {f"f{i}": {"type": "string"} for i in range(33)}):
        with pytest.raises(ValueError, match="form"):
            as_request(Elicit("?", {"type": "object", "properties": properties}))
    with pytest.raises(ValueError, match="requires"):
        as_request(Elicit("?", {"type": "object", "properties": {}, "required": ["name"]}))


def test_each_question_is_the_request_that_mcp_knows() -> None:
    assert as_request(FORM)["params"]["mode"] == "form"
    assert as_request(SAMPLE) == {"method": "sampling/createMessage", "params": SAMPLE.params}
    assert as_request(ListRoots()) == {"method": "roots/list", "params": {}}


@pytest.mark.parametrize(
    ("question", "declared", "able"),
    [
        (FORM, {"elicitation": {}}, True),
        (FORM, {"elicitation": {"form": {}, "url": {}}}, True),
        (FORM, {"elicitation": {"url": {}}}, False),
        (FORM, {"sampling": {}}, False),
        (FORM, {"elicitation": True}, False),
        (SAMPLE, {"sampling": {}}, True),
        (Sample({"tools": [], "messages": []}), {"sampling": {}}, False),
        (Sample({"tools": [], "messages": []}), {"sampling": {"tools": {}}}, True),
        (ListRoots(), {"roots": {"listChanged": True}}, True),
        (ListRoots(), {}, False),
    ],
)
def test_a_question_needs_its_own_capability(question: Any, declared: dict[str, Any], able: bool) -> None:
    """E-02: `elicitation: {}` means forms; sampling with tools needs `sampling.tools`."""
    assert (not lacking(declared_for(question), declared)) is able


def test_a_question_carries_no_secret() -> None:
    """docs/rules.md, Redaction: what goes to a client's user or model is what leaves."""
    private = "postgres://u:hunter22@h/db"
    form = Elicit(f"Copy {private}?", {"type": "object", "properties": {"at": {"type": "string", "default": private}}})
    sample = Sample({"messages": [{"role": "user", "content": {"type": "text", "text": private}}], "maxTokens": 10})
    for question in (form, sample):
        assert "hunter22" not in json.dumps(as_request(question))
    assert as_request(form)["params"]["message"].startswith("Copy postgres://u:") and as_request(sample)["params"]["maxTokens"] == 10
