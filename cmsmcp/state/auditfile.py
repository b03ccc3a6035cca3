"""The audit as a file: one JSON object per line, on disk before the call goes on. For stdio, where there is no Redis stream.

Knows files and locks. Must not know what a record means; it adds the time. Several processes may append to one file: every
record is one locked, synced write, so that neither a kill nor a neighbour leaves half a line among whole ones.
"""

from __future__ import annotations

import fcntl
import json
import os
import threading
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

MAX_BYTES = 32 * 1024 * 1024
KEEP = 16


class AuditFile:
    """Appends to `path` (mode 0600). At `max_bytes` it is moved to `<stem>.<n>.jsonl`; the newest `keep` of those stay."""

    def __init__(self, path: Path, *, max_bytes: int = MAX_BYTES, keep: int = KEEP) -> None:
        self._path = path
        self._max_bytes = max_bytes
        self._keep = keep
        self._lock = threading.Lock()
        self._fd: int | None = None

    def append(self, record: Mapping[str, str]) -> None:
        """Write and sync one record, `time` first (ISO 8601, UTC, milliseconds). OSError when the disk refuses."""
        time = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        line = json.dumps({"time": time, **record}).encode() + b"\n"
        with self._lock:
            fd = self._locked()
            try:
                size = os.fstat(fd).st_size
                if size and os.pread(fd, 1, size - 1) != b"\n":
                    line = b"\n" + line  # a record that was torn by a full disk must not swallow this one
                if os.write(fd, line) != len(line):
                    raise OSError(0, "the disk is full")
                os.fsync(fd)
                if size + len(line) >= self._max_bytes:
                    self._rotate()
            finally:
                fcntl.flock(fd, fcntl.LOCK_UN)

    def close(self) -> None:
        with self._lock:
            self._forget()

    def _locked(self) -> int:
        """The file that `path` names now, locked against other processes; one that was moved away meanwhile is let go."""
        while True:
            if self._fd is None:
                self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
                self._fd = os.open(self._path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
            fcntl.flock(self._fd, fcntl.LOCK_EX)
            try:
                if os.path.samestat(os.fstat(self._fd), self._path.stat()):
                    return self._fd
            except FileNotFoundError:
                pass
            self._forget()

    def _rotate(self) -> None:
        numbered = sorted(self._older())
        newest = numbered[-1][0] if numbered else 0
        self._path.rename(self._path.with_suffix(f".{newest + 1}.jsonl"))
        for _, old in numbered[: max(0, len(numbered) + 1 - self._keep)]:
            old.unlink(missing_ok=True)

    def _older(self) -> list[tuple[int, Path]]:
        found = self._path.parent.glob(f"{self._path.stem}.*.jsonl")
        numbers = ((path.name.removeprefix(f"{self._path.stem}.").removesuffix(".jsonl"), path) for path in found)
        return [(int(number), path) for number, path in numbers if number.isdecimal()]

    def _forget(self) -> None:
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None
