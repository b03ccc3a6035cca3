"""Slugs that fit what somebody has typed so far, for completion: of visible documents alone."""

from __future__ import annotations

import unicodedata
from typing import Any

from cmsmcp.core.deadline import Deadline
from cmsmcp.core.ports import Visibility
from cmsmcp.site.catalog.reader import CatalogReader
from cmsmcp.site.catalog.visibility import visible_sql

_AFTER_EVERY_SIGN = "\U0010ffff"


def find_slugs(
    reader: CatalogReader, typed: str, *, type: str | None, lang: str | None, visibility: Visibility, limit: int, now: int,
    deadline: Deadline,
) -> list[str]:
    """Those that begin with `typed`, then those that contain it, sorted; ASCII letters in either case. `now` is in milliseconds."""
    where, parameters = visible_sql(visibility, now)
    for name, value in (("type", type), ("lang", lang)):
        if value is not None:
            # The plus keeps SQLite off the index of that column: this is a walk along the index of slugs.
            where, parameters[name] = f"{where} AND +{name} = :{name}", value
    typed = unicodedata.normalize("NFC", typed)
    parameters |= {"typed": typed, "after": typed + _AFTER_EVERY_SIGN, "lower": typed.lower()}

    def ask(condition: str, most: int) -> list[str]:
        sql = f"SELECT DISTINCT slug FROM documents WHERE {condition} AND {where} ORDER BY slug LIMIT :most"
        return [slug for (slug,) in reader.rows(sql, {**parameters, "most": most}, deadline)]

    found: dict[str, Any] = dict.fromkeys(ask("slug >= :typed AND slug < :after", limit))
    if typed and len(found) < limit:
        found |= dict.fromkeys(ask("instr(lower(slug), :lower)", limit))
    return list(found)[:limit]
