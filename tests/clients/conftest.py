"""One started server with two workers for every official client; each client is a test module of its own."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

CMSMCP = Path(sys.executable).with_name("cmsmcp")


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("clients") / "site"
    subprocess.run([CMSMCP, "init", folder], check=True, capture_output=True, timeout=60)
    return folder


@pytest.fixture(scope="session")
def environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name not in ("REDIS_URL", "CMSMCP_SECRET_KEY")}
    return {**kept, "CMSMCP_STATE_DIR": str(tmp_path_factory.mktemp("state"))}


@pytest.fixture(scope="session")
def url(site: Path, environment: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    log = tmp_path_factory.mktemp("log") / "serve.log"
    with log.open("wb") as output:
        command = [CMSMCP, "serve", "--site", site, "--bind", "127.0.0.1:0", "--workers", "2"]
        server = subprocess.Popen(command, env=environment, stdout=output, stderr=output)
    try:
        end = time.monotonic() + 30
        while (found := re.search(r"on (http://[0-9.]+:\d+)", log.read_text())) is None:
            assert server.poll() is None and time.monotonic() < end, log.read_text()
            time.sleep(0.05)
        yield f"{found[1]}/mcp"
    finally:
        server.terminate()
        server.wait(30)


@pytest.fixture(scope="session")
def token(site: Path, environment: dict[str, str]) -> str:
    create = [CMSMCP, "tokens", "create", "--site", site, "--name", "clients", "--access", "mcp-server"]
    return subprocess.run(create, env=environment, capture_output=True, text=True, check=True, timeout=60).stdout.strip()
