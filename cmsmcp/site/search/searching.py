"""A search from the query's text to a page of hits: ranked by the index, tied and shown by the catalog.

Order: score, then title, then id; a person's own hidden documents come last. The engine breaks ties by where a document happens to lie,
which differs between hosts and after merges; so every group of equal places that touches a page is read whole and sorted here (C053).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

from cmsmcp.core.deadline import Deadline
from cmsmcp.core.ports import Document, Hit, Page, Visibility
from cmsmcp.protocol.cursor import decode_cursor, encode_cursor
from cmsmcp.protocol.errors import Unavailable
from cmsmcp.site.catalog.reader import CatalogReader
from cmsmcp.site.catalog.rows import SUMMARY_COLUMNS, to_document
from cmsmcp.site.catalog.visibility import displaced_sql, visible_sql
from cmsmcp.site.search.engine import MAX_HITS, SearchFilter, SearchReader, score_of
from cmsmcp.site.search.query import SearchPlan, plan_query
from cmsmcp.site.search.snippets import Finder, cut
from cmsmcp.site.search.text import language_of

_TITLE = 100
"""Characters of a title that take part in the order of ties."""
_TRIES = 2
_POSITION = (int, float, str, str)
"""Of a cursor: how many hits came before, then the key of the last one without its row."""
_SPARE = 8
"""Hits read beyond a page, so that an ordinary tie at its end needs no second look."""

Key = tuple[float, str, str, int]
"""(place, title, id, row): ascending is best first."""


class Searching:
    """Holds the open index; reloads it when the catalog says that there is a new generation."""

    def __init__(self, folder: Path, reader: CatalogReader) -> None:
        self._folder = folder
        self._reader = reader
        self._index: SearchReader | None = None
        self._generation: Any = None

    def search(
        self, query: str, *, type: str | None, lang: str | None, languages: Sequence[str], visibility: Visibility, limit: int,
        cursor: str | None, now: int, generation: Any, deadline: Deadline,
    ) -> Page[Hit]:
        """`languages` are those the site has (or the one asked for): they choose the stemmers."""
        question = ["search", query, type, lang, sorted(visibility.statuses), visibility.owner]
        if not self._reader.meta().get("searchable", 1):
            raise Unavailable("The search index is being refilled; try again in a moment.", retry_after=1)
        seen, last = 0, None
        if cursor is not None:
            seen, *last = decode_cursor(question, cursor, _POSITION)
        stemmers = tuple(sorted({language for code in languages if (language := language_of(code))}))
        wanted = SearchFilter(visibility, type, lang, stemmers, now, self._displaced(visibility, now, deadline))
        asked = _Search(self._reader, self._current(generation), plan_query(query), wanted, deadline)
        keys, total = asked.keys_after(seen, last, limit)
        hits = asked.hits(keys[:limit])
        more = None
        if len(keys) > limit:
            place, title, id_, _ = keys[limit - 1]
            more = encode_cursor(question, [seen + limit, place, title, id_])
        return Page(hits, total, more)

    def _displaced(self, visibility: Visibility, now: int, deadline: Deadline) -> tuple[int, ...]:
        """The index of what is public holds no such document."""
        if visibility == Visibility():
            return ()
        displaced, parameters = displaced_sql(visibility, now)
        return tuple(row for (row,) in self._reader.rows(displaced, parameters, deadline))

    def _current(self, generation: Any) -> SearchReader:
        """The index at the newest commit. Two threads may both open it; the second one wins, and both are right."""
        for _ in range(_TRIES):
            try:
                if self._index is None:
                    self._index = SearchReader(self._folder)
                elif generation != self._generation:
                    self._index.reload()
                self._generation = generation
                return self._index
            except (ValueError, OSError):
                # A merge may have removed a file between two looks; then the next look finds its successor.
                self._index = None
        self._reader.ask_rebuild()
        raise Unavailable("The search index is being rebuilt; try again in a moment.", retry_after=1)


@dataclass(frozen=True, slots=True)
class _Search:
    """One search, at one moment, for one caller."""

    reader: CatalogReader
    index: SearchReader
    plan: SearchPlan
    wanted: SearchFilter
    deadline: Deadline

    def keys_after(self, seen: int, last: list[Any] | None, limit: int) -> tuple[list[Key], int]:
        """More than `limit` keys in final order after `last`, if there are so many; and the total."""
        depth = min(MAX_HITS, seen + limit + 1 + _SPARE)
        while True:
            self.deadline.check()
            ranking = self.index.rank(self.plan, self.wanted, depth)
            whole = len(ranking.rows) < depth or depth >= MAX_HITS
            # The last group may go on below what was read: unless this is all there is, it cannot be sorted yet.
            edge = None if whole else ranking.rows[-1][0]
            rows = [(place, row) for place, row in ranking.rows if place != edge and (last is None or place >= last[0])]
            keys = self._sorted(rows, last, limit + 1)
            if whole or len(keys) > limit:
                return keys, ranking.total
            depth = min(MAX_HITS, depth * 4)

    def _sorted(self, rows: Sequence[tuple[float, int]], last: list[Any] | None, enough: int) -> list[Key]:
        """Keys of whole groups of equal places, until there are `enough` after `last`."""
        keys: list[Key] = []
        pending: list[tuple[float, int]] = []
        for _, group in groupby(rows, key=lambda pair: pair[0]):
            pending += group
            if len(keys) + len(pending) >= enough:
                keys += self._keys(pending, last)
                pending = []
                if len(keys) >= enough:
                    return keys
        return keys + self._keys(pending, last)

    def _keys(self, placed: Sequence[tuple[float, int]], last: list[Any] | None) -> list[Key]:
        """Only of what may be seen now: the index may be a moment behind the catalog, and a key goes out in a cursor."""
        places = {row: place for place, row in placed}
        found = self._visible("row, title, id", "", places)
        ordered = sorted((places[row], title[:_TITLE], id_, row) for row, title, id_ in found)
        return [key for key in ordered if last is None or list(key[:3]) > last]

    def hits(self, page: Sequence[Key]) -> list[Hit]:
        """The documents of a page. Asked again whether they may be seen: one may have been hidden since it was ranked."""
        found = self._visible(f"{SUMMARY_COLUMNS}, row, text", "JOIN bodies USING (row)", (row for *_, row in page))
        documents = {row: (to_document(values, locale=self.wanted.lang), text) for *values, row, text in found}
        words = [term for clause in self.plan.wanted for term in clause.terms]
        finder = Finder(words, self.index.stems(self.plan, self.wanted.languages))
        hits = []
        for place, _, _, row in page:
            self.deadline.check()
            if row in documents:
                document, text = documents[row]
                hits.append(Hit(document, score_of(place), _snippet(document, text, finder)))
        return hits

    def _visible(self, columns: str, joined: str, rows: Iterable[int]) -> list[Any]:
        visible, parameters = visible_sql(self.wanted.visibility, self.wanted.now)
        numbers = ",".join(map(str, rows))
        return self.reader.texts(
            f"SELECT {columns} FROM documents {joined} WHERE row IN ({numbers}) AND {visible}", parameters, self.deadline
        )


def _snippet(document: Document, text: str, finder: Finder) -> str:
    """Around the first mention in the text, else in the summary; without any, the summary, else how the text begins."""
    for source in (text, document.summary):
        place = finder.find(source)
        if place is not None:
            return cut(source, place)
    return cut(document.summary or text, 0)
