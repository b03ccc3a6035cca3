"""What signals mean to our own processes, which run long, log to standard error alone and number their workers at the start.

SIGTERM, SIGINT and SIGQUIT end them; SIGHUP ends those that have nothing to read again. The rest would end or stop a process by default,
although whoever sends it means another program's habit: to open log files again, to take a new binary, to change a number of workers.
"""

from __future__ import annotations

import signal

MEANINGLESS = (signal.SIGUSR1, signal.SIGUSR2, signal.SIGTTIN, signal.SIGTTOU)


def ignore_meaningless() -> None:
    """For a process that has nobody to tell."""
    for number in MEANINGLESS:
        signal.signal(number, signal.SIG_IGN)
