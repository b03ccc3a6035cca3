"""What one language has and another lacks: visible documents without a visible translation (docs/rules.md, Languages)."""

from __future__ import annotations

import json
from collections.abc import Iterable

from cmsmcp.core.deadline import Deadline
from cmsmcp.core.ports import Document, Page, Visibility
from cmsmcp.site.catalog.reader import CatalogReader
from cmsmcp.site.catalog.rows import SUMMARY_COLUMNS, to_document
from cmsmcp.site.catalog.visibility import visible_sql


def find_untranslated(
    reader: CatalogReader, source: str, target: str, *, type: str | None, by_path: Iterable[str], visibility: Visibility, limit: int,
    now: int, deadline: Deadline,
) -> Page[Document]:
    """See the port. `source` and `target` are spelled as the site spells them; `now` is in milliseconds;
    translations of the types `by_path` are matched by their path alone."""
    visible, parameters = visible_sql(visibility, now)
    parameters |= {"source": source, "target": target, "most": limit, "type": type, "by_path": json.dumps(sorted(by_path))}
    # Inside the sub-select a bare name is the translation's. One is found by its path below the language folder, else by its slug.
    by_slug = "source.type NOT IN (SELECT value FROM json_each(:by_path)) AND"
    twin = f"SELECT 1 FROM documents AS other WHERE {visible} AND lang = :target AND other.type = source.type AND"
    where = (
        f"{visible} AND lang = :source{' AND type = :type' if type is not None else ''}"
        f" AND NOT EXISTS ({twin} key = source.key) AND NOT EXISTS ({twin} {by_slug} slug = source.slug)"
    )
    [(total,)] = reader.rows(f"SELECT count(*) FROM documents AS source WHERE {where}", parameters, deadline)
    sql = f"SELECT {SUMMARY_COLUMNS} FROM documents AS source WHERE {where} ORDER BY type, url, id LIMIT :most"
    rows = reader.rows(sql, parameters, deadline)
    return Page([to_document(row) for row in rows], total)
