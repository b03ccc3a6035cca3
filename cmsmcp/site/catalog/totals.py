"""Counts of lists, remembered for each world of readers until something could change them there: a write, or a document's hour."""

from __future__ import annotations

from collections.abc import MutableMapping
from typing import Any

from cmsmcp.core.ports import Visibility
from cmsmcp.site.catalog.versions import Ask, next_date

_KEPT = 1_024


class Totals:
    """Counting 100,000 rows takes longer than finding a page of them, and pages of one list ask for the same count.

    Safe to share between threads: what one forgets another asks again.
    """

    def __init__(self) -> None:
        self._worlds: dict[bool, tuple[str, int, int, dict[Any, int]]] = {}

    def at(self, visibility: Visibility, version: str, ask: Ask, now: int) -> MutableMapping[Any, int]:
        """Those that hold at `now` (ms) in that version of what is seen, by what they count; to be added to."""
        world = visibility == Visibility()
        known = self._worlds.get(world)
        if known is None or known[0] != version or not known[1] <= now < known[2] or len(known[3]) >= _KEPT:
            known = self._worlds[world] = (version, now, next_date(ask, now), {})
        return known[3]
