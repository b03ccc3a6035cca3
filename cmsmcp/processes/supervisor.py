"""Keeps the processes of one host running, and ends them together.

Knows commands, signals and time; must not know what the processes do. The order of the list is the order of the start; the end is
in the reverse order, so that whoever serves requests goes before what it depends on.
"""

from __future__ import annotations

import os
import select
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path

from cmsmcp.processes.leash import spawn, stop
from cmsmcp.processes.signals import MEANINGLESS
from cmsmcp.processes.terminal import Terminal

ENDING = (signal.SIGTERM, signal.SIGINT, signal.SIGQUIT)
POLL_SECONDS = 0.1
FIRST_PAUSE = 0.5
LONGEST_PAUSE = 30.0


@dataclass(slots=True)
class Child:
    """One process. What ends is started again, after a pause that doubles up to 30 s. `vital`: when it ends before everything was ready,
    it cannot be started, and everything ends.

    It runs in `folder`, with `environment` instead of ours if that is given. `output` is a file for what it prints, instead of our own
    streams. `patience`: seconds from SIGTERM to SIGKILL. `tied`: as `spawn` has it.
    """

    name: str
    command: Sequence[str]
    folder: Path
    environment: Mapping[str, str] | None = None
    vital: bool = False
    pass_fds: Sequence[int] = ()
    patience: float = 5.0
    output: Path | None = None
    reloads: bool = False
    tied: bool = True
    process: subprocess.Popen[bytes] | None = None
    pause: float = FIRST_PAUSE
    due: float = 0.0
    started: float = 0.0

    def has_ended(self) -> bool:
        return self.process is not None and self.process.poll() is not None

    @property
    def code(self) -> int | None:
        return None if self.process is None else self.process.returncode

    def mend(self, tell: Callable[[str], None]) -> None:
        """Start it again if it has ended, when its time has come. To be called now and then, as long as `due` says so at least."""
        now = time.monotonic()
        if not self.has_ended():
            return
        if not self.due:
            if now - self.started > LONGEST_PAUSE:
                self.pause = FIRST_PAUSE
            self._wait(f"ended with code {self.code}; starting it", tell)
        elif now >= self.due:
            try:
                self.start()
                self.due = 0.0
            except OSError as error:
                self._wait(f"cannot be started ({error.strerror}); trying", tell)

    def _wait(self, what: str, tell: Callable[[str], None]) -> None:
        tell(f"{self.name} {what} again in {self.pause:g} s")
        self.due = time.monotonic() + self.pause
        self.pause = min(self.pause * 2, LONGEST_PAUSE)

    def start(self) -> None:
        with self.output.open("ab") if self.output else nullcontext() as output:
            self.process = spawn(
                self.command, self.folder, environment=self.environment, pass_fds=self.pass_fds, output=output, tied=self.tied
            )
        self.started = time.monotonic()


class Supervisor:
    """`run()` returns the exit code: 0 after SIGTERM, SIGQUIT or when the terminal is gone, 130 after Ctrl-C, 1 when a vital process ended
    before all were ready. On any other SIGHUP `is_sound` is asked whether what stands in the configuration now can be used; it says why
    not.
    """

    def __init__(self, children: Sequence[Child], tell: Callable[[str], None], is_sound: Callable[[], bool] = lambda: True) -> None:
        self._children = list(children)
        self._tell = tell
        self._is_sound = is_sound
        self._signal: int | None = None
        self._meaningless: set[int] = set()
        self._terminal = Terminal()
        self._ready = False

    def run(self, is_ready: Callable[[], bool], on_ready: Callable[[], None]) -> int:
        """Start everything; call `on_ready` once `is_ready` says yes (it is asked ten times a second)."""
        reader, writer = os.pipe()
        os.set_blocking(writer, False)
        before = signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
        handlers = {number: signal.signal(number, self._note) for number in (*ENDING, signal.SIGHUP)}
        handlers |= {number: signal.signal(number, self._note_meaningless) for number in MEANINGLESS}
        handlers[signal.SIGCHLD] = signal.signal(signal.SIGCHLD, lambda *_: None)  # only to wake the loop
        try:
            for child in self._children:
                if child.process is None:
                    child.start()
            return self._watch(reader, is_ready, on_ready)
        finally:
            self._end()
            self._terminal.close()
            signal.set_wakeup_fd(before)
            for number, handler in handlers.items():
                signal.signal(number, handler)
            os.close(reader)
            os.close(writer)

    def _note(self, number: int, _frame: object) -> None:
        if self._signal in (None, signal.SIGHUP):
            self._signal = number

    def _note_meaningless(self, number: int, _frame: object) -> None:
        self._meaningless.add(number)

    def _watch(self, reader: int, is_ready: Callable[[], bool], on_ready: Callable[[], None]) -> int:
        while not self._is_to_end():
            if not self._ready and is_ready():
                self._ready = True
                on_ready()
            for child in self._children:
                if child.vital and not self._ready and child.has_ended():
                    self._tell(f"{child.name} ended with code {child.code}; stopping")
                    return 1
                child.mend(self._tell)
            self._explain_meaningless()
            if select.select([reader], [], [], POLL_SECONDS if not self._ready or self._waiting() else None)[0]:
                os.read(reader, 4096)
        return 130 if self._signal == signal.SIGINT else 0

    def _explain_meaningless(self) -> None:
        while self._meaningless:
            name = signal.Signals(self._meaningless.pop()).name
            self._tell(f"{name} changes nothing here: logs go to standard error, the number of workers is --workers. SIGHUP reads the "
                       "configuration again, SIGTERM ends")

    def _is_to_end(self) -> bool:
        """Whether a signal says so. A SIGHUP does when the terminal is gone; otherwise it has the configuration read again, once all
        are up: before, it would end a process that does not listen for it yet.
        """
        if self._signal != signal.SIGHUP or self._terminal.is_gone():
            return self._signal is not None
        if self._ready:
            self._signal = None
            self._reload()
        return False

    def _reload(self) -> None:
        if not self._is_sound():
            return
        for child in self._children:
            if child.reloads and child.process is not None and child.process.poll() is None:
                child.process.send_signal(signal.SIGHUP)

    def _waiting(self) -> bool:
        return any(child.due for child in self._children)

    def _end(self) -> None:
        for child in reversed(self._children):
            if child.process is not None:
                stop(child.process, child.patience)
