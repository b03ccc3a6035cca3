"""Counts of lists, remembered until something could change them: a write, or a document's hour. Also the name of what can be read."""

from __future__ import annotations

from typing import Any

from cmsmcp.site.catalog.reader import Snapshot
from cmsmcp.site.catalog.schema import FOREVER

_KEPT = 1_024
_NEXT = (
    "SELECT min(at) FROM (SELECT min(publish_at) AS at FROM documents WHERE publish_at > 0 AND publish_at > :now"
    f" UNION ALL SELECT min(unpublish_at) FROM documents WHERE unpublish_at < {FOREVER} AND unpublish_at > :now)"
)
_LAST = (
    "SELECT max(at) FROM (SELECT max(publish_at) AS at FROM documents WHERE publish_at > 0 AND publish_at <= :now"
    f" UNION ALL SELECT max(unpublish_at) FROM documents WHERE unpublish_at < {FOREVER} AND unpublish_at <= :now)"
)
_STATE = "SELECT value FROM meta WHERE name IN ('born', 'edition') ORDER BY name"


class Counts:
    """Safe to share between threads: what one forgets another asks again."""

    def __init__(self) -> None:
        self._state: Any = None
        self._window = (0, 0)
        self._counts: dict[Any, int] = {}

    def at(self, snapshot: Snapshot, now: int) -> dict[str, int]:
        """Those that hold for the snapshot at `now` (ms), by what they count; to be added to."""
        state = tuple(snapshot.rows(_STATE))
        begin, end = self._window
        if state != self._state or not begin <= now < end or len(self._counts) >= _KEPT:
            self._counts = {}
            self._window = (now, snapshot.row(_NEXT, {"now": now})[0] or FOREVER)
            self._state = state
        return self._counts


def edition(snapshot: Snapshot, now: int) -> str:
    """Changes with every write of documents, with types and locales, and with every document whose hour comes."""
    names = "('born', 'edition', 'site_digest')"
    parts = [value for (value,) in snapshot.rows(f"SELECT value FROM meta WHERE name IN {names} ORDER BY name")]
    return "-".join(str(part) for part in (*parts, snapshot.row(_LAST, {"now": now})[0] or 0))
