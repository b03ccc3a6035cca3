"""The audit stream: read back, and kept from growing for ever. Written by the admission alone.

Knows ids (`<milliseconds>-<n>`, by Redis's clock) and how long records stay. Must not know what a record means.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from cmsmcp.governance.trail import Entry, moment
from cmsmcp.protocol.errors import Unavailable
from cmsmcp.state.redis.client import Client, Refused
from cmsmcp.state.redis.keys import Keys

PAGE = 500
TRIM_AT_ONCE = 10_000
"""Entries removed by one command: Redis serves nobody else meanwhile (about 1 ms)."""


class RedisAudit:
    """Implements `governance.trail.Trail`. Every method raises Unavailable when Redis does not do as asked."""

    def __init__(self, client: Client, site: str) -> None:
        self._client = client
        self.key = Keys(site).audit

    def latest(self, count: int) -> Sequence[Entry]:
        return [_entry(row) for row in reversed(self._do("XREVRANGE", self.key, "+", "-", "COUNT", count))]

    def since(self, start_ms: int) -> Iterator[Entry]:
        position: bytes | None = f"{max(0, start_ms)}-0".encode()
        first = True
        while position is not None:
            rows = self._do("XRANGE", self.key, position if first else b"(" + position, "+", "COUNT", PAGE)
            yield from map(_entry, rows)
            first, position = False, rows[-1][0] if rows else None

    def end(self) -> bytes:
        rows = self._do("XREVRANGE", self.key, "+", "-", "COUNT", 1)
        return rows[0][0] if rows else b"0-0"

    def after(self, position: bytes) -> Sequence[Entry]:
        return [_entry(row) for row in self._do("XRANGE", self.key, b"(" + position, "+", "COUNT", PAGE)]

    def trim(self, retention: int) -> int:
        """Remove what is older than `retention` seconds by Redis's clock; returns how many. Done in small steps."""
        seconds, _ = self._do("TIME")
        oldest = f"{max(0, int(seconds) - retention) * 1000}-0"
        removed = 0
        while step := self._do("XTRIM", self.key, "MINID", "~", oldest, "LIMIT", TRIM_AT_ONCE):
            removed += step
        return removed + self._do("XTRIM", self.key, "MINID", oldest)  # what is left of one node

    def fullness(self) -> float:
        """How much of Redis's `maxmemory` is used, from 0 to 1; 0 when there is no limit."""
        fields = dict(line.split(":", 1) for line in self._do("INFO", "memory").decode().splitlines() if ":" in line)
        limit = int(fields.get("maxmemory", 0))
        return int(fields.get("used_memory", 0)) / limit if limit else 0.0

    def _do(self, *command: Any) -> Any:
        try:
            return self._client.call(*command)
        except Refused as refused:
            why = "refuses this user the audit stream" if refused.word == "NOPERM" else "cannot read or trim the audit stream now"
            raise Unavailable(f"Redis {why}.") from None


def _entry(row: Any) -> Entry:
    position, flat = row
    text = [part.decode(errors="replace") for part in flat]
    milliseconds = int(position.partition(b"-")[0])
    return Entry(position, {"id": position.decode(), "time": moment(milliseconds), **dict(zip(text[::2], text[1::2], strict=True))})
