"""What `cmsmcp serve` does for its workers, and a worker of plain gunicorn does itself: have the sidecar run, and say what it serves."""

from __future__ import annotations

import fcntl
import logging
import os
import sys
import threading
import time
from collections.abc import Callable, Mapping

from cmsmcp.bootstrap.chosen import Chosen
from cmsmcp.called import command
from cmsmcp.processes.leash import stop
from cmsmcp.processes.supervisor import FIRST_PAUSE, LONGEST_PAUSE, Child
from cmsmcp.settings import environment_elsewhere
from cmsmcp.site.open import index_folder

log = logging.getLogger(__name__)
LOCK_NAME = "sidecar.lock"
LOOK_SECONDS = 0.25
PATIENCE = 4.0
"""Seconds until what is missing is told: an index is built meanwhile, where it is small."""


def sidecar_command(chosen: Chosen, *options: str) -> list[str]:
    choice = chosen.choice
    words = ["--env", choice.env] if choice.env else []
    for overlay in choice.overlays:
        words += ["--config-overlay", str(overlay.absolute())]
    return [sys.executable, "-P", "-m", "cmsmcp.sidecar", str(chosen.root), *words, *options]


class SidecarKeeper:
    """Keeps one sidecar running for all workers of a host that serve this site, whoever their masters are.

    The running one holds the lock, which frees itself when it ends; the first worker that finds it free starts the next. A sidecar ends
    with the worker that started it, so a reload replaces it, and a killed worker leaves none.
    """

    def __init__(self, chosen: Chosen) -> None:
        self._chosen = chosen
        self._folder = index_folder(chosen.state, chosen.choice.env, chosen.choice.overlays)
        self._child: Child | None = None
        self._pause = FIRST_PAUSE
        self._due = 0.0
        self._ended = threading.Event()
        self._pid = 0

    def start(self) -> None:
        """In a thread. Early: the sidecar loads and indexes while the worker loads."""
        self._pid = os.getpid()
        threading.Thread(target=self._run, name="sidecar keeper", daemon=True).start()

    def stop(self) -> None:
        """In the process that started it alone: with a preloaded app that is gunicorn's master."""
        self._ended.set()
        if self._pid == os.getpid() and self._child is not None and self._child.process is not None:
            stop(self._child.process, self._child.patience)

    def _run(self) -> None:
        while not self._ended.is_set():
            try:
                self._look()
            except OSError as error:
                self._hold(f"cannot be started ({error.strerror})")
            self._ended.wait(LOOK_SECONDS)

    def _look(self) -> None:
        child = self._child
        if child is not None and child.has_ended():
            self._child = None
            if time.monotonic() - child.started > LONGEST_PAUSE:
                self._pause = FIRST_PAUSE
            self._hold(f"ended with code {child.code}")
        elif child is None and time.monotonic() >= self._due:
            lock = self._take_lock()
            if lock is not None:
                try:
                    self._child = self._begin(lock)
                finally:
                    os.close(lock)  # its own copy holds it

    def _begin(self, lock: int) -> Child:
        chosen = self._chosen
        line = sidecar_command(chosen, "--parent", str(os.getpid()))
        child = Child("the sidecar", line, chosen.state, environment_elsewhere(chosen.environment), pass_fds=(lock,), tied=False)
        child.start()
        return child

    def _hold(self, what: str) -> None:
        log.warning("the sidecar %s; starting it again in %g s", what, self._pause)
        self._due = time.monotonic() + self._pause
        self._pause = min(self._pause * 2, LONGEST_PAUSE)

    def _take_lock(self) -> int | None:
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle = os.open(self._folder / LOCK_NAME, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(handle)
            return None
        return handle


def tell_start(chosen: Chosen, redis: str | None, missing: Callable[[], Mapping[str, str]], where: str, say: Callable[[str], None]) -> None:
    """Say what is missing, each with its way out, and that the site is served once it is. `redis` is where Redis is, for people."""
    ways, told, began = _ways_out(chosen, redis), set(), time.monotonic()
    while lacking := missing():
        waited = time.monotonic() - began > PATIENCE
        for word in lacking:
            if word not in told and (waited or word == "secret" or redis is None and word == "redis"):
                say(ways.get(word, f"{word} is missing") + (f": {lacking[word]}" if redis and lacking[word] else ""))
                told.add(word)
        time.sleep(LOOK_SECONDS)
    say(f"serving {chosen.root} as {chosen.settings.site_name} on {where}")
    say(f"make a token with: {_again(chosen, 'tokens create --name NAME')}")


def _ways_out(chosen: Chosen, redis: str | None) -> Mapping[str, str]:
    away = "REDIS_URL is not set, so every call is refused: set it, or let cmsmcp bring a Redis of its own: " + _again(chosen, "serve")
    return {
        "redis": away if redis is None else f"waiting for Redis at {redis}",
        "secret": "waiting for a key: set CMSMCP_SECRET_KEY (openssl rand -hex 32) and start again, or make a token, whose key is taken "
                  f"up at once: {_again(chosen, 'tokens create --name NAME')}",
        "index": "waiting for the index: the sidecar builds it",
    }  # fmt: skip


def _again(chosen: Chosen, words: str) -> str:
    choice = chosen.choice
    return command(words, choice.folder, choice.env, choice.overlays)
