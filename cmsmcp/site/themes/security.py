"""A theme's declared security against what its files reach for (docs/rules.md, Themes; F20)."""

from __future__ import annotations

from collections.abc import Iterator

from cmsmcp.site.manifest import Diagnostic, Manifest, diagnostic, ordered
from cmsmcp.site.model import ERROR, WARNING
from cmsmcp.site.themes.analysis import Analysis, Found
from cmsmcp.site.themes.shapes import Reference, Security, SecurityReport, ThemeManifest
from cmsmcp.site.themes.sources import (
    allowlist,
    content_security_policy,
    covers,
    declared_summary,
    lists_of,
    policy_summary,
    unsafe,
)


def security_report(folder_name: str, opened: Manifest, manifest: ThemeManifest, analysis: Analysis) -> SecurityReport:
    security = manifest["security"]
    found = [(one, _reference(one, security)) for one in analysis.references]
    return {
        "name": folder_name,
        "active": manifest["active"],
        "declared": security,
        "declared_summary": declared_summary(security),
        "detected_assets": [shown for one, shown in found if one.kind != "js"],
        "detected_requests": [shown for one, shown in found if one.kind == "js"],
        "mismatches": ordered([*opened.opening, *security_faults(opened, security, analysis), *analysis.faults]),
        "generated_csp": content_security_policy(security),
        "csp_summary": policy_summary(security),
    }


def security_faults(opened: Manifest, security: Security, analysis: Analysis) -> Iterator[Diagnostic]:
    """Faults of the declaration, then every remote URL that it does not cover."""
    yield from _declaration_faults(opened, security)
    for one in analysis.references:
        if _covered(one, security):
            continue
        where = "security.frontend_requests.origins" if one.kind == "js" else "security.external_assets"
        yield diagnostic(ERROR, one.path, one.line, f"the remote URL {one.url} is not declared; add its origin to {where}, or take it out")


def _declaration_faults(opened: Manifest, security: Security) -> Iterator[Diagnostic]:
    assets, requests, context = security["external_assets"], security["frontend_requests"], security["template_context"]

    def fault(key: str, message: str, severity: str = ERROR) -> Diagnostic:
        return diagnostic(severity, opened.path, opened.line(f"security.{key}"), f"security.{key} {message}")

    if not assets["allowed"] and allowlist(assets):
        yield fault("external_assets.allowed", "must be true, since sources are declared")
    if not requests["allowed"] and requests["origins"]:
        yield fault("frontend_requests.allowed", "must be true, since origins are declared")
    if context["allow_raw_config"]:
        yield fault("template_context.allow_raw_config", "is never granted: templates see a public part of the configuration only")
    if context["allow_admin_state"]:
        yield fault("template_context.allow_admin_state", "is never granted: themes see nothing of the admin")
    if context["allow_runtime_state"]:
        yield fault("template_context.allow_runtime_state", "changes nothing: runtime keys that are not declared stay hidden", WARNING)
    for key, sources in [*lists_of(assets), ("frontend_requests.origins", requests["origins"])]:
        for source in filter(unsafe, sources):
            yield fault(key, f"holds {source!r}, which would break the policy apart; it is left out of it")


def _covered(one: Found, security: Security) -> bool:
    assets, requests = security["external_assets"], security["frontend_requests"]
    if one.kind == "js":
        return requests["allowed"] and covers(requests["origins"], one.url)
    return assets["allowed"] and covers(allowlist(assets), one.url)


def _reference(one: Found, security: Security) -> Reference:
    status = "declared" if _covered(one, security) else "undeclared"
    return {"kind": one.kind, "url": one.url, "path": one.path, "line": one.line, "status": status}
