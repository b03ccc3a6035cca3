"""The `Content` port: lists, search, look-ups and navigation, answered from the catalog and the search index.

Every question goes through `visibility`. Nothing here reads the site's files.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from cmsmcp.core.deadline import Deadline
from cmsmcp.core.ports import Document, Hit, Page, Visibility
from cmsmcp.protocol.cursor import decode_cursor, encode_cursor
from cmsmcp.protocol.errors import InvalidArguments
from cmsmcp.site.catalog.reader import CatalogReader
from cmsmcp.site.catalog.rows import SUMMARY_COLUMNS, to_document
from cmsmcp.site.catalog.state import IndexState
from cmsmcp.site.catalog.totals import Totals
from cmsmcp.site.catalog.versions import version_of
from cmsmcp.site.catalog.visibility import visible_sql
from cmsmcp.site.content.authors import read_author
from cmsmcp.site.content.gaps import find_untranslated
from cmsmcp.site.content.lookup import Lookup, Wanted
from cmsmcp.site.content.published import read_navigation
from cmsmcp.site.content.relations import without_hidden_targets
from cmsmcp.site.content.slugs import find_slugs
from cmsmcp.site.definitions import Definitions
from cmsmcp.site.paths import composed
from cmsmcp.site.search.searching import Searching
from cmsmcp.site.times import read_moment

_BODY = "(SELECT body FROM bodies WHERE bodies.row = documents.row)"
_NO_BODY = "''"
_POSITION = (str, str)
"""Of a cursor: URL and id of the last document."""


def _now() -> int:
    return int(time.time() * 1000)


class CatalogContent:
    """Safe to share between threads and greenlets. `definitions` yields the site's configuration and types as they are now."""

    def __init__(
        self, folder: Path, reader: CatalogReader, definitions: Callable[[], Definitions], clock: Callable[[], int] = _now,
        *, state: IndexState | None = None,
    ) -> None:  # fmt: skip
        self._reader = reader
        self._definitions = definitions
        self._clock = clock
        self._state = state or IndexState(folder, reader)
        self._totals = Totals()
        self._searching = Searching(folder, reader)

    def list_documents(
        self, *, type: str | None, lang: str | None, taxonomy: Mapping[str, str], visibility: Visibility,
        updated_after: str | None, updated_before: str | None, limit: int, cursor: str | None, deadline: Deadline, bodies: bool = False,
    ) -> Page[Document]:
        """See the port. Keyset paging by (URL, id): a write between two pages neither repeats nor skips what was there."""
        self._state.await_ready(deadline)
        lang = self._check(type, lang)
        where, parameters = visible_sql(visibility, self._clock())
        for name, value in (("type", type), ("lang", lang)):
            if value is not None:
                where, parameters[name] = f"{where} AND {name} = :{name}", value
        for number, (name, term) in enumerate(sorted(taxonomy.items())):
            where += f" AND row IN (SELECT row FROM terms WHERE taxonomy = :taxonomy{number} AND term = :term{number})"
            parameters |= {f"taxonomy{number}": composed(name), f"term{number}": composed(term)}
        for argument, value, sign in (("updated_after", updated_after, ">="), ("updated_before", updated_before, "<")):
            if value is not None:
                where, parameters[argument] = f"{where} AND moment {sign} :{argument}", _moment(argument, value)
        question = ["list", {name: value for name, value in parameters.items() if name != "now"} | {"where": where}]
        total = self._count(visibility, where, parameters, deadline)
        after, position = "", dict(parameters)
        if cursor is not None:
            after = " AND (url, id) > (:after_url, :after_id)"
            position["after_url"], position["after_id"] = decode_cursor(question, cursor, _POSITION)
        rows = self._reader.texts(
            f"SELECT {SUMMARY_COLUMNS}, {_BODY if bodies else _NO_BODY} FROM documents WHERE {where}{after} ORDER BY url, id LIMIT :most",
            {**position, "most": limit + 1},
            deadline,
        )
        items = [to_document(row[:-1], locale=lang, body=row[-1]) for row in rows[:limit]]
        more = encode_cursor(question, [items[-1].url, items[-1].id]) if len(rows) > limit else None
        return Page(items, total, more)

    def search(
        self, query: str, *, type: str | None, lang: str | None, visibility: Visibility, limit: int, cursor: str | None, deadline: Deadline,
    ) -> Page[Hit]:
        """See the port. Ranked by BM25, ties by title, then id; walks end after `search.MAX_HITS` hits."""
        generation = self._state.await_ready(deadline)["generation"]
        lang = self._check(type, lang)
        languages = (lang,) if lang else self._definitions().config.locales.codes
        return self._searching.search(
            query, type=type, lang=lang, languages=languages, visibility=visibility, limit=limit, cursor=cursor,
            now=self._clock(), generation=generation, deadline=deadline,
        )  # fmt: skip

    def get_document(
        self, *, slug: str | None, url: str | None, id: str | None, type: str | None, lang: str | None, visibility: Visibility,
        deadline: Deadline,
    ) -> Document:
        """See the port and `lookup`."""
        self._state.await_ready(deadline)
        lang = self._check(type, lang)
        definitions, now = self._definitions(), self._clock()
        lookup = Lookup(self._reader, definitions.config, visibility, now, deadline)
        found = lookup.get(Wanted(slug=slug, url=url, id=id, type=type, lang=lang))
        visible, parameters = visible_sql(visibility, now)
        with self._reader.snapshot(deadline) as snapshot:
            return without_hidden_targets(found, definitions.types, snapshot, visible, parameters)

    def find_slugs(
        self, typed: str, *, type: str | None, lang: str | None, visibility: Visibility, limit: int, deadline: Deadline
    ) -> Sequence[str]:
        """See the port and `slugs`."""
        self._state.await_ready(deadline)
        lang = self._check(type, lang)
        return find_slugs(
            self._reader, typed, type=type, lang=lang, visibility=visibility, limit=limit, now=self._clock(), deadline=deadline
        )

    def find_untranslated(
        self, source: str, target: str, *, type: str | None, visibility: Visibility, limit: int, deadline: Deadline
    ) -> Page[Document]:
        """See the port and `gaps`."""
        self._state.await_ready(deadline)
        source, target = self._check(type, source) or source, self._check(None, target) or target
        return find_untranslated(
            self._reader, source, target, type=type, by_path=self._definitions().config.permalinks, visibility=visibility, limit=limit,
            now=self._clock(), deadline=deadline,
        )  # fmt: skip

    def get_navigation(self, *, lang: str | None, deadline: Deadline) -> Mapping[str, Any]:
        """See the port and `published`."""
        self._state.await_ready(deadline)
        lang = self._check(None, lang)
        return read_navigation(self._reader, self._definitions().config, lang, self._clock(), deadline)

    def get_author(self, slug: str, *, visibility: Visibility, deadline: Deadline) -> Mapping[str, Any]:
        """See the port and `authors`."""
        self._state.await_ready(deadline)
        return read_author(self._reader, slug, visibility, self._clock(), deadline)

    def _count(self, visibility: Visibility, where: str, parameters: Mapping[str, Any], deadline: Deadline) -> int:
        def ask(sql: str, values: Mapping[str, Any]) -> Any:
            return self._reader.row(sql, values, deadline)

        now = parameters["now"]
        counts = self._totals.at(visibility, version_of(self._reader.meta(), ask, visibility, now), ask, now)
        key = (where, *(value for name, value in sorted(parameters.items()) if name != "now"))
        if key not in counts:
            counts[key] = ask(f"SELECT count(*) FROM documents WHERE {where}", parameters)[0]
        return counts[key]

    def _check(self, type: str | None, lang: str | None) -> str | None:
        """The language as the site spells it. Raises InvalidArguments for a type or language that the site does not have."""
        definitions = self._definitions()
        if type is not None and type not in definitions.type_names:
            raise InvalidArguments(_unknown_type(type, definitions), argument="type")
        if lang is None:
            return None
        locales = definitions.config.locales
        found = locales.find(lang)
        if found is None:
            raise InvalidArguments(f"No language {lang!r}. Languages: {', '.join(locales.codes)}.", argument="lang")
        return found


def _unknown_type(asked: str, definitions: Definitions) -> str:
    """A table's name is taken for its type's slug: `recipes` for `recipe`."""
    names = {name: name for name in definitions.type_names}
    names = {table: kind.slug for table, kind in definitions.types.by_table.items()} | names
    near = get_close_matches(asked.lower(), names, n=1, cutoff=0.6)
    suggestion = f" Did you mean {names[near[0]]!r}?" if near else ""
    return f"No content type {asked!r}.{suggestion} Types: {', '.join(definitions.type_names)}."


def _moment(argument: str, value: str) -> int:
    """A date or time as authors may write one (`times`), in milliseconds."""
    moment = read_moment(value)
    if moment is None:
        raise InvalidArguments(f"{argument} is no date or time, such as 2026-03-06 or 2026-03-06T10:00:00Z.", argument=argument)
    return moment.ms
