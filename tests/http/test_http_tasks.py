"""Tasks over real workers: any of them answers, and none of a worker that is killed or stopped hangs (docs/rules.md, Tasks)."""

from __future__ import annotations

import itertools
import json
import os
import signal
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.waiting import until

EXTENSION = "io.modelcontextprotocol/tasks"
SLEEPERS = {"CMSMCP_CAPABILITIES": "sleepers", "PYTHONPATH": str(Path(__file__).parent), "CMSMCP_SECRET_KEY": "k" * 40}
_ids = itertools.count(1)


class Client:
    """A client of 2026-07-28 that declares the extension."""

    def __init__(self, server: Any, headers: Mapping[str, str]) -> None:
        self.server = server
        self.headers = headers

    def ask(self, method: str, named: str, **params: Any) -> Any:
        meta = {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {"extensions": {EXTENSION: {}}},
        }
        body = {"jsonrpc": "2.0", "id": next(_ids), "method": method, "params": {**params, "_meta": meta}}
        headers = {
            "Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2026-07-28", "Mcp-Method": method, "Mcp-Name": named,
            **self.headers,
        }  # fmt: skip
        return self.server.post(json.dumps(body), headers).json

    def start(self, seconds: float) -> str:
        created = self.ask("tools/call", "sleep", name="sleep", arguments={"seconds": seconds})["result"]
        assert created["resultType"] == "task"
        return str(created["taskId"])

    def get(self, id: str) -> Any:
        return self.ask("tasks/get", id, taskId=id)["result"]

    def ended(self, id: str) -> Any:
        def over() -> Any:
            task = self.get(id)
            return None if task["status"] in ("working", "input_required") else task

        return until(over, pause=0.2)  # a unit of the rate each


@pytest.fixture(scope="module")
def servers(new_place: Callable[[], Any], start: Callable[..., Any], redis_url: str) -> tuple[Any, Any, dict[str, str]]:
    """Two of one worker each, with one Redis; so it is known where a task runs."""
    place = new_place().with_(REDIS_URL=redis_url, **SLEEPERS)
    first, second = start(place, "--workers", "1"), start(place, "--workers", "1")
    return first, second, {"Authorization": f"Bearer {place.token()}"}


def workers(server: Any) -> list[int]:
    """The processes that serve: leaves of the tree whose parent is gunicorn's arbiter."""
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                children.setdefault(int((entry / "stat").read_text().rpartition(")")[2].split()[1]), []).append(int(entry.name))
            except (OSError, ValueError):
                continue
    arbiters = [one for one in children.get(server.process.pid, []) if children.get(one)]
    return [child for one in arbiters for child in children[one]]


def test_a_task_runs_on_one_worker_and_is_read_and_cancelled_on_another(servers: tuple[Any, Any, dict[str, str]]) -> None:
    """TK-02, TK-03, TK-04."""
    first, second = Client(servers[0], servers[2]), Client(servers[1], servers[2])
    done = second.ended(first.start(0.1))
    assert (done["status"], done["result"]["content"]) == ("completed", [{"type": "text", "text": "slept"}])
    long = first.start(50)
    assert second.get(long)["status"] == "working"
    second.ask("tasks/cancel", long, taskId=long)
    assert first.get(long)["status"] == "cancelled"


def test_a_stopped_worker_fails_its_tasks_in_sight(servers: tuple[Any, Any, dict[str, str]]) -> None:
    """SIGHUP replaces the workers; what they can finish in a few seconds they do, and of the rest they say that it has failed."""
    first, second = Client(servers[0], servers[2]), Client(servers[1], servers[2])
    brief, long = first.start(1.5), first.start(50)
    os.kill(servers[0].process.pid, signal.SIGHUP)
    assert second.ended(brief)["status"] == "completed"
    assert second.ended(long)["status"] == "failed"


def test_a_task_of_a_killed_worker_has_failed_before_long(servers: tuple[Any, Any, dict[str, str]]) -> None:
    """Nobody is left to say so: any other worker sees it once the dead one has been silent."""
    first, second = Client(servers[0], servers[2]), Client(servers[1], servers[2])
    id = first.start(50)
    for worker in workers(servers[0]):
        os.kill(worker, signal.SIGKILL)
    task = second.ended(id)
    assert task["status"] == "failed"
    assert "has ended" in task["error"]["message"]
