"""Where relations lead, for a whole page of entries at once: each function asks a fixed number of questions, however many entries.

Only what the caller may see is found. A translation stands for the entry it is of: what was named in one language is given in the
nearest of the languages asked for.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from cmsmcp.core.deadline import Deadline
from cmsmcp.protocol.errors import InvalidArguments
from cmsmcp.site.catalog.reader import Snapshot
from cmsmcp.site.entries.columns import MANY_TARGETS, ONE, plain
from cmsmcp.site.entries.tables import TypeTable

MOST_REACHED = 2_000
"""Entries that one level of relations may lead to: more would not fit into an answer."""

_OF_KIND = "+type = kind"
"""The plus keeps SQLite from looking through all that a type has."""

Target = tuple[str, str]
"""The slug of a content type, and the slug or id of an entry of it, as written."""
Chain = tuple[str, ...]
"""Languages, nearest first."""


class Incoming(NamedTuple):
    """An entry on the other side of a computed relation."""

    url: str
    row: int
    id: str


@dataclass(frozen=True, slots=True)
class Sight:
    """What one caller sees at one moment: the rule as a condition on `documents` and on typed tables, and the values of both.

    `by_path` are the types whose translations are matched by their path alone.
    """

    snapshot: Snapshot
    visible: str
    visible_typed: str
    parameters: Mapping[str, Any]
    table_of: Callable[[str], TypeTable]
    deadline: Deadline
    by_path: Collection[str] = ()


def visible_targets(snapshot: Snapshot, visible: str, parameters: Mapping[str, Any], targets: Iterable[Target]) -> set[Target]:
    """Those that a visible document answers to, in whichever language."""
    spelled = _spelled(targets)
    if not spelled:
        return set()
    named = " OR ".join(
        f"EXISTS (SELECT 1 FROM documents WHERE {name} = ref AND {_OF_KIND} AND {visible})" for name in ("slug", "id")
    )
    rows = snapshot.rows(
        f"SELECT kind, ref FROM (SELECT value ->> 0 AS kind, value ->> 1 AS ref FROM json_each(:targets)) WHERE {named}",
        {**parameters, "targets": json.dumps(list(spelled))},
    )
    return {target for kind, ref in rows for target in spelled[kind, ref]}


def resolved(sight: Sight, targets: Iterable[Target]) -> dict[Target, dict[str, int]]:
    """For each target the row of its document by language, translations included."""
    spelled = _spelled(targets)
    if not spelled:
        return {}
    named = " UNION ".join(
        f"SELECT kind, ref, type, key, slug FROM wanted JOIN documents ON {_OF_KIND} AND {name} = ref WHERE {sight.visible}"
        for name in ("slug", "id")
    )
    # The nearest kin last, so that it is what remains: the same path below the language folder before the same slug.
    rows = sight.snapshot.rows(
        "WITH wanted AS (SELECT value ->> 0 AS kind, value ->> 1 AS ref FROM json_each(:targets)),"
        f" named AS ({named})"
        " SELECT n.kind, n.ref, documents.lang, documents.row, 0 AS kin FROM named AS n JOIN documents"
        f" ON +documents.type = n.type AND documents.slug = n.slug WHERE {sight.visible}"
        " AND (n.type NOT IN (SELECT value FROM json_each(:by_path)) OR documents.key = n.key)"
        " UNION ALL SELECT n.kind, n.ref, documents.lang, documents.row, 1 FROM named AS n JOIN documents"
        f" ON documents.key = n.key WHERE {sight.visible} ORDER BY kin",
        {**sight.parameters, "targets": json.dumps(list(spelled)), "by_path": json.dumps(list(sight.by_path))},
    )
    found: dict[Target, dict[str, int]] = {}
    for kind, ref, lang, row, _ in rows:
        for target in spelled[kind, ref]:
            found.setdefault(target, {})[lang] = row
    return found


def incoming(sight: Sight, side: tuple[str, str, str], keys: Iterable[str], chain: Chain) -> dict[str, list[Incoming]]:
    """`side`: a type, another, and the other's field. By the key of an entry of the one: the other's entries that lead to it, by URL."""
    owner, other, field = side
    table, source = sight.table_of(owner), sight.table_of(other)
    column = next((one for one in source.columns if one.name == field and one.kind in (ONE, MANY_TARGETS)), None)
    if column is None or column.related != owner:
        return {}
    languages = {f"lang{number}": code for number, code in enumerate(chain)}
    spelled = " UNION ".join(
        f"SELECT key, {name} AS ref FROM {table.name} WHERE key IN (SELECT value FROM json_each(:keys)) AND {sight.visible_typed}"
        for name in ("slug", "id")
    )
    if column.kind == ONE:
        joined = f"{source.name} AS o ON o.{column.sql} = s.ref"
    else:
        joined = f"{source.targets} AS l ON l.field = {column.number} AND l.target = s.ref JOIN {source.name} AS o ON o.row = l.row"
    rows = sight.snapshot.rows(
        f"WITH spelled AS ({spelled}) SELECT DISTINCT s.key, o.key, o.lang, o.url, o.row, o.id FROM spelled AS s JOIN {joined}"
        f" WHERE o.lang IN ({', '.join(f':{name}' for name in languages)}) AND {sight.visible_typed} LIMIT :most",
        {**sight.parameters, **languages, "keys": json.dumps(list(keys)), "most": MOST_REACHED + 1},
    )
    check_reach(len(rows), f"The computed side of {other}.{field}")
    groups: dict[str, dict[str, dict[str, Incoming]]] = {}
    for owner_key, key, lang, *one in rows:
        groups.setdefault(owner_key, {}).setdefault(key, {})[lang] = Incoming(*one)
    return {key: sorted(filter(None, (nearest(by_lang, chain) for by_lang in group.values()))) for key, group in groups.items()}


def nearest(by_lang: Mapping[str, Any], chain: Sequence[str]) -> Any:
    return next((by_lang[code] for code in chain if code in by_lang), None)


def check_reach(count: int, what: str) -> None:
    if count > MOST_REACHED:
        raise InvalidArguments(f"{what} leads to more than {MOST_REACHED} entries; ask for fewer with limit.", argument="populate")


def _spelled(targets: Iterable[Target]) -> dict[Target, list[Target]]:
    """As the catalog spells them → as they were written."""
    found: dict[Target, list[Target]] = {}
    for kind, ref in dict.fromkeys(targets):
        found.setdefault((kind, plain(ref)), []).append((kind, ref))
    return found
