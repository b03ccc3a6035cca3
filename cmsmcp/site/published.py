"""Menus and the index of published pages, as a visitor of the site finds them (domain F16).

The menus come from the catalog's `meta`, where the indexer put them; an entry that leads to a document that is not published
is left out with everything below it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from cmsmcp.core.deadline import Deadline
from cmsmcp.core.ports import Visibility
from cmsmcp.site.catalog_reader import CatalogReader
from cmsmcp.site.urls import is_absolute, normal_path, split_url
from cmsmcp.site.visibility import visible_sql

MAX_PAGES = 500

Entry = Mapping[str, Any]


def read_navigation(reader: CatalogReader, meta: Mapping[str, Any], lang: str | None, now: int, deadline: Deadline) -> dict[str, Any]:
    """The port's answer. `meta` is the catalog's; `lang` narrows the page index, not the menus; `now` is in milliseconds."""
    visible, parameters = visible_sql(Visibility(), now)
    menus = json.loads(meta.get("menus") or "{}")
    hidden = _hidden(reader, list(_paths(menus)), visible, parameters, deadline)
    where = f"{visible} AND type = 'page'{' AND lang = :lang' if lang else ''}"
    rows = reader.rows(
        f"SELECT id, title, url, lang, type FROM documents WHERE {where} ORDER BY url, id LIMIT {MAX_PAGES + 1}",
        {**parameters, "lang": lang},
        deadline,
    )
    pages = [dict(zip(("id", "title", "url", "lang", "type"), row, strict=True)) for row in rows[:MAX_PAGES]]
    shown = {name: _shown(entries, hidden) for name, entries in menus.items()}
    return {"menus": shown, "pages": pages, "truncated": len(rows) > MAX_PAGES}


def _hidden(
    reader: CatalogReader, paths: Sequence[str], visible: str, parameters: Mapping[str, Any], deadline: Deadline
) -> set[str]:
    """Those of `paths` where a document stands, but none that is published."""
    if not paths:
        return set()
    wanted = "url IN (SELECT value FROM json_each(:urls))"
    rows = reader.rows(
        f"SELECT url, max({visible}) FROM documents WHERE {wanted} GROUP BY url", {**parameters, "urls": json.dumps(paths)}, deadline
    )
    return {url for url, published in rows if not published}


def _paths(menus: Mapping[str, Sequence[Entry]]) -> Iterator[str]:
    pending = [entry for entries in menus.values() for entry in entries]
    while pending:
        entry = pending.pop()
        pending.extend(entry.get("items", ()))
        yield from _spellings(entry["url"])


def _spellings(url: str) -> tuple[str, ...]:
    """As a document's URL would be: it ends with a slash even where a path with a dot does not."""
    if is_absolute(url):
        return ()
    path = normal_path(split_url(url)[0])
    return (path,) if path.endswith("/") else (path, f"{path}/")


def _shown(entries: Sequence[Entry], hidden: set[str]) -> list[dict[str, Any]]:
    kept = []
    for entry in entries:
        if hidden.intersection(_spellings(entry["url"])):
            continue
        one = {"name": entry["name"], "url": entry["url"]}
        items = _shown(entry.get("items", ()), hidden)
        kept.append(one | ({"items": items} if items else {}))
    return kept
