"""Menus and the index of published pages, as a visitor of the site finds them (F16).

The menus come from the catalog's `meta`, where the indexer put them; an entry that leads to a document that is not published
is left out with everything below it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from cmsmcp.core.deadline import Deadline
from cmsmcp.core.ports import Visibility
from cmsmcp.site.catalog.reader import CatalogReader
from cmsmcp.site.catalog.visibility import visible_sql
from cmsmcp.site.content.addresses import url_spellings

MAX_PAGES = 500

Entry = Mapping[str, Any]


def read_navigation(reader: CatalogReader, base_url: str, lang: str | None, now: int, deadline: Deadline) -> dict[str, Any]:
    """The port's answer. `base_url` is the site's own; `lang` narrows the page index, not the menus; `now` is in milliseconds."""
    visible, parameters = visible_sql(Visibility(), now)
    menus = json.loads(reader.meta().get("menus") or "{}")
    spellings = {url: url_spellings(url, base_url) for url in _urls(menus)}
    wanted = json.dumps([path for paths in spellings.values() for path in paths])
    known = reader.rows(
        f"SELECT url, max({visible}) FROM documents WHERE url IN (SELECT value FROM json_each(:urls)) GROUP BY url",
        {**parameters, "urls": wanted},
        deadline,
    )
    # A document stands there, but none that is published.
    unpublished = {url for url, published in known if not published}
    hidden = {url for url, paths in spellings.items() if unpublished.intersection(paths)}
    where = f"{visible} AND type = 'page'{' AND lang = :lang' if lang else ''}"
    rows = reader.rows(
        f"SELECT id, title, url, lang, type FROM documents WHERE {where} ORDER BY url, id LIMIT {MAX_PAGES + 1}",
        {**parameters, "lang": lang},
        deadline,
    )
    pages = [dict(zip(("id", "title", "url", "lang", "type"), row, strict=True)) for row in rows[:MAX_PAGES]]
    shown = {name: _shown(entries, hidden) for name, entries in menus.items()}
    return {"menus": shown, "pages": pages, "truncated": len(rows) > MAX_PAGES}


def _urls(menus: Mapping[str, Sequence[Entry]]) -> Iterator[str]:
    pending = [entry for entries in menus.values() for entry in entries]
    while pending:
        entry = pending.pop()
        pending.extend(entry.get("items", ()))
        yield entry["url"]


def _shown(entries: Sequence[Entry], hidden: set[str]) -> list[dict[str, Any]]:
    kept = []
    for entry in entries:
        if entry["url"] in hidden:
            continue
        one = {"name": entry["name"], "url": entry["url"]}
        items = _shown(entry.get("items", ()), hidden)
        kept.append(one | ({"items": items} if items else {}))
    return kept
