"""Children that never outlive us: they get SIGTERM when their parent dies, even by SIGKILL.

Linux does this (prctl PR_SET_PDEATHSIG). Elsewhere children are stopped by an orderly end of the parent only.
"""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Any

_PR_SET_PDEATHSIG = 1
_LIBC = ctypes.CDLL(None, use_errno=True) if sys.platform == "linux" else None


def spawn(
    command: Sequence[str], folder: Path, *, environment: Mapping[str, str] | None = None, pass_fds: Sequence[int] = (),
    output: IO[Any] | None = None, tied: bool = True,
) -> subprocess.Popen[bytes]:  # fmt: skip
    """Start `command` in a session of its own (a Ctrl-C at the terminal reaches us alone), without standard input, tied to this process
    unless it looks after that itself. A process with several threads must not tie: code of ours would run between fork and exec.

    `folder` is its working folder: never the one we were started in, whose files Python and gunicorn would take for modules.
    """
    parent = os.getpid()

    def tie() -> None:
        signal.signal(signal.SIGHUP, signal.SIG_IGN)  # until it listens for one itself, and has read its configuration anyway
        if _LIBC is not None:
            _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
            if os.getppid() != parent:  # it died before the call above
                os._exit(1)

    return subprocess.Popen(
        list(command), cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=output, stderr=output,
        pass_fds=tuple(pass_fds), start_new_session=True,
        preexec_fn=tie if tied else None,  # noqa: PLW1509 - called from single-threaded processes, and it takes no lock
    )


def stop(child: subprocess.Popen[bytes], patience: float) -> None:
    """SIGTERM, then SIGKILL to its whole session after `patience` seconds."""
    if child.poll() is None:
        child.terminate()
        try:
            child.wait(patience)
        except subprocess.TimeoutExpired:
            pass
    try:
        os.killpg(child.pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        pass
    child.wait()
