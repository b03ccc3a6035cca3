"""The process that children are forked from: it has loaded what they need, so that a new one is there in milliseconds.

Started without `subprocess`, whose preparations are not safe beside threads, and with nothing of ours but two files: a socket over which
sockets for children come, and the reading end of a pipe whose writing end this process keeps. When that is closed, by the death of this
process too, the system ends the template and every child, whatever they are doing (SIGIO; where a system has none of that for pipes, a
child ends with its task).
"""

from __future__ import annotations

import fcntl
import gc
import importlib
import json
import os
import resource
import signal
import socket
import sys
from collections.abc import Mapping, Sequence

from cmsmcp.runner.child import Perform, serve

CONTROL, LIFELINE = 3, 4
NICENESS = 5
"""Children give way to those that answer."""
_START = "import json, sys; sys.path[:] = json.loads(sys.argv[1]); from cmsmcp.runner.template import main; main()"
_HIGH = 64
"""Numbers of files from here on are out of the way of those a template gets."""


class Template:
    """A running one. `entry` names a function, `module:function`, that is called there with `arguments` and gives a child's `Perform`."""

    def __init__(self, entry: str, arguments: Sequence[str], environment: Mapping[str, str], memory: int) -> None:
        """Raises OSError when it cannot be started."""
        control, theirs = socket.socketpair()
        reader, self._lifeline = os.pipe()
        taken = [fcntl.fcntl(handle, fcntl.F_DUPFD_CLOEXEC, _HIGH) for handle in (theirs.fileno(), reader)]
        theirs.close()
        os.close(reader)
        told = [json.dumps(sys.path), entry, json.dumps(list(arguments)), str(memory)]
        try:
            self._pid = os.posix_spawn(
                sys.executable, [sys.executable, "-P", "-c", _START, *told], environment,
                file_actions=[
                    (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0), (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0),
                    (os.POSIX_SPAWN_DUP2, taken[0], CONTROL), (os.POSIX_SPAWN_DUP2, taken[1], LIFELINE),
                ],
            )  # fmt: skip
        except OSError:
            control.close()
            os.close(self._lifeline)
            raise
        finally:
            for handle in taken:
                os.close(handle)
        self._control = control

    def fork(self) -> socket.socket:
        """The socket of a new child. Raises OSError when the template is gone."""
        ours, theirs = socket.socketpair()
        with theirs:
            try:
                socket.send_fds(self._control, [b"f"], [theirs.fileno()])
            except OSError:
                ours.close()
                raise
        return ours

    def close(self) -> None:
        """End it, and every child."""
        self._control.close()
        os.close(self._lifeline)
        try:
            os.waitpid(self._pid, 0)
        except ChildProcessError:
            pass  # somebody else waits for the children of this process


def main() -> None:
    """The template's own life: load, then fork a child for each socket that comes."""
    os.setsid()
    os.closerange(LIFELINE + 1, 1 << 16)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for a child: it is gone when its socket is
    _end_with_parent()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    os.nice(NICENESS)
    _, entry, arguments, memory = sys.argv[1:]
    module, _, function = entry.partition(":")
    perform: Perform = getattr(importlib.import_module(module), function)(json.loads(arguments))
    gc.collect()
    gc.freeze()
    control = socket.socket(fileno=CONTROL)
    control.setblocking(True)  # under gevent the parent's sockets are not
    while True:
        data, handles, *_ = socket.recv_fds(control, 1, 1)
        if not data:
            return
        if os.fork() == 0:
            control.close()
            serve(socket.socket(fileno=handles[0]), perform, int(memory))
            os._exit(0)
        os.close(handles[0])


def _end_with_parent() -> None:
    signal.signal(signal.SIGIO, signal.SIG_DFL)
    fcntl.fcntl(LIFELINE, fcntl.F_SETOWN, -os.getpgrp())
    fcntl.fcntl(LIFELINE, fcntl.F_SETFL, fcntl.fcntl(LIFELINE, fcntl.F_GETFL) | os.O_ASYNC)
