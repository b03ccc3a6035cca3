"""Authors of visible documents, by the slug that Foundry makes of a name. There is no more of them in the files than a name.

Names are walked along their index, so that a hundred thousand documents of ten authors are ten steps.
"""

from __future__ import annotations

import json
import unicodedata
from collections import Counter
from typing import Any

from cmsmcp.core.deadline import Deadline
from cmsmcp.core.ports import Visibility
from cmsmcp.protocol.errors import NotFound
from cmsmcp.site.catalog.reader import CatalogReader
from cmsmcp.site.catalog.visibility import visible_sql
from cmsmcp.site.urls import author_slug

_NAMES = """
WITH RECURSIVE names (name) AS (
  SELECT min(author) FROM documents WHERE author > ''
  UNION ALL SELECT (SELECT min(author) FROM documents WHERE author > name) FROM names WHERE name IS NOT NULL
) SELECT name FROM names WHERE name IS NOT NULL
"""


def read_author(reader: CatalogReader, slug: str, visibility: Visibility, now: int, deadline: Deadline) -> dict[str, Any]:
    """See the port. Several spellings may share a slug: the one with most documents is the name. `now` is in milliseconds."""
    wanted = unicodedata.normalize("NFC", slug)
    names = [name for (name,) in reader.rows(_NAMES, {}, deadline)]
    spelled = [name for name in names if unicodedata.normalize("NFC", author_slug(name)) == wanted]
    visible, parameters = visible_sql(visibility, now)
    rows = reader.rows(
        f"SELECT author, type, count(*) FROM documents WHERE author IN (SELECT value FROM json_each(:names)) AND {visible}"
        " GROUP BY author, type",
        {**parameters, "names": json.dumps(spelled)},
        deadline,
    )
    if not rows:
        raise NotFound("author", slug)
    by_name, by_type = Counter[str](), Counter[str]()
    for name, type_, count in rows:
        by_name[name] += count
        by_type[type_] += count
    name = min(by_name, key=lambda one: (-by_name[one], one))
    return {"slug": wanted, "name": name, "entries": by_type.total(), "types": dict(sorted(by_type.items()))}
