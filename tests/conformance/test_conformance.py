"""The official conformance suite finds nothing wrong, on any configuration of workers; and what judges its results can find fault."""

from __future__ import annotations

import importlib.util
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]


def load() -> ModuleType:
    spec = importlib.util.spec_from_file_location("conformance_run", HERE / "run.py")
    assert spec is not None and spec.loader is not None
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


RUN = load()
DELETE = ("server-session-lifecycle", "server-session-delete-accepted")


@pytest.mark.timeout(600)
@pytest.mark.parametrize("configuration", list(RUN.CONFIGURATIONS))
def test_every_scenario_of_both_revisions_passes(configuration: str) -> None:
    """37 and 30 required scenarios, 13 and 3 beside them; README, Development."""
    assert RUN.run([configuration], list(RUN.REVISIONS)) == []


def check(id: str, status: str) -> dict[str, Any]:
    return {"id": id, "status": status, "errorMessage": "why\nso"}


@pytest.mark.parametrize(
    ("results", "fault"),
    [
        ({}, "one: no result"),
        ({"one": []}, "one: no check succeeded"),
        ({"one": [check("a", "INFO")]}, "one: a is INFO: why so"),
        ({"one": [check("a", "SKIPPED")]}, "one: a is SKIPPED: why so"),
        ({"one": [check("a", "SUCCESS"), check("b", "SKIPPED")]}, "one: b is SKIPPED: why so"),
        ({"one": [check("a", "SUCCESS"), check("a", "WARNING")]}, "one: a is WARNING: why so"),
        ({"one": [check("a", "SUCCESS"), check("b", "FAILURE"), check("c", "SUCCESS")]}, "one: b is FAILURE: why so"),
        ({"one": [check("a", "SUCCESS"), check("b", "NOVEL")]}, "one: b is NOVEL: why so"),
        ({"one": [check("a", "SUCCESS"), check(DELETE[1], "SKIPPED")]}, f"one: {DELETE[1]} is SKIPPED: why so"),
        ({"one": [check("a", "SUCCESS")], "two": [check("a", "SUCCESS")]}, "two: a scenario that is not known here"),
    ],
)
def test_a_run_that_is_not_clean_is_found_out(results: Mapping[str, Sequence[Any]], fault: str) -> None:
    """Abstaining is no pass, and what is excused in one scenario is not in another."""
    assert fault in RUN.judge(frozenset({"one"}), results)


def test_the_excused_checks_are_excused_where_they_belong() -> None:
    results = {"one": [check("a", "SUCCESS")]}
    for scenario, name in RUN.SKIPPED:
        results.setdefault(scenario, [check("b", "SUCCESS")]).append(check(name, "SKIPPED"))
    results["tasks-status-notifications"] = [check("tasks-status-notifications", "SKIPPED")]
    assert RUN.judge(frozenset(results), results) == []
    for name in RUN.SKIPPED:
        for status in ("WARNING", "FAILURE", "INFO"):
            assert RUN.judge(frozenset({"x"}), {name[0]: [check(name[1], status)]})
    assert "server-session-lifecycle: no check succeeded" not in RUN.judge(frozenset(results), results)


def test_a_run_counts_only_when_the_suite_has_the_scenarios_we_know(monkeypatch: pytest.MonkeyPatch) -> None:
    for revision, known in RUN.REVISIONS.items():
        assert len(RUN.expected_scenarios(revision)) == known.required + len(known.unscored)
        for other in (RUN.Revision(known.required - 1, known.unscored), RUN.Revision(known.required, known.unscored | {"new"})):
            monkeypatch.setitem(RUN.REVISIONS, revision, other)
            with pytest.raises(SystemExit, match=revision):
                RUN.expected_scenarios(revision)
            monkeypatch.setitem(RUN.REVISIONS, revision, known)


def test_the_servers_own_errors_count() -> None:
    """All but the one that a fixture means to have."""
    meant = f"[2026] [1] [ERROR] internal error\nTraceback\nRuntimeError: {RUN.MEANT}\n"
    assert RUN._left_behind("[2026] [1] [WARNING] x\n" + meant) == []
    assert RUN._left_behind(meant + "[2026] [1] [ERROR] another\n")


def test_the_server_knows_nothing_of_the_suite() -> None:
    """The fixtures are of tests/conformance alone: no source that ships names them, or the suite."""
    names = [file.stem for file in (HERE / RUN.FIXTURES).glob("*.py") if not file.stem.startswith("_")]
    sources = "".join(file.read_text() for file in (ROOT / "cmsmcp").rglob("*.py"))
    assert len(names) > 40
    assert not re.findall(rf"\b(?:{'|'.join([*names, RUN.FIXTURES, 'conformance'])})\b", sources)
