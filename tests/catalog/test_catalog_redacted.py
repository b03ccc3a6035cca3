"""The catalog and the search index hold documents as redaction leaves them (docs/rules.md, Redaction)."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from cmsmcp.governance.redaction import REDACTION
from cmsmcp.site.definitions import load_definitions
from cmsmcp.site.index.indexer import Indexer

SECRET = "bilby9"
PAGE = f"""---
title: Keys
summary: "api_key: {SECRET}77"
fields: {{api_key: {SECRET}, aside: {{password: {SECRET}}}}}
params: {{token: {SECRET}}}
---
# Set API_KEY={SECRET}

[The link](/nowhere) is below DB_PASSWORD={SECRET}.
"""


@dataclass(frozen=True)
class Rules:
    version: str
    word: str

    def __call__(self, value: Any) -> Any:
        return value.replace(self.word, "MARK") if isinstance(value, str) else value


@pytest.fixture
def site(tmp_path: Path) -> Path:
    root = tmp_path / "site"
    for path, text in (("content/config/site.yaml", "name: x\n"), ("content/pages/keys.md", PAGE)):
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    return root


@pytest.mark.parametrize("processes", [0, 1])
def test_no_secret_is_in_any_file_of_the_index(site: Path, tmp_path: Path, processes: int) -> None:
    """Read here or in a process beside: bodies, headings, fields, columns, terms."""
    with closing(Indexer(tmp_path / "state", lambda: load_definitions(site, redaction=REDACTION), processes=processes)) as indexer:
        indexer.build()
        (body, text, links), = indexer.catalog._connection.execute(
            "SELECT body, text, (SELECT group_concat(target || '@' || line) FROM links) FROM bodies"
        ).fetchall()
    assert "DB_PASSWORD=[redacted]" in body
    assert "[redacted]" in text
    assert links == "/nowhere@9", "as the file has it"
    for file in (tmp_path / "state").rglob("*"):
        assert not file.is_file() or SECRET.encode() not in file.read_bytes(), file


def test_another_rule_makes_the_index_anew(site: Path, tmp_path: Path) -> None:
    """A mark that came later must not wait for an edit."""
    rules = Rules("1", "nothing")
    with closing(Indexer(tmp_path / "state", lambda: load_definitions(site, redaction=rules))) as indexer:
        indexer.build()
        assert indexer.catalog._connection.execute("SELECT body FROM bodies WHERE body LIKE '%bilby9%'").fetchall()
        rules = Rules("2", SECRET)
        indexer.build()
        assert not indexer.catalog._connection.execute("SELECT body FROM bodies WHERE body LIKE '%bilby9%'").fetchall()


def test_the_version_of_our_rule_is_of_what_it_is_made_of() -> None:
    assert len(REDACTION.version) == 16
