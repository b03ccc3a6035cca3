"""What children do in these tests: a task is a word and what it needs, a blank between."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path


def prepare(arguments: Sequence[str]) -> Callable[[bytes, float, Callable[[bytes], None]], bytes]:
    def perform(task: bytes, seconds: float, note: Callable[[bytes], None]) -> bytes:
        word, _, rest = task.partition(b" ")
        if word == b"spin":  # looks at nothing, like native code
            note(b"spinning")
            while True:
                pass
        if word == b"nap":
            time.sleep(float(rest))
        if word == b"take":
            held = b"x" * int(rest)
            return str(len(held)).encode()
        if word == b"die":
            os._exit(3)
        if word == b"pid":
            return str(os.getpid()).encode()
        if word == b"files":
            return " ".join(path.name for path in Path("/proc/self/fd").iterdir()).encode()
        if word == b"seconds":
            return str(seconds).encode()
        for count in range(3):
            note(b"%d" % count)
        return " ".join(arguments).encode() + rest

    return perform
