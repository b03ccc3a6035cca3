"""`cmsmcp check`: what `validate_configuration` finds, for people: coloured on a terminal, one finding a line, or as JSON."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from typing import Any

import click

from cmsmcp.bootstrap.index import open_indexed
from cmsmcp.cli.index import shown_progress
from cmsmcp.cli.site_options import site_options
from cmsmcp.core.deadline import Deadline
from cmsmcp.settings import SettingsError, SiteChoice, find_site, load_settings

SECONDS = 600.0
STYLES = {"error": "bold red", "warning": "yellow"}


@click.command(epilog="\b\nExample:\n  cmsmcp check --site my-site --json")
@site_options
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
def command(choice: SiteChoice, as_json: bool) -> None:
    """Say what is wrong with a site, with file and line. Exit code 1 if there are errors.

    Drafts are checked too: this is for the people who run the site.
    """
    report = _settings_report(choice) or _site_report(choice)
    if as_json:
        click.echo(json.dumps(report, indent=2, ensure_ascii=False))
    else:
        _print(report)
    sys.exit(1 if report["error_count"] else 0)


def _settings_report(choice: SiteChoice) -> dict[str, Any] | None:
    """Faults in our own blocks: they stop every server, so they come alone."""
    try:
        load_settings(find_site(choice.folder), choice.env, choice.overlays)
    except SettingsError as error:
        if not error.found:
            raise
        findings = [
            {"severity": "error", "check": "settings", "path": one.file, "line": one.line, "message": f"{one.key} {one.message}".strip()}
            for one in error.found
        ]
        return {
            "valid": False, "error_count": len(findings), "warning_count": 0, "checks": {"settings": len(findings)}, "findings": findings,
        }
    return None


def _site_report(choice: SiteChoice) -> Mapping[str, Any]:
    with shown_progress() as progress, open_indexed(choice, progress) as opened:
        return opened.site.operations.validate(Deadline(SECONDS))


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
