"""Keeps an issuer's keys at hand: fetched in the background, shared by the processes of a host through a file, kept when a fetch fails.

Knows one URL, one file and time. No request ever waits for a fetch: it finds a key or it does not. All processes of a host together
ask the issuer at most once in `least` seconds, whatever tokens come in (C058; a stranger's key ids must not become a flood).
"""

from __future__ import annotations

import fcntl
import http.client
import logging
import os
import threading
import time
from dataclasses import dataclass
from pathlib import Path

from cmsmcp.identity.fetching import fetch
from cmsmcp.identity.jwks import MAX_BYTES, VerifyingKey, read_keys

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Pace:
    """Seconds. `refresh`: age at which keys are fetched again; `least`: between two attempts; `stale`: age at which they count no more;
    `look`: how often the file is looked at; `fetch`: for one whole fetch.
    """

    refresh: float = 300.0
    least: float = 30.0
    stale: float = 86_400.0
    look: float = 1.0
    fetch: float = 10.0


class KeySource:
    """The keys behind `url`. `file` holds what was fetched last, in a private folder; its time is that of the fetch."""

    def __init__(self, url: str, file: Path, pace: Pace | None = None) -> None:
        self._url = url
        self._file = file
        self._pace = pace or Pace()
        self._keys: dict[str, VerifyingKey] = {}
        self._fetched = 0.0
        self._wanted = False
        self._failing = False
        self._wake = threading.Event()
        self._starting = threading.Lock()
        self._pid: int | None = None
        self._load()

    def find(self, key_id: str) -> VerifyingKey | None:
        """At once. An id that is not known has the keys fetched soon, for the next time."""
        if self._pid != os.getpid():
            self.start()
        key = self._keys.get(key_id) if self.is_known() else None
        if key is None:
            self._wanted = True
            self._wake.set()
        return key

    def is_known(self) -> bool:
        """Whether there are keys to judge a token by."""
        return time.time() - self._fetched < self._pace.stale

    def start(self) -> None:
        """Begin to refresh, in this process. Safe to call again."""
        with self._starting:
            if self._pid != os.getpid():
                self._pid = os.getpid()
                self._wake = threading.Event()
                threading.Thread(target=self._run, args=(self._pid,), name="issuer keys", daemon=True).start()

    def stop(self) -> None:
        self._pid = 0
        self._wake.set()

    def _run(self, pid: int) -> None:
        while True:
            self._wake.wait(self._pace.look)  # first of all: a process that only tries whether it can load starts no fetch
            if self._pid != pid:
                return
            self._wake.clear()
            try:
                self._step()
            except OSError as error:
                log.warning("the keys of an issuer cannot be kept in %s (%s)", self._file, error.strerror)
            time.sleep(min(0.05, self._pace.look))  # many strange ids in a row are one reason to look

    def _step(self) -> None:
        self._load()
        if not self._wanted and time.time() - self._fetched < self._pace.refresh:
            return
        handle = os.open(self._file.with_suffix(".lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.fstat(handle).st_size == 0 or time.time() - os.fstat(handle).st_mtime >= self._pace.least:
                os.pwrite(handle, b"tried\n", 0)
                self._refresh()
        except BlockingIOError:
            pass  # another process is fetching; the file will tell
        finally:
            os.close(handle)

    def _refresh(self) -> None:
        try:
            document = fetch(self._url, self._pace.fetch, MAX_BYTES)
            keys = read_keys(document)
            if not keys:
                raise ValueError("no key that could verify a token")
        except (OSError, http.client.HTTPException, ValueError) as error:
            if not self._failing:
                log.warning("the keys at %s were not fetched (%s); those of before go on", self._url, _reason(error))
            self._failing = True
            return
        self._failing = False
        draft = self._file.with_suffix(f".{os.getpid()}")
        draft.write_bytes(document)
        draft.replace(self._file)
        self._load()

    def _load(self) -> None:
        """Take what the file holds, if it is newer. A damaged file is as good as none."""
        try:
            fetched = self._file.stat().st_mtime
            if fetched != self._fetched:
                self._keys = read_keys(self._file.read_bytes())
                self._fetched = fetched
                self._wanted = False
        except (OSError, ValueError):
            pass


def _reason(error: Exception) -> str:
    if isinstance(error, ValueError):
        return str(error)
    if isinstance(error, TimeoutError):
        return "it came too slowly"
    return "it cannot be reached" if isinstance(error, OSError) else "it is no HTTP server"
