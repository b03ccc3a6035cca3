"""Real redis-servers on a unix socket in a short temporary folder, no TCP: `RedisServer` plain, `ShippedRedis` with config/."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

import pytest

from cmsmcp.processes.private_redis import find_server
from cmsmcp.state.redis.client import Client

ROOT = Path(__file__).resolve().parents[1]
START_SECONDS = 60.0


class RedisServer:
    """`start` and an end as often as a test likes; `url` stays the same. Without options it keeps nothing."""

    def __init__(self, program: str = "") -> None:
        """`program`: another redis-server than the one in PATH, or of the wheel."""
        self.folder = Path(tempfile.mkdtemp(prefix="cr-", dir="/tmp"))
        self.socket = self.folder / "s"
        self.url = f"unix://{self.socket}"
        self.process: subprocess.Popen[bytes] | None = None
        self._program = program or find_server()

    def start(self, *options: str) -> None:
        self._start("--save", "", "--appendonly", "no", *options)

    def _start(self, *words: str) -> None:
        where = ["--port", "0", "--unixsocket", str(self.socket), "--dir", str(self.folder), "--logfile", str(self.folder / "log")]
        config = [words[0]] if not words[0].startswith("--") else []
        options = words[len(config) :]
        self.process = subprocess.Popen([self._program, *config, *where, *options], stdout=subprocess.DEVNULL)
        end = time.monotonic() + START_SECONDS
        while time.monotonic() < end and self.process.poll() is None:
            try:
                assert self.command("PING") == b"PONG"
                return
            except Exception:  # noqa: BLE001 - not up yet
                time.sleep(0.01)
        pytest.fail(f"redis-server did not come up: {(self.folder / 'log').read_text()[-2000:]}")

    def command(self, *words: bytes | str | int) -> Any:
        client = Client(self.url, timeout=2.0)
        try:
            return client.call(*words)
        finally:
            client.close()

    def kill(self) -> None:
        """As `kill -9`."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None

    def stop(self) -> None:
        """In order, as a service manager does."""
        assert self.process is not None
        self.process.terminate()
        self.process.wait(60)
        self.process = None

    def remove(self) -> None:
        self.kill()
        shutil.rmtree(self.folder, ignore_errors=True)


class ShippedRedis(RedisServer):
    """Runs with config/redis.conf and config/users.acl, nothing changed but the passwords. `url` is the servers' user."""

    def __init__(self, program: str = "") -> None:
        super().__init__(program)
        users = (ROOT / "config/users.acl").read_text().replace("APP_PASSWORD", "app-FAKE").replace("DASHBOARD_PASSWORD", "dash-FAKE")
        (self.folder / "users.acl").write_text(users)
        self.anonymous_url = self.url
        self.url = f"unix://cmsmcp:app-FAKE@{self.socket}"
        self.dashboard_url = f"unix://dashboard:dash-FAKE@{self.socket}"

    def start(self, *options: str) -> None:
        self._start(str(ROOT / "config/redis.conf"), "--aclfile", str(self.folder / "users.acl"), *options)

    def written(self) -> bool:
        """Whether everything that was acknowledged is with the system: with `everysec` a reply may be ahead of a slow disk."""
        return b"aof_buffer_length:0\r\n" in self.command("INFO", "persistence")
