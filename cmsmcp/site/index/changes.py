"""Which documents readers see differently than before, as topics. Of a document that is and was public to nobody nothing is said.

Knows stored rows and which of them are public, no files and no clock. For one catalog and the thread that writes it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from itertools import chain

from cmsmcp.core.sharing import EVERYTHING, Change
from cmsmcp.site.catalog.writer import Catalog, Stored
from cmsmcp.site.permalinks import INDEX

MOST_TOPICS = 200
MOST_BYTES = 20_000
"""A Change that would have more topics, or longer ones, names none of them."""
_MOST_DOCUMENTS = 1_000
"""Public ones kept beside a build in order to be compared; with more of them, too much is different to be told."""
NOTHING = Change()
ANYTHING = Change(frozenset({"resources"}), frozenset({EVERYTHING}))


def merged(*changes: Change) -> Change:
    """One Change for all, within bounds."""
    lists = frozenset(chain.from_iterable(change.lists for change in changes))
    topics = frozenset(chain.from_iterable(change.topics for change in changes))
    too_many = len(topics) > MOST_TOPICS or sum(len(topic.encode("utf-8", "replace")) for topic in topics) > MOST_BYTES
    return Change(lists, frozenset({EVERYTHING}) if too_many or EVERYTHING in topics else topics)


class DocumentChanges:
    """Told of documents before they are written over, it keeps what readers saw of them until `take`.

    What was before it began nobody knows."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog
        self._before: dict[str, Stored | None] = {}
        self._lost = True

    def expect(self, paths: Iterable[str]) -> None:
        """Documents at these paths are about to be written, or removed."""
        if self._lost:
            return
        fresh = [path for path in paths if path not in self._before]
        found = self._catalog.stored("path", fresh, public=True, most=_MOST_DOCUMENTS)
        self._before |= dict.fromkeys(fresh) | {one.path: one for one in found}
        self._lost = len(found) >= _MOST_DOCUMENTS

    def flip(self, rows: Collection[int]) -> None:
        """These rows are seen now and were not, or the other way round."""
        if not self._lost:
            for one in self._catalog.stored("row", rows, most=_MOST_DOCUMENTS):
                self._before.setdefault(one.path, None if one.public else one)
            self._lost = len(rows) >= _MOST_DOCUMENTS

    def take(self) -> Change:
        """What is different since the last call."""
        before, self._before = self._before, {}
        lost, self._lost = self._lost, False
        found = self._catalog.stored("path", before, public=True, most=_MOST_DOCUMENTS) if before and not lost else []
        if lost or len(found) >= _MOST_DOCUMENTS:
            return ANYTHING
        after = {one.path: one for one in found}
        topics: set[str] = set()
        keys: set[str] = set()
        for path, was in before.items():
            now_is = after.get(path)
            if was is None and now_is is None:
                continue
            seen = [one for one in (was, now_is) if one is not None]
            if was is None or now_is is None or was.address != now_is.address:
                keys.update(one.key for one in seen)
            elif was.words == now_is.words:
                continue
            topics.update(chain.from_iterable(map(_topics, seen)))
        # A document names its translations.
        siblings = self._catalog.stored("key", keys, public=True) if keys else []
        topics.update(chain.from_iterable(map(_topics, siblings)))
        return Change(topics=frozenset(topics))


def _topics(one: Stored) -> Iterator[str]:
    """Those of its type, its slug, and of the folder that an index stands for."""
    yield f"content/{one.type}"
    yield f"content/{one.type}/{one.slug}"
    folder = one.key.partition(":")[2].rpartition("/")[0].rpartition("/")[2]
    if one.slug in INDEX and folder:
        yield f"content/{one.type}/{folder}"
