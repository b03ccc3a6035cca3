"""Menus and the index of published pages, as a visitor of the site finds them (F16).

The menus come from the catalog's `meta`, where the indexer put them. An entry that leads to a path of this site at which nothing is
published, by a redirect too, is left out with everything below it: whether a hidden document stands there, or none, makes no difference.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import unquote

from cmsmcp.core.deadline import Deadline
from cmsmcp.core.ports import Visibility
from cmsmcp.protocol.errors import NotFound
from cmsmcp.site.catalog.reader import CatalogReader
from cmsmcp.site.catalog.visibility import visible_sql
from cmsmcp.site.content.addresses import url_spellings
from cmsmcp.site.content.authors import read_author
from cmsmcp.site.data.redirects import load_redirects
from cmsmcp.site.model import SiteConfig
from cmsmcp.site.routes import is_beside_documents

MAX_PAGES = 500
_MAX_HOPS = 8

Entry = Mapping[str, Any]


def read_navigation(reader: CatalogReader, config: SiteConfig, lang: str | None, now: int, deadline: Deadline) -> dict[str, Any]:
    """The port's answer. `lang` narrows the page index, not the menus; `now` is in milliseconds."""
    visible, parameters = visible_sql(Visibility(), now)
    menus = json.loads(reader.meta().get("menus") or "{}")
    rules = {rule.source: rule.target for rule in load_redirects(config)[0] if rule.enabled}
    spellings = {url: list(_leads_to(url, config, rules)) for url in _urls(menus)}
    led = {path for paths in spellings.values() for path in paths}
    open_ = {path for path in led if not path.startswith("/") or path.startswith("//") or is_beside_documents(config, path)}
    open_ |= _published(reader, led - open_, now, deadline)
    hidden = {url for url, paths in spellings.items() if open_.isdisjoint(paths)}
    where = f"{visible} AND type = 'page'{' AND lang = :lang' if lang else ''}"
    rows = reader.rows(
        f"SELECT id, title, url, lang, type FROM documents WHERE {where} ORDER BY url, id LIMIT {MAX_PAGES + 1}",
        {**parameters, "lang": lang},
        deadline,
    )
    pages = [dict(zip(("id", "title", "url", "lang", "type"), row, strict=True)) for row in rows[:MAX_PAGES]]
    shown = {name: _shown(entries, hidden) for name, entries in menus.items()}
    return {"menus": shown, "pages": pages, "truncated": len(rows) > MAX_PAGES}


def _leads_to(url: str, config: SiteConfig, rules: Mapping[str, str]) -> Iterator[str]:
    """Every spelling of the paths that `url` leads to, redirects followed."""
    for _ in range(_MAX_HOPS):
        paths = url_spellings(url, config)
        yield from paths
        target = next((rules[path] for path in paths if path in rules), None)
        if target is None:
            return
        url = target


def _published(reader: CatalogReader, paths: Collection[str], now: int, deadline: Deadline) -> set[str]:
    """Those of `paths` at which a published document stands, or a list of such documents: of a term, or of an author."""
    visible, parameters = visible_sql(Visibility(), now)
    lists = {path: parts[-2:] for path in paths if len(parts := [unquote(part) for part in path.strip("/").split("/")]) in (2, 3)}
    found = reader.rows(
        f"SELECT url FROM documents WHERE url IN (SELECT value FROM json_each(:wanted)) AND {visible}",
        {**parameters, "wanted": json.dumps(list(paths))},
        deadline,
    )
    listed = reader.rows(
        "SELECT DISTINCT w.key FROM json_each(:wanted) AS w JOIN terms ON taxonomy = json_extract(w.value, '$[0]')"
        f" AND term = json_extract(w.value, '$[1]') JOIN documents USING (row) WHERE {visible}",
        {**parameters, "wanted": json.dumps(lists)},
        deadline,
    )
    authors = {path for path, (kind, name) in lists.items() if kind == "authors" and _writes(reader, name, now, deadline)}
    return {path for (path,) in (*found, *listed)} | authors


def _writes(reader: CatalogReader, slug: str, now: int, deadline: Deadline) -> bool:
    try:
        read_author(reader, slug, Visibility(), now, deadline)
    except NotFound:
        return False
    return True


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
