"""What readers see of a site beside its documents: configuration, content types, themes, plugins and docs; and what of it has changed.

None of it is in the catalog: readers take it from the disk. Files are told apart by their state, they are not read.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from hashlib import blake2b

from cmsmcp.core.deadline import Deadline
from cmsmcp.core.sharing import Change
from cmsmcp.protocol.errors import TimedOut
from cmsmcp.site import docs
from cmsmcp.site.config.layers import BASE
from cmsmcp.site.definitions import Definitions
from cmsmcp.site.folder import names_in, scan
from cmsmcp.site.model import SiteConfig
from cmsmcp.site.paths import composed
from cmsmcp.site.plugins.findings import SKIPPED as SKIPPED_IN_PLUGINS
from cmsmcp.site.plugins.reports import ROLLBACK, PluginReports
from cmsmcp.site.themes.analysis import SKIPPED as SKIPPED_IN_THEMES
from cmsmcp.site.themes.reports import ThemeReports

_SECONDS = 10.0
"""For one look into a folder; a slower one is given up until the next."""
_COLLECTIONS = ("types", "themes", "plugins")
"""Kinds of which there is a list: it has a topic of its own, and members that come or go are resources that do."""

State = Mapping[str, Hashable]
"""By topic, what is different when it is."""


class Surroundings:
    """Remembers the state of before. For one thread."""

    def __init__(self) -> None:
        self._states: dict[str, State] = {}
        self._definitions: Definitions | None = None

    def look(self, definitions: Definitions, menus: str, paths: Iterable[str] | None) -> Change:
        """What is different since the last look; nothing the first time. `paths` (of the site) have changed; None: any may have."""
        kinds = set(_FOLDERS) if paths is None else {kind for kind in _FOLDERS if _touches(_folder(definitions.config, kind), paths)}
        lists: set[str] = set()
        topics: set[str] = set()
        if definitions is not self._definitions:
            self._definitions = definitions
            config, types = definitions.config, definitions.types
            declared = {f"types/{kind['slug']}": _digest(kind) for kind in types.all()}
            if self._differ("types", declared, topics):
                lists.add("resources")  # it says when each of them was changed
            if self._differ("config", {"config": _digest((config.values, config.locales, menus))}, topics):
                kinds |= set(_FOLDERS)
        for kind in kinds:
            try:
                state = _FOLDERS[kind](definitions, Deadline(_SECONDS))
            except TimedOut:
                continue
            names = set(self._states.get(kind, state))
            if self._differ(kind, state, topics) and kind in _COLLECTIONS and names != set(state):
                lists.add("resources")
        return Change(frozenset(lists), frozenset(topics))

    def _differ(self, kind: str, state: State, topics: set[str]) -> bool:
        """Keep the state; add the topics that are not as they were."""
        before = self._states.get(kind, state)
        self._states[kind] = state
        different = {topic for topic in {*before, *state} if before.get(topic) != state.get(topic)}
        topics |= different
        if different and kind in _COLLECTIONS:
            topics.add(kind)
        return bool(different)


def watched_folders(config: SiteConfig) -> list[str]:
    """Every folder that an edit of may change what readers see; none lies in another."""
    folders = dict.fromkeys((*_indexed(config), *(_folder(config, kind) for kind in _FOLDERS)))
    return [one for one in folders if not any(one != other and _is_below(one, other) for other in folders)]


def of_the_index(config: SiteConfig, paths: Iterable[str]) -> frozenset[str]:
    """Those of the paths that the index may depend on."""
    beside = [_folder(config, kind) for kind in _FOLDERS]
    indexed = _indexed(config)
    return frozenset(
        path for path in paths
        if any(_is_below(path, folder) for folder in indexed) or not any(_is_below(path, folder) for folder in beside)
    )  # fmt: skip


def _indexed(config: SiteConfig) -> tuple[str, ...]:
    return config.content_dir, config.data_dir, BASE.rpartition("/")[0]


def _folder(config: SiteConfig, kind: str) -> str:
    return {"themes": config.themes_dir, "plugins": config.plugins_dir, "docs": docs.FOLDER}[kind]


def _themes(definitions: Definitions, deadline: Deadline) -> State:
    config = definitions.config
    return {
        f"themes/{name}": (_signature(config, f"{config.themes_dir}/{name}", SKIPPED_IN_THEMES, deadline), name == config.theme)
        for name in ThemeReports(config).names()
    }


def _plugins(definitions: Definitions, deadline: Deadline) -> State:
    config = definitions.config
    rules = _digest((config.plugins_enabled, config.values.get("foundry")))
    return {
        f"plugins/{name}": (
            _signature(config, f"{config.plugins_dir}/{name}", SKIPPED_IN_PLUGINS, deadline), rules,
            tuple(names_in(config.root, f"{config.plugins_dir}/{ROLLBACK}/{name}")),
        )
        for name in PluginReports(config).names()
    }  # fmt: skip


def _docs(definitions: Definitions, deadline: Deadline) -> State:
    files = docs.DocsFolder(definitions.config, definitions.types.by_folder).served_files(deadline)
    return {composed(file.path): (file.size, file.modified) for file in files}


_FOLDERS: Mapping[str, Callable[[Definitions, Deadline], State]] = {"themes": _themes, "plugins": _plugins, "docs": _docs}


def _signature(config: SiteConfig, path: str, skip: frozenset[str], deadline: Deadline) -> bytes:
    return scan(config.root, path, skip, deadline).signature


def _touches(folder: str, paths: Iterable[str]) -> bool:
    return any(_is_below(path, folder) or _is_below(folder, path) for path in paths)


def _is_below(path: str, folder: str) -> bool:
    return path == folder or path.startswith(f"{folder}/")


def _digest(value: object) -> bytes:
    """The configuration holds secrets: nothing of it is kept."""
    return blake2b(repr(value).encode("utf-8", "surrogatepass"), digest_size=16).digest()
