"""What another process, the writer, tells its readers: read from the catalog it writes. Must not write."""

from __future__ import annotations

import json

from cmsmcp.core.sharing import Change
from cmsmcp.protocol.errors import Unavailable
from cmsmcp.site.catalog.reader import CatalogReader
from cmsmcp.site.index.changes import ANYTHING, NOTHING, merged


class Following:
    """For one thread."""

    def __init__(self, reader: CatalogReader) -> None:
        self._reader = reader
        self._seen: int | None = None

    def take(self) -> Change:
        """What came since the last call. Of what has been missed nobody knows: the first time, or when too much came."""
        self._reader.meta()  # which notices a catalog that was begun anew
        try:
            [newest] = self._reader.row("SELECT coalesce(max(number), 0) FROM changes")
            if newest == self._seen:
                return NOTHING
            found = self._reader.rows("SELECT number, change FROM changes WHERE number > ? ORDER BY number", (self._seen or 0,))
        except Unavailable:
            return NOTHING
        seen, self._seen = self._seen, found[-1][0] if found else newest
        if seen is None or not found or found[0][0] != seen + 1:
            return ANYTHING
        return merged(*(Change.from_message(json.loads(change)) for _, change in found))
