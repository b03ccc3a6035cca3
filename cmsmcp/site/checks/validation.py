"""Everything that is wrong with the site, in one report: configuration, theme, plugins, documents, links (docs/rules.md, Validation; F25).

Each check is one function from a survey to diagnostics; to add one, write it in a module of this room and add its row to CHECKS.
What reading found already (front matter, types, menus, redirects, configuration) comes from the catalog and the configuration.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, TypedDict

from cmsmcp.core.ports import Plugins, Themes
from cmsmcp.protocol.errors import CallError, NotFound
from cmsmcp.site.checks import graph, links
from cmsmcp.site.checks.survey import Survey
from cmsmcp.site.docs import DocsFolder
from cmsmcp.site.model import ERROR, WARNING, Diagnostic
from cmsmcp.site.paths import composed, shown
from cmsmcp.site.themes.reports import uses_themes

MAX_PER_CHECK = 500
"""Findings returned of one check; the counts are always whole."""

CHECKS: Mapping[str, Callable[[Survey], Iterator[Diagnostic]]] = {
    "duplicate_urls": graph.duplicate_urls,
    "duplicate_ids": graph.duplicate_ids,
    "duplicate_slugs": graph.duplicate_slugs,
    "broken_internal_links": links.broken_internal_links,
    "broken_relative_links": links.broken_relative_links,
    "broken_fragments": links.broken_fragments,
    "broken_media_refs": links.broken_media_refs,
    "links_to_unpublished": links.links_to_unpublished,
    "orphaned_media": links.orphaned_media,
    "missing_templates": graph.missing_templates,
    "taxonomy_inconsistency": graph.taxonomy_inconsistency,
    "navigation": graph.navigation,
    "redirects": graph.redirects,
    "broken_relations": graph.broken_relations,
    "symlink": graph.symlink,
    "equal_names": graph.equal_names,
}

OF_ONE_DOCUMENT = (
    "duplicate_urls", "duplicate_ids", "duplicate_slugs", "broken_internal_links", "broken_relative_links", "broken_fragments",
    "broken_media_refs", "links_to_unpublished", "missing_templates", "taxonomy_inconsistency", "broken_relations",
)  # fmt: skip
"""Those that can find fault with a document; the others look at the site around it."""

_OTHERS = ("front_matter", "unclaimed_files", "content_type", "config", "media", "theme", "plugins", "api_definition")


class Finding(TypedDict):
    """`severity` is "error" or "warning"; `path` is relative to the site ("" for none); `line` counts from 1."""

    severity: str
    check: str
    path: str
    line: int | None
    message: str


class Validation(TypedDict):
    """`valid` is False as soon as there is one error. `checks` counts every finding, with 0 for a check that found nothing;
    `findings` hold at most MAX_PER_CHECK of each, sorted by severity, path, line; `truncated` says that some were left out."""

    valid: bool
    error_count: int
    warning_count: int
    checks: dict[str, int]
    findings: list[Finding]
    truncated: bool


@dataclass(frozen=True, slots=True)
class Reports:
    """Where the rest of the site reports its faults."""

    themes: Themes
    plugins: Plugins


def validate(survey: Survey, reports: Reports, step: Callable[[int, int, str], None]) -> Validation:
    """Run every check; `step` is told how many are done, of how many, and what comes next.

    Raises TimedOut past the deadline, Unavailable while there is no catalog.
    """
    found: set[Diagnostic] = set()
    parts = {"documents": _known(survey)} | {name: check(survey) for name, check in CHECKS.items()}
    parts["theme and plugins"] = _reported(survey, reports)
    for done, (name, diagnostics) in enumerate(parts.items()):
        survey.deadline.check()
        step(done, len(parts), f"Checking {name.replace('_', ' ')}")
        for diagnostic in diagnostics:
            found.add(diagnostic)
            if not len(found) % 1000:
                survey.deadline.check()
    return _result(found)


def findings_of_document(survey: Survey) -> list[Finding]:
    """The findings of the one document whose path the survey names, as `validate` has them, in a third of its time."""
    checks = (_known(survey), *(CHECKS[name](survey) for name in OF_ONE_DOCUMENT))
    return _result({one for one in chain(*checks) if one.path == survey.path})["findings"]


def _known(survey: Survey) -> Iterator[Diagnostic]:
    """What was found while reading."""
    yield from survey.config.diagnostics
    for severity, check, path, message, line in survey.rows('SELECT severity, "check", path, message, line FROM diagnostics'):
        yield Diagnostic(severity, check, path, message, line)


def _reported(survey: Survey, reports: Reports) -> Iterator[Diagnostic]:
    config = survey.config
    theme_path = f"{config.themes_dir}/{config.theme}"
    try:
        if uses_themes(config):
            report = reports.themes.validate(None, survey.deadline)
            yield from graph.from_reports("theme", report["diagnostics"], theme_path)
    except NotFound as fault:
        yield Diagnostic(ERROR, "theme", theme_path, f"the active theme is not there: {fault.message}; `theme` in site.yaml names it")
    yield from _plugin_findings(reports.plugins.records(survey.deadline), config.plugins_dir)
    try:
        DocsFolder(config).api_definition()
    except NotFound:
        pass
    except CallError as fault:
        place = fault.data
        yield Diagnostic(ERROR, "api_definition", place["path"], f"the API definition cannot be read: {place['reason']}", place["line"])


def _plugin_findings(records: Sequence[Mapping[str, Any]], folder: str) -> Iterator[Diagnostic]:
    """An error counts as one only for a plugin that is enabled: the others do not run."""
    for record in records:
        path = f"{folder}/{record['name']}"
        error = ERROR if record["enabled"] else WARNING
        diagnostics = [*record["diagnostics"], *record["security_mismatches"]]
        yield from graph.from_reports("plugins", diagnostics, path, error)
        if not diagnostics and record["status"] not in ("enabled", "installed"):
            yield Diagnostic(error, "plugins", path, f"the plugin {record['name']} is {record['status']}")


def _result(found: Iterable[Diagnostic]) -> Validation:
    ordered = sorted(found, key=lambda one: (one.severity != ERROR, one.path, one.line or 0, one.check, one.message))
    severities = Counter(one.severity for one in ordered)
    checks = dict.fromkeys((*CHECKS, *_OTHERS), 0) | Counter(one.check for one in ordered)
    kept: Counter[str] = Counter()
    findings: list[Finding] = []
    for one in ordered:
        kept[one.check] += 1
        if kept[one.check] <= MAX_PER_CHECK:
            # Messages quote what authors wrote: no control character of theirs may forge a line.
            message, path = shown(composed(one.message)), shown(composed(one.path))
            findings.append({"severity": one.severity, "check": one.check, "path": path, "line": one.line, "message": message})
    return {
        "valid": not severities[ERROR],
        "error_count": severities[ERROR],
        "warning_count": severities[WARNING],
        "checks": checks,
        "findings": findings,
        "truncated": len(findings) < len(ordered),
    }
