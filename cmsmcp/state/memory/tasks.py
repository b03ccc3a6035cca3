"""Tasks kept inside one process: for a stdio server without Redis, and the twin of the Redis adapter. Each change is one step."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import replace

from cmsmcp.core.tasks.ports import ENDS, FAILED, INPUT_REQUIRED, MAX_PER_CLIENT, MAX_PER_SITE, SILENCE_MS, WORKING, Task


def _milliseconds() -> int:
    return time.time_ns() // 1_000_000


class MemoryTasks:
    """Implements `core.tasks.ports.TaskStore`. `clock` gives milliseconds since the epoch."""

    def __init__(self, clock: Callable[[], int] = _milliseconds, *, silence_ms: int = SILENCE_MS) -> None:
        self._clock = clock
        self._silence = silence_ms
        self._lock = threading.Lock()
        self._kept: dict[str, Task] = {}
        self._heard: dict[str, int] = {}
        self._answers: dict[str, dict[str, bytes]] = {}

    def create(self, task: Task, running: int) -> str | None:
        with self._lock:
            now = self._clock()
            for id in [id for id, kept in self._kept.items() if kept.created + kept.ttl_ms <= now]:
                self._forget(id)
            if sum(kept.owner == task.owner for kept in self._kept.values()) >= MAX_PER_CLIENT:
                return "client"
            if len(self._kept) >= MAX_PER_SITE:
                return "site"
            if sum(heard + self._silence > now for heard in self._heard.values()) >= running:
                return "running"
            self._kept[task.id] = replace(task, status=WORKING, created=now, updated=now)
            self._heard[task.id], self._answers[task.id] = now, {}
            return None

    def read(self, id: str) -> Task | None:
        with self._lock:
            return self._now(id)

    def beat(self, id: str) -> str | None:
        with self._lock:
            task = self._now(id)
            if task is not None and not task.is_over:
                self._heard[id] = self._clock()
            return task.status if task is not None else None

    def note(self, id: str, message: str) -> bool:
        with self._lock:
            task = self._live(id)
            return task is not None and task.status == WORKING and self._keep(task, message=message)

    def ask(self, id: str, requests: Mapping[str, bytes]) -> bool:
        with self._lock:
            task = self._live(id)
            if task is None or not requests.keys().isdisjoint([*task.requests, *self._answers[id]]):
                return False
            return self._keep(task, status=INPUT_REQUIRED, requests={**task.requests, **requests})

    def answer(self, id: str, answers: Mapping[str, bytes]) -> bool:
        with self._lock:
            task = self._live(id)
            taken = {key: answer for key, answer in answers.items() if key in task.requests} if task is not None else {}
            if task is None or not taken:
                return False
            self._answers[id] |= taken
            left = {key: request for key, request in task.requests.items() if key not in taken}
            return self._keep(task, status=INPUT_REQUIRED if left else WORKING, requests=left)

    def answers(self, id: str) -> Mapping[str, bytes]:
        with self._lock:
            return dict(self._answers[id]) if self._live(id) is not None else {}

    def end(self, id: str, status: str, *, message: str = "", result: bytes | None = None, error: bytes | None = None) -> bool:
        with self._lock:
            task = self._live(id)
            return task is not None and self._end(task, status=status, message=message, result=result, error=error)

    def _now(self, id: str) -> Task | None:
        task, now = self._kept.get(id), self._clock()
        if task is None:
            return None
        if task.created + task.ttl_ms <= now:
            self._forget(id)
            return None
        if not task.is_over and self._heard[id] + self._silence <= now:
            self._end(task, status=FAILED, message="")
        return self._kept[id]

    def _live(self, id: str) -> Task | None:
        task = self._now(id)
        return None if task is None or task.status in ENDS else task

    def _keep(self, task: Task, **changes: object) -> bool:
        self._kept[task.id] = replace(task, updated=self._clock(), **changes)  # type: ignore[arg-type]
        return True

    def _end(self, task: Task, **changes: object) -> bool:
        self._heard.pop(task.id, None)
        self._answers[task.id] = {}
        return self._keep(task, requests={}, **changes)

    def _forget(self, id: str) -> None:
        for kept in (self._kept, self._heard, self._answers):
            kept.pop(id, None)  # type: ignore[attr-defined]
