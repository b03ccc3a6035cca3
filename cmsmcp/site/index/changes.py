"""Which documents readers see differently than before, as topics. Of a document that is and was public to nobody nothing is said.

Knows stored rows and the time that makes them public, no files. For one catalog and the thread that writes it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from itertools import chain

from cmsmcp.core.sharing import EVERYTHING, Change
from cmsmcp.site.catalog.writer import Catalog, Stored

MOST_TOPICS = 200
MOST_BYTES = 20_000
"""A Change that would have more topics, or longer ones, names none of them."""
_MOST_DOCUMENTS = 1_000
"""Rows kept beside a build in order to be compared; with more of them, too much is different to be told."""
NOTHING = Change()
ANYTHING = Change(frozenset({"resources"}), frozenset({EVERYTHING}))


def merged(*changes: Change) -> Change:
    """One Change for all, within bounds."""
    lists = frozenset(chain.from_iterable(change.lists for change in changes))
    topics = frozenset(chain.from_iterable(change.topics for change in changes))
    too_many = len(topics) > MOST_TOPICS or sum(len(topic.encode("utf-8", "replace")) for topic in topics) > MOST_BYTES
    return Change(lists, frozenset({EVERYTHING}) if too_many or EVERYTHING in topics else topics)


def now_ms() -> int:
    return int(time.time() * 1000)


class DocumentChanges:
    """Told of rows before they are written over, it keeps what they were until `take`. What was before it began nobody knows."""

    def __init__(self, catalog: Catalog, clock: Callable[[], int] = now_ms) -> None:
        self._catalog = catalog
        self._clock = clock
        self._since = clock()
        self._before: dict[str, Stored | None] = {}
        self._lost = True

    def expect(self, paths: Sequence[str]) -> None:
        """Documents at these paths are about to be written, or removed."""
        self._lost = self._lost or len(self._before) + len(paths) >= _MOST_DOCUMENTS
        if self._lost:
            self._before.clear()
            return
        found = {one.path: one for one in self._catalog.stored("path", paths)}
        for path in paths:
            self._before.setdefault(path, found.get(path))

    def flip(self, rows: Iterable[int]) -> None:
        """These rows are served now and were not, or the other way round."""
        if not self._lost:
            for one in self._catalog.stored("row", rows):
                self._before.setdefault(one.path, one._replace(served=not one.served))

    def take(self) -> Change:
        """What is different since the last call, of what has been told and by the passing of time."""
        since, now = self._since, max(self._since, self._clock())
        self._since = now
        if self._lost:
            self._lost = False
            return ANYTHING
        topics: set[str] = set()
        keys: set[str] = set()
        for was, now_is in self._pairs(since, now):
            if was == now_is:
                continue
            seen = [one for one in (was, now_is) if one is not None]
            topics.update(chain.from_iterable(map(_topics, seen)))
            if was is None or now_is is None or was.address != now_is.address:
                keys.update(one.key for one in seen)
        # A document names its translations.
        siblings = self._catalog.stored("key", keys) if keys else []
        topics.update(chain.from_iterable(_topics(one) for one in siblings if one.is_public(now)))
        return Change(topics=frozenset(topics))

    def _pairs(self, since: int, now: int) -> list[tuple[Stored | None, Stored | None]]:
        """What was public of each document that may differ, and what is."""
        before, self._before = self._before, {}
        after = {one.path: one for one in self._catalog.stored("path", before)} if before else {}
        pairs = [(old, after.get(path)) for path, old in before.items()]
        if now > since:
            pairs += [(one, one) for one in self._catalog.come_due(since, now) if one.path not in before]
        return [(_shown(old, since), _shown(new, now)) for old, new in pairs]


def _shown(one: Stored | None, at: int) -> Stored | None:
    """What readers see of it then, but for the bounds of that time."""
    return one._replace(publish_at=0, unpublish_at=0) if one is not None and one.is_public(at) else None


def _topics(one: Stored) -> tuple[str, str]:
    return f"content/{one.type}", f"content/{one.type}/{one.slug}"
