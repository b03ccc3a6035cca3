"""Cursors: opaque, and good only for the question they came from. Knows nothing of what a position means.

A cursor is the base64url form of a checksum and a JSON position. The checksum covers the question (kind and arguments), so
that a cursor used with other arguments, or changed on the way, is refused. It is no secret: a forged position shows nothing
that the same question without a cursor would not show, because every page is filtered anew.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Mapping
from hashlib import blake2b
from typing import Any

from cmsmcp.protocol.errors import InvalidArguments

MAX_CURSOR = 8_192
_KEY = b"cmsmcp cursor 1"
_CHECKSUM = 9


def encode_cursor(kind: str, arguments: Mapping[str, Any], position: list[Any]) -> str:
    """The cursor that resumes the list `kind`, asked with `arguments`, after `position` (plain JSON values)."""
    payload = json.dumps(position, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")
    return base64.urlsafe_b64encode(_checksum(kind, arguments, payload) + payload).rstrip(b"=").decode("ascii")


def decode_cursor(kind: str, arguments: Mapping[str, Any], cursor: str) -> list[Any]:
    """The position in `cursor`. Raises InvalidArguments if it was not made for this very question."""
    try:
        if len(cursor) > MAX_CURSOR:
            raise ValueError
        raw = base64.b64decode(cursor.encode("ascii") + b"=" * (-len(cursor) % 4), altchars=b"-_", validate=True)
        # Spare bits and padding could vary without changing the bytes: only the one spelling we issue is ours.
        if base64.urlsafe_b64encode(raw).rstrip(b"=").decode("ascii") != cursor:
            raise ValueError
        payload = raw[_CHECKSUM:]
        if raw[:_CHECKSUM] != _checksum(kind, arguments, payload):
            raise ValueError
        position = json.loads(payload)
    except (ValueError, UnicodeError, binascii.Error):
        raise InvalidArguments(
            "The cursor does not belong to these arguments. Repeat the arguments it came with, or start again without a cursor.",
            argument="cursor",
        ) from None
    return position if isinstance(position, list) else [position]


def _checksum(kind: str, arguments: Mapping[str, Any], payload: bytes) -> bytes:
    question = json.dumps([kind, arguments], sort_keys=True, ensure_ascii=True, default=sorted).encode()
    return blake2b(question + b"\0" + payload, digest_size=_CHECKSUM, key=_KEY).digest()
