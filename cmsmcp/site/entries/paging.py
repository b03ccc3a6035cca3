"""Orders and pages: where a page begins, as conditions that an index can seek to, and cursors that name the place after it.

The rest of a list behind a place is a few runs, one after the other, each in the order of one index: those that tie with the place in
all but the URL, those that follow in the last order, those without a value for it, and so on. Knows no conditions and no entries.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Any

from cmsmcp.core.entries import MAX_ORDERS, Order
from cmsmcp.protocol.cursor import decode_cursor, encode_cursor
from cmsmcp.protocol.errors import InvalidArguments
from cmsmcp.site.entries.columns import LONG, NUMBER, SORTABLE, TEXT, Column
from cmsmcp.site.entries.query import NEVER_EMPTY, Bound

_SHOWN = 60
_FIRST = 3
"""Number of the first value of the order among what is selected."""
_POSITION = (str, str)
"""Of a cursor: JSON of the order's values, and the URL."""


Row = tuple[Any, ...]
"""What is selected: row, URL, the values of the order, and whether each is missing."""


@dataclass(frozen=True, slots=True)
class Run:
    """A stretch of the list: `where` begins with AND or is empty; `order` is what ORDER BY takes, as numbers of what is selected."""

    where: str
    order: str


@dataclass(frozen=True, slots=True)
class Place:
    """The last entry of a page: its values of the order, and its URL, which no other entry has."""

    values: tuple[Any, ...]
    url: str


def ordered(orders: Sequence[Order], known: Mapping[str, Column]) -> list[tuple[Column, bool]]:
    """The columns to sort by, and whether from the greatest. InvalidArguments names what there is."""
    if len(orders) > MAX_ORDERS:
        raise InvalidArguments(f"At most {MAX_ORDERS} orders can be given.", argument="sort")
    keys: list[tuple[Column, bool]] = []
    for order in orders:
        column = known.get(order.field)
        if column is None or column.kind not in SORTABLE:
            offered = ", ".join(name for name, column in known.items() if column.kind in SORTABLE)
            raise InvalidArguments(f"Cannot sort by {order.field[:_SHOWN]!r}. Fields: {offered}.", argument="sort")
        if any(column.name == other.name for other, _ in keys):
            raise InvalidArguments(f"{order.field} is given twice in the order.", argument="sort")
        keys.append((column, order.descending))
    return keys


class Runs:
    """The runs of one order. Entries without a value come last either way; those that tie go by URL, in the direction of the last order."""

    def __init__(self, keys: Sequence[tuple[Column, bool]], bound: Bound) -> None:
        self._keys = keys
        self._bound = bound
        self._url = f"2{_direction(_last(keys))}"

    def all(self) -> list[Run]:
        return list(self._from("", 0))

    def after(self, place: Place) -> list[Run]:
        pinned = [self._pinned(column, value) for (column, _), value in zip(self._keys, place.values, strict=True)]
        runs = [Run("".join(pinned) + f" AND e.url {'<' if _last(self._keys) else '>'} {self._bound.add(place.url)}", self._url)]
        for number in reversed(range(len(self._keys))):
            (column, descending), value, before = self._keys[number], place.values[number], "".join(pinned[:number])
            if value is not None:
                beyond = f"{before} AND {column.sql} {'<' if descending else '>'} {self._bound.add(value)}"
                runs.append(Run(beyond, self._order(number, sure=True)))
                if column.name not in NEVER_EMPTY:
                    runs.append(Run(f"{before} AND {column.sql} IS NULL", self._order(number + 1)))
        return runs

    def _from(self, where: str, number: int) -> Iterator[Run]:
        if number == len(self._keys) or self._keys[number][0].name in NEVER_EMPTY:
            yield Run(where, self._order(number, sure=True))
            return
        column = self._keys[number][0]
        yield Run(f"{where} AND {column.sql} IS NOT NULL", self._order(number, sure=True))
        yield Run(f"{where} AND {column.sql} IS NULL", self._order(number + 1))

    def _order(self, number: int, *, sure: bool = False) -> str:
        """From the key of that number on; `sure`: it has a value throughout the run."""
        parts = []
        for place, (column, descending) in enumerate(self._keys[number:], _FIRST + number):
            if not sure and column.name not in NEVER_EMPTY:
                parts.append(f"{place + len(self._keys)}")
            parts.append(f"{place}{_direction(descending)}")
            sure = False
        return ", ".join([*parts, self._url])

    def _pinned(self, column: Column, value: Any) -> str:
        return f" AND {column.sql} IS NULL" if value is None else f" AND {column.sql} = {self._bound.add(value)}"


def place_of(row: Row, keys: Sequence[tuple[Column, bool]]) -> Place:
    return Place(tuple(row[_FIRST - 1 : _FIRST - 1 + len(keys)]), row[1])


def arranged(rows: list[Row], keys: Sequence[tuple[Column, bool]], after: Place | None) -> list[Row]:
    """A whole list in the same order, from behind a place on. Text compares as the database has it, by code point."""
    mark = (0, after.url, *after.values) if after is not None else None
    found = [*rows, mark] if mark is not None else list(rows)
    # Each sort leaves what ties as it was, and the mark is behind what it ties with.
    found.sort(key=itemgetter(1), reverse=_last(keys))
    for place, (_, descending) in reversed(list(enumerate(keys, _FIRST - 1))):
        given = [row for row in found if row[place] is not None]
        given.sort(key=itemgetter(place), reverse=descending)
        found = given + [row for row in found if row[place] is None]
    return found if mark is None else found[found.index(mark) + 1 :]


def _last(keys: Sequence[tuple[Column, bool]]) -> bool:
    """Whether what ties goes backwards too."""
    return bool(keys) and keys[-1][1]


def _direction(descending: bool) -> str:
    return " DESC" if descending else ""


def encode_place(question: Any, place: Place) -> str:
    return encode_cursor(question, [json.dumps(place.values, ensure_ascii=False, separators=(",", ":")), place.url])


def decode_place(question: Any, cursor: str, keys: Iterable[tuple[Column, bool]]) -> Place:
    """Raises InvalidArguments if the cursor was not made for this very question."""
    text, url = decode_cursor(question, cursor, _POSITION)
    columns = [column for column, _ in keys]
    try:
        values = json.loads(text)
    except (ValueError, RecursionError):
        values = None
    if not isinstance(values, list) or len(values) != len(columns) or not all(map(_fits, columns, values)):
        raise InvalidArguments("The cursor is damaged; start again without a cursor.", argument="cursor")
    return Place(tuple(values), url)


def _fits(column: Column, value: Any) -> bool:
    if value is None:
        return column.name not in NEVER_EMPTY
    if column.kind in (TEXT, LONG):
        return isinstance(value, str) and not any("\ud800" <= sign <= "\udfff" for sign in value)
    right = isinstance(value, int | float if column.kind == NUMBER else int) and not isinstance(value, bool)
    return right and (isinstance(value, float) or -(2**63) <= value < 2**63)
