"""One list: how many rows it has, and which of them a page shows.

A short list is fetched whole, which finds and counts it in one pass, and sorted here. A long one is counted by the database and walked
along an index.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, MutableMapping, Sequence

from cmsmcp.core.entries import Query
from cmsmcp.protocol.errors import Unavailable
from cmsmcp.site.entries.columns import Column
from cmsmcp.site.entries.paging import Place, Row, Run, Runs, arranged, decode_place, encode_place, ordered, place_of
from cmsmcp.site.entries.query import Bound, Conditions, askable
from cmsmcp.site.entries.relations import Sight
from cmsmcp.site.entries.tables import TypeTable

SHORT = 2_000
"""Rows that take no longer to fetch than it takes to find out how many they are."""



class Listed:
    """`declared` are the columns as the type is now. `languages`: of an entry in several of them the first counts, and only its values are
    looked at. Raises InvalidArguments, and Unavailable while the table lags behind the type in a field that is asked for."""

    def __init__(self, sight: Sight, table: TypeTable, declared: Sequence[Column], query: Query, languages: Sequence[str]) -> None:
        self._sight = sight
        self._table = table
        self._query = query
        self._bound = Bound(sight.parameters)
        self._languages = [self._bound.add(code) for code in languages]
        known = askable(declared)
        self._keys = ordered(query.order, known)
        self._conditions = Conditions(table, known, self._languages, sight, self._bound).sql(query.conditions)
        _check_is_filled(table, known, {condition.field for condition in query.conditions} | {order.field for order in query.order})
        self._question = [
            "entries", query.type, list(languages), sorted(query.visibility.statuses), query.visibility.owner,
            [[one.field, one.operator, one.value] for one in query.conditions], [[one.field, one.descending] for one in query.order],
        ]  # fmt: skip

    def page(self, counts: MutableMapping[str, int]) -> tuple[int, list[int], str | None]:
        """How many rows there are, those of the page, and the cursor of the page after it. `counts`: what is known, to be added to."""
        place = decode_place(self._question, self._query.cursor, self._keys) if self._query.cursor is not None else None
        skipped, most = (self._query.page - 1) * self._query.limit, self._query.limit + 1
        name = repr(self._question)
        total = counts.get(name)
        if total is None or total <= SHORT:
            whole = self._fetched(self._select(self._every_language(), "", SHORT + 1)) if self._query.conditions else None
            if whole is not None and len(whole) <= SHORT:
                counts[name] = len(whole)
                return len(whole), *self._cut(arranged(whole, self._keys, place)[skipped : skipped + most])
        if total is None:
            total = counts[name] = self._count("")
        return total, *self._cut(self._walk(place, skipped, most, counts))

    def _cut(self, found: Sequence[Row]) -> tuple[list[int], str | None]:
        limit = self._query.limit
        rows = [row[0] for row in found[:limit]]
        return rows, encode_place(self._question, place_of(found[limit - 1], self._keys)) if len(found) > limit else None

    def _walk(self, place: Place | None, skipped: int, most: int, counts: MutableMapping[str, int]) -> list[Row]:
        """From the first runs that have them."""
        runs = Runs(self._keys, self._bound)
        found: list[Row] = []
        for run in runs.all() if place is None else runs.after(place):
            if len(found) == most:
                break
            rows = self._run(run, skipped, most - len(found))
            if rows:
                skipped = 0
            elif skipped:
                name = repr([self._question, run.where])
                if name not in counts:
                    counts[name] = self._count(run.where)
                skipped = max(0, skipped - counts[name])
            found += rows
        return found

    def _run(self, run: Run, skipped: int, most: int) -> list[Row]:
        """Languages are merged, each in the order of its index."""
        parts = [self._select(self._language(number), run.where) for number in range(len(self._languages))]
        return self._fetched(f"{' UNION ALL '.join(parts)} ORDER BY {run.order} LIMIT {most:d} OFFSET {skipped:d}")

    def _select(self, language: str, where: str, most: int | None = None) -> str:
        """Row, URL, the values of the order, and whether each is missing: `Runs` sorts by these numbers."""
        keys = "".join(f", {column.sql}" for column, _ in self._keys) + "".join(f", {column.sql} IS NULL" for column, _ in self._keys)
        return f"SELECT e.row, e.url{keys} {self._from(language, where)}" + (f" LIMIT {most:d}" if most is not None else "")

    def _fetched(self, sql: str) -> list[Row]:
        return self._sight.snapshot.rows(sql, self._bound.values)

    def _count(self, where: str) -> int:
        return int(self._sight.snapshot.row(f"SELECT count(*) {self._from(self._every_language(), where)}", self._bound.values)[0])

    def _from(self, language: str, where: str) -> str:
        return f"FROM {self._table.name} AS e WHERE {self._sight.visible_typed} AND {language}{self._conditions}{where}"

    def _every_language(self) -> str:
        if len(self._languages) == 1:
            return self._language(0)
        nearest = " ".join(f"WHEN {name} THEN {self._unless_nearer(number)}" for number, name in enumerate(self._languages))
        return f"e.lang IN ({', '.join(self._languages)}) AND CASE e.lang {nearest} END"

    def _language(self, number: int) -> str:
        return f"e.lang = {self._languages[number]}" + (f" AND {self._unless_nearer(number)}" if number else "")

    def _unless_nearer(self, number: int) -> str:
        """Not where a nearer language has the same entry: by its path below the language folder, else by its slug."""
        if not number:
            return "1"
        nearer = f"FROM {self._table.name} AS n WHERE n.lang IN ({', '.join(self._languages[:number])}) AND {self._sight.visible_typed}"
        return f"NOT EXISTS (SELECT 1 {nearer} AND n.key = e.key) AND NOT EXISTS (SELECT 1 {nearer} AND n.slug = e.slug)"


def _check_is_filled(table: TypeTable, known: Mapping[str, Column], named: Iterable[str]) -> None:
    filled = askable(table.columns)
    if any(filled.get(name) != known[name] for name in named):
        raise Unavailable("The content types have changed; try again in a moment.", retry_after=1)
