"""One list: which rows it has, how many, and which of them a page shows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from cmsmcp.core.entries import Query
from cmsmcp.protocol.errors import Unavailable
from cmsmcp.site.entries.columns import Column
from cmsmcp.site.entries.paging import Place, Run, Runs, decode_place, encode_place, ordered
from cmsmcp.site.entries.query import Bound, Conditions, askable
from cmsmcp.site.entries.relations import Sight
from cmsmcp.site.entries.tables import TypeTable

Remember = Callable[[Any, Callable[[], int]], int]
"""A count by its name: remembered, or asked for."""


class Listed:
    """`declared` are the columns as the type is now. `languages`: of an entry in several of them the first counts, and only its values are
    looked at. Raises InvalidArguments, and Unavailable while the table lags behind the type in a field that is asked for."""

    def __init__(self, sight: Sight, table: TypeTable, declared: Sequence[Column], query: Query, languages: Sequence[str]) -> None:
        self._sight = sight
        self._table = table
        self._query = query
        self._bound = Bound(sight.parameters)
        known = askable(declared)
        self._keys = ordered(query.order, known)
        conditions = Conditions(table, known, sight.visible, self._bound, sight.table_of).sql(query.conditions)
        _check_is_filled(table, known, {condition.field for condition in query.conditions} | {order.field for order in query.order})
        self._where = f"{sight.visible} AND {self._written_in(languages)}{conditions}"
        self.question = [
            "entries", query.type, list(languages), sorted(query.visibility.statuses), query.visibility.owner,
            [[one.field, one.operator, one.value] for one in query.conditions], [[one.field, one.descending] for one in query.order],
        ]  # fmt: skip
        """What a cursor belongs to."""

    def count(self) -> int:
        return self._count("")

    def page(self, remember: Remember) -> tuple[list[int], str | None]:
        """Rows, and the cursor of the page after this one."""
        runs = Runs(self._keys, self._bound)
        if self._query.cursor is None:
            found = self._walk(runs.all(), (self._query.page - 1) * self._query.limit, remember)
        else:
            found = self._walk(runs.after(decode_place(self.question, self._query.cursor, self._keys)), 0, remember)
        rows = [row for row, _ in found[: self._query.limit]]
        more = len(found) > self._query.limit
        return rows, encode_place(self.question, found[self._query.limit - 1][1]) if more else None

    def _walk(self, runs: Sequence[Run], skipped: int, remember: Remember) -> list[tuple[int, Place]]:
        """One more than a page has, from the first runs that have them."""
        found: list[tuple[int, Place]] = []
        for run in runs:
            missing = self._query.limit + 1 - len(found)
            if not missing:
                break
            rows = self._rows(run, skipped, missing)
            if rows:
                skipped = 0
            elif skipped:
                skipped = max(0, skipped - remember([self.question, run.where], partial(self._count, run.where)))
            found += rows
        return found

    def _rows(self, run: Run, skipped: int, most: int) -> list[tuple[int, Place]]:
        keys = "".join(f", {column.sql}" for column, _ in self._keys)
        rows = self._sight.snapshot.rows(
            f"SELECT e.row, e.url{keys} FROM {self._table.name} AS e WHERE {self._where}{run.where} ORDER BY {run.order} LIMIT :most"
            " OFFSET :skipped",
            {**self._bound.values, "most": most, "skipped": skipped},
        )
        return [(row, Place(tuple(values), url)) for row, url, *values in rows]

    def _count(self, where: str) -> int:
        sql = f"SELECT count(*) FROM {self._table.name} AS e WHERE {self._where}{where}"
        return int(self._sight.snapshot.row(sql, self._bound.values)[0])

    def _written_in(self, languages: Sequence[str]) -> str:
        names = [self._bound.add(code) for code in languages]
        if len(names) == 1:
            return f"e.lang = {names[0]}"
        options = [f"e.lang = {names[0]}"]
        for number, name in enumerate(names[1:], 1):
            nearer = f"SELECT 1 FROM {self._table.name} AS n WHERE n.lang IN ({', '.join(names[:number])}) AND {self._sight.visible}"
            options.append(f"(e.lang = {name} AND NOT EXISTS ({nearer} AND n.key = e.key) AND NOT EXISTS ({nearer} AND n.slug = e.slug))")
        return f"({' OR '.join(options)})"


def _check_is_filled(table: TypeTable, known: Mapping[str, Column], named: Iterable[str]) -> None:
    filled = askable(table.columns)
    if any(filled.get(name) != known[name] for name in named):
        raise Unavailable("The content types have changed; try again in a moment.", retry_after=1)
