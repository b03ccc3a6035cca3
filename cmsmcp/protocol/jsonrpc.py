"""JSON-RPC 2.0 as MCP uses it: bytes to a frozen message, reply values to bytes. Knows no method and no revision.

Strict where leniency is a hole (docs/rules.md, Revisions): UTF-8 only, no NaN or Infinity, no duplicate keys, bounded depth and
numbers, no lone surrogates, ids that are strings or integers. A member that is null counts as left out, except `id`. orjson proves
the bytes well-formed, at a bounded depth, before the standard library reads them; only the latter keeps integers exact and shows
duplicate keys.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeGuard

import orjson

from cmsmcp.protocol.errors import INVALID_REQUEST, PARSE_ERROR
from cmsmcp.protocol.linebreaks import escape_line_breaks

MAX_DEPTH = 100
MAX_BATCH = 50
MAX_DIGITS = 400
ID_RANGE = range(-(2**63), 2**64)
MAX_ID = 1_000
"""Characters of an id that is a string: it comes back with every message of the stream that its request opens."""

Id = str | int


@dataclass(frozen=True, slots=True)
class Request:
    id: Id
    method: str
    params: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Notification:
    """Never answered, so its params are not judged here: anything but an object counts as empty."""

    method: str
    params: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Response:
    """A client's answer to a request of ours; exactly one of `result` and `error` is set."""

    id: Id
    result: Any = None
    error: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Rejection:
    """What arrived is no message. The reply carries `id`: None when it could not be read, or is one of ours, in a faulty response."""

    code: int
    message: str
    id: Id | None = None


@dataclass(frozen=True, slots=True)
class Batch:
    """A JSON array. Only revision 2025-03-26 has batches; elsewhere the whole array is refused unread."""

    members: tuple[Request | Notification | Response | Rejection, ...]


Message = Request | Notification | Response | Batch | Rejection


def parse(raw: bytes) -> Message:
    """Read one message of the wire. Never raises."""
    try:
        value = _decode(raw)
    except (ValueError, RecursionError):
        return Rejection(PARSE_ERROR, "Parse error: the message is not strict JSON in UTF-8.")
    if isinstance(value, list):
        return _batch(value)
    return _message(value)


def result_reply(id: Id, result: Any) -> bytes:
    """Encode a result. `orjson.Fragment` values are written as they are. Raises TypeError on what JSON cannot say."""
    return _encode({"jsonrpc": "2.0", "id": id, "result": result})


def error_reply(id: Id | None, code: int, message: str, data: Mapping[str, Any] | None = None) -> bytes:
    """Encode an error; without `id` when the request's could not be read (`id: null` fails the MCP schema)."""
    error: dict[str, Any] = {"code": code, "message": message}
    if data:
        error["data"] = data
    return _encode({"jsonrpc": "2.0", "error": error} if id is None else {"jsonrpc": "2.0", "id": id, "error": error})


def notification(method: str, params: Mapping[str, Any]) -> bytes:
    """Encode a notification of ours; empty `params` are left out."""
    return _encode({"jsonrpc": "2.0", "method": method, "params": params} if params else {"jsonrpc": "2.0", "method": method})


def batch_reply(replies: list[bytes]) -> bytes:
    return b"[" + b",".join(replies) + b"]"


def _encode(message: Mapping[str, Any]) -> bytes:
    return escape_line_breaks(orjson.dumps(message))


def _decode(raw: bytes) -> Any:
    orjson.loads(raw)
    value = _EXACT.decode(raw.decode("utf-8"))
    if raw.count(b"[") + raw.count(b"{") > MAX_DEPTH:
        _refuse_depth(value)
    return value


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("duplicate key")
    return found


def _integer(digits: str) -> int:
    if len(digits) > MAX_DIGITS:
        raise ValueError("number too long")
    return int(digits)


def _float(digits: str) -> float:
    if len(digits) > MAX_DIGITS:
        raise ValueError("number too long")
    return float(digits)


_EXACT = json.JSONDecoder(object_pairs_hook=_object, parse_int=_integer, parse_float=_float)


def _refuse_depth(value: Any) -> None:
    level = [value] if isinstance(value, dict | list) else []
    for _ in range(MAX_DEPTH):
        children = (node.values() if isinstance(node, dict) else node for node in level)
        level = [child for some in children for child in some if isinstance(child, dict | list)]
        if not level:
            return
    raise ValueError("too deep")


def _batch(values: list[Any]) -> Batch | Rejection:
    if not values:
        return Rejection(INVALID_REQUEST, "Invalid request: the batch is empty.")
    if len(values) > MAX_BATCH:
        return Rejection(INVALID_REQUEST, f"Invalid request: the batch holds {len(values)} messages; at most {MAX_BATCH}.")
    return Batch(tuple(_message(value) for value in values))


def _message(value: Any) -> Request | Notification | Response | Rejection:
    if not isinstance(value, dict):
        return Rejection(INVALID_REQUEST, "Invalid request: a message is a JSON object.")
    id = value.get("id")
    readable = id if is_id(id) else None
    if value.get("jsonrpc") != "2.0":
        return Rejection(INVALID_REQUEST, 'Invalid request: jsonrpc must be "2.0".', None if _answers(value) else readable)
    method = value.get("method")
    if method is None:
        return _response(value, readable)
    if not isinstance(method, str):
        return Rejection(INVALID_REQUEST, "Invalid request: method must be a string.", readable)
    params = value.get("params")
    params = {} if params is None else params
    if "id" not in value:
        return Notification(method, params if isinstance(params, dict) else {})
    if readable is None:
        return Rejection(INVALID_REQUEST, f"Invalid request: id must be a string of at most {MAX_ID} characters or a 64-bit integer.")
    if not isinstance(params, dict):
        return Rejection(INVALID_REQUEST, "Invalid request: params must be an object.", readable)
    return Request(readable, method, params)


def _response(value: Mapping[str, Any], id: Id | None) -> Response | Rejection:
    if id is not None and "result" in value and value.get("error") is None:
        return Response(id, result=value["result"])
    if id is not None and value.get("result") is None and isinstance(value.get("error"), dict):
        return Response(id, error=value["error"])
    return Rejection(INVALID_REQUEST, "Invalid request: neither a request, a notification nor a response.", None if _answers(value) else id)


def _answers(value: Mapping[str, Any]) -> bool:
    """Whether this means to be a response, whose id names a request of ours and must not come back as if it were the client's."""
    return value.get("method") is None and ("result" in value or "error" in value)


def is_id(value: Any) -> TypeGuard[Id]:
    """Whether a client may name a request, or its progress, so."""
    if isinstance(value, str):
        return len(value) <= MAX_ID
    return isinstance(value, int) and not isinstance(value, bool) and value in ID_RANGE
