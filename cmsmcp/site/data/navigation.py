"""Menus: `menus:` in site.yaml, else `data/navigation.yaml` (F16). Entries are `{"name", "url", "items"?}`, URLs in the
site's spelling.

An entry without a name or URL is left out with a warning. Nesting and count are bounded. Must not know which documents exist.
"""

from __future__ import annotations

from collections.abc import Mapping as Map
from collections.abc import Sequence as List
from typing import Any

from cmsmcp.site.data.files import read_data
from cmsmcp.site.model import ERROR, WARNING, Diagnostic, SiteConfig
from cmsmcp.site.urls import normal_url
from cmsmcp.site.yaml.loader import Mapping, Node, YamlFault, is_null, map_list, text

MAX_DEPTH = 3
"""Levels of a menu, as in Plank's navigation field; `get_navigation` publishes as many."""
MAX_ENTRIES = 5_000

Menus = Map[str, List[Map[str, Any]]]


def load_menus(config: SiteConfig) -> tuple[Menus, list[Diagnostic]]:
    """The menus that apply. With any menu in site.yaml, `data/navigation.yaml` is not read."""
    if config.menus:
        return config.menus, []
    node, faults = read_data(config, "navigation")
    menus, more = read_menus(node, f"{config.data_dir}/navigation.yaml")
    return menus, [*faults, *more]


def read_menus(node: Node | None, file: str) -> tuple[dict[str, list[dict[str, Any]]], list[Diagnostic]]:
    """Menus from a `{menu: [entry]}` node; None or null is none."""
    reading = _Reading()
    menus: dict[str, list[dict[str, Any]]] = {}
    if node is None or is_null(node):
        return menus, []
    if not isinstance(node, Mapping):
        return menus, [Diagnostic(ERROR, "navigation", file, "menus are wanted as a map of name to list", node.line)]
    for name, entries in node.entries.items():
        menus[name] = reading.entries(entries, name, 1)
    return menus, reading.faults


class _Reading:
    def __init__(self) -> None:
        self.faults: list[Diagnostic] = []
        self.count = 0

    def entries(self, node: Node, menu: str, depth: int) -> list[dict[str, Any]]:
        try:
            items = map_list(node, menu, lambda at, message: self.note(at, f"menu {message}", WARNING))
        except YamlFault as fault:
            self.note(node, f"menu {fault.message}", ERROR)
            return []
        if items and depth > MAX_DEPTH:
            self.note(node, f"menu {menu}: entries more than {MAX_DEPTH} deep are left out", WARNING)
            return []
        found = (self.entry(item, menu, depth) for item in items)
        return [entry for entry in found if entry is not None]

    def entry(self, node: Node, menu: str, depth: int) -> dict[str, Any] | None:
        self.count += 1
        if self.count > MAX_ENTRIES:
            if self.count == MAX_ENTRIES + 1:
                self.note(node, f"the menus hold more than {MAX_ENTRIES} entries; the rest are left out", WARNING)
            return None
        if not isinstance(node, Mapping):
            self.note(node, f"menu {menu}: an entry is wanted as a map with name and url", WARNING)
            return None
        try:
            values = {key: text(node.entries[key], key).strip() for key in ("name", "url") if key in node.entries}
        except YamlFault as fault:
            self.note(node, f"menu {menu}: {fault.message}", WARNING, fault.line)
            return None
        if not values.get("name") or not values.get("url"):
            self.note(node, f"menu {menu}: an entry without a name or url is left out", WARNING)
            return None
        entry: dict[str, Any] = {"name": values["name"], "url": normal_url(values["url"])}
        if "items" in node.entries:
            items = self.entries(node.entries["items"], menu, depth + 1)
            if items:
                entry["items"] = items
        return entry

    def note(self, node: Node, message: str, severity: str, line: int | None = None) -> None:
        self.faults.append(Diagnostic(severity, "navigation", node.file, message, line or node.line))
