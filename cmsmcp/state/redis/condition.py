"""Whether Redis serves one process, as its commands find it: what is wrong now, and a line whenever that changes.

Knows that a connection is mended by any answer, and a refusal only by the success of what was refused. Must not know how to connect.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from hashlib import sha1
from typing import Any

from cmsmcp.state.redis.line import Command, Refused
from cmsmcp.state.redis.trouble import Trouble, of_refusal

CONNECTION = ""
PROBE = "probe"
"""These stand for the connection, and for all that was tried together, where else a command does."""


class Condition:
    """Safe to share. `tell` gets a line, without passwords, when service ends, when another reason for that is found, and when it is back;
    how an outage shows while it lasts (down, silent, loading; this right or that) is not told again."""

    def __init__(self, name: str, tell: Callable[[str], None] | None) -> None:
        self._name = name
        self._tell = tell
        self._lock = threading.Lock()
        self._troubles: dict[str, Trouble] = {}
        self._told: Trouble | None = None
        self._held = False
        self._since = 0.0

    @property
    def trouble(self) -> Trouble | None:
        """What is wrong now: with the connection, else with what was tried together, else with what was refused last."""
        with self._lock:
            return self._worst()

    def broke(self, trouble: Trouble) -> None:
        self._change({CONNECTION: trouble})

    def heard(self, commands: Sequence[Command], replies: Sequence[Any]) -> None:
        """Commands were answered."""
        if not self._troubles and not any(isinstance(reply, Refused) for reply in replies):
            return
        found: dict[str, Trouble | None] = {CONNECTION: None}
        for command, reply in zip(commands, replies, strict=False):
            found[_named(command)] = of_refusal(str(reply)) if isinstance(reply, Refused) else None
        self._change(found)

    def examined(self, trouble: Trouble | None) -> None:
        """Everything that serving needs was tried: nothing else can be wrong."""
        with self._lock:
            gone = dict.fromkeys(self._troubles)
        self._change({**gone, PROBE: trouble})

    @contextmanager
    def held(self) -> Iterator[None]:
        """Tell nothing meanwhile, but what is left at the end."""
        self._held = True
        try:
            yield
        finally:
            self._held = False
            self._change({})

    def _worst(self) -> Trouble | None:
        return self._troubles.get(CONNECTION) or self._troubles.get(PROBE) or next(reversed(self._troubles.values()), None)

    def _change(self, found: dict[str, Trouble] | dict[str, Trouble | None]) -> None:
        with self._lock:
            for name, trouble in found.items():
                self._troubles.pop(name, None)
                if trouble is not None:
                    self._troubles[name] = trouble
            line = "" if self._held else self._line(self._worst())
        if line and self._tell is not None:
            self._tell(line)

    def _line(self, now: Trouble | None) -> str:
        before = self._told
        if now == before or (now is not None and before is not None and (now.away or now.word == before.word)):
            return ""
        self._told = now
        if now is None:
            assert before is not None
            return f"Redis at {self._name} serves again after {time.monotonic() - self._since:.1f} s (it was: {before.sentence})"
        if before is None:
            self._since = time.monotonic()
        return f"Redis at {self._name} does not serve, so calls are refused (5030): {now.sentence}"


def _named(command: Command) -> str:
    """A script is one command, whether it is sent whole or by its digest."""
    word = str(command[0])
    if word == "EVAL":
        source = command[1]
        return sha1(source if isinstance(source, bytes) else str(source).encode(), usedforsecurity=False).hexdigest()
    return str(command[1]) if word == "EVALSHA" else word
