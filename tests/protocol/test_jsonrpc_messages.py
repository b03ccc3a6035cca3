"""Bytes to messages and back (docs/rules.md, Revisions; C002, C004, C006, C008)."""

from __future__ import annotations

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cmsmcp.protocol import jsonrpc
from cmsmcp.protocol.errors import INVALID_REQUEST, PARSE_ERROR
from cmsmcp.protocol.jsonrpc import Batch, Notification, Rejection, Request, Response, parse

json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


def ping(id_text: str) -> bytes:
    return f'{{"jsonrpc":"2.0","id":{id_text},"method":"ping"}}'.encode()


@pytest.mark.parametrize(
    "text", ['"1"', '"007"', '""', "0", "-1", "1790000000123", "9007199254740993", '"id-é-日"', "18446744073709551615"]
)
def test_an_id_comes_back_with_type_and_value(text: str) -> None:
    """C002."""
    message = parse(ping(text))
    assert isinstance(message, Request)
    assert f'"id":{text},'.encode() in jsonrpc.result_reply(message.id, {})
    assert f'"id":{text},'.encode() in jsonrpc.error_reply(message.id, -1, "x")


@pytest.mark.parametrize("text", ["1.5", "1.0", "true", "false", "null", "[1]", '{"a":1}', "9" * 20, "1e3", f'"{1001 * "x"}"'])
def test_other_ids_are_refused_without_an_id(text: str) -> None:
    """C002; docs/rules.md, Revisions: an unreadable id is left out."""
    message = parse(ping(text))
    reason = "id must be a string of at most 1000 characters or a 64-bit integer."
    assert message == Rejection(INVALID_REQUEST, f"Invalid request: {reason}")
    assert "id" not in json.loads(jsonrpc.error_reply(message.id, message.code, message.message))


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"nul",
        b"{this is not json",
        b'{"jsonrpc":"2.0","id":1,"method":"ping"}}',
        b'{"jsonrpc":"2.0","id":1,"method":"ping",}',
        b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":NaN}}',
        b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":-Infinity}}',
        b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":1e999}}',
        b'{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}',
        b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":{"b":1,"b":1}}}',
        b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":"\\ud800"}}',
        b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"\\udc00":1}}',
        b'{"jsonrpc":"2.0","id":1,"method":"p\xff"}',
        b'{"jsonrpc":"2.0","id":1,"method":"\xed\xa0\x80"}',
        b'\xef\xbb\xbf{"jsonrpc":"2.0","id":1,"method":"ping"}',
        "{}".encode("utf-16"),
        b"[" * 100_000,
        b'{"a":' * 100_000,
        b"[" * 101 + b"]" * 101,
        b'{"jsonrpc":"2.0","id":1,"method":"ping","params":' + b'{"a":' * 101 + b"1" + b"}" * 101 + b"}",
    ],
    ids=lambda raw: repr(raw[:60]),
)
def test_what_is_not_strict_json_is_a_parse_error(raw: bytes) -> None:
    """C004; docs/rules.md, Revisions."""
    message = parse(raw)
    assert isinstance(message, Rejection)
    assert (message.code, message.id) == (PARSE_ERROR, None)


