"""Two doors onto one copy of the example site: a stdio process and a server with two workers, started as people start them."""

from __future__ import annotations

import http.client
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Any, Protocol

import pytest

from tests.waiting import until

BIN = Path(sys.executable).parent
EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "site"
REVISION = "2025-11-25"
LEFT_OUT = object()


class Door(Protocol):
    def send(self, method: str, params: Any = LEFT_OUT) -> dict[str, Any]:
        """The whole JSON-RPC reply."""
        ...


class StdioDoor:
    def __init__(self, site: Path, environment: dict[str, str]) -> None:
        command = [BIN / "cmsmcp", "mcp", "serve", "--transport", "stdio", "--site", site]
        self._process = subprocess.Popen(command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self._ids = count(1)
        self.send("initialize", {"protocolVersion": REVISION, "capabilities": {}, "clientInfo": {"name": "doors", "version": "1"}})

    def send(self, method: str, params: Any = LEFT_OUT) -> dict[str, Any]:
        assert self._process.stdin and self._process.stdout
        message = {"jsonrpc": "2.0", "id": next(self._ids), "method": method, **({} if params is LEFT_OUT else {"params": params})}
        self._process.stdin.write(json.dumps(message).encode() + b"\n")
        self._process.stdin.flush()
        while "id" not in (reply := json.loads(one_line(self._process.stdout.readline()))):
            assert reply["method"].startswith("notifications/")  # the site became known to the server, or has changed
        assert reply["id"] == message["id"]
        return reply

    def close(self) -> None:
        self._process.communicate(timeout=60)


class HttpDoor:
    def __init__(self, host: str, port: int, token: str) -> None:
        self._address = (host, port)
        self._headers = {
            "Authorization": f"Bearer {token}",
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
            "MCP-Protocol-Version": REVISION,
        }
        self._ids = count(1)

    def send(self, method: str, params: Any = LEFT_OUT) -> dict[str, Any]:
        message = {"jsonrpc": "2.0", "id": next(self._ids), "method": method, **({} if params is LEFT_OUT else {"params": params})}
        connection = http.client.HTTPConnection(*self._address, timeout=60)
        try:
            connection.request("POST", "/mcp", json.dumps(message), self._headers)
            reply = json.loads(one_line(connection.getresponse().read()))
        finally:
            connection.close()
        assert reply["id"] == message["id"]
        return reply


def one_line(reply: bytes) -> bytes:
    """As every reader sees it, those too that split lines as Unicode does (ST-01)."""
    assert len(reply.decode().splitlines()) == 1
    return reply


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The example site with room for more calls than a client makes in so short a time."""
    copy = Path(shutil.copytree(EXAMPLE, tmp_path_factory.mktemp("doors") / "site", symlinks=True))
    config = copy / "content" / "config" / "site.yaml"
    text = config.read_text(encoding="utf-8")
    assert "burst: 120" in text
    config.write_text(text.replace("burst: 120", "burst: 10000"), encoding="utf-8")
    return copy


@pytest.fixture(scope="session")
def environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name not in ("REDIS_URL", "CMSMCP_SECRET_KEY")}
    return {**kept, "CMSMCP_STATE_DIR": str(tmp_path_factory.mktemp("state"))}


@pytest.fixture(scope="session")
def stdio_door(site: Path, environment: dict[str, str]) -> Iterator[Door]:
    door = StdioDoor(site, environment)
    yield door
    door.close()


@pytest.fixture(scope="session")
def http_door(site: Path, environment: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Door]:
    log = tmp_path_factory.mktemp("log") / "serve.log"
    with log.open("wb") as output:
        command = [BIN / "cmsmcp", "serve", "--site", site, "--bind", "127.0.0.1:0", "--workers", "2"]
        server = subprocess.Popen(command, env=environment, stdout=output, stderr=output)
    try:
        found = until(lambda: re.search(r"on http://([0-9.]+):(\d+)", log.read_text()))
        host, port = found[1], int(found[2])
        create = [BIN / "cmsmcp", "tokens", "create", "--site", site, "--name", "doors", "--access", "mcp-server"]
        made = subprocess.run(create, env=environment, capture_output=True, text=True, check=True)

        def ready() -> bool:
            connection = http.client.HTTPConnection(host, port, timeout=60)
            try:
                connection.request("GET", "/readyz")
                return connection.getresponse().status == 200
            except OSError:
                return False
            finally:
                connection.close()

        until(ready)
        yield HttpDoor(host, port, made.stdout.strip())
    finally:
        server.terminate()
        server.wait(60)


@pytest.fixture(scope="session", params=["stdio", "http"])
def door(request: pytest.FixtureRequest) -> Door:
    """One body over every door."""
    return request.getfixturevalue(f"{request.param}_door")


@pytest.fixture(scope="session")
def call(door: Door) -> Callable[..., Any]:
    """Calls a tool and gives its structured result; fails when the call did."""

    def run(name: str, /, **arguments: Any) -> Any:
        reply = door.send("tools/call", {"name": name, "arguments": arguments})
        assert "error" not in reply, reply
        assert not reply["result"].get("isError"), reply["result"]["content"]
        return reply["result"]["structuredContent"]

    return run


@pytest.fixture(scope="session")
def read(door: Door) -> Callable[[str], Any]:
    """Reads a resource and gives its one content."""

    def run(uri: str) -> Any:
        reply = door.send("resources/read", {"uri": uri})
        assert "error" not in reply, reply
        (content,) = reply["result"]["contents"]
        assert content["uri"] == uri
        return content

    return run
