"""Nothing freezes a worker (cmsmcp.runner): what computes without looking up does so in a child, on every kind of worker."""

from __future__ import annotations

import http.client
import json
import os
import signal
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.http.conftest import Place, Reply, Server, until

SPIN = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "spin", "arguments": {}}})
KINDS = {"gevent": (), "gthread": ("--worker-class", "gthread", "--threads", "8")}


@pytest.fixture(scope="module", params=KINDS)
def spinning(request: pytest.FixtureRequest, new_place: Callable[[], Place], start: Callable[..., Server]) -> tuple[Server, dict[str, str]]:
    place = new_place().with_(CMSMCP_CAPABILITIES="sleepers", PYTHONPATH=str(Path(__file__).parent))
    server = start(place, "--workers", "1", *KINDS[request.param])
    return server, {"Authorization": f"Bearer {place.token('--access', 'mcp-server')}"}


def children(pid: int) -> list[int]:
    """Of a process, and theirs; a zombie is none."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, parent = path.read_text().rpartition(")")[2].split()[:2]
        except OSError:
            continue
        if int(parent) == pid and state != "Z":
            found += [int(path.parent.name), *children(int(path.parent.name))]
    return found


def is_there(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def forked(server: Server) -> list[int]:
    """The children of its worker's template."""
    def command(pid: int) -> str:
        try:
            return Path(f"/proc/{pid}/cmdline").read_text()
        except OSError:
            return ""

    return [pid for pid in children(server.process.pid) if "cmsmcp.runner.template" in command(pid)]


def ask(server: Server, headers: dict[str, str], into: list[Reply]) -> threading.Thread:
    thread = threading.Thread(target=lambda: into.append(server.post(SPIN, headers)))
    thread.start()
    return thread


def test_a_worker_answers_others_while_a_call_computes_and_the_call_at_its_deadline(spinning: tuple[Server, dict[str, str]]) -> None:
    server, headers = spinning
    replies: list[Reply] = []
    thread = ask(server, headers, replies)
    until(lambda: len(forked(server)) >= 2)
    answered = 0
    while thread.is_alive():
        assert server.post("", path="/healthz", method="GET").status == 200
        answered += thread.is_alive()
    assert answered >= 2
    result: Any = replies[0].json["result"]
    assert result["isError"] and "longer than 3 s" in result["content"][0]["text"]


def test_a_killed_worker_leaves_no_child(spinning: tuple[Server, dict[str, str]]) -> None:
    """Neither one at work nor an idle one."""
    server, headers = spinning

    def lost() -> None:
        with pytest.raises((http.client.HTTPException, OSError)):
            server.post(SPIN, headers)

    thread = threading.Thread(target=lost)
    thread.start()
    until(lambda: len(forked(server)) >= 2)
    before = forked(server)
    template = min(before)
    worker = int(Path(f"/proc/{template}/stat").read_text().rpartition(")")[2].split()[1])
    os.kill(worker, signal.SIGKILL)
    until(lambda: not any(map(is_there, before)))
    thread.join()
