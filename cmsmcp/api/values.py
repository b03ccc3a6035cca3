"""What a parameter's text stands for, by the type of the field it is compared with. Pure; nothing is guessed or rounded.

Faults are one line that goes behind the parameter's name.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime

MOST_INTEGER = 2**63 - 1
_INTEGER = re.compile(r"-?[0-9]{1,19}\Z", re.ASCII)
_NUMBER = re.compile(r"-?[0-9]{1,30}(\.[0-9]{1,30})?([eE][+-]?[0-9]{1,3})?\Z", re.ASCII)
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}\Z", re.ASCII)
_TIME = re.compile(r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:\d{2})?\Z", re.ASCII)
_LOST_PLUS = re.compile(r"T[\d:.]{5,18} \d{2}:\d{2}\Z", re.ASCII)


class Misread(ValueError):
    """The text is no such value; the message says what is wanted."""


def read_text(text: str) -> str:
    if not text:
        raise Misread("needs a value; entries without one are found with the operator null")
    if "\0" in text:
        raise Misread("must not hold a NUL character")
    return text


def read_whole(text: str) -> int:
    if not _INTEGER.match(text) or abs(int(text)) > MOST_INTEGER:
        raise Misread("must be a whole number")
    return int(text)


def read_number(text: str) -> int | float:
    """An int where it is written as one."""
    if _INTEGER.match(text) and abs(int(text)) <= MOST_INTEGER:
        return int(text)
    number = float(text) if _NUMBER.match(text) else float("inf")
    if number in (float("inf"), float("-inf")):
        raise Misread("must be a number, such as 12 or -0.5")
    return number


def read_boolean(text: str) -> bool:
    if text not in ("true", "false"):
        raise Misread("must be true or false")
    return text == "true"


def read_moment(text: str) -> str:
    """ISO 8601 as it was written. A date is its midnight, a time without a zone is UTC (docs/rules.md, Odd places)."""
    if _LOST_PLUS.search(text):
        raise Misread("must be a date or time; write the + of its zone as %2B")
    try:
        if _DATE.match(text):
            date.fromisoformat(text)
            return text
        if _TIME.match(text):
            datetime.fromisoformat(_in_python(text))
            return text
    except ValueError:
        pass
    raise Misread("must be a date or time, such as 2026-03-06 or 2026-03-06T10:00:00Z")


def _in_python(text: str) -> str:
    """Fractions as Python reads them: at most six digits."""
    return re.sub(r"(\.\d{1,6})\d*", r"\1", text)


READERS: Mapping[str, Callable[[str], object]] = {
    "number": read_number, "boolean": read_boolean, "datetime": read_moment,
}  # fmt: skip
"""By field type; every other one is compared as text."""


def split_list(text: str) -> list[str]:
    r"""`a,b` is two values; `\,` is a comma and `\\` a backslash within one."""
    found, current, signs = [], "", iter(text)
    for sign in signs:
        if sign == "\\":
            escaped = next(signs, "")
            if escaped not in (",", "\\") or not escaped:
                raise Misread(r"has a backslash that stands for nothing; write \, for a comma within a value, \\ for a backslash")
            current += escaped
        elif sign == ",":
            found.append(current)
            current = ""
        else:
            current += sign
    return [*found, current]


def join_list(values: Sequence[str]) -> str:
    """The text that `split_list` reads as `values`, which are at least one."""
    return ",".join(value.replace("\\", "\\\\").replace(",", "\\,") for value in values)
