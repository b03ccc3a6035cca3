"""docs/requirements.md and docs/rules.md: whole, true to the tests they name, and the only places that code and tests cite."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
ROW = re.compile(r"^\| ([FPC]\d+) \| (.+?) \| (.+) \|$", re.MULTILINE)
NODE = re.compile(r"`(tests/[\w/]+\.py)::(\w+)`")
ROW_ID = re.compile(r"(?<![\w-])(?:[FP][1-9]\d?|C0\d\d)\b")
RULE_ID = re.compile(r"\b(?:A|AU|C|E|EX|G|H|K|LG|ME|O|P|PR|R|S|ST|T|TK|TR|W|X)-\d\d\b")
RULE_CITATION = re.compile(r"docs/rules\.md, ([A-Z][A-Za-z ]*(?:, [A-Z][A-Za-z ]*)*)")
# Texts that are not in the repository. Spelled in halves, since this file is searched too.
ELSEWHERE = [
    "domain" + " §", "design" + " §", "checklist" + " §", "governance" + ".md §", "governance" + " §", "style" + ".md", "../" + "shared",
    "cases" + ".md", "peers" + ".md", "domain" + ".md", "design" + ".md",
]

REQUIREMENTS = (ROOT / "docs/requirements.md").read_text(encoding="utf-8")
RULES = (ROOT / "docs/rules.md").read_text(encoding="utf-8")
ROWS = {row: shown for row, _asked, shown in ROW.findall(REQUIREMENTS)}
EXPLAINED_RULES = set(re.findall(r"^\| ([A-Z]+-\d\d) \|", RULES, re.MULTILINE))


def texts(*places: str) -> Iterator[tuple[str, str]]:
    """(path, text) of every text file below the places."""
    for place in places:
        start = ROOT / place
        for path in sorted(start.rglob("*")) if start.is_dir() else [start]:
            if path.is_file() and not {"__pycache__", "node_modules"} & set(path.parts):
                try:
                    yield str(path.relative_to(ROOT)), path.read_text(encoding="utf-8")
                except UnicodeDecodeError:
                    continue


@cache
def functions(path: str) -> set[str]:
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    return {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}


def test_every_row_is_there_once() -> None:
    found = [row for row, *_ in ROW.findall(REQUIREMENTS)]
    asked = [f"F{number}" for number in range(1, 49)] + [f"P{number}" for number in range(1, 28)]
    assert found[: len(asked)] == asked
    faults = found[len(asked) :]
    assert len(faults) >= 35
    assert faults == sorted(set(faults))


@pytest.mark.parametrize("row", ROWS)
def test_a_row_names_tests_that_exist(row: str) -> None:
    named = NODE.findall(ROWS[row])
    assert named, "name the test that shows it"
    assert "`tests/" not in NODE.sub("", ROWS[row])
    for path, name in named:
        assert name.startswith("test_")
        assert name in functions(path), f"{path} has no {name}"


def test_every_row_that_is_cited_is_explained() -> None:
    for path, text in texts("cmsmcp", "tests"):
        assert set(ROW_ID.findall(text)) <= ROWS.keys(), path


def test_every_rule_of_mcp_that_is_cited_is_explained() -> None:
    for path, text in texts("cmsmcp", "tests"):
        assert set(RULE_ID.findall(text)) <= EXPLAINED_RULES, path


def test_every_citation_of_the_rules_names_a_heading() -> None:
    headings = set(re.findall(r"^## (.+)$", RULES, re.MULTILINE))
    for path, text in texts("cmsmcp", "tests", "docs", "README.md"):
        for cited in RULE_CITATION.findall(text):
            assert {heading.strip() for heading in cited.split(",")} <= headings, f"{path}: {cited}"


def test_nothing_cites_a_text_that_is_not_here() -> None:
    folders = ("cmsmcp", "tests", "bench", "docs", "config", "docker", "examples", ".ci")
    for path, text in texts(*folders, "README.md", "CHANGELOG.md", "Makefile", "pyproject.toml"):
        folded = text.lower()
        for name in ELSEWHERE:
            assert name not in folded, f"{path} cites {name}"


def test_the_rooms_of_the_readme_exist() -> None:
    table = (ROOT / "README.md").read_text(encoding="utf-8").partition("| Room |")[2].partition("\n\n")[0]
    rows = re.findall(r"^\| (`.+?) \| (.+) \|$", table, re.MULTILINE)
    assert len(rows) >= 9
    for rooms, what in rows:
        named = re.findall(r"`([^`]+)`", rooms)
        for name in named:
            assert (ROOT / name).exists() or (ROOT / "cmsmcp" / name).exists(), name
        for file in re.findall(r"`([\w/]+(?:\.py|/))`", what):
            assert any((ROOT / room / file).exists() for room in named), file


def test_links_between_the_documents_lead_somewhere() -> None:
    for path, text in texts("README.md", "CHANGELOG.md", "docs"):
        for target in re.findall(r"\]\((?!https?:)([^)#]+)", text):
            assert ((ROOT / path).parent / target).exists(), f"{path}: {target}"
