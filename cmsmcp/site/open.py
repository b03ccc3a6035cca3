"""A site, opened: the adapters of `core.ports` over one folder, and the upkeep of its index. The room's only door.

Opening reads nothing but what is asked for; `start` begins the work. Nothing is written but in the state folder.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Sequence
from functools import partial
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING

from cmsmcp.core.ports import Redaction, Site
from cmsmcp.core.sharing import Change
from cmsmcp.site.catalog.reader import CatalogReader
from cmsmcp.site.catalog.state import IndexState
from cmsmcp.site.content.port import CatalogContent
from cmsmcp.site.definitions import CurrentDefinitions, Definitions, load_definitions
from cmsmcp.site.paths import shown

if TYPE_CHECKING:
    from cmsmcp.site.index.indexer import Indexer
    from cmsmcp.site.index.upkeep import Upkeep

_MOST_PROCESSES = 4


class OpenSite:
    """`site` is composed anew when configuration or types have changed, so take it once per call."""

    def __init__(self, root: Path, folder: Path, load: Callable[[], Definitions], *, write: bool, started: float, anew: bool) -> None:
        self._root = root
        self._folder = folder
        self._load = load
        self._write = write
        self._started = started
        self._reader = CatalogReader(self._folder)
        self._state = IndexState(self._folder, self._reader, anew=anew)
        self._definitions = CurrentDefinitions(load, lambda: self._reader.meta().get("site_digest"))
        self._content = CatalogContent(self._folder, self._reader, self._definitions, state=self._state)
        self._composed: tuple[Definitions, Site] | None = None
        self._upkeep: Upkeep | None = None

    @property
    def site(self) -> Site:
        """Raises ConfigFault if site.yaml has never been readable."""
        definitions = self._definitions()
        if self._composed is None or self._composed[0] is not definitions:
            self._composed = (definitions, self._compose(definitions))
        return self._composed[1]

    @property
    def state(self) -> IndexState:
        """How far the index is; answers at any time."""
        return self._state

    def noted(self, check: str) -> Sequence[tuple[str, str]]:
        """(path, message) of what that check found when the site was indexed. Raises Unavailable while there is no index."""
        rows = self._reader.rows('SELECT path, message FROM diagnostics WHERE "check" = ? ORDER BY path, message', (check,))
        return [(shown(path), shown(message)) for path, message in rows]

    def start(self, on_change: Callable[[Change], None] | None = None, *, follow: bool = False) -> None:
        """Index and watch in the background, if this process is to write.

        `on_change` gets, in that thread, what readers see differently from now on. What was different before the watching began nobody
        knows: the first Change is EVERYTHING. `follow`: also of what another process writes, within a second or two.
        """
        if self._write and self._upkeep is None:
            from cmsmcp.site.index.following import Following
            from cmsmcp.site.index.upkeep import Upkeep

            # Drafts are in there: for the owner's eyes alone.
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)

            def changed(change: Change) -> None:
                self._reader.forget_meta()
                if on_change is not None and change != Change():
                    on_change(change)

            following = Following(self._reader) if follow else None
            self._upkeep = Upkeep(self._folder, self._root, self._open_indexer, changed, following)
            self._upkeep.start()

    def close(self) -> None:
        if self._upkeep is not None:
            self._upkeep.close()
        self._reader.close()

    def _open_indexer(self) -> Indexer:
        from cmsmcp.site.index.indexer import Indexer

        return Indexer(self._folder, self._load, processes=min(_MOST_PROCESSES, _processors()))

    def _compose(self, definitions: Definitions) -> Site:
        from cmsmcp.site.checks.validation import Reports
        from cmsmcp.site.docs import DocsFolder
        from cmsmcp.site.entries.store import TypedEntries
        from cmsmcp.site.operations import SiteOperations
        from cmsmcp.site.plugins import PluginReports
        from cmsmcp.site.themes import ThemeReports

        config = definitions.config
        themes, plugins = ThemeReports(config), PluginReports(config)
        operations = SiteOperations(self._definitions, self._reader, self._state, Reports(themes, plugins), started=self._started)
        docs = DocsFolder(config, definitions.types.by_folder)
        entries = TypedEntries(self._folder, self._reader, definitions, state=self._state)
        return Site(self._content, themes, plugins, docs, definitions.types, operations, entries)


def open_site(
    root: Path, state: Path, *, env: str | None = None, overlays: Sequence[Path] = (), write: bool = True, version: str = "",
    started: float | None = None, redaction: Redaction | None = None, anew: bool = True,
) -> OpenSite:  # fmt: skip
    """Open the site in `root`, deriving into `state`, which must lie outside it. Cheap: nothing is read yet.

    `write` False only reads what another process derives. `version` is the server's, for reports, and so is
    `started`, on the monotonic clock: now, if not given. The index holds documents as `redaction` leaves them. `anew` False believes
    what was said of the index before: for a process that works for one which has waited.
    Raises ValueError for a state folder inside the site.
    """
    if Path(os.path.realpath(state)).is_relative_to(os.path.realpath(root)):
        raise ValueError("the state folder must lie outside the site folder")
    started = time.monotonic() if started is None else started
    load = partial(load_definitions, root, env, overlays, redaction)
    return OpenSite(root, index_folder(state, env, overlays), load, write=write, started=started, anew=anew)


def index_folder(state: Path, env: str | None = None, overlays: Sequence[Path] = ()) -> Path:
    """Where the index of a site lives, read with this environment and these files over it; one folder for each way of reading it.

    Whoever reads, writes or locks an index takes its folder from here: another environment may hold other documents.
    """
    name = (env or "").strip()
    if name in ("", "default") and not overlays:
        return state / "index"
    reading = json.dumps(["" if name == "default" else name, *(os.path.realpath(path) for path in overlays)])
    return state / f"index-{blake2b(reading.encode('utf-8', 'surrogatepass'), digest_size=8).hexdigest()}"


def _processors() -> int:
    """How many processors this process may use; 0 stands for one, where processes beside it would only cost."""
    count = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return count if count > 1 else 0
