"""The audit file read back across rotations (docs/audit.md)."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given, settings
from hypothesis import strategies as st

from cmsmcp.state.auditfile import AuditFile
from cmsmcp.state.audittrail import FileTrail


def events(entries: object) -> list[str]:
    return [entry.record["event"] for entry in entries]  # type: ignore[attr-defined]


def test_a_file_that_is_not_there_holds_nothing(tmp_path: Path) -> None:
    trail = FileTrail(tmp_path / "audit.jsonl")
    assert list(trail.latest(3)) == [] == list(trail.since(0)) and trail.after(trail.end()) == []


def test_records_are_read_in_order_and_followed_through_a_rotation(tmp_path: Path) -> None:
    audit, trail = AuditFile(tmp_path / "audit.jsonl", max_bytes=1000, keep=100), FileTrail(tmp_path / "audit.jsonl")
    followed, position = [], trail.end()
    for number in range(120):
        audit.append({"event": str(number)})
        if number % 7 == 0:
            for entry in trail.after(position):
                followed.append(entry.record["event"])
                position = entry.position
    followed += events(trail.after(position))
    assert followed == [str(number) for number in range(120)] == events(trail.since(0))
    assert len(list(tmp_path.iterdir())) > 5
    assert events(trail.latest(50)) == [str(number) for number in range(70, 120)] and events(trail.latest(1)) == ["119"]


def test_since_is_a_moment(tmp_path: Path) -> None:
    lines = [{"time": f"2026-11-30T10:00:0{second}.000Z", "event": str(second)} for second in range(5)]
    (tmp_path / "audit.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    start = int(datetime(2026, 11, 30, 10, 0, 2, tzinfo=UTC).timestamp() * 1000)
    assert events(FileTrail(tmp_path / "audit.jsonl").since(start)) == ["2", "3", "4"]


@settings(max_examples=30, deadline=None)
@given(st.lists(st.sampled_from(["good", "torn\n", "[1]\n", "7\n", '{"time": 7}\n', "\xff\n", "\n"]), max_size=8))
def test_lines_that_are_no_records_are_passed_over(parts: list[str]) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "audit.jsonl"
        good = json.dumps({"time": "2026-11-30T10:00:00.000Z", "event": "e"}) + "\n"
        path.write_bytes("".join(good if part == "good" else part for part in parts).encode("latin-1") + b'{"time": "2026-half')
        assert events(FileTrail(path).since(0)) == ["e"] * parts.count("good")
