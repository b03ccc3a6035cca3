"""What may stand behind the `?`: each parameter by name, strictly. Nothing is ignored, nothing guessed (docs/api.md).

Knows names and bounds. What a locale or a cursor means is the site's to say.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import parse_qsl

from cmsmcp.protocol.errors import InvalidArguments

DEFAULT_LIMIT = 20
MAX_LIMIT = 100
MAX_PARAMETERS = 50
OF_LIST = ("limit", "cursor", "locale")
OF_ENTRY = ("locale",)
_SHOWN = 60


@dataclass(frozen=True, slots=True)
class Parameters:
    """What a request asked for; None is what was left out."""

    limit: int = DEFAULT_LIMIT
    cursor: str | None = None
    locale: str | None = None


def split_query(query: bytes) -> list[tuple[str, str]]:
    """Names and values as they were sent, blank values included. InvalidArguments when there are more than MAX_PARAMETERS."""
    try:
        return parse_qsl(query.decode("utf-8", "replace"), keep_blank_values=True, max_num_fields=MAX_PARAMETERS, errors="replace")
    except ValueError:
        raise InvalidArguments(f"At most {MAX_PARAMETERS} parameters can be given.") from None


def read_parameters(given: list[tuple[str, str]], known: tuple[str, ...]) -> Parameters:
    """InvalidArguments names the parameter at fault, and says what there is."""
    values: dict[str, str] = {}
    for name, value in given:
        if name not in known:
            raise InvalidArguments(f"Unknown parameter {name[:_SHOWN]!r}. Known here: {', '.join(known)}.", argument=name[:_SHOWN])
        if name in values:
            raise InvalidArguments(f"The parameter {name} was given more than once.", argument=name)
        values[name] = value
    return Parameters(_limit(values), values.get("cursor"), values.get("locale"))


def _limit(values: Mapping[str, str]) -> int:
    text = values.get("limit", str(DEFAULT_LIMIT))
    if not re.fullmatch("[0-9]{1,4}", text) or not 1 <= int(text) <= MAX_LIMIT:
        raise InvalidArguments(f"limit must be a whole number from 1 to {MAX_LIMIT}.", argument="limit")
    return int(text)
