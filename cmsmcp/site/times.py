"""Dates and times as authors write them: `Y-M-D`, `Y-M-D H:M[:S[.f]]`, RFC 3339, with a blank or a `T` between (docs/rules.md, Odd places).

A time without a zone is UTC and says so. Out goes ISO 8601 in UTC with milliseconds and `Z`; a date stays a date. Knows no clock.
"""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta, timezone
from typing import NamedTuple

_FORM = re.compile(
    r"(\d{4})-(\d{1,2})-(\d{1,2})(?:(?:[Tt]|[ \t]+)(\d{1,2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?[ \t]*([Zz]|[+-]\d{2}(?::?\d{2})?)?)?\Z",
    re.ASCII,
)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)


class Moment(NamedTuple):
    """`ms` since 1970 UTC (a date is its midnight), `iso` as it goes out, `zoneless` when a time came without a zone."""

    ms: int
    iso: str
    zoneless: bool


def read_moment(source: str) -> Moment | None:
    """The moment `source` names; None if it names none (`2026-02-30`, `soon`, year 0)."""
    found = _FORM.match(source.strip())
    if found is None:
        return None
    year, month, day, hour, minute, second, fraction, zone = found.groups()
    try:
        if hour is None:
            day_itself = date(int(year), int(month), int(day))
            return Moment((day_itself.toordinal() - 719_163) * 86_400_000, day_itself.isoformat(), False)
        milli = int((fraction or "0").ljust(3, "0")[:3])
        moment = datetime(int(year), int(month), int(day), int(hour), int(minute), int(second or 0), milli * 1000, _zone(zone))
        moment = moment.astimezone(UTC)
    except (ValueError, OverflowError):
        return None
    iso = f"{moment.year:04d}{moment.strftime('-%m-%dT%H:%M:%S')}.{milli:03d}Z"
    return Moment((moment - _EPOCH) // _MILLISECOND, iso, zone is None)


def _zone(text: str | None) -> timezone:
    if text is None or text in "Zz":
        return UTC
    hours, minutes = int(text[1:3]), int(text[3:].lstrip(":") or 0)
    if minutes > 59:
        raise ValueError
    offset = timedelta(hours=hours, minutes=minutes)
    return timezone(-offset if text[0] == "-" else offset)
