"""What is known of each media file, as rows of the catalog. The writer keeps them, readers find them by key."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Mapping
from hashlib import blake2b
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from cmsmcp.site.catalog.reader import Snapshot


class MediaRow(NamedTuple):
    """`key` as in `media.MediaFile`; `state` tells a changed file from an unchanged one. Sides in pixels; None: not known. `fault`: what is
    wrong with the file that says more about it, and in which line of which path."""

    key: str
    state: str
    alt: str | None
    figcaption: str | None
    width: int | None
    height: int | None
    fault: str | None = None
    fault_path: str | None = None
    fault_line: int | None = None


_NAMES = ", ".join(MediaRow._fields)


def find_media(snapshot: Snapshot, keys: Collection[str]) -> Mapping[str, MediaRow]:
    """By key, those that exist."""
    if not keys:
        return {}
    sql = f"SELECT {_NAMES} FROM media WHERE key IN (SELECT value FROM json_each(?))"
    return {row[0]: MediaRow(*row) for row in snapshot.rows(sql, (json.dumps(sorted(keys)),))}


class MediaChanges(NamedTuple):
    """Rows that are new or different, and keys of files that are gone."""

    rows: tuple[MediaRow, ...] = ()
    gone: tuple[str, ...] = ()


class MediaTable:
    """The writer's. Within a transaction of the connection."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def states(self) -> dict[str, str]:
        """By key."""
        return dict(self._connection.execute("SELECT key, state FROM media").fetchall())

    def faults(self) -> list[tuple[str, int | None, str]]:
        """(path, line, message), by path."""
        sql = "SELECT fault_path, fault_line, fault FROM media WHERE fault IS NOT NULL ORDER BY fault_path"
        return self._connection.execute(sql).fetchall()

    def _digest(self) -> str:
        found = blake2b(digest_size=12)
        for key, state in sorted(self.states().items()):
            found.update(f"{key}\0{state}\n".encode("utf-8", "surrogatepass"))
        return found.hexdigest()

    def replace(self, changes: MediaChanges) -> None:
        """Also notes what tells this state of all files from any other, as `media` in `meta`."""
        if not changes.rows and not changes.gone:
            return
        self._connection.executemany("DELETE FROM media WHERE key = ?", [(key,) for key in changes.gone])
        marks = ", ".join("?" * len(MediaRow._fields))
        self._connection.executemany(f"INSERT OR REPLACE INTO media ({_NAMES}) VALUES ({marks})", list(changes.rows))
        self._connection.execute("INSERT OR REPLACE INTO meta VALUES ('media', ?)", (self._digest(),))
