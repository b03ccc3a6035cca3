"""Counts of lists, remembered until something could change them: a new generation, or a document's hour."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cmsmcp.core.deadline import Deadline
from cmsmcp.site.catalog.reader import CatalogReader
from cmsmcp.site.catalog.schema import FOREVER

_KEPT = 512


class Totals:
    """Counting 100,000 rows takes longer than finding a page of them, and pages of one list ask for the same count."""

    def __init__(self, reader: CatalogReader) -> None:
        self._reader = reader
        self._generation: Any = None
        self._window = (0, 0)
        self._counts: dict[Any, int] = {}

    def count(self, where: str, parameters: Mapping[str, Any], deadline: Deadline) -> int:
        """How many documents satisfy `where`. `parameters` include `now`, in milliseconds."""
        now, generation = parameters["now"], self._reader.meta().get("generation")
        begin, end = self._window
        if generation != self._generation or not begin <= now < end:
            self._counts = {}
            self._window = (now, self._next_hour(now, deadline))
            self._generation = generation
        counts = self._counts
        key = (where, *(value for name, value in sorted(parameters.items()) if name != "now"))
        if key not in counts:
            if len(counts) >= _KEPT:
                counts.clear()
            counts[key] = self._reader.row(f"SELECT count(*) FROM documents WHERE {where}", parameters, deadline)[0]
        return counts[key]

    def _next_hour(self, now: int, deadline: Deadline) -> int:
        """When the clock next changes a status, in milliseconds."""
        begin = "SELECT min(publish_at) AS at FROM documents WHERE publish_at > 0 AND publish_at > :now"
        end = f"SELECT min(unpublish_at) AS at FROM documents WHERE unpublish_at < {FOREVER} AND unpublish_at > :now"
        return self._reader.row(f"SELECT min(at) FROM ({begin} UNION ALL {end})", {"now": now}, deadline)[0] or FOREVER
