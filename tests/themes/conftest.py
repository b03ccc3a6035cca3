"""A site with one theme that is right in every way, to be bent by each test."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from cmsmcp.core.deadline import Deadline
from cmsmcp.site.config.loading import load_config
from cmsmcp.site.themes import ThemeReports

MANIFEST = """\
name: plain
title: Plain
version: 1.2.0
sdk_version: v1
compatibility_version: v1
layouts: [base, index, page, post, list]
slots: [head.end, body.start, body.end, page.before_main, page.after_main, page.before_content, page.after_content,
  post.before_header, post.after_header, post.before_content, post.after_content,
  post.sidebar.top, post.sidebar.overview, post.sidebar.bottom]
"""


def _slots(*names: str) -> str:
    return "".join(f'{{{{ pluginSlot "{name}" }}}}\n' for name in names)


FILES = {
    "theme.yaml": MANIFEST,
    "layouts/base.html": '{{ define "base" }}{{ template "head" . }}{{ template "header" . }}{{ template "content" . }}\n'
    + '{{ template "footer" . }}'
    + _slots("body.start", "body.end", "page.before_main", "page.after_main") + "{{ end }}",
    "layouts/index.html": '{{ define "content" }}{{ range .Documents }}{{ .Title }}{{ else }}none{{ end }}{{ end }}',
    "layouts/list.html": '{{ define "content" }}{{ .Title }}{{ end }}',
    "layouts/page.html": '{{ define "content" }}{{ safeHTML .Page.HTMLBody }}' + _slots("page.before_content", "page.after_content")
    + "{{ end }}",
    "layouts/post.html": '{{ define "content" }}' + _slots(
        "post.before_header", "post.after_header", "post.before_content", "post.after_content",
        "post.sidebar.top", "post.sidebar.overview", "post.sidebar.bottom",
    ) + "{{ end }}",
    "layouts/partials/head.html": '{{ define "head" }}<head>' + _slots("head.end") + "</head>{{ end }}",
    "layouts/partials/header.html": '{{ define "header" }}<header></header>{{ end }}',
    "layouts/partials/footer.html": '{{ define "footer" }}<footer></footer>{{ end }}',
}


class Site:
    """`MANIFEST` and `FILES` make the right theme, `BENT` is its manifest under the name `bent`."""

    MANIFEST = MANIFEST
    BENT = MANIFEST.replace("name: plain", "name: bent")
    FILES = FILES

    def __init__(self, root: Path) -> None:
        self.root = root
        self.write("content/config/site.yaml", "name: test\ntheme: plain\n")
        self.theme("plain")
        self.reports = ThemeReports(load_config(root))

    def write(self, path: str, text: str | bytes) -> Path:
        place = self.root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(text if isinstance(text, bytes) else text.encode())
        return place

    def theme(self, name: str, changes: dict[str, str | None] | None = None) -> None:
        """A right theme with some files changed; None leaves a file out."""
        files: dict[str, str | None] = {**FILES, "theme.yaml": MANIFEST.replace("name: plain", f"name: {name}"), **(changes or {})}
        for path, text in files.items():
            if text is not None:
                self.write(f"themes/{name}/{path}", text)

    def manifest(self, name: str | None = None):
        return self.reports.manifest(name, Deadline(10))

    def security(self, name: str | None = None):
        return self.reports.security_report(name, Deadline(10))

    def validate(self, name: str | None = None):
        return self.reports.validate(name, Deadline(10))


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return Site(tmp_path)


@pytest.fixture
def faults(site: Site) -> Callable[..., list[tuple[str, int | None, str]]]:
    """(path below the theme, line, message) of every error in a theme with these changes."""

    def check(changes: dict[str, str | None]) -> list[tuple[str, int | None, str]]:
        site.theme("bent", changes)
        found = site.validate("bent")["diagnostics"]
        return [(one["path"].removeprefix("themes/bent/"), one["line"], one["message"]) for one in found if one["severity"] == "error"]

    return check
