"""Tasks in Redis, for every worker and host of a site: one script makes each step (`tasks.lua`).

Knows keys, arguments and what a reply means; the rules are the script's. A record goes by itself when its time is over.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from cmsmcp.core.tasks.ports import MAX_PER_CLIENT, MAX_PER_SITE, SILENCE_MS, Task
from cmsmcp.state.redis.client import Client
from cmsmcp.state.redis.keys import Keys
from cmsmcp.state.redis.script import Script

_SCRIPT = Script("tasks.lua")


class RedisTasks:
    """Implements `core.tasks.ports.TaskStore`."""

    def __init__(self, client: Client, site: str, *, silence_ms: int = SILENCE_MS) -> None:
        self._client = client
        self._keys = Keys(site)
        self._silence = silence_ms

    def create(self, task: Task, running: int) -> str | None:
        keys = (self._keys.tasks, self._keys.tasks_of(task.owner))
        fields = ("owner", task.owner, "name", task.name, "scopes", " ".join(task.scopes), "poll", task.poll_ms, "message", task.message)
        full = self._step("create", task.id, task.ttl_ms, MAX_PER_CLIENT, MAX_PER_SITE, running, *fields, keys=keys)
        return full.decode() if full is not None else None

    def read(self, id: str) -> Task | None:
        flat = self._step("read", id)
        fields = {name.decode(): value for name, value in zip(flat[::2], flat[1::2], strict=True)}
        return _task(id, fields) if fields else None

    def beat(self, id: str) -> str | None:
        status = self._step("beat", id)
        return status.decode() if status is not None else None

    def note(self, id: str, message: str) -> bool:
        return self._step("note", id, message) == 1

    def ask(self, id: str, requests: Mapping[str, bytes]) -> bool:
        return self._step("ask", id, *_flat(requests), once=True) == 1

    def answer(self, id: str, answers: Mapping[str, bytes]) -> bool:
        return self._step("answer", id, *_flat(answers), once=True) == 1

    def answers(self, id: str) -> Mapping[str, bytes]:
        flat = self._step("answers", id) or []
        return {key.decode(): answer for key, answer in zip(flat[::2], flat[1::2], strict=True)}

    def end(self, id: str, status: str, *, message: str = "", result: bytes | None = None, error: bytes | None = None) -> bool:
        how: list[bytes | str] = ["status", status, "message", message]
        how += ["result", result] if result is not None else []
        how += ["error", error] if error is not None else []
        return self._step("end", id, *how, once=True) == 1

    def _step(self, step: str, id: str, *more: bytes | str | int, keys: Sequence[str] = (), once: bool = False) -> Any:
        """`once`: its reply says whether this call changed something, so it must not be done twice."""
        return _SCRIPT.run(self._client, (self._keys.task(id), self._keys.running, *keys), (step, id, self._silence, *more), once=once)


def _task(id: str, fields: Mapping[str, bytes]) -> Task:
    def text(name: str) -> str:
        return fields[name].decode()

    return Task(
        id,
        text("owner"),
        text("name"),
        tuple(text("scopes").split()),
        int(fields["ttl"]),
        int(fields["poll"]),
        status=text("status"),
        created=int(fields["created"]),
        updated=int(fields["updated"]),
        message=text("message"),
        requests={name[2:]: value for name, value in fields.items() if name.startswith("q:")},
        result=fields.get("result"),
        error=fields.get("error"),
    )


def _flat(fields: Mapping[str, bytes]) -> list[bytes | str]:
    return [part for field in fields.items() for part in field]
