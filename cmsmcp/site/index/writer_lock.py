"""One writer per state folder: a lock on a file, which the system frees when its holder dies."""

from __future__ import annotations

import os
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

LOCK_NAME = "writer.lock"


class WriterLock:
    """`acquire` never waits; a second process stays a reader and asks again."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / LOCK_NAME
        self._handle: int | None = None

    @property
    def held(self) -> bool:
        return self._handle is not None

    def acquire(self) -> bool:
        if self._handle is not None:
            return True
        self._path.parent.mkdir(parents=True, exist_ok=True)
        handle = os.open(self._path, os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), 0o600)
        if not _try_lock(handle):
            os.close(handle)
            return False
        self._handle = handle
        return True

    def release(self) -> None:
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None


def writer_is_alive(folder: Path) -> bool:
    """Whether some process, this one included, holds the lock."""
    probe = WriterLock(folder)
    try:
        free = probe.acquire()
    except OSError:
        return False
    probe.release()
    return not free


def _try_lock(handle: int) -> bool:
    try:
        if fcntl is not None:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        else:
            import msvcrt

            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
    except OSError:
        return False
    return True
