"""A site with one plugin that is right in every way, to be bent by each test."""

from __future__ import annotations

from pathlib import Path

import pytest

from cmsmcp.core.deadline import Deadline
from cmsmcp.site.config.loading import load_config
from cmsmcp.site.plugins import PluginReports

MANIFEST = """\
name: {name}
title: Right
version: 1.2.0
repo: https://github.com/acme/{name}.git
foundry_api: v1
min_foundry_version: 1.0.0
compatibility_version: v1
screenshots: [a.png]
config_schema: [{{name: size, type: number}}]
"""
CODE = 'package right\n\nimport "fmt"\n\ntype Plugin struct{}\n\nfunc (p *Plugin) Name() string { return fmt.Sprint("right") }\n'


class Site:
    def __init__(self, root: Path) -> None:
        self.root = root
        self.enable("right")
        self.plugin("right")

    def enable(self, *names: str, more: str = "") -> None:
        """Write site.yaml with these plugins enabled, and open the reports anew."""
        self.write("content/config/site.yaml", f"name: test\nplugins: {{enabled: [{', '.join(names)}]}}\n{more}")
        self.reports = PluginReports(load_config(self.root))

    def write(self, path: str, text: str | bytes) -> Path:
        place = self.root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(text if isinstance(text, bytes) else text.encode())
        return place

    def plugin(self, name: str, more: str = "", code: str = CODE, change: tuple[str, str] = ("", "")) -> None:
        """A right plugin: `more` is added to its manifest, `change` replaces a part of it."""
        self.write(f"plugins/{name}/plugin.yaml", MANIFEST.format(name=name).replace(*change) + more)
        self.write(f"plugins/{name}/plugin.go", code)

    def record(self, name: str):
        return self.reports.record(name, Deadline(10))

    def records(self):
        return {one["name"]: one for one in self.reports.records(Deadline(10))}

    def errors(self, name: str) -> list[tuple[str, int | None, str]]:
        """(path below the plugin, line, message) of the errors among the diagnostics."""
        found = self.record(name)["diagnostics"]
        return [(one["path"].removeprefix(f"plugins/{name}/"), one["line"], one["message"]) for one in found if one["severity"] == "error"]


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return Site(tmp_path)
