"""`filters[field][operator]=value` as conditions, typed by the field. Pure: knows fields and text, not how anything is found."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from cmsmcp.api.fields import RELATION, Field, Fields
from cmsmcp.api.query import SHOWN, listed, near, shown
from cmsmcp.api.values import READERS, Misread, join_list, read_boolean, read_text, read_whole, split_list
from cmsmcp.core.entries import MAX_CONDITIONS, MAX_LISTED, Condition
from cmsmcp.protocol.errors import InvalidArguments

_NAME = re.compile(r"filters\[([^\[\]]*)\](?:\[([^\[\]]*)\])?\Z")
IMPLIED = "eq"
"""The operator of `filters[field]=value`."""
AUTHOR = "author"
"""A parameter of its own for `filters[author][eq]`."""


def read_filters(pairs: Sequence[tuple[str, str]], fields: Fields) -> tuple[Condition, ...]:
    """InvalidArguments names the filter at fault and says which fields or operators there are."""
    if len(pairs) > MAX_CONDITIONS:
        raise InvalidArguments(f"At most {MAX_CONDITIONS} filters can be given.", argument="filters")
    found: dict[tuple[str, str], Condition] = {}
    for name, text in pairs:
        field, operator = _named(name, fields)
        if (field.name, operator) in found:
            raise InvalidArguments(f"filters[{field.name}][{operator}] was given more than once.", argument=name[:SHOWN])
        try:
            found[field.name, operator] = Condition(field.name, operator, _value(field, operator, text))
        except Misread as fault:
            raise InvalidArguments(f"{name} {fault}.", argument=name) from None
    return tuple(found.values())


def write_filter(condition: Condition) -> tuple[str, str]:
    """The parameter that `read_filters` reads as this condition."""
    value = condition.value
    text = join_list([_text(one) for one in value]) if isinstance(value, tuple) else _text(value)
    return f"filters[{condition.field}][{condition.operator}]", text


def _named(name: str, fields: Fields) -> tuple[Field, str]:
    parts = _NAME.match(f"filters[{AUTHOR}]" if name == AUTHOR else name)
    if parts is None:
        raise InvalidArguments(f"{shown(name)} is no filter; write filters[field][operator]=value.", argument=name[:SHOWN])
    field_name, operator = parts[1], parts[2] if parts[2] is not None else IMPLIED
    field = fields.by_name.get(field_name)
    if field is None or not field.operators:
        what = "is no field of" if field is None else "cannot be filtered in"
        known = f"{near(field_name, fields.filtered)} Fields to filter by: {listed(fields.filtered)}."
        raise InvalidArguments(
            f"{name[:SHOWN]}: {shown(field_name)} {what} {fields.slug}.{known}",
            argument=name[:SHOWN],
        )
    if operator not in field.operators:
        raise InvalidArguments(
            f"{name[:SHOWN]}: {field_name} has no operator {shown(operator)}. Operators of {field_name}: {listed(field.operators)}.",
            argument=name[:SHOWN],
        )
    return field, operator


def _value(field: Field, operator: str, text: str) -> Any:
    if operator == "null":
        return read_boolean(text)
    if operator == "contains":
        return read_text(text)
    if operator not in ("in", "nin"):
        return _one(field, text)
    values = tuple(_one(field, one) for one in split_list(text))
    if len(values) > MAX_LISTED:
        raise Misread(f"has {len(values)} values; at most {MAX_LISTED} can be given")
    if len(set(values)) < len(values):
        raise Misread("has a value more than once")
    return values


def _one(field: Field, text: str) -> Any:
    if field.whole:
        return read_whole(text)
    if field.type == RELATION:
        return read_text(text)
    return READERS.get(field.type, read_text)(text)


def _text(value: Any) -> str:
    return ("true" if value else "false") if isinstance(value, bool) else str(value)
