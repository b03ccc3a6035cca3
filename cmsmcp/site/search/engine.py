"""The search indexes beside the catalog: tantivy, ranked by BM25. Knows terms and row numbers; documents are the catalog's.

One process writes (`writing`), any number read (`SearchReader`). What is public has an index of its own, and who may see no more is
answered from it alone: words of hidden documents weigh in no score. What a caller may see is part of the query too (`visibility`), so that
totals are exact while the writer has not yet moved a document whose date has come.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import tantivy
from tantivy import Index, Occur, Query, SchemaBuilder

from cmsmcp.core.ports import Visibility
from cmsmcp.site.catalog.visibility import visible_query
from cmsmcp.site.search.document import stem_field
from cmsmcp.site.search.query import BODY, HEAD, NAME, TITLE, QueryBuilder, SearchPlan
from cmsmcp.site.search.text import FOLDED, STEMMERS

SEARCH_VERSION = 2
SEARCH_NAME = f"search-{SEARCH_VERSION}"
PUBLIC, HIDDEN = "public", "hidden"
MAX_HITS = 10_000
"""How deep a search can be paged. Nobody reads so far; a walk that does ends there, and its totals stay exact."""


def build_schema() -> tantivy.Schema:
    """`row` is the catalog's; `name` the whole title; `title`, `head` (slug, summary, headings, terms) and `body` are folded text;
    one field per stemmer holds the stems of all of them. The rest is for filters (see `visibility`)."""
    builder = SchemaBuilder()
    builder.add_integer_field("row", indexed=True, fast=True)
    for name in (NAME, "type", "lang", "status", "owner"):
        builder.add_text_field(name, tokenizer_name="raw", index_option="basic")
    for name in (TITLE, HEAD, BODY):
        builder.add_text_field(name, tokenizer_name=FOLDED, index_option="position")
    for language in sorted(set(STEMMERS.values())):
        builder.add_text_field(stem_field(language), tokenizer_name=language, index_option="freq")
    for name in ("publish_at", "unpublish_at"):
        builder.add_integer_field(name, indexed=True, fast=True)
    return builder.build()


@dataclass(frozen=True, slots=True)
class SearchFilter:
    """Which documents may be hits. `languages` are the stemmers worth asking; `now` is in milliseconds; `displaced` are rows that others of
    their address keep out."""

    visibility: Visibility
    type: str | None
    lang: str | None
    languages: tuple[str, ...]
    now: int
    displaced: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Ranking:
    """The best rows with their places, best first; `total` counts every match. See `score_of`."""

    rows: Sequence[tuple[float, int]]
    total: int


def score_of(place: float) -> float:
    """Relative to the best hit of its index, which has 1.0. Places below 0 are such scores, negated; a person's own hidden documents stand
    behind all of them, from 0 on."""
    return float(f"{-place if place < 0 else 1 - place:.5g}")


class SearchReader:
    """Reads the newest commit it was told to load. Raises ValueError while there is no index."""

    def __init__(self, folder: Path) -> None:
        self._public, self._hidden = (_Index(folder / SEARCH_NAME / name) for name in (PUBLIC, HIDDEN))

    def reload(self) -> None:
        self._public.reload()
        self._hidden.reload()

    def stems(self, plan: SearchPlan, languages: Sequence[str]) -> list[str]:
        return [stem for clause in plan.wanted for stem in self._public.builder.stems(clause, languages).values()]

    def rank(self, plan: SearchPlan, wanted: SearchFilter, depth: int) -> Ranking:
        """The best `depth` matches. If none holds enough of the words, those that hold any of them."""
        if not plan.wanted:
            return Ranking((), 0)
        ranking = self._rank(plan, wanted, depth, plan.strictest)
        if not ranking.total and plan.strictest > 1:
            ranking = self._rank(plan, wanted, depth, 1)
        return ranking

    def _rank(self, plan: SearchPlan, wanted: SearchFilter, depth: int, least: int) -> Ranking:
        if wanted.visibility == Visibility():
            return self._public.rank(plan, wanted, depth, least)
        own = wanted.visibility.owner is not None
        public = self._public.rank(plan, wanted, depth, least)
        hidden = self._hidden.rank(plan, wanted, depth, least, flat=own)
        # In the moment in which the writer moves a document, both may hold it.
        places = {row: place + own for place, row in hidden.rows} | {row: place for place, row in public.rows}
        return Ranking(sorted((place, row) for row, place in places.items())[:depth], public.total + hidden.total)


class _Index:
    def __init__(self, path: Path) -> None:
        self._index = Index.open(str(path))
        # "manual": the default starts a thread that watches the file, one in every worker.
        self._index.config_reader("manual")
        self.builder = QueryBuilder(self._index.schema, stem_field)

    def reload(self) -> None:
        self._index.reload()

    def rank(self, plan: SearchPlan, wanted: SearchFilter, depth: int, least: int, *, flat: bool = False) -> Ranking:
        """`flat` weighs no word by how many documents have it: who may see some of the index must not learn of the rest."""
        schema, searcher = self._index.schema, self._index.searcher()
        parts = [(Occur.Must, self.builder.ranked(plan, wanted.languages, least, None if flat else searcher))]
        parts += self.builder.equals({"type": wanted.type, "lang": wanted.lang})
        parts.append((Occur.Must, visible_query(schema, wanted.visibility, wanted.now)))
        if wanted.displaced:
            parts.append((Occur.MustNot, Query.term_set_query(schema, "row", list(wanted.displaced))))
        result = searcher.search(Query.boolean_query(parts), limit=depth, count=True)
        rows = searcher.fast_field_values("row", [address for _, address in result.hits])
        best = result.hits[0][0] if result.hits else 1.0
        placed = [(-float(f"{score / best:.5g}"), int(row)) for (score, _), row in zip(result.hits, rows, strict=True) if row is not None]
        return Ranking(placed, result.count)  # type: ignore[attr-defined]  # there, though its stub does not say so
