"""Pages of lists that fit in memory, by a key that stays when other entries come and go."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from cmsmcp.protocol.cursor import decode_cursor, encode_cursor

Entry = Mapping[str, Any]


def page_of(
    entries: Sequence[Entry], *, question: Sequence[Any], key: Callable[[Entry], str], limit: int, cursor: str | None
) -> dict[str, Any]:
    """`{"items", "total", "next_cursor"}` of entries sorted by `key`; the cursor holds the last key served and serves `question` only."""
    ordered = sorted(entries, key=key)
    rest = ordered
    if cursor is not None:
        [after] = decode_cursor(question, cursor, (str,))
        rest = [entry for entry in ordered if key(entry) > after]
    items = rest[:limit]
    more = encode_cursor(question, [key(items[-1])]) if len(rest) > limit else None
    return {"items": items, "total": len(ordered), "next_cursor": more}