def test_depth_is_counted_in_brackets_outside_of_strings() -> None:
    wide = b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"s":"' + b"[{" * 500 + b'","l":[' + b"[]," * 500 + b"[]]}}"
    assert isinstance(parse(wide), Request)
    deepest = b'{"jsonrpc":"2.0","id":1,"method":"p","params":' + b'{"a":' * 99 + b"1" + b"}" * 99 + b"}"
    assert isinstance(parse(deepest), Request)


@pytest.mark.parametrize("digits", [b"1" * 5_000, b"1" * 1_000_000, b"0." + b"1" * 100_000, b"-" + b"9" * 5_000, b"1e" + b"0" * 5_000])
def test_huge_numbers_are_refused_without_cost(digits: bytes) -> None:
    began = time.process_time()
    message = parse(b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":' + digits + b"}}")
    assert isinstance(message, Rejection)
    assert message.code == PARSE_ERROR
    assert time.process_time() - began < 0.25


def test_integers_beyond_doubles_stay_exact() -> None:
    message = parse(b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":123456789012345678901234567890}}')
    assert isinstance(message, Request)
    assert message.params["x"] == 123456789012345678901234567890


@pytest.mark.parametrize(
    ("raw", "id"),
    [
        (b'"text"', None),
        (b"42", None),
        (b"null", None),
        (b"{}", None),
        (b'{"jsonrpc":"1.0","id":3,"method":"ping"}', 3),
        (b'{"jsonrpc":2.0,"id":3,"method":"ping"}', 3),
        (b'{"id":"a","method":"ping"}', "a"),
        (b'{"jsonrpc":"2.0","id":4,"method":7}', 4),
        (b'{"jsonrpc":"2.0","id":4,"method":null}', 4),
        (b'{"jsonrpc":"2.0","id":5,"method":"ping","params":[]}', 5),
        (b'{"jsonrpc":"2.0","id":5,"method":"ping","params":""}', 5),
        (b'{"jsonrpc":"2.0","id":6}', 6),
        (b'{"jsonrpc":"2.0","id":6,"result":{},"error":{}}', None),
        (b'{"jsonrpc":"2.0","id":6,"error":"x"}', None),
        (b'{"jsonrpc":"2.0","id":6,"error":null}', None),
        (b'{"jsonrpc":"2.0","id":null,"method":"ping","params":null}', None),
        (b'{"jsonrpc":"2.0","id":null,"method":"notifications/initialized"}', None),
        (b'{"jsonrpc":"1.0","id":6,"result":{}}', None),
        (b'{"jsonrpc":"2.0","id":null,"result":{}}', None),
        (b"[]", None),
        (b"[" + b",".join([ping("1")] * 50_000) + b"]", None),
    ],
    ids=lambda value: repr(value)[:60],
)
def test_json_that_is_no_message_is_an_invalid_request(raw: bytes, id: object) -> None:
    """C004, C008; the id is echoed when it could be read and is the client's own, not that of a faulty response to us."""
    message = parse(raw)
    assert isinstance(message, Rejection)
    assert (message.code, message.id) == (INVALID_REQUEST, id)


@pytest.mark.parametrize("params", [b"", b',"params":{}', b',"params":[]', b',"params":null', b',"params":7'])
def test_a_message_without_id_is_a_notification_whatever_its_params(params: bytes) -> None:
    """C006: it is never answered, so there is nothing to refuse."""
    assert parse(b'{"jsonrpc":"2.0","method":"notifications/not-a-thing"' + params + b"}") == Notification("notifications/not-a-thing")


def test_responses_are_told_from_requests() -> None:
    assert parse(b'{"jsonrpc":"2.0","id":1,"result":{"a":1}}') == Response(1, result={"a": 1})
    assert parse(b'{"jsonrpc":"2.0","id":1,"error":{"code":1}}') == Response(1, error={"code": 1})


def test_a_member_that_is_null_was_left_out() -> None:
    """Some clients write every member of their message class; `id` alone is something else when it is null (MCP, basic, Messages)."""
    assert parse(b'{"jsonrpc":"2.0","id":1,"method":"ping","params":null,"result":null,"error":null}') == Request(1, "ping")
    assert parse(b'{"jsonrpc":"2.0","id":1,"method":null,"params":null,"result":{"a":1},"error":null}') == Response(1, result={"a": 1})
    assert parse(b'{"jsonrpc":"2.0","id":1,"method":null,"result":null,"error":{"code":1}}') == Response(1, error={"code": 1})
    assert parse(b'{"jsonrpc":"2.0","id":1,"result":null}') == Response(1, result=None)


def test_the_members_of_a_batch_are_judged_one_by_one() -> None:
    """C008: [1,2] and nested arrays are members that are no messages."""
    message = parse(b"[" + ping("1") + b',2,[[]],{"jsonrpc":"2.0","method":"n"}]')
    assert isinstance(message, Batch)
    assert [type(member) for member in message.members] == [Request, Rejection, Rejection, Notification]


@given(st.binary(max_size=200))
def test_no_bytes_make_the_parser_raise(raw: bytes) -> None:
    parse(raw)


@given(st.text(alphabet='{}[]":,0123456789.eE+-\\u"truefalsn \n', max_size=80))
def test_no_json_like_text_makes_the_parser_raise(text: str) -> None:
    parse(text.encode())


@given(
    st.text() | st.integers(-(2**63), 2**64 - 1),
    st.text(),
    st.dictionaries(st.text(), json_values, max_size=5),
)
def test_what_a_strict_writer_writes_is_read_back_unchanged(id: str | int, method: str, params: dict) -> None:
    raw = json.dumps({"jsonrpc": "2.0", "id": id, "method": method, "params": params}, ensure_ascii=False).encode()
    assert parse(raw) == Request(id, method, params)


@given(json_values)
def test_replies_are_one_line_of_strict_json(value: object) -> None:
    """ST-01: no newline inside a message."""
    for body in (jsonrpc.result_reply(1, value), jsonrpc.error_reply(1, -1, str(value), {"value": value})):
        assert b"\n" not in body
        assert json.loads(body)["id"] == 1
