"""The audit file read back, across the files it was rotated into. `auditfile.py` writes it.

Knows names and lines. A line that is no record (torn by a full disk, or written by somebody else) is passed over.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

from cmsmcp.governance.trail import Entry, moment

PAGE = 500
Position = tuple[int, int]
"""Number of the file (rotated files keep theirs, the current one has the next) and the bytes of it already read."""


class FileTrail:
    """Implements `governance.trail.Trail` over `path` and its `<stem>.<n>.jsonl`. A file that is not there holds nothing."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def latest(self, count: int) -> Sequence[Entry]:
        found: deque[Entry] = deque(maxlen=count)
        for number, path in reversed(self._files()):
            newer, found = found, deque(_read(number, path, 0), maxlen=count)
            found = deque([*found, *newer], maxlen=count)
            if len(found) == count:
                break
        return list(found)

    def since(self, start_ms: int) -> Iterator[Entry]:
        start = moment(max(0, start_ms))
        for number, path in self._files():
            yield from (entry for entry in _read(number, path, 0) if entry.record["time"] >= start)

    def end(self) -> Position:
        number, path = self._files()[-1]
        return (number, path.stat().st_size if path.exists() else 0)

    def after(self, position: Position) -> Sequence[Entry]:
        number, offset = position
        ahead = ((one, path) for one, path in self._files() if one >= number)
        entries = (entry for one, path in ahead for entry in _read(one, path, offset if one == number else 0))
        return list(islice(entries, PAGE))

    def _files(self) -> list[tuple[int, Path]]:
        """Oldest first; the current one is always last, whether it exists or not."""
        names = ((path.name.removeprefix(f"{self._path.stem}.").removesuffix(".jsonl"), path)
                 for path in self._path.parent.glob(f"{self._path.stem}.*.jsonl"))
        older = sorted((int(number), path) for number, path in names if number.isdecimal())
        return [*older, ((older[-1][0] if older else 0) + 1, self._path)]


def _read(number: int, path: Path, offset: int) -> Iterator[Entry]:
    try:
        file = path.open("rb")
    except FileNotFoundError:
        return
    with file:
        file.seek(offset)
        for line in file:
            offset += len(line)
            if not line.endswith(b"\n"):
                return  # still being written
            try:
                record = json.loads(line)
            except ValueError:
                continue
            if isinstance(record, dict) and isinstance(record.get("time"), str):
                yield Entry((number, offset), {str(name): str(value) for name, value in record.items()})
