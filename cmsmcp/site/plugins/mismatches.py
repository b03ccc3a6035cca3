"""What a plugin does against what it declares: each finding without its permission is a mismatch (docs/rules.md, Odd places)."""

from __future__ import annotations

from collections.abc import Iterator

from cmsmcp.site.manifest import Diagnostic, Manifest, diagnostic
from cmsmcp.site.model import ERROR
from cmsmcp.site.plugins.findings import CodeReport
from cmsmcp.site.plugins.gorules import needs
from cmsmcp.site.plugins.manifest import PluginManifest
from cmsmcp.site.plugins.permissions import any_granted, granted

_EXTENSIONS = ("pages", "widgets", "settings_sections", "slots")


def mismatches(opened: Manifest, manifest: PluginManifest, code: CodeReport) -> Iterator[Diagnostic]:
    """In the order of the findings, then the admin extensions that are declared without their permission."""
    for finding in code.findings:
        leaves = needs(finding["category"])
        if not any_granted(manifest.permissions, leaves):
            wanted = _wanted(leaves)
            message = f"{finding['category']}: {finding['evidence']} {finding['message']}; declare {wanted}, or take it out"
            yield diagnostic(ERROR, finding["path"], finding["line"], message)
    for extension in _EXTENSIONS:
        leaf = f"admin.extensions.{extension}"
        if manifest.admin[extension] and not granted(manifest.permissions, leaf):
            message = f"{leaf}: admin.{extension} is declared; declare permissions.{leaf}, or take it out"
            yield diagnostic(ERROR, opened.path, opened.line(f"admin.{extension}"), message)


def _wanted(leaves: tuple[str, ...]) -> str:
    first = leaves[0]
    return f"permissions.{first}" if len(leaves) == 1 else f"one of permissions.{first.rpartition('.')[0]}"
