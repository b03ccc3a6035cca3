"""One writer per index folder: a lock on a file, which the system frees when its holder dies."""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Callable
from pathlib import Path

LOCK_NAME = "writer.lock"
_PROBE_SECONDS = 0.02
"""More than any probe holds the lock."""


class WriterLock:
    """A second process does not wait for it: it stays a reader and asks again."""

    def __init__(self, folder: Path, sleep: Callable[[float], None] = time.sleep) -> None:
        self._path = folder / LOCK_NAME
        self._sleep = sleep
        self._handle: int | None = None

    def acquire(self) -> bool:
        """Whether this process is the writer now. Asks twice: the first time a probe (`writer_is_alive`) may be in the way."""
        if self._try():
            return True
        self._sleep(_PROBE_SECONDS)
        return self._try()

    def release(self) -> None:
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None

    def _try(self) -> bool:
        if self._handle is not None:
            return True
        self._path.parent.mkdir(parents=True, exist_ok=True)
        handle = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(handle)
            return False
        self._handle = handle
        return True


def writer_is_alive(folder: Path) -> bool:
    """Whether some process, this one included, holds the lock."""
    probe = WriterLock(folder)
    try:
        free = probe._try()
    except OSError:
        return False
    probe.release()
    return not free
