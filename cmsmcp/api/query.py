"""The query string as names and values: bounded, each name once, none that is not known. What a value means is not known here."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from difflib import get_close_matches
from urllib.parse import parse_qsl

from cmsmcp.protocol.errors import InvalidArguments

MAX_QUERY = 8_192
"""Bytes."""
MAX_PARAMETERS = 50
SHOWN = 60
FILTERS = "filters"

Pairs = Sequence[tuple[str, str]]


def split_query(query: bytes) -> list[tuple[str, str]]:
    """Names and values as they were sent, blank values included. InvalidArguments: too long, too many, or no UTF-8."""
    if len(query) > MAX_QUERY:
        raise InvalidArguments(f"The query string has {len(query)} bytes; at most {MAX_QUERY} are read. Ask for less at once.")
    try:
        return parse_qsl(query.decode(), keep_blank_values=True, max_num_fields=MAX_PARAMETERS, errors="strict")
    except UnicodeDecodeError:
        raise InvalidArguments("The query string is not UTF-8.") from None
    except ValueError:
        raise InvalidArguments(f"At most {MAX_PARAMETERS} parameters can be given.") from None


class Given:
    """What was given, by name. `filters` are the pairs whose name begins so; they are apart, because a name of theirs has parts."""

    def __init__(self, pairs: Pairs, known: Collection[str]) -> None:
        self._values: dict[str, str] = {}
        self.filters: list[tuple[str, str]] = []
        for name, value in pairs:
            if FILTERS in known and (name == FILTERS or name.startswith(f"{FILTERS}[")):
                self.filters.append((name, value))
            elif name not in known:
                raise _unknown(name, known)
            elif name in self._values:
                raise InvalidArguments(f"The parameter {name} was given more than once.", argument=name)
            else:
                self._values[name] = value

    def __contains__(self, name: str) -> bool:
        return name in self._values

    def get(self, name: str) -> str | None:
        return self._values.get(name)

    def names(self, name: str) -> list[str]:
        """A comma list of names: none blank, none twice. Empty where the parameter was not given."""
        if name not in self._values:
            return []
        found = self._values[name].split(",")
        if "" in found:
            raise InvalidArguments(f"{name} must be names with commas between, none of them blank.", argument=name)
        twice = next((one for one in found if found.count(one) > 1), None)
        if twice is not None:
            raise InvalidArguments(f"{name} names {shown(twice)} more than once.", argument=name)
        return found

    def apart(self, *names: str) -> None:
        """At most one of these may be given."""
        both = [name for name in names if name in self._values]
        if len(both) > 1:
            raise InvalidArguments(f"{' and '.join(both)} cannot be given together; choose one.", argument=both[1])


def shown(text: str) -> str:
    """Foreign text in a message: quoted, and cut."""
    return repr(text[:SHOWN])


def listed(names: Iterable[str]) -> str:
    return ", ".join(names) or "(none)"


def near(name: str, known: Iterable[str]) -> str:
    """" Did you mean …?" where something known is close."""
    found = get_close_matches(name[:SHOWN], list(known), n=1, cutoff=0.6)
    return f" Did you mean {found[0]}?" if found else ""


def _spelled(known: Collection[str]) -> Iterator[str]:
    return (f"{FILTERS}[field][operator]" if name == FILTERS else name for name in known)


def _unknown(name: str, known: Collection[str]) -> InvalidArguments:
    told = f"Known here: {listed(_spelled(known))}." if known else "This request takes none."
    return InvalidArguments(f"Unknown parameter {shown(name)}.{near(name, known)} {told}", argument=name[:SHOWN])
