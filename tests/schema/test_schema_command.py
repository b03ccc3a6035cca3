"""`cmsmcp schema` as a person meets it (docs/schema.md)."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

CMSMCP = Path(sys.executable).with_name("cmsmcp")
EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "site"


def run(*words: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run([CMSMCP, "schema", *map(str, words)], capture_output=True, text=True, timeout=60, check=False)


@pytest.fixture
def site(tmp_path: Path) -> Path:
    return Path(shutil.copytree(EXAMPLE, tmp_path / "site", symlinks=True))


def test_a_change_of_a_type_is_told_with_the_code_that_a_build_looks_at(site: Path, tmp_path: Path) -> None:
    """Diff: 0 nothing breaks, 1 something does, a line each."""
    before = tmp_path / "before.json"
    assert run("export", "--site", site, "--format", "openapi", "--output", before).returncode == 0
    same = run("diff", before, site)
    assert (same.returncode, same.stdout) == (0, "")
    declared = site / "content/types/event.yaml"
    text = declared.read_text()
    declared.write_text(text.replace("isDefault:", "  - {name: venue, type: string}\nisDefault:", 1))
    added = run("diff", before, site)
    assert (added.returncode, added.stdout) == (0, "compatible: event.venue: the field is new\n")
    declared.write_text(text.replace("type: number, subtype: float", "type: string"))
    broken = run("diff", before, site, "--json")
    assert broken.returncode == 1
    assert json.loads(broken.stdout) == [{"where": "event.price_eur", "change": "was number and is string", "breaking": True}]


def test_what_cannot_be_read_is_code_2_with_a_way_out(tmp_path: Path) -> None:
    """Diff: 2."""
    (tmp_path / "text.json").write_text("no json")
    (tmp_path / "list.json").write_text("[]")
    (tmp_path / "other.json").write_text('{"$defs": {"A": {}}}')
    for name in ("text.json", "list.json", "other.json", "absent.json", "."):
        done = run("diff", tmp_path / name, EXAMPLE)
        assert done.returncode == 2 and done.stderr.startswith("cmsmcp: ") and "Traceback" not in done.stderr, name


def test_the_hash_is_that_of_every_export(site: Path) -> None:
    """Hash."""
    digest = run("hash", "--site", site).stdout.strip()
    for format_ in ("json-schema", "typescript", "openapi", "graphql-sdl"):
        assert digest in run("export", "--site", site, "--format", format_, "--type", "person").stdout
    assert run("export", "--site", site, "--format", "openapi", "--type", "nope").returncode == 2


def test_a_type_with_a_fault_is_in_no_export_and_that_is_said(site: Path) -> None:
    """Export."""
    (site / "content/types/bad.yaml").write_text("name: Bad\nslug: bad\nkind: neither\n")
    done = run("export", "--site", site, "--format", "typescript")
    assert done.returncode == 0 and "Bad" not in done.stdout
    assert done.stderr == "cmsmcp: warning: content/types/bad.yaml:3: `kind` must be collection or single\n"
