"""Rows of the catalog as the documents of `core.ports`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from cmsmcp.core.ports import Document
from cmsmcp.site.catalog.visibility import STATUS_SQL
from cmsmcp.site.paths import composed

SUMMARY_COLUMNS = (
    f"id, type, lang, slug, url, title, {STATUS_SQL} AS status_now, path, layout, summary, author, last_editor, date, created_at, "
    "updated_at, taxonomies, fields, params"
)
"""What `to_document` takes, in its order; needs the parameter `now`."""


def to_document(
    values: Sequence[Any], *, locale: str | None = None, body: str = "", translations: Sequence[dict[str, str]] = ()
) -> Document:
    """`values` are SUMMARY_COLUMNS. `locale` is the one asked for; None: the document's own language."""
    *plain, taxonomies, fields, params = values
    id_, type_, lang, slug, url, title, status, path, layout, summary, author, last_editor, date, created_at, updated_at = plain
    return Document(
        id=id_, type=type_, lang=lang, slug=slug, url=url, title=title, status=status, path=composed(path), locale=locale or lang,
        layout=layout, summary=summary, author=author, last_editor=last_editor, date=date, created_at=created_at, updated_at=updated_at,
        taxonomies=_map(taxonomies), fields=_map(fields), params=_map(params), body=body, translations=translations,
    )  # fmt: skip


def _map(text: str) -> dict[str, Any]:
    return json.loads(text) if text != "{}" else {}
