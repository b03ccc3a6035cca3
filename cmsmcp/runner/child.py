"""The life of a child: one task after the other, each within its time and all within their memory. Knows bytes, not what they ask."""

from __future__ import annotations

import os
import resource
import signal
import socket
import struct
import sys
from collections.abc import Callable

from cmsmcp.runner.frames import ANSWER, HELLO, LAST, NOTE, TASK, read_frame, write_frame

Perform = Callable[[bytes, float, Callable[[bytes], None]], bytes]
"""Does a task within so many seconds, tells of it meanwhile, and gives the answer. What it raises ends the child."""
SECONDS = struct.Struct(">d")
SPARE_SECONDS = 2.0
"""After its time a child ends by itself, should nobody have ended it."""


def serve(sock: socket.socket, perform: Perform, memory: int) -> None:
    """Until the other side is gone, or this process has grown to half of `memory`, in bytes."""
    most = _own() + memory
    resource.setrlimit(resource.RLIMIT_DATA, (most, most))  # not RLIMIT_AS: files that are read through memory take none of their own
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.signal(signal.SIGALRM, signal.SIG_DFL)  # the system ends the process: native code would not let a handler run
    sock.setblocking(True)
    write_frame(sock, HELLO, str(os.getpid()).encode())
    while (task := read_frame(sock)) is not None and task[0] == TASK:
        (seconds,) = SECONDS.unpack_from(task[1])
        signal.setitimer(signal.ITIMER_REAL, seconds + SPARE_SECONDS)
        try:
            answer = perform(task[1][SECONDS.size :], seconds, lambda said: write_frame(sock, NOTE, said))
        except (MemoryError, OSError):
            return  # whoever waits is told that the work was lost
        signal.setitimer(signal.ITIMER_REAL, 0)
        has_grown = _grown() > memory // 2
        write_frame(sock, LAST if has_grown else ANSWER, answer)
        if has_grown:
            return


def _grown() -> int:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def _own() -> int:
    """Bytes of memory of its own that the process has asked for already."""
    try:
        with open("/proc/self/statm", "rb") as file:  # noqa: PTH123 - a file of the system
            return int(file.read().split()[5]) * resource.getpagesize()
    except (OSError, ValueError, IndexError):
        return 0
