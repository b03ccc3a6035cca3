"""The two versions of a catalog: of what is public, and of the whole. What readers are told, keep and count follows the one that they see.

Both change with the configuration, types, menus and media, and when a date comes; the public one with what is public, the whole one with
every write of documents.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from cmsmcp.core.ports import Visibility
from cmsmcp.site.catalog.schema import FOREVER

_NAMES = "('born', 'edition', 'public', 'settled', 'site_digest')"
_LAST = (
    "SELECT max(at) FROM (SELECT max(publish_at) AS at FROM documents WHERE publish_at > 0"
    " AND publish_at > :after AND publish_at <= :now{0}"
    f" UNION ALL SELECT max(unpublish_at) FROM documents WHERE unpublish_at < {FOREVER}"
    " AND unpublish_at > :after AND unpublish_at <= :now{0})"
)
_NEXT = (
    "SELECT min(at) FROM (SELECT min(publish_at) AS at FROM documents WHERE publish_at > 0 AND publish_at > :now"
    f" UNION ALL SELECT min(unpublish_at) FROM documents WHERE unpublish_at < {FOREVER} AND unpublish_at > :now)"
)

Ask = Callable[[str, Mapping[str, Any]], Any]
"""One row of a question, or None."""


def version_of(meta: Mapping[str, Any], ask: Ask, visibility: Visibility, now: int) -> str:
    """`meta` is the catalog's, of the same state as `ask` answers for; `now` is in milliseconds."""
    names: tuple[str, ...] = ("born", "edition")
    after, own = 0, ""
    if visibility == Visibility():
        names, after, own = ("public",), int(meta.get("settled", 0)), " AND status = 'published'"
    # The writer settles what has become due within a moment; in that moment the date itself says that something is different.
    due = ask(_LAST.format(own), {"after": after, "now": now})[0]
    return "-".join(str(part or 0) for part in (*(meta.get(name) for name in (*names, "site_digest")), due))


def meta_of(rows: Callable[[str], Any]) -> Mapping[str, Any]:
    """What `version_of` takes, asked for."""
    return dict(rows(f"SELECT name, value FROM meta WHERE name IN {_NAMES}"))


def next_date(ask: Ask, now: int) -> int:
    """When the clock next changes a status, in milliseconds."""
    return ask(_NEXT, {"now": now})[0] or FOREVER
