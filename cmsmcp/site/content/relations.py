"""Where relations lead: which of the entries that a page of entries names may be seen. One question for a whole page."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Iterable

from cmsmcp.core.deadline import Deadline
from cmsmcp.core.ports import Visibility
from cmsmcp.site.catalog.reader import CatalogReader
from cmsmcp.site.catalog.visibility import visible_sql

Target = tuple[str, str]
"""The slug of a content type, and the slug or id of an entry of it."""


def visible_targets(reader: CatalogReader, targets: Iterable[Target], visibility: Visibility, now: int, deadline: Deadline) -> set[Target]:
    """Those of `targets` that a visible document answers to, in whichever language. `now` is in milliseconds."""
    spelled = {(type_, unicodedata.normalize("NFC", ref)): (type_, ref) for type_, ref in targets}
    if not spelled:
        return set()
    visible, parameters = visible_sql(visibility, now)
    rows = reader.rows(
        "SELECT kind, ref FROM (SELECT value ->> 0 AS kind, value ->> 1 AS ref FROM json_each(:targets)) WHERE EXISTS "
        f"(SELECT 1 FROM documents WHERE (slug = ref OR id = ref) AND type = kind AND {visible})",
        {**parameters, "targets": json.dumps(list(spelled))},
        deadline,
    )
    return {spelled[kind, ref] for kind, ref in rows}
