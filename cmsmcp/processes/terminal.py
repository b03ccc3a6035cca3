"""Two meanings of SIGHUP: "read your configuration again", and "the terminal you were started from is gone"."""

from __future__ import annotations

import os


class Terminal:
    """The controlling terminal of this process at the time it is made, if any."""

    def __init__(self) -> None:
        try:
            self._handle: int | None = os.open("/dev/tty", os.O_RDONLY | os.O_NOCTTY | os.O_CLOEXEC)
        except OSError:
            self._handle = None

    def is_gone(self) -> bool:
        """Whether there was one and it has hung up."""
        if self._handle is None:
            return False
        try:
            os.tcgetpgrp(self._handle)
        except OSError:
            return True
        return False

    def close(self) -> None:
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None
