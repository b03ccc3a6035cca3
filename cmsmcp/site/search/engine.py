"""The search index beside the catalog: tantivy, ranked by BM25. Knows terms and row numbers; documents are the catalog's.

One process writes (`SearchWriter`), any number read (`SearchReader`). What a caller may see is part of the query itself
(`visibility`), so that totals are exact. An index that cannot be opened is thrown away and filled again from the catalog.
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import tantivy
from tantivy import Index, Occur, Query, SchemaBuilder

from cmsmcp.core.ports import Visibility
from cmsmcp.site.catalog.visibility import visible_query
from cmsmcp.site.search.document import SearchEntry, engine_document, stem_field
from cmsmcp.site.search.query import BODY, HEAD, NAME, TITLE, QueryBuilder, SearchPlan
from cmsmcp.site.search.text import FOLDED, STEMMERS, register_analyzers

SEARCH_VERSION = 1
SEARCH_NAME = f"search-{SEARCH_VERSION}"
MAX_HITS = 10_000
"""How deep a search can be paged. Nobody reads so far; a walk that does ends there, and its totals stay exact."""
_HEAP = 96_000_000
_SMALL_HEAP = 15_000_000


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


class SearchWriter:
    """The one writer. `fresh` says that the index was begun anew: every document must be added again."""

    def __init__(self, folder: Path) -> None:
        self.path = path = folder / SEARCH_NAME
        for old in folder.glob("search-*"):
            if old != path:
                shutil.rmtree(old, ignore_errors=True)
        self.fresh = not (path.is_dir() and Index.exists(str(path)))
        try:
            self._index = self._open(path)
        except ValueError:
            self.discard(folder)
            self.fresh = True
            self._index = self._open(path)
        self._added: set[int] = set()
        self._writer: tantivy.IndexWriter | None = None
        self._large = False

    @staticmethod
    def discard(folder: Path) -> None:
        shutil.rmtree(folder / SEARCH_NAME, ignore_errors=True)

    def _open(self, path: Path) -> Index:
        path.mkdir(parents=True, exist_ok=True)
        index = Index(build_schema(), path=str(path))
        register_analyzers(index)
        return index

    def expect_many(self) -> None:
        """Take memory for a bulk build; the next commit gives it back."""
        if self._writer is None:
            self._writer = self._index.writer(_HEAP, 1)
            self._large = True

    def put(self, row: int, entry: SearchEntry | None) -> None:
        """Replace the document of `row`, or take it out."""
        writer = self._get_writer()
        if row in self._added or not self.fresh:
            writer.delete_documents_by_term("row", row)
        if entry is not None:
            writer.add_document(engine_document(row, entry))
            if self.fresh:
                self._added.add(row)

    def commit(self) -> None:
        self.fresh = False
        self._added.clear()
        if self._writer is None:
            return
        self._writer.commit()
        if self._large:
            self._writer.wait_merging_threads()
            self._writer, self._large = None, False

    def close(self) -> None:
        if self._writer is not None:
            self._writer.rollback()
            self._writer = None

    def _get_writer(self) -> tantivy.IndexWriter:
        if self._writer is None:
            self._writer = self._index.writer(_SMALL_HEAP, 1)
        return self._writer


@dataclass(frozen=True, slots=True)
class SearchFilter:
    """Which documents may be hits. `languages` are the stemmers worth asking; `now` is in milliseconds."""

    visibility: Visibility
    type: str | None
    lang: str | None
    languages: tuple[str, ...]
    now: int


@dataclass(frozen=True, slots=True)
class Ranking:
    """The best rows, best first, with their scores (1.0 for the best hit); `total` counts every match."""

    rows: Sequence[tuple[float, int]]
    total: int


class SearchReader:
    """Reads the newest commit it was told to load. Raises ValueError while there is no index."""

    def __init__(self, folder: Path) -> None:
        path = folder / SEARCH_NAME
        self._index = Index.open(str(path))
        # "manual": the default starts a thread that watches the file, one in every worker.
        self._index.config_reader("manual")
        self._builder = QueryBuilder(self._index.schema, stem_field)

    def reload(self) -> None:
        self._index.reload()

    def stems(self, plan: SearchPlan, languages: Sequence[str]) -> list[str]:
        return [stem for clause in plan.wanted for stem in self._builder.stems(clause, languages).values()]

    def rank(self, plan: SearchPlan, wanted: SearchFilter, depth: int) -> Ranking:
        """The best `depth` matches. If none holds enough of the words, those that hold any of them."""
        if not plan.wanted:
            return Ranking((), 0)
        ranking = self._rank(plan, wanted, depth, plan.strictest)
        if not ranking.total and plan.strictest > 1:
            ranking = self._rank(plan, wanted, depth, 1)
        return ranking

    def _rank(self, plan: SearchPlan, wanted: SearchFilter, depth: int, least: int) -> Ranking:
        schema, searcher = self._index.schema, self._index.searcher()
        parts = [(Occur.Must, self._builder.ranked(plan, wanted.languages, least, searcher))]
        parts += self._builder.equals({"type": wanted.type, "lang": wanted.lang})
        parts.append((Occur.Must, visible_query(schema, wanted.visibility, wanted.now)))
        result = searcher.search(Query.boolean_query(parts), limit=depth, count=True)
        rows = searcher.fast_field_values("row", [address for _, address in result.hits])
        # Relative to the best hit: BM25's own numbers count every document with the word, those the caller may not see too.
        best = result.hits[0][0] if result.hits else 1.0
        scored = [(float(f"{score / best:.5g}"), int(row)) for (score, _), row in zip(result.hits, rows, strict=True) if row is not None]
        return Ranking(scored, result.count)  # type: ignore[attr-defined]  # there, though its stub does not say so
