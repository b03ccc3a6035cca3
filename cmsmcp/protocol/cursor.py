"""Cursors: opaque, and good only for the question they came from. Pure; knows nothing of what a position means.

A cursor is the base64url form of a checksum and a JSON position. The checksum covers the question (which list, what arguments), so
that a cursor used with other arguments, or changed on the way, is refused. It is no secret, and anyone may forge one: a forged position
shows nothing that the same question without a cursor would not show, because every page is filtered anew, and `decode_cursor` lets nothing
pass that is not of the shape the list gives out.
"""

from __future__ import annotations

import base64
import binascii
import json
import math
from collections.abc import Sequence
from hashlib import blake2b
from typing import Any

from cmsmcp.protocol.errors import InvalidArguments

MAX_CURSOR = 12_000
"""Signs. A URL and an id of the greatest length fit."""
MAX_INTEGER = 2**53 - 1
_KEY = b"cmsmcp cursor 2"
_CHECKSUM = 9

Shape = Sequence[type[int] | type[float] | type[str]]
"""What each value of a position is: `int` from 0 to MAX_INTEGER, any finite `float`, or a `str` that is text."""


def encode_cursor(question: Any, position: Sequence[Any]) -> str:
    """The cursor that resumes the list asked for by `question` after `position`; both are plain JSON values."""
    payload = json.dumps(list(position), ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")
    return base64.urlsafe_b64encode(_checksum(question, payload) + payload).rstrip(b"=").decode("ascii")


def decode_cursor(question: Any, cursor: Any, shape: Shape) -> list[Any]:
    """The position in `cursor`. Raises InvalidArguments if it was not made for this very question, or is of another shape."""
    try:
        return _decoded(question, cursor, shape)
    except (ValueError, RecursionError):
        raise InvalidArguments(
            "The cursor does not belong to these arguments. Repeat the arguments it came with, or start again without a cursor.",
            argument="cursor",
        ) from None


def _decoded(question: Any, cursor: Any, shape: Shape) -> list[Any]:
    if not isinstance(cursor, str) or len(cursor) > MAX_CURSOR:
        raise ValueError
    try:
        raw = base64.b64decode(cursor.encode("ascii") + b"=" * (-len(cursor) % 4), altchars=b"-_", validate=True)
    except binascii.Error:
        raise ValueError from None
    payload = raw[_CHECKSUM:]
    # Spare bits and padding could vary without changing the bytes: only the one spelling we issue is ours.
    if base64.urlsafe_b64encode(raw).rstrip(b"=").decode("ascii") != cursor or raw[:_CHECKSUM] != _checksum(question, payload):
        raise ValueError
    position = json.loads(payload)
    if not isinstance(position, list) or len(position) != len(shape) or not all(map(_fits, position, shape)):
        raise ValueError
    return position


def _fits(value: Any, kind: type) -> bool:
    if kind is str:
        return isinstance(value, str) and not any("\ud800" <= sign <= "\udfff" for sign in value)
    if isinstance(value, bool):
        return False
    if kind is int:
        return isinstance(value, int) and 0 <= value <= MAX_INTEGER
    return isinstance(value, float) and math.isfinite(value)


def _checksum(question: Any, payload: bytes) -> bytes:
    asked = json.dumps(question, sort_keys=True, ensure_ascii=True, default=sorted).encode()
    return blake2b(asked + b"\0" + payload, digest_size=_CHECKSUM, key=_KEY).digest()
