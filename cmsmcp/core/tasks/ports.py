"""What is kept of a task, and where: a record that every process of the site reads, and one process keeps alive. Adapters: `state/`.

Knows no JSON: what the wire needs is kept as the bytes it was encoded to.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Protocol

WORKING = "working"
INPUT_REQUIRED = "input_required"
COMPLETED = "completed"
FAILED = "failed"
CANCELLED = "cancelled"
ENDS = frozenset({COMPLETED, FAILED, CANCELLED})

SILENCE_MS = 12_000
"""A task of whose process nothing was heard for so long has failed: the process is gone."""
MAX_PER_CLIENT = 100
MAX_PER_SITE = 500
"""Records kept, those of ended tasks among them; a record goes when its `ttl_ms` is over."""


@dataclass(frozen=True, slots=True)
class Task:
    """Times are milliseconds since the epoch, on the store's clock. `owner` is `Caller.client`, `name` the tool, `scopes` are those
    its call needed.

    `requests` are the questions that wait for an answer, `result` and `error` how it ended: each encoded JSON. `ttl_ms` counts
    from `created`. A task with neither result nor error that is `failed` was left by its process.
    """

    id: str
    owner: str
    name: str
    scopes: tuple[str, ...]
    ttl_ms: int
    poll_ms: int
    status: str = WORKING
    created: int = 0
    updated: int = 0
    message: str = ""
    requests: Mapping[str, bytes] = field(default_factory=dict)
    result: bytes | None = None
    error: bytes | None = None

    @property
    def is_over(self) -> bool:
        return self.status in ENDS

    def brief(self) -> Task:
        """Without how it ended: as much as tells one state from another."""
        return replace(self, result=None, error=None)


class TaskStore(Protocol):
    """Every method is one step, may raise Unavailable, and first fails a task whose process is silent (SILENCE_MS).

    An end is final: nothing changes a task that is over, and whoever tries is told (TK-03). Of an unknown or expired task,
    changes say that nothing was changed.
    """

    def create(self, task: Task, running: int) -> str | None:
        """Keep a new task, at work from now. None when done; else what is full: `client`, `site`, or `running` (that many run)."""
        ...

    def read(self, id: str) -> Task | None: ...
    def beat(self, id: str) -> str | None:
        """Its process is alive. The status, by which the process learns of an end that others made."""
        ...

    def note(self, id: str, message: str) -> bool:
        """Say how it goes, where it does not wait for input."""
        ...

    def ask(self, id: str, requests: Mapping[str, bytes]) -> bool:
        """Wait for answers. False too when one of the keys was used before in this task."""
        ...

    def answer(self, id: str, answers: Mapping[str, bytes]) -> bool:
        """Take those whose questions wait, and leave the others; with the last one the task works again. Whether any was taken."""
        ...

    def answers(self, id: str) -> Mapping[str, bytes]:
        """All answers so far; none of a task that is over."""
        ...

    def end(self, id: str, status: str, *, message: str = "", result: bytes | None = None, error: bytes | None = None) -> bool: ...
