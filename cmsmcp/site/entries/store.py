"""The `EntryStore`: questions about entries, each answered within one snapshot of the catalog and by one rule of visibility.

Knows where things are asked, in which languages and which page of them; SQL of conditions, orders and relations is its neighbours'.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from cmsmcp.core.deadline import Deadline
from cmsmcp.core.entries import MAX_PAGES, Found, Listing, Query
from cmsmcp.core.ports import Visibility
from cmsmcp.protocol.errors import ContentTypeNotFound, InvalidArguments, NotFound, Unavailable
from cmsmcp.site.catalog.reader import CatalogReader, Snapshot
from cmsmcp.site.catalog.state import IndexState
from cmsmcp.site.catalog.totals import Totals
from cmsmcp.site.catalog.versions import meta_of, version_of
from cmsmcp.site.catalog.visibility import visible_sql, visible_typed_sql
from cmsmcp.site.content.lookup import Lookup, Wanted
from cmsmcp.site.definitions import Definitions
from cmsmcp.site.entries.columns import columns_of
from cmsmcp.site.entries.listing import Listed
from cmsmcp.site.entries.populate import Giving, Tree, tree_of
from cmsmcp.site.entries.relations import Chain, Sight
from cmsmcp.site.entries.tables import TypeTable, table_of
from cmsmcp.site.types.registry import ContentType


def _now() -> int:
    return int(time.time() * 1000)


def _version(snapshot: Snapshot, visibility: Visibility, now: int) -> str:
    return version_of(meta_of(snapshot.rows), snapshot.row, visibility, now)


class TypedEntries:
    """Safe to share between threads and greenlets."""

    def __init__(
        self, folder: Path, reader: CatalogReader, definitions: Definitions, clock: Callable[[], int] = _now,
        *, state: IndexState | None = None,
    ) -> None:  # fmt: skip
        self._reader = reader
        self._definitions = definitions
        self._types = definitions.types
        self._locales = definitions.config.locales
        self._clock = clock
        self._state = state or IndexState(folder, reader)
        self._totals = Totals()

    def list(self, query: Query, deadline: Deadline) -> Listing:
        """See the port."""
        kind, tree = self._asked(query)
        if not 1 <= query.page <= MAX_PAGES:
            raise InvalidArguments(f"page must be from 1 to {MAX_PAGES}; a cursor goes further.", argument="page")
        if query.cursor is not None and query.page != 1:
            raise InvalidArguments("Give page or cursor, not both.", argument="cursor")
        code = self._code(query.locale)
        languages = tuple(dict.fromkeys((code, *self._codes(query.fallbacks or ()))))
        with self._sight(query, deadline) as (sight, now):
            listed = Listed(sight, sight.table_of(kind.slug), columns_of(kind, self._types), query, languages)
            version = _version(sight.snapshot, query.visibility, now)
            total, rows, cursor = listed.page(self._totals.at(query.visibility, version, sight.snapshot.row, now))
            items = self._give(sight, kind, rows, query, tree)
        return Listing(items, total, cursor)

    def get(self, query: Query, ref: str, deadline: Deadline) -> Found:
        """See the port."""
        kind, tree = self._asked(query)
        self._state.await_ready(deadline)
        lookup = Lookup(self._reader, self._definitions.config, query.visibility, self._clock(), deadline)
        chain = self._chain(query)
        try:
            found = lookup.get(Wanted(id=ref, type=kind.slug))
        except NotFound:
            found = lookup.get(Wanted(slug=ref, type=kind.slug, lang=chain[0], chain=chain))
        else:
            if query.locale is not None:
                translations = {found.lang: found.id, **{one["lang"]: one["id"] for one in found.translations}}
                near = next((translations[code] for code in chain if code in translations), None)
                if near is None:
                    raise NotFound("entry", ref)
                found = found if near == found.id else lookup.get(Wanted(id=near, type=kind.slug))
        with self._sight(query, deadline) as (sight, _):
            rows = sight.snapshot.rows("SELECT row FROM documents WHERE id = :id", {"id": found.id})
            given = self._give(sight, kind, [row for (row,) in rows], query, tree)
        if not given:  # gone or hidden since it was found
            raise NotFound("entry", ref)
        return given[0]

    def single(self, query: Query, deadline: Deadline) -> Found:
        """See the port."""
        kind, tree = self._asked(query)
        chain = self._chain(query)
        with self._sight(query, deadline) as (sight, _):
            names = {f"lang{number}": code for number, code in enumerate(chain)}
            rank = " ".join(f"WHEN :{name} THEN {number}" for number, name in enumerate(names))
            rows = sight.snapshot.rows(
                f"SELECT row FROM {sight.table_of(kind.slug).name} WHERE lang IN ({', '.join(f':{name}' for name in names)})"
                f" AND {sight.visible_typed} ORDER BY CASE lang {rank} END, url LIMIT 1",
                {**sight.parameters, **names},
            )
            given = self._give(sight, kind, [row for (row,) in rows], query, tree)
        if not given:
            raise NotFound("entry", kind.slug)
        return given[0]

    def version(self, visibility: Visibility) -> str:
        """See the port."""
        with self._reader.snapshot() as snapshot:
            return _version(snapshot, visibility, self._clock())

    @contextmanager
    def _sight(self, query: Query, deadline: Deadline) -> Iterator[tuple[Sight, int]]:
        """What the caller sees at this moment, and the moment."""
        self._state.await_ready(deadline)
        now = self._clock()
        visible, parameters = visible_sql(query.visibility, now)
        typed, _ = visible_typed_sql(query.visibility, now)
        with self._reader.snapshot(deadline) as snapshot:
            by_path = self._definitions.config.permalinks
            yield Sight(snapshot, visible, typed, parameters, lambda slug: self._find_table(snapshot, slug), deadline, by_path), now

    def _find_table(self, snapshot: Snapshot, slug: str) -> TypeTable:
        found = snapshot.row("SELECT number, slug, shape FROM types WHERE slug = ? AND live", (slug,))
        if found is None:
            raise Unavailable("The content types have changed; try again in a moment.", retry_after=1)
        return table_of(*found)

    def _give(self, sight: Sight, kind: ContentType, rows: Sequence[int], query: Query, tree: Tree) -> Sequence[Found]:
        giving = Giving(sight, self._definitions, html=query.html)
        return giving.entries(kind, rows, lambda lang: self._served_chain(lang, query), tree, query.fields)

    def _asked(self, query: Query) -> tuple[ContentType, Tree]:
        kind = self._types.find(query.type)
        if kind is None:
            raise ContentTypeNotFound(query.type)
        return kind, tree_of(kind, query.populate, self._types)

    def _chain(self, query: Query) -> Chain:
        """The languages in which a single entry is looked for."""
        code = self._code(query.locale)
        after = self._locales.fallbacks.get(code, ()) if query.fallbacks is None else self._codes(query.fallbacks)
        return tuple(dict.fromkeys((code, *after)))

    def _served_chain(self, lang: str, query: Query) -> Chain:
        """The languages in which the relations of an entry are looked for: its own first."""
        after = self._locales.fallbacks.get(lang, ()) if query.fallbacks is None else self._codes(query.fallbacks)
        return tuple(dict.fromkeys((lang, *after)))

    def _codes(self, locales: Sequence[str]) -> tuple[str, ...]:
        return tuple(self._code(locale, "fallback") for locale in locales)

    def _code(self, locale: str | None, argument: str = "locale") -> str:
        if locale is None:
            return self._locales.default
        code = self._locales.find(locale)
        if code is None:
            raise InvalidArguments(f"No locale {locale[:40]!r}. Locales: {', '.join(self._locales.codes)}.", argument=argument)
        return code
