"""Pages of lists that fit in memory, by a key that stays when other entries come and go."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from cmsmcp.protocol.errors import InvalidArguments

Entry = Mapping[str, Any]


def page_of(entries: Sequence[Entry], *, key: Callable[[Entry], str], limit: int, cursor: str | None) -> dict[str, Any]:
    """`{"items", "total", "next_cursor"}` of entries sorted by `key`; the cursor holds the last key served."""
    ordered = sorted(entries, key=key)
    after = _decode(cursor) if cursor is not None else None
    rest = [entry for entry in ordered if after is None or key(entry) > after]
    items = rest[:limit]
    return {"items": items, "total": len(ordered), "next_cursor": _encode(key(items[-1])) if len(rest) > limit else None}


def _encode(value: str) -> str:
    return base64.urlsafe_b64encode(value.encode()).decode().rstrip("=")


def _decode(cursor: str) -> str:
    try:
        return base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True).decode()
    except (binascii.Error, ValueError):
        raise InvalidArguments("cursor is not one this list returned; start again without it.", argument="cursor") from None
