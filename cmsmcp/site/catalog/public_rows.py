"""Which documents are public, as the writer last settled it, and their sum: the version of what readers see who may see no more.

Readers never ask it who may see what (`visibility` decides that at the moment of the question); it tells the writer what has come or gone,
and readers whether anything has. The sum follows from what the documents say, not from when they were written: the same public site has
the same version on every host, and an edit of a hidden document leaves it as it was.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Iterable

from cmsmcp.core.ports import Visibility
from cmsmcp.site.catalog.entry import DIGEST_BYTES
from cmsmcp.site.catalog.schema import FOREVER
from cmsmcp.site.catalog.visibility import visible_sql

_SHARED = "{0} IN (SELECT {0} FROM documents GROUP BY {0} HAVING count(*) > 1)"
_TWINS = f"SELECT row FROM documents WHERE {_SHARED.format('url')} OR {_SHARED.format('id')}"
DUE_SQL = (
    "publish_at > 0 AND publish_at > :after AND publish_at <= :until"
    f" OR unpublish_at < {FOREVER} AND unpublish_at > :after AND unpublish_at <= :until"
)
"""Documents with a bound in the time after one moment up to another, in ms. Each bound has an index."""


class PublicRows:
    """The writer's. Every method but `is_due` runs within a transaction of the connection. Moments are in milliseconds."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._run = connection.execute

    def forget(self, rows: Collection[int]) -> set[int]:
        """These are about to be written over, or removed; those of them that were public."""
        sql = "DELETE FROM public_rows WHERE row IN (SELECT value FROM json_each(?)) RETURNING row, digest"
        found = self._run(sql, (_listed(rows),)).fetchall()
        self._sum(gone=[digest for _, digest in found])
        return {row for row, _ in found}

    def add(self, rows: Collection[int], now: int) -> set[int]:
        """Those of these rows, just written, that are public."""
        visible, parameters = visible_sql(Visibility(), now)
        found = self._run(
            "INSERT INTO public_rows SELECT row, digest FROM documents WHERE row IN (SELECT value FROM json_each(:rows))"
            f" AND {visible} RETURNING row, digest",
            {**parameters, "rows": _listed(rows)},
        ).fetchall()
        self._sum(come=[digest for _, digest in found])
        return {row for row, _ in found}

    def is_due(self, now: int) -> bool:
        """Whether a date has come since all was settled."""
        return bool(self._due(now))

    def settle(self, now: int) -> tuple[set[int], set[int]]:
        """Which documents have twins now and had none, or the other way round; and which have come to be public, or have ceased to be,
        because a date has come or a twin has come or gone."""
        before = {row for (row,) in self._run("SELECT row FROM documents WHERE twin IS NOT NULL")}
        twins = {row for (row,) in self._run(_TWINS)}
        marked = before ^ twins
        self._run(
            "UPDATE documents SET twin = CASE WHEN row IN (SELECT value FROM json_each(:twins)) THEN row END"
            " WHERE row IN (SELECT value FROM json_each(:marked))",
            {"twins": _listed(twins), "marked": _listed(marked)},
        )  # fmt: skip
        doubtful = before | twins | self._due(now)
        flipped = self.forget(doubtful) ^ self.add(doubtful, now)
        self._run("UPDATE meta SET value = ? WHERE name = 'settled'", (now,))
        return marked, flipped

    def _due(self, now: int) -> set[int]:
        """A clock that was set back makes what has happened due again."""
        [(settled,)] = self._run("SELECT value FROM meta WHERE name = 'settled'")
        span = {"after": min(settled, now), "until": max(settled, now)}
        return {row for (row,) in self._run(f"SELECT row FROM documents WHERE {DUE_SQL}", span)}

    def _sum(self, come: Iterable[bytes] = (), gone: Iterable[bytes] = ()) -> None:
        [(text,)] = self._run("SELECT value FROM meta WHERE name = 'public'").fetchall()
        total = int(text or "0", 16) + sum(map(int.from_bytes, come)) - sum(map(int.from_bytes, gone))
        self._run("UPDATE meta SET value = ? WHERE name = 'public'", (f"{total % (1 << 8 * DIGEST_BYTES):x}",))


def _listed(rows: Iterable[int]) -> str:
    return json.dumps(list(rows))
