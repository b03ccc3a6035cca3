"""Real servers: `cmsmcp serve` on a small site, started as an operator starts it."""

from __future__ import annotations

import http.client
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from cmsmcp.processes.private_redis import PrivateRedis
from tests.waiting import until

CMSMCP = Path(sys.executable).with_name("cmsmcp")


@dataclass
class Place:
    """A site, and the environment and the folder its processes are started in."""

    site: Path
    environment: Mapping[str, str]
    folder: Path | None = None

    def run(self, *words: str, **options: Any) -> subprocess.CompletedProcess[str]:
        return subprocess.run([CMSMCP, *words], env=self.environment, capture_output=True, text=True, timeout=60, check=False, **options)

    def token(self, *words: str) -> str:
        done = self.run("tokens", "create", "--site", str(self.site), "--name", "t", *words)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    def with_(self, **variables: str) -> Place:
        return replace(self, environment={**self.environment, **variables})


class Server:
    """`cmsmcp serve` in a process of its own; `log` is what it printed."""

    def __init__(self, place: Place, log: Path, *words: str) -> None:
        self.place = place
        self.log_file = log
        with log.open("wb") as output:
            command = [CMSMCP, "serve", "--site", place.site, "--bind", "127.0.0.1:0", *words]
            self.process = subprocess.Popen(command, env=place.environment, cwd=place.folder, stdout=output, stderr=output)
        found = until(lambda: self._ended() or re.search(r"on (http://([0-9.]+):(\d+))", self.log))
        assert found is not True, self.log
        self.url, self.host, self.port = found[1], found[2], int(found[3])

    @property
    def log(self) -> str:
        return self.log_file.read_text()

    def _ended(self) -> bool:
        return self.process.poll() is not None

    def post(self, body: bytes | str, headers: Mapping[str, str] | None = None, path: str = "/mcp", method: str = "POST") -> Reply:
        connection = http.client.HTTPConnection(self.host, self.port, timeout=60)
        try:
            connection.request(method, path, body or None, {"Content-Type": "application/json", **(headers or {})})
            reply = connection.getresponse()
            return Reply(reply.status, dict(reply.getheaders()), reply.read())
        finally:
            connection.close()

    def stop(self) -> None:
        if not self._ended():
            self.process.terminate()
        self.process.wait(60)


@dataclass
class Reply:
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@pytest.fixture(scope="session")
def new_place(tmp_path_factory: pytest.TempPathFactory) -> Callable[[], Place]:
    """Makes a fresh copy of the template site, with a state folder and a name of its own (that of `site`), and nothing configured in the
    environment."""

    def make() -> Place:
        folder = tmp_path_factory.mktemp("place")
        kept = {name: value for name, value in os.environ.items() if name not in ("REDIS_URL", "CMSMCP_SECRET_KEY")}
        place = Place(folder / folder.name, {**kept, "CMSMCP_STATE_DIR": str(folder / "state")})
        assert place.run("init", str(place.site)).returncode == 0
        return place

    return make


@pytest.fixture(scope="session")
def start(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., Server]]:
    """Starts servers and ends those that still run."""
    servers: list[Server] = []

    def begin(place: Place, *words: str) -> Server:
        servers.append(Server(place, tmp_path_factory.mktemp("log") / "log", *words))
        return servers[-1]

    yield begin
    for server in servers:
        server.stop()


@pytest.fixture(scope="session")
def server(new_place: Callable[[], Place], start: Callable[..., Server]) -> Server:
    """The one server that tests share which only ask."""
    return start(new_place(), "--workers", "2", "--demo")


@pytest.fixture(scope="session")
def token(server: Server) -> dict[str, str]:
    return {"Authorization": f"Bearer {server.place.token()}"}


@pytest.fixture(scope="session")
def redis_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A Redis that belongs to nobody's site."""
    redis = PrivateRedis(tmp_path_factory.mktemp("redis"))
    redis.start()
    yield redis.url
    redis.stop()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--refusals", metavar="FILE", help="write every raw refusal with its reply to FILE")
