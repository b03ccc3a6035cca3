"""What a theme's files hold: remote references, and the template of each layout. Reads the files, once each, within bounds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from cmsmcp.core.deadline import Deadline
from cmsmcp.site.folder import Folder
from cmsmcp.site.manifest import Diagnostic, diagnostic
from cmsmcp.site.model import ERROR, WARNING
from cmsmcp.site.paths import PathFault, read_bounded
from cmsmcp.site.themes.references import KINDS, remote_urls
from cmsmcp.site.themes.templates import TemplateScan, scan

SKIPPED = frozenset({".git", "node_modules"})
MAX_FILE = 2 * 1024 * 1024
MAX_TOTAL = 24 * 1024 * 1024
MAX_REFERENCES = 500


@dataclass(frozen=True, slots=True)
class Found:
    """A remote URL: `kind` is "html", "css" or "js"."""

    kind: str
    url: str
    path: str
    line: int


@dataclass(frozen=True, slots=True)
class Analysis:
    """`references` sorted by path, line, URL, at most MAX_REFERENCES. `templates` are the layouts and partials by site path.

    `faults` say which files could not be read, or were left out.
    """

    references: tuple[Found, ...]
    templates: Mapping[str, TemplateScan]
    faults: tuple[Diagnostic, ...]


def analyse(root: Path, folder: Folder, deadline: Deadline) -> Analysis:
    references: list[Found] = []
    templates: dict[str, TemplateScan] = {}
    faults: list[Diagnostic] = []
    left = MAX_TOTAL
    for path in folder.files:
        kind = KINDS.get(PurePosixPath(path).suffix.lower())
        if kind is None:
            continue
        deadline.check()
        try:
            data = read_bounded(root, path, min(MAX_FILE, left))
        except PathFault as fault:
            faults.append(diagnostic(WARNING, path, None, f"not looked into: {fault.message}"))
            continue
        left -= len(data)
        text = _text(data, path, faults)
        references.extend(Found(kind, url, path, line) for url, line in remote_urls(text, kind))
        if is_template(folder, path):
            templates[path] = scan(text)
    references.sort(key=lambda one: (one.path, one.line, one.url))
    if len(references) > MAX_REFERENCES:
        more = len(references) - MAX_REFERENCES
        faults.append(diagnostic(WARNING, folder.path, None, f"{more} more remote URLs are not listed"))
    if folder.truncated:
        faults.append(diagnostic(WARNING, folder.path, None, "the theme has more files or levels than are looked into"))
    return Analysis(tuple(references[:MAX_REFERENCES]), templates, tuple(faults))


def is_template(folder: Folder, path: str) -> bool:
    """Layouts and partials are those `.html` files that stand directly in `layouts/` and `layouts/partials/`, as Foundry loads them."""
    parent = path.rpartition("/")[0]
    return path.endswith(".html") and parent in (folder.within("layouts"), folder.within("layouts/partials"))


def _text(data: bytes, path: str, faults: list[Diagnostic]) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        faults.append(diagnostic(ERROR, path, None, "the file is not UTF-8; save it as UTF-8"))
        return data.decode("utf-8", "replace")
