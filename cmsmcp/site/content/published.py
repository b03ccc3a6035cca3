"""Menus and the index of published pages, as a visitor of the site finds them (F16).

The menus come from the catalog's `meta`, where the indexer put them; an entry that leads to a document that is not published, by
a redirect too, or to a term that only such documents carry, is left out with everything below it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import unquote

from cmsmcp.core.deadline import Deadline
from cmsmcp.core.ports import Visibility
from cmsmcp.site.catalog.reader import CatalogReader
from cmsmcp.site.catalog.visibility import visible_sql
from cmsmcp.site.content.addresses import url_spellings
from cmsmcp.site.data.redirects import load_redirects
from cmsmcp.site.model import SiteConfig

MAX_PAGES = 500
_MAX_HOPS = 8

Entry = Mapping[str, Any]


def read_navigation(reader: CatalogReader, config: SiteConfig, lang: str | None, now: int, deadline: Deadline) -> dict[str, Any]:
    """The port's answer. `lang` narrows the page index, not the menus; `now` is in milliseconds."""
    visible, parameters = visible_sql(Visibility(), now)
    menus = json.loads(reader.meta().get("menus") or "{}")
    rules = {rule.source: rule.target for rule in load_redirects(config)[0] if rule.enabled}
    spellings = {url: list(_leads_to(url, config.base_url, rules)) for url in _urls(menus)}
    unpublished = _unpublished(reader, [path for paths in spellings.values() for path in paths], now, deadline)
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


def _leads_to(url: str, base_url: str, rules: Mapping[str, str]) -> Iterator[str]:
    """Every spelling of the paths that `url` leads to, redirects followed."""
    for _ in range(_MAX_HOPS):
        paths = url_spellings(url, base_url)
        yield from paths
        target = next((rules[path] for path in paths if path in rules), None)
        if target is None:
            return
        url = target


def _unpublished(reader: CatalogReader, paths: Sequence[str], now: int, deadline: Deadline) -> set[str]:
    """Those of `paths` where a document stands, or a term is listed, but none that is published."""
    visible, parameters = visible_sql(Visibility(), now)
    terms = {path: parts[-2:] for path in paths if len(parts := [unquote(part) for part in path.strip("/").split("/")]) in (2, 3)}
    found = reader.rows(
        f"SELECT url, max({visible}) FROM documents WHERE url IN (SELECT value FROM json_each(:wanted)) GROUP BY url",
        {**parameters, "wanted": json.dumps(paths)},
        deadline,
    )
    listed = reader.rows(
        f"SELECT w.key, max({visible}) FROM json_each(:wanted) AS w JOIN terms ON taxonomy = json_extract(w.value, '$[0]')"
        " AND term = json_extract(w.value, '$[1]') JOIN documents USING (row) GROUP BY w.key",
        {**parameters, "wanted": json.dumps(terms)},
        deadline,
    )
    return {path for path, published in (*found, *listed) if not published}


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
