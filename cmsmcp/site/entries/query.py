"""Conditions as SQL over the typed table `e`. No text of a question ever gets into it: names are numbers, values are bound.

A relation is compared by what it leads to and the caller may see: a hidden target is like none at all. Knows no paging.
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Iterable, Mapping
from typing import Any

from cmsmcp.core.entries import MAX_CONDITIONS, MAX_LISTED, OWN_FIELDS, Condition
from cmsmcp.protocol.errors import InvalidArguments
from cmsmcp.site.catalog.visibility import STATUS_SQL
from cmsmcp.site.entries.columns import (
    BODY,
    BOOLEAN,
    DATETIME,
    INDEXED,
    MANY_TARGETS,
    NUMBER,
    ONE,
    OPERATORS_OF,
    SMALL,
    TEXT,
    Column,
    plain,
)
from cmsmcp.site.entries.relations import Sight
from cmsmcp.site.entries.tables import TypeTable
from cmsmcp.site.times import read_moment

_SIGNS = {"lt": "<", "lte": "<=", "gt": ">", "gte": ">="}
_OWN_SQL = {
    "id": "e.id", "status": f"({STATUS_SQL})", "published_at": "e.published_at", "created_at": "e.created_at",
    "updated_at": "e.updated_at", "author": "e.author", "locale": "e.lang",
}  # fmt: skip
_OWN_KINDS = {"string": TEXT, "datetime": DATETIME}
NEVER_EMPTY = frozenset({"id", "status", "locale"})
_SHOWN = 60


class Bound:
    """The values of one statement, each under a name of its own."""

    def __init__(self, parameters: Mapping[str, Any]) -> None:
        self.values = dict(parameters)

    def add(self, value: Any) -> str:
        name = f"v{len(self.values)}"
        self.values[name] = value
        return f":{name}"

    def list(self, values: Iterable[Any]) -> str:
        return ", ".join(self.add(value) for value in values)


def askable(columns: Iterable[Column]) -> dict[str, Column]:
    """What can be named: the declared fields first, then what every entry has. `sql` is an expression over `e`."""
    declared = {column.name: Column(column.name, column.kind, f"e.{column.sql}", column.related) for column in columns}
    own = {name: Column(name, _OWN_KINDS[type_], _OWN_SQL[name]) for name, type_ in OWN_FIELDS.items()}
    return declared | {name: column for name, column in own.items() if name not in declared}


class Conditions:
    """Writes conditions on what is `known`, for what one caller sees. `languages` are the names of those the list is in."""

    def __init__(self, table: TypeTable, known: Mapping[str, Column], languages: Iterable[str], sight: Sight, bound: Bound) -> None:
        self._table = table
        self._known = known
        self._languages = ", ".join(languages)
        self._visible = sight.visible_typed
        self._table_of = sight.table_of
        self._bound = bound
        self._alone = self._named = False

    def sql(self, conditions: Iterable[Condition]) -> str:
        """All of them, each after an AND. Raises InvalidArguments that names what exists."""
        conditions = tuple(conditions)
        if len(conditions) > MAX_CONDITIONS:
            raise InvalidArguments(f"At most {MAX_CONDITIONS} filters can be given.", argument="filters")
        self._alone = len(conditions) == 1
        columns = {condition.field: checked(condition, self._known) for condition in conditions}
        self._named = any(one.operator in ("eq", "in") and columns[one.field].kind in (TEXT, ONE) for one in conditions)
        return "".join(f" AND {self._one(columns[condition.field], condition)}" for condition in conditions)

    def _one(self, column: Column, condition: Condition) -> str:
        operator, values = condition.operator, _values(column, condition)
        if column.kind in (ONE, MANY_TARGETS):
            return self._relation(column, operator, values)
        if operator == "null":
            return f"{column.sql} IS {'' if values[0] else 'NOT '}NULL"
        if operator == "contains":
            return self._contains(column, values[0])
        if operator == "ne":
            return f"{column.sql} IS NOT {self._bound.add(values[0])}"
        if operator == "eq":
            return f"{column.sql} = {self._bound.add(values[0])}"
        if operator in _SIGNS:
            # The index of what is named holds small values too: SQLite, which guesses how much a range leaves, is kept (by a plus) from
            # reading that of the range, which holds no names.
            keep = "+" if self._named and column.kind in SMALL else ""
            return f"{keep}{column.sql} {_SIGNS[operator]} {self._bound.add(values[0])}"
        listed = f"{column.sql} {{}}IN ({self._bound.list(values)})"
        return f"({column.sql} IS NULL OR {listed.format('NOT ')})" if operator == "nin" else listed.format("")

    def _contains(self, column: Column, value: str) -> str:
        if column.kind == BODY:
            # A body is kept as it was typed, composed or not.
            typed = dict.fromkeys((value, unicodedata.normalize("NFD", value)))
            found = " OR ".join(f"instr(bodies.body, {self._bound.add(one)})" for one in typed)
            return f"({column.sql} AND EXISTS (SELECT 1 FROM bodies WHERE bodies.row = e.row AND ({found})))"
        name = self._bound.add(value)
        if not self._alone or column.name in NEVER_EMPTY:
            return f"instr({column.sql}, {name})"
        # Nothing else narrows the list: an index that holds the text, else the table, is read from end to end, and only what is found is
        # looked up.
        keep = "" if column.kind in INDEXED else "+"
        inner = f"SELECT s.row FROM {self._table.name} AS s WHERE {keep}s.lang IN ({self._languages})"
        return f"e.row IN ({inner} AND instr(s{column.sql.removeprefix('e')}, {name}))"

    def _relation(self, column: Column, operator: str, values: list[Any]) -> str:
        target = self._table_of(column.related).name
        number = column.sql.removeprefix("e.f")
        links = f"SELECT link.row FROM {self._table.targets} AS link WHERE link.field = {number}"
        if operator == "null":
            sees = f"SELECT 1 FROM {target} AS t WHERE (t.slug = {{0}} OR t.id = {{0}}) AND {self._visible}"
            if column.kind == MANY_TARGETS:
                led = f"EXISTS ({links} AND link.row = e.row AND EXISTS ({sees.format('link.target')}))"
            else:
                led = f"EXISTS ({sees.format(column.sql)})"
            return f"NOT {led}" if values[0] else led
        names = self._spellings(target, values)
        without = operator in ("ne", "nin")
        if column.kind == MANY_TARGETS:
            return f"e.row {'NOT ' if without else ''}IN ({links} AND link.target IN ({names}))"
        return f"({column.sql} IS NULL OR {column.sql} NOT IN ({names}))" if without else f"{column.sql} IN ({names})"

    def _spellings(self, target: str, values: list[Any]) -> str:
        """Every slug and id by which an author may have named the entries meant, in any of their languages."""
        listed = self._bound.list(values)
        meant = f"SELECT key FROM {target} WHERE (slug IN ({listed}) OR id IN ({listed})) AND {self._visible}"
        found = f"FROM {target} WHERE key IN ({meant}) AND {self._visible}"
        return f"SELECT slug {found} UNION ALL SELECT id {found}"


def checked(condition: Condition, known: Mapping[str, Column]) -> Column:
    """The column that a condition is about. InvalidArguments says what can be asked instead."""
    column, shown = known.get(condition.field), condition.field[:_SHOWN]
    if column is None:
        raise InvalidArguments(f"No field {shown!r} to filter by. Fields: {_offered(known)}.", argument=f"filters[{shown}]")
    if condition.operator not in OPERATORS_OF[column.kind]:
        raise InvalidArguments(
            f"{condition.field} cannot be filtered by {condition.operator[:_SHOWN]!r}. Operators: {', '.join(OPERATORS_OF[column.kind])}.",
            argument=f"filters[{condition.field}]",
        )
    return column


def _offered(known: Mapping[str, Column]) -> str:
    by_operators: dict[tuple[str, ...], list[str]] = {}
    for name, column in known.items():
        by_operators.setdefault(OPERATORS_OF[column.kind], []).append(name)
    return "; ".join(f"{', '.join(names)} ({', '.join(operators)})" for operators, names in by_operators.items())


def _values(column: Column, condition: Condition) -> list[Any]:
    """As they are stored. InvalidArguments for one of another type."""
    if condition.operator == "null":
        if not isinstance(condition.value, bool):
            raise _unfit(condition, "true or false")
        return [condition.value]
    if condition.operator not in ("in", "nin"):
        return [_value(column, condition, condition.value)]
    if not isinstance(condition.value, tuple | list) or len(condition.value) > MAX_LISTED:
        raise _unfit(condition, f"a list of at most {MAX_LISTED} values")
    return [_value(column, condition, one) for one in condition.value]


def _value(column: Column, condition: Condition, value: Any) -> Any:
    if column.kind == NUMBER:
        if isinstance(value, bool) or not isinstance(value, int | float) or math.isnan(value):
            raise _unfit(condition, "a number")
        return _bounded(value)
    if column.kind == BOOLEAN:
        if not isinstance(value, bool):
            raise _unfit(condition, "true or false")
        return int(value)
    if not isinstance(value, str) or any("\ud800" <= sign <= "\udfff" for sign in value):
        raise _unfit(condition, "text")
    if column.kind == DATETIME:
        moment = read_moment(value)
        if moment is None:
            raise _unfit(condition, "a date or time, such as 2026-03-06 or 2026-03-06T10:00:00Z")
        return moment.ms
    return plain(value)


def _bounded(value: float) -> float:
    """SQLite's integers have 64 bits."""
    if isinstance(value, float) or -(2**63) <= value < 2**63:
        return value
    try:
        return float(value)
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")


def _unfit(condition: Condition, wanted: str) -> InvalidArguments:
    return InvalidArguments(f"filters[{condition.field}][{condition.operator}] takes {wanted}.", argument=f"filters[{condition.field}]")
