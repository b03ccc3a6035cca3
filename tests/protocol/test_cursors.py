"""Cursors: good for their question alone, and never more than what their list gives out (G-02)."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cmsmcp.protocol import cursor as cursors
from cmsmcp.protocol.cursor import decode_cursor, encode_cursor
from cmsmcp.protocol.errors import InvalidArguments

KINDS = {
    int: st.integers(0, cursors.MAX_INTEGER),
    float: st.floats(allow_nan=False, allow_infinity=False),
    str: st.text(max_size=20),
}
VALUES = st.none() | st.integers() | st.text(max_size=20)
QUESTIONS = st.dictionaries(st.text(max_size=5), VALUES, max_size=4)
POSITIONS = st.lists(st.sampled_from(list(KINDS)), max_size=4).flatmap(
    lambda shape: st.tuples(st.just(shape), st.tuples(*(KINDS[kind] for kind in shape)).map(list))
)


def refused(question: Any, cursor: Any, shape: cursors.Shape = (str, str)) -> None:
    with pytest.raises(InvalidArguments) as refusal:
        decode_cursor(question, cursor, shape)
    assert refusal.value.data == {"argument": "cursor"}


@given(question=QUESTIONS, given_=POSITIONS)
def test_a_cursor_comes_back_for_its_question(question: Any, given_: Any) -> None:
    shape, position = given_
    assert decode_cursor(question, encode_cursor(question, position), shape) == position


@given(question=QUESTIONS, other=QUESTIONS)
def test_a_cursor_of_another_question_is_refused(question: Any, other: Any) -> None:
    cursor = encode_cursor(["list", question], ["/a/", "id"])
    for asked in (["list", other], ["search", question]):
        if asked != ["list", question]:
            refused(asked, cursor)


@given(at=st.integers(0, 10_000), sign=st.characters(codec="ascii"))
def test_a_changed_cursor_is_refused(at: int, sign: str) -> None:
    cursor = encode_cursor(["list", "page"], ["/url/", "en:page:id"])
    at %= len(cursor)
    changed = cursor[:at] + sign + cursor[at + 1 :]
    if changed != cursor:
        refused(["list", "page"], changed)


@given(cursor=st.text(max_size=80) | st.binary(max_size=60).map(lambda raw: base64.urlsafe_b64encode(raw).decode()))
def test_any_other_text_is_no_cursor(cursor: str) -> None:
    refused([], cursor)


@given(position=st.recursive(VALUES | st.booleans() | st.floats(), lambda inner: st.lists(inner, max_size=5), max_leaves=8))
def test_a_forged_position_of_another_shape_is_refused(position: Any) -> None:
    """The checksum keeps nobody from making one: what comes out is still of the shape that its list gives out."""
    try:
        cursor = encode_cursor([], position if isinstance(position, list) else [position])
    except UnicodeEncodeError:
        return
    for shape in ((str, str), (int, float, str), (int, str), (str,)):
        try:
            found = decode_cursor([], cursor, shape)
        except InvalidArguments:
            continue
        assert len(found) == len(shape)
        assert all(isinstance(value, kind) and not isinstance(value, bool) for value, kind in zip(found, shape, strict=True))


@pytest.mark.parametrize(
    ("text", "shape"),
    [
        ("[NaN]", (float,)), ("[1e999]", (float,)), ("[-Infinity]", (float,)), ("[9007199254740992]", (int,)), ("[-1]", (int,)),
        ("[true]", (int,)), ("[1]", (float,)), ('["\\ud800"]', (str,)), ("7", (int,)), ('{"0":1}', (int,)), ("[1,1]", (int,)),
        ("[", (int,)), ("[" * 5_000, (int,)), ("[" + "9" * 5_000 + "]", (int,)), ("", ()),
    ],
)  # fmt: skip
def test_forged_values_out_of_range_are_refused(text: str, shape: cursors.Shape) -> None:
    payload = text.encode()
    refused([], base64.urlsafe_b64encode(cursors._checksum([], payload) + payload).rstrip(b"=").decode(), shape)


def test_a_cursor_over_the_bound_and_what_is_no_text_are_refused() -> None:
    longest = "x" * cursors.MAX_CURSOR
    for cursor in (encode_cursor([], [longest]), None, 7, [], json.loads("{}")):
        refused([], cursor, (str,))
