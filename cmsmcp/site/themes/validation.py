"""Whether a theme would be accepted, and every reason why not (docs/rules.md, Themes; F21). Nothing is applied."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath

from cmsmcp.site.folder import Folder
from cmsmcp.site.manifest import READ, Diagnostic, Manifest, diagnostic, ordered
from cmsmcp.site.model import ERROR, WARNING
from cmsmcp.site.themes.analysis import Analysis
from cmsmcp.site.themes.contracts import check_contracts
from cmsmcp.site.themes.manifest import COMPATIBILITY_VERSION, SDK_VERSION
from cmsmcp.site.themes.security import security_faults
from cmsmcp.site.themes.shapes import ThemeManifest, Validation

PARTIALS = ("head", "header", "footer")
SLOTS = {
    "layouts/partials/head.html": ("head.end",),
    "layouts/base.html": ("body.start", "body.end", "page.before_main", "page.after_main"),
    "layouts/page.html": ("page.before_content", "page.after_content"),
    "layouts/post.html": (
        "post.before_header", "post.after_header", "post.before_content", "post.after_content",
        "post.sidebar.top", "post.sidebar.overview", "post.sidebar.bottom",
    ),
}


@dataclass(frozen=True, slots=True)
class Theme:
    """Everything a check may look at. `name` is the folder."""

    name: str
    folder: Folder
    opened: Manifest
    manifest: ThemeManifest
    analysis: Analysis


def validate(theme: Theme) -> Validation:
    diagnostics = list(theme.opened.opening) if theme.folder.outside else ordered(_checks(theme))
    valid = not any(one["severity"] == ERROR for one in diagnostics)
    return {"name": theme.name, "active": theme.manifest["active"], "valid": valid, "diagnostics": diagnostics}


def _checks(theme: Theme) -> Iterator[Diagnostic]:
    if theme.opened.state == READ:
        yield from _declared(theme)
        yield from check_contracts(theme.opened)
        yield from security_faults(theme.opened, theme.manifest["security"], theme.analysis)
    yield from theme.opened.diagnostics()
    yield from _links(theme.folder)
    yield from _files(theme)
    yield from _templates(theme)
    yield from theme.analysis.faults


def _declared(theme: Theme) -> Iterator[Diagnostic]:
    opened, manifest = theme.opened, theme.manifest

    def fault(key: str, message: str) -> Diagnostic:
        return diagnostic(ERROR, opened.path, opened.line(key), message)

    if manifest["name"] != theme.name:
        yield fault("name", f"the name {manifest['name']!r} must be that of the folder, {theme.name!r}")
    if manifest["sdk_version"] != SDK_VERSION:
        yield fault("sdk_version", f"sdk_version {manifest['sdk_version']!r} is not supported; it must be {SDK_VERSION}")
    if manifest["compatibility_version"] != COMPATIBILITY_VERSION:
        version = manifest["compatibility_version"]
        yield fault("compatibility_version", f"compatibility_version {version!r} is not supported; it must be {COMPATIBILITY_VERSION}")
    for file, slots in SLOTS.items():
        for slot in slots:
            if slot not in manifest["slots"]:
                yield fault("slots", f"the slot {slot!r} is not declared; add it to slots ({file} renders it)")


def _links(folder: Folder) -> Iterator[Diagnostic]:
    for path in folder.escapes:
        yield diagnostic(ERROR, path, None, "this link leaves the site folder; put the file itself here")


def _files(theme: Theme) -> Iterator[Diagnostic]:
    """Layouts, partials, and the slots each file must render. A missing file is one fault, whatever else it lacks."""
    present = set(theme.folder.files) | set(theme.folder.escapes)
    wanted = {f"layouts/partials/{name}.html": "partial" for name in PARTIALS}
    for layout in theme.manifest["layouts"]:
        if _leaves(layout):
            yield diagnostic(
                ERROR, theme.opened.path, theme.opened.line("supported_layouts") or theme.opened.line("layouts"),
                f"the layout name {layout!r} must stay inside layouts/",
            )
        else:
            wanted.setdefault(f"layouts/{layout}.html", "layout")
    for file in SLOTS:
        wanted.setdefault(file, "file")
    for file, kind in wanted.items():
        path = theme.folder.within(file)
        slots = SLOTS.get(file, ())
        if path not in present:
            why = f"; it must render {', '.join(slots)}" if slots else ""
            yield diagnostic(ERROR, path, None, f"the required {kind} is missing{why}")
        elif path in theme.analysis.templates:
            called = theme.analysis.templates[path].slots
            for slot in slots:
                if slot not in called:
                    yield diagnostic(ERROR, path, None, f'the slot {slot!r} is not rendered here; call {{{{ pluginSlot "{slot}" }}}}')


def _leaves(layout: str) -> bool:
    parts = PurePosixPath(layout).parts
    return not parts or layout.startswith("/") or ".." in parts or "\\" in layout or not layout.isprintable()


def _templates(theme: Theme) -> Iterator[Diagnostic]:
    """Balance within a file, names across the files. Layouts, partials, `define` and `block` all give a name."""
    known = {"base", "content", *theme.manifest["layouts"]}
    for path, scan in theme.analysis.templates.items():
        file = PurePosixPath(path)
        known |= scan.defines | {file.name, file.stem} if file.parent.name == "partials" else scan.defines | {file.name}
    for path, scan in theme.analysis.templates.items():
        for line, message in scan.faults:
            yield diagnostic(ERROR, path, line, message)
        for line in scan.slips:
            yield diagnostic(WARNING, path, line, "an action opens with one brace and will show as text; write {{")
        for reference in scan.references:
            if reference.name not in known:
                yield diagnostic(ERROR, path, reference.line, f"no layout, partial or define is named {reference.name!r}")
