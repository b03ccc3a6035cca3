"""Tasks over stdio, on a real site: the same messages, kept in the process when there is no Redis."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

CMSMCP = Path(sys.executable).with_name("cmsmcp")
EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "site"
META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {"extensions": {"io.modelcontextprotocol/tasks": {}}},
}


class Client:
    def __init__(self, site: Path, environment: dict[str, str]) -> None:
        command = [CMSMCP, "mcp", "serve", "--transport", "stdio"]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
        self.process = subprocess.Popen(command, cwd=site, env=environment, **pipes)
        self.last = 0

    def ask(self, method: str, **params: Any) -> Any:
        """The reply to this request; notifications before it are left aside."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.last += 1
        message = {"jsonrpc": "2.0", "id": self.last, "method": method, "params": {**params, "_meta": META}}
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()
        while True:
            reply = json.loads(self.process.stdout.readline())
            if reply.get("id") == self.last:
                return reply


@pytest.fixture
def client(tmp_path: Path) -> Iterator[Client]:
    kept = {name: value for name, value in os.environ.items() if name not in ("REDIS_URL", "CMSMCP_SECRET_KEY")}
    environment = {**kept, "CMSMCP_STATE_DIR": str(tmp_path / "state")}
    made = Client(Path(shutil.copytree(EXAMPLE, tmp_path / "site", symlinks=True)), environment)
    yield made
    assert made.process.stdin is not None
    made.process.stdin.close()
    assert made.process.wait(60) == 0


def test_a_site_is_validated_as_a_task(client: Client) -> None:
    """TK-02, TK-03."""
    assert client.ask("server/discover")["result"]["capabilities"]["extensions"] == {"io.modelcontextprotocol/tasks": {}}
    created = client.ask("tools/call", name="validate_configuration", arguments={})["result"]
    assert (created["resultType"], created["status"]) == ("task", "working")
    end = time.monotonic() + 60
    while (task := client.ask("tasks/get", taskId=created["taskId"])["result"])["status"] == "working":
        assert time.monotonic() < end
        time.sleep(0.02)
    assert task["status"] == "completed"
    assert "broken_internal_links" in task["result"]["structuredContent"]["checks"]
    assert client.ask("tasks/cancel", taskId=created["taskId"])["result"]["resultType"] == "complete"
    assert client.ask("tasks/get", taskId=created["taskId"])["result"] == task
