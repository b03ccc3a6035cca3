"""How the site is doing: the `Operations` port. Health is cheap and never fails; validation is thorough (`validation`).

Nothing is written, not even a probe: access is asked of the system (docs/rules.md, Health). Without a `visibility`
every document counts and is checked; with one, a hidden document is an absent one.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, TypedDict

from cmsmcp import __version__
from cmsmcp.core.deadline import Deadline
from cmsmcp.core.ports import Visibility
from cmsmcp.protocol.errors import CallError, TimedOut, Unavailable
from cmsmcp.site.catalog.reader import CatalogReader
from cmsmcp.site.catalog.state import IndexState
from cmsmcp.site.catalog.visibility import STATUS_SQL
from cmsmcp.site.checks.survey import Survey
from cmsmcp.site.checks.validation import Finding, Reports, Validation, findings_of_document, validate
from cmsmcp.site.config.loading import ConfigFault
from cmsmcp.site.definitions import Definitions
from cmsmcp.site.model import ERROR, SiteConfig
from cmsmcp.site.paths import composed, on_disk, shown
from cmsmcp.site.themes.reports import uses_themes
from cmsmcp.site.walk import iso_time

KEPT_SECONDS = 5.0
FIRST_LOOK_SECONDS = 1.0
"""How long a report waits for a server that has just started."""
"""How long a health report is given out again, unless the index has moved on."""


class Check(TypedDict):
    """`status` is "pass" or "fail"."""

    name: str
    status: str
    message: str


class Health(TypedDict):
    """`status` is "healthy", or "degraded" as soon as a check fails; `ready` says whether the site can be served.

    `content`: `document_count`, `route_count`, `taxonomy_count`, `taxonomy_term_count`, `media_count` (integers), `by_type`, `by_lang`,
    `by_status`, `media_counts` (name to integer). `storage`, in bytes and files: `content_bytes`, `media_bytes`,
    `derived_version_count`, `derived_trash_count`. Both are empty while there is no index.
    """

    status: str
    ready: bool
    version: str
    generated_at: str
    uptime_seconds: float
    checks: list[Check]
    content: dict[str, Any]
    storage: dict[str, int]


class SiteOperations:
    """Safe to share between threads and greenlets. `clock` is in seconds since 1970, `started` on the monotonic clock."""

    def __init__(
        self, definitions: Callable[[], Definitions], reader: CatalogReader, state: IndexState, reports: Reports, *,
        started: float, clock: Callable[[], float] = time.time,
    ) -> None:
        self._definitions = definitions
        self._reader = reader
        self._state = state
        self._reports = reports
        self._started = started
        self._clock = clock
        self._kept: dict[Visibility | None, tuple[float, Any, Health]] = {}

    def health(
        self, deadline: Deadline, visibility: Visibility | None = None, services: Mapping[str, str] = MappingProxyType({})
    ) -> Health:
        """Raises TimedOut past the deadline; whatever else goes wrong is a failed check."""
        now, version = self._clock(), self._version(deadline, visibility)
        kept = self._kept.get(visibility)
        if kept is None or now >= kept[0] or kept[1] != version:
            kept = (now + KEPT_SECONDS, version, self._examine(deadline, visibility))
            self._kept = {key: value for key, value in self._kept.items() if now < value[0]} | {visibility: kept}
        return self._beside({**kept[2], "uptime_seconds": round(time.monotonic() - self._started, 3)}, services)

    @staticmethod
    def _beside(report: Health, services: Mapping[str, str]) -> Health:
        """With the services, which change without the site."""
        checks = [_failed(name, why) if why else Check(name=name, status="pass", message="it serves") for name, why in services.items()]
        report["checks"] = [*report["checks"], *checks]
        if any(services.values()):
            report["status"], report["ready"] = "degraded", False
        return report

    def _version(self, deadline: Deadline, visibility: Visibility | None) -> str | None:
        """Of what such a reader sees; None where nobody knows. A kept report says when it was made: no hidden edit may move that."""
        try:
            return self._survey(deadline, visibility).version if self._state.ready() else None
        except (ConfigFault, Unavailable):
            return None

    def validate(
        self, deadline: Deadline, visibility: Visibility | None = None, step: Callable[[int, int, str], None] = lambda *_: None
    ) -> Validation:
        """Every finding of every check. Raises TimedOut past the deadline, Unavailable while there is no index."""
        self._state.await_ready(deadline)
        return validate(self._survey(deadline, visibility), self._reports, step)

    def findings(self, path: str, deadline: Deadline, visibility: Visibility | None = None) -> list[Finding]:
        """Those of one document. Raises as `validate` does."""
        self._state.await_ready(deadline)
        return findings_of_document(self._survey(deadline, visibility, on_disk(self._definitions().config.root, path)))

    def _survey(self, deadline: Deadline, visibility: Visibility | None, path: str | None = None) -> Survey:
        definitions = self._definitions()
        return Survey(definitions.config, definitions.types.all(), self._reader, int(self._clock() * 1000), deadline, visibility, path)

    def _examine(self, deadline: Deadline, visibility: Visibility | None) -> Health:
        ready = self._state.is_settled(FIRST_LOOK_SECONDS)
        try:
            survey = self._survey(deadline, visibility)
        except ConfigFault as fault:
            first = fault.faults[0] if fault.faults else None
            return self._report(False, [_failed("config", f"{first.file}, line {first.line}: {first.message}" if first else "unreadable")])
        config = survey.config
        checks = [*_storage(config), self._check("index", lambda: self._index(ready, survey))]
        checks.append(self._check("config", lambda: _config(config)))
        checks.append(self._check("theme", lambda: self._theme(deadline) if uses_themes(config) else "the site uses no themes"))
        checks.append(self._check("plugins", lambda: self._plugins(deadline)))
        checks.append(self._check("content", lambda: self._content(survey) if ready else ("not known before the index is ready", False)))
        counts: tuple[dict[str, Any], dict[str, int]] = ({}, {})
        if ready:
            try:
                counts = self._counts(survey)
            except (CallError, OSError) as fault:
                if isinstance(fault, TimedOut):
                    raise
        return self._report(ready, checks, *counts)

    def _report(self, ready: bool, checks: list[Check], content: Any = None, storage: Any = None) -> Health:
        degraded = not ready or any(check["status"] == "fail" for check in checks)
        return {
            "status": "degraded" if degraded else "healthy",
            "ready": ready,
            "version": __version__,
            "generated_at": iso_time(self._clock()),
            "uptime_seconds": 0.0,
            "checks": checks,
            "content": content or {},
            "storage": storage or {},
        }

    def _check(self, name: str, run: Callable[[], str | tuple[str, bool]]) -> Check:
        """Run one check: it returns its message, and False with it if it failed. What it raises is a failure of its own."""
        try:
            outcome = run()
        except TimedOut:
            raise
        except CallError as fault:
            return _failed(name, fault.message)
        except OSError:
            return _failed(name, "files cannot be read; check their permissions")
        message, passed = (outcome, True) if isinstance(outcome, str) else outcome
        return {"name": name, "status": "pass" if passed else "fail", "message": shown(composed(message))}

    def _index(self, ready: bool, survey: Survey) -> str | tuple[str, bool]:
        """`ready` was asked once for the whole report, whose parts would otherwise speak of different moments."""
        if not ready:
            if self._reader.meta().get("ready"):
                return "it is not kept up to the files: the indexer is just starting, has stopped, hangs or cannot write", False
            done, total = self._state.progress()
            if total and survey.visibility is None:
                return f"{done} of {total} documents read so far", False
            return "still being built" if total else "no document read yet", False
        return f"up to date, version {survey.version}"

    def _theme(self, deadline: Deadline) -> str | tuple[str, bool]:
        report = self._reports.themes.validate(None, deadline)
        errors = sum(1 for one in report["diagnostics"] if one["severity"] == ERROR)
        if not report["valid"]:
            return f"{_count(errors, 'error')} in {report['name']}; validate_theme names them", False
        return f"{report['name']} is valid"

    def _plugins(self, deadline: Deadline) -> str | tuple[str, bool]:
        records = self._reports.plugins.records(deadline)
        faulty = sorted(record["name"] for record in records if record["enabled"] and record["health"] != "enabled")
        if faulty:
            return f"not in order: {', '.join(faulty[:20])}", False
        return _count(sum(1 for record in records if record["enabled"]), "plugin") + " enabled"

    def _content(self, survey: Survey) -> str | tuple[str, bool]:
        sql = (
            "SELECT path, line, message, count(*) OVER () FROM diagnostics"
            " WHERE severity = 'error' AND origin <> 'config' ORDER BY path, line LIMIT 1"
        )
        found = survey.rows(sql)
        [(documents, displaced)] = survey.rows("SELECT count(*), count(*) FILTER (WHERE NOT served) FROM documents")
        if displaced and not found:
            return f"{_count(displaced, 'error')} in addresses that several documents have; validate_configuration names them", False
        if not found:
            return _count(documents, "document")
        path, line, message, count = found[0]
        count += displaced
        place = f"{path}, line {line}" if line else path
        return f"{_count(count, 'error')}; the first: {place}: {message}; validate_configuration names the rest", False

    def _counts(self, survey: Survey) -> tuple[dict[str, Any], dict[str, int]]:
        def one(sql: str) -> int:
            return survey.rows(sql)[0][0] or 0

        def grouped(column: str) -> dict[str, int]:
            sql = f"SELECT {column} AS name, count(*) FROM documents WHERE :now IS NOT NULL GROUP BY name ORDER BY name LIMIT 1000"
            return dict(survey.rows(sql, now=survey.now))

        media = survey.media
        content = {
            "document_count": one("SELECT count(*) FROM documents"),
            "route_count": one("SELECT count(*) FROM documents WHERE served"),
            "taxonomy_count": one("SELECT count(DISTINCT taxonomy) FROM terms JOIN documents USING (row)"),
            "taxonomy_term_count": one("SELECT count(*) FROM (SELECT DISTINCT taxonomy, term FROM terms JOIN documents USING (row))"),
            "media_count": len(media.files),
            "by_type": grouped("type"),
            "by_lang": grouped("lang"),
            "by_status": grouped(STATUS_SQL),
            "media_counts": media.counts(),
        }
        storage = {
            "content_bytes": one(f"SELECT sum(size) FROM files{'' if survey.is_whole else ' WHERE path IN (SELECT path FROM documents)'}"),
            "media_bytes": sum(file.size for file in media.files.values()),
            "derived_version_count": media.derived["version"],
            "derived_trash_count": media.derived["trash"],
        }
        return content, storage


def _storage(config: SiteConfig) -> Iterator[Check]:
    """Folders that can be entered and listed. One that is not there is an empty one."""
    for name in ("content", "data", "public", "themes", "plugins"):
        folder = getattr(config, f"{name}_dir")
        path = config.root / folder
        if not path.exists():
            yield {"name": f"storage.{name}", "status": "pass", "message": f"{folder} is not there, which counts as empty"}
        elif not path.is_dir():
            yield _failed(f"storage.{name}", f"{folder} is not a folder")
        elif not os.access(path, os.R_OK | os.X_OK):
            yield _failed(f"storage.{name}", f"{folder} cannot be read; check its permissions")
        else:
            yield {"name": f"storage.{name}", "status": "pass", "message": f"{folder} can be read"}


def _config(config: SiteConfig) -> str | tuple[str, bool]:
    errors = [one for one in config.diagnostics if one.severity == ERROR]
    if not errors:
        return "valid"
    first = errors[0]
    return f"{_count(len(errors), 'error')}; the first: {first.path}, line {first.line}: {first.message}", False


def _failed(name: str, message: str) -> Check:
    return {"name": name, "status": "fail", "message": message}


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" + ("" if number == 1 else "s")

