"""The audit of a stdio server (docs/rules.md, Audit; C057)."""

from __future__ import annotations

import json
import re
import stat
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from cmsmcp.state.auditfile import AuditFile

WRITER = """
import sys
from pathlib import Path
from cmsmcp.state.auditfile import AuditFile
audit = AuditFile(Path(sys.argv[1]), max_bytes=4000, keep=100)
for number in range(40):
    audit.append({"event": f"{sys.argv[2]}-{number}", "text": "x" * 50})
"""


def records(folder: Path) -> list[dict[str, str]]:
    return [json.loads(line) for path in sorted(folder.glob("*.jsonl")) for line in path.read_text().splitlines()]


def test_a_record_is_one_line_with_its_time_for_its_owner_alone(tmp_path: Path) -> None:
    audit = AuditFile(tmp_path / "deep" / "audit.jsonl")
    audit.append({"event": "1", "text": "a\nb\u2028\x85"})
    audit.append({"event": "2"})
    lines = (tmp_path / "deep" / "audit.jsonl").read_bytes().split(b"\n")
    assert len(lines) == 3 and all(32 <= byte < 127 for line in lines for byte in line)
    first = json.loads(lines[0])
    assert list(first) == ["time", "event", "text"]
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", first["time"])
    assert stat.S_IMODE((tmp_path / "deep" / "audit.jsonl").stat().st_mode) == 0o600


def test_it_goes_on_after_a_restart_and_after_a_torn_line(tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"
    AuditFile(path).append({"event": "1"})
    with path.open("a") as torn:
        torn.write('{"event": "to')
    AuditFile(path).append({"event": "2"})
    lines = path.read_text().splitlines()
    assert [json.loads(lines[0])["event"], lines[1], json.loads(lines[2])["event"]] == ["1", '{"event": "to', "2"]


def test_an_unlinked_or_moved_file_is_noticed(tmp_path: Path) -> None:
    """hashicorp/vault#18943: a deleted audit file must not swallow records."""
    path = tmp_path / "audit.jsonl"
    audit = AuditFile(path)
    audit.append({"event": "1"})
    path.unlink()
    audit.append({"event": "2"})
    assert [record["event"] for record in records(tmp_path)] == ["2"]


def test_it_rotates_by_size_and_keeps_the_newest(tmp_path: Path) -> None:
    audit = AuditFile(tmp_path / "audit.jsonl", max_bytes=1000, keep=3)
    for number in range(100):
        audit.append({"event": str(number)})
    kept = [int(record["event"]) for record in records(tmp_path)]
    assert len(list(tmp_path.iterdir())) <= 4
    assert sorted(kept) == list(range(min(kept), 100)), "a gapless tail"
    assert all(path.stat().st_size < 1100 for path in tmp_path.iterdir())


def test_threads_and_processes_share_a_file_without_losing_a_record(tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"
    writers = [subprocess.Popen([sys.executable, "-c", WRITER, str(path), str(name)]) for name in range(3)]
    audit = AuditFile(path, max_bytes=4000, keep=100)
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda number: audit.append({"event": f"t-{number}"}), range(40)))
    assert [writer.wait(60) for writer in writers] == [0, 0, 0]
    expected = {f"{name}-{number}" for name in ("0", "1", "2", "t") for number in range(40)}
    found = [record["event"] for record in records(tmp_path)]
    assert len(found) == len(expected) and set(found) == expected


def test_a_disk_that_refuses_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "audit.jsonl").mkdir()
    with pytest.raises(OSError):
        AuditFile(tmp_path / "audit.jsonl").append({"event": "1"})


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").write_text("")
    (tmp_path / "audit.jsonl").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(OSError):
        AuditFile(tmp_path / "audit.jsonl").append({"event": "1"})
