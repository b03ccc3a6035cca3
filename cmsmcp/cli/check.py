"""`cmsmcp check`: what `validate_configuration` finds, for people: coloured on a terminal, one finding a line, or as JSON."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import Any

import click

from cmsmcp.bootstrap.chosen import discover_capabilities
from cmsmcp.bootstrap.index import open_indexed
from cmsmcp.cli.index import shown_progress
from cmsmcp.cli.output import print_json
from cmsmcp.cli.site_options import site_options
from cmsmcp.core.deadline import Deadline
from cmsmcp.settings import SettingsError, SiteChoice, find_site, load_settings, read_environment
from cmsmcp.site.checks.validation import Finding
from cmsmcp.site.config.layers import BASE, ConfigFault

SECONDS = 600.0
STYLES = {"error": "bold red", "warning": "yellow"}


@click.command(epilog="\b\nExample:\n  cmsmcp check --site my-site --json")
@site_options
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
def command(choice: SiteChoice, as_json: bool) -> None:
    """Say what is wrong with a site, with file and line. Exit code 1 if there are errors.

    Drafts are checked too: this is for the people who run the site.
    """
    report = _report(choice, _settings_findings(choice))
    if as_json:
        print_json(report)
    else:
        _print(report)
    sys.exit(1 if report["error_count"] else 0)


def _settings_findings(choice: SiteChoice) -> list[Finding]:
    """What stops every server: faults in our own blocks. What keeps this site from being served, MCP that is off or a name that is not
    its own where REDIS_URL is set, is a warning."""
    try:
        settings = load_settings(find_site(choice.folder), choice.env, choice.overlays)
    except SettingsError as error:
        if not error.found:
            raise
        return [_finding("error", f"{one.key} {one.message}".strip(), one.file, one.line) for one in error.found]
    faulty = _package_faults()
    fault = settings.name_fault if read_environment().redis_url is not None else None
    named = [_finding("warning", f"{fault.key} {fault.message}", fault.file, fault.line)] if fault else []
    return [*faulty, *named, *([_finding("warning", settings.refusal, BASE)] if settings.refusal else [])]


def _package_faults() -> list[Finding]:
    """A package of capabilities that cannot be served stops every server too."""
    named = read_environment().capabilities
    try:
        if named:
            discover_capabilities(named)
    except SettingsError as error:
        return [_finding("error", str(error).partition(": ")[2], "CMSMCP_CAPABILITIES")]
    return []


def _finding(severity: str, message: str, path: str, line: int | None = None) -> Finding:
    return {"severity": severity, "check": "settings", "path": path, "line": line, "message": message}


def _report(choice: SiteChoice, ours: Sequence[Finding]) -> Mapping[str, Any]:
    """The site's own report, with the faults of our blocks before it and a warning about them after it."""
    try:
        with shown_progress() as progress, open_indexed(choice, progress) as opened:
            report = opened.site.operations.validate(Deadline(SECONDS))
    except ConfigFault:
        ours = [*ours, _finding("warning", "the rest of the site is checked once this file can be read", BASE)]
        report = {"valid": True, "error_count": 0, "warning_count": 0, "checks": {}, "findings": [], "truncated": False}
    # `locales` is the site's key too.
    told = {(one["path"], one["line"]) for one in report["findings"] if one["check"] in ("config", "locales")}
    ours = [one for one in ours if one["severity"] == "warning" or (one["path"], one["line"]) not in told]
    errors, warnings = ([one for one in ours if one["severity"] == severity] for severity in ("error", "warning"))
    return {
        **report, "valid": report["valid"] and not errors,
        "error_count": report["error_count"] + len(errors), "warning_count": report["warning_count"] + len(warnings),
        "checks": {"settings": len(ours), **report["checks"]}, "findings": [*errors, *report["findings"], *warnings],
    }  # fmt: skip


def _print(report: Mapping[str, Any]) -> None:
    from rich.console import Console
    from rich.text import Text

    console = Console(highlight=False, soft_wrap=True)
    for one in report["findings"]:
        place = f"{one['path']}:{one['line']}" if one.get("line") else one["path"]
        line = Text.assemble((place, "bold"), ": ", (one["severity"], STYLES.get(one["severity"], "")), f": {one['message']} ")
        console.print(line.append(f"[{one['check']}]", "dim"))
    errors, warnings = report["error_count"], report["warning_count"]
    verdict = "no errors" if not errors else f"{errors} error{'s' * (errors != 1)}"
    console.print(Text(f"{verdict}, {warnings} warning{'s' * (warnings != 1)}", "bold red" if errors else "bold green"))
    last = report["findings"][-1:]
    if last and last[0]["check"] == "settings" and last[0]["severity"] == "warning":
        console.print(Text("nothing of it is served yet: see the last warning", "yellow"))
