"""A few children for one process. A task waits for a free one, and its waiting counts: its deadline is one for all of it.

Works alike under threads and greenlets, and imports neither. Knows bytes, not what they ask.
"""

from __future__ import annotations

import os
import signal
import socket
import threading
from collections import deque
from collections.abc import Callable, Mapping, Sequence

from cmsmcp.core.deadline import Deadline
from cmsmcp.protocol.errors import Unavailable, WorkLost
from cmsmcp.runner.child import SECONDS
from cmsmcp.runner.frames import ANSWER, HELLO, LAST, NOTE, TASK, read_frame, write_frame
from cmsmcp.runner.template import Template

CHILDREN = 2
MEMORY = 1 << 30
"""Bytes that a child may take on top of what it starts with. The hardest texts of 1 MiB take 200 MiB."""
LOOK_SECONDS = 0.1
"""How often a waiter looks whether its deadline has passed, or its client has gone."""


class Pool:
    """At most `size` children, forked when they are first needed from a template that `start` has ready."""

    def __init__(
        self, entry: str, arguments: Sequence[str], environment: Mapping[str, str], *, size: int = CHILDREN, memory: int = MEMORY
    ) -> None:  # fmt: skip
        """`entry`, `module:function`, takes `arguments` and gives the function that does a task (`child.Perform`)."""
        self._start = lambda: Template(entry, arguments, environment, memory)
        self._memory = memory
        self._free = threading.BoundedSemaphore(size)
        self._idle: deque[_Child] = deque()
        self._lock = threading.Lock()
        self._template: Template | None = None
        self._closed = False

    def start(self) -> None:
        """Have the template ready. Without this the first task waits for it, half a second."""
        with self._lock:
            if self._template is None and not self._closed:
                self._template = self._start()

    def run(self, task: bytes, deadline: Deadline, note: Callable[[bytes], None] = lambda _said: None) -> bytes:
        """The answer of a child. `note` gets what it says meanwhile.

        Raises TimedOut and Cancelled, when the child has been killed; WorkLost when it ended by itself; Unavailable when none can start.
        """
        while not self._free.acquire(timeout=min(LOOK_SECONDS, deadline.remaining())):
            deadline.check()
        try:
            deadline.check()
            child = self._take(deadline)
            try:
                answer = child.ask(task, deadline, note)
            except BaseException:
                child.kill()
                raise
            if answer is None:
                child.kill()
                raise WorkLost(self._memory >> 20)
            if child.is_last:
                child.kill()
            else:
                self._idle.append(child)
            return answer
        finally:
            self._free.release()

    def close(self) -> None:
        """End every child. Nothing runs here afterwards."""
        with self._lock:
            self._closed, template, self._template = True, self._template, None
        if template is not None:
            template.close()
        while self._idle:
            self._idle.pop().kill()

    def _take(self, deadline: Deadline) -> _Child:
        while self._idle:
            child = self._idle.pop()
            if child.is_alive():
                return child
            child.kill()
        try:
            return self._fork(deadline)
        except OSError:
            raise Unavailable("No process can be started for this work; try again in a moment.", retry_after=1) from None

    def _fork(self, deadline: Deadline) -> _Child:
        for attempt in (1, 2):
            self.start()
            template = self._template
            if template is None:
                break
            try:
                return _Child(template.fork(), deadline)
            except OSError:
                with self._lock:
                    if self._template is template:
                        self._template = None
                        template.close()
                if attempt == 2:
                    raise
        raise OSError("closed")


class _Child:
    """One child: idle, or with one task."""

    def __init__(self, sock: socket.socket, deadline: Deadline) -> None:
        """Waits until it is there. Raises OSError when it never is."""
        self._sock = sock
        sock.settimeout(LOOK_SECONDS)
        try:
            said = read_frame(sock, deadline.check)
        except BaseException:
            sock.close()
            raise
        if said is None or said[0] != HELLO:
            sock.close()
            raise OSError("no child came")
        self._pid = int(said[1])
        self.is_last = False

    def is_alive(self) -> bool:
        self._sock.settimeout(0)
        try:
            return bool(self._sock.recv(1, socket.MSG_PEEK))
        except BlockingIOError:
            return True
        except OSError:
            return False
        finally:
            self._sock.settimeout(LOOK_SECONDS)

    def ask(self, task: bytes, deadline: Deadline, note: Callable[[bytes], None]) -> bytes | None:
        """The answer; None when the child has ended instead."""
        try:
            write_frame(self._sock, TASK, SECONDS.pack(deadline.remaining()) + task)
        except OSError:
            return None
        while (said := read_frame(self._sock, deadline.check)) is not None:
            deadline.check()
            if said[0] in (ANSWER, LAST):
                self.is_last = said[0] == LAST
                return said[1]
            if said[0] == NOTE:
                note(said[1])
        return None

    def kill(self) -> None:
        """Its socket tells that it has not ended yet, so that the number is its own."""
        if self.is_alive():
            try:
                os.kill(self._pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        self._sock.close()
