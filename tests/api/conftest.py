"""Real servers on copies of the example site, with a Redis that the tests may look into."""

from __future__ import annotations

import http.client
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import redis

from cmsmcp.processes.private_redis import PrivateRedis
from tests.waiting import until

CMSMCP = Path(sys.executable).with_name("cmsmcp")
EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "site"
AUDIT = "cmsmcp:{falkenried}:audit"


@dataclass
class Reply:
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


class Server:
    """`cmsmcp serve` on a copy of the example site. `files` are written into the copy, `overlay` is laid over its configuration; `prepare`
    does what else is to be done to the copy."""

    def __init__(
        self, folder: Path, overlay: str = "", files: Mapping[str, str] | None = None, prepare: Callable[[Path], None] = lambda site: None
    ) -> None:
        self.site = Path(shutil.copytree(EXAMPLE, folder / "site", symlinks=True))
        for path, text in (files or {}).items():
            (self.site / path).parent.mkdir(parents=True, exist_ok=True)
            (self.site / path).write_text(text)
        prepare(self.site)
        (folder / "overlay.yaml").write_text(overlay or "{}\n")
        self.store = PrivateRedis(folder / "redis")
        (folder / "redis").mkdir()
        self.store.start()
        kept = {name: value for name, value in os.environ.items() if name != "CMSMCP_SECRET_KEY"}
        self._environment = {**kept, "CMSMCP_STATE_DIR": str(folder / "state"), "REDIS_URL": self.store.url}
        self._log = folder / "log"
        command = [CMSMCP, "serve", "--site", self.site, "--bind", "127.0.0.1:0", "--workers", "2"]
        command += ["--config-overlay", folder / "overlay.yaml"]
        with self._log.open("wb") as output:
            self._process = subprocess.Popen(command, env=self._environment, stdout=output, stderr=output)
        self.port = int(until(lambda: re.search(r"on http://[0-9.]+:(\d+)", self.log) or self._ended())[1])
        until(lambda: self.get("/readyz").status == 200)
        self._tokens: dict[tuple[str, ...], str] = {}

    @property
    def log(self) -> str:
        return self._log.read_text()

    @property
    def redis(self) -> redis.Redis:
        return redis.Redis.from_url(self.store.url, decode_responses=True)

    def records(self, token: str) -> list[dict[str, str]]:
        """What the audit stream says of one token, oldest first."""
        jti = _claims(token)["jti"]
        return [record for _, record in self.redis.xrange(AUDIT) if record.get("token") == jti]

    def run(self, *words: str) -> str:
        command = [CMSMCP, *words, "--site", self.site]
        done = subprocess.run(command, env=self._environment, capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    def token(self, access: str = "read-only", *words: str) -> str:
        """One of this kind, made once."""
        key = (access, *words)
        if key not in self._tokens:
            self._tokens[key] = self.new_token(access, *words)
        return self._tokens[key]

    def new_token(self, access: str = "read-only", *words: str) -> str:
        return self.run("tokens", "create", "--name", "t", "--access", access, *words)

    def revoke(self, token: str) -> None:
        self.run("tokens", "revoke", _claims(token)["jti"])

    def get(self, path: str, token: str | None = None, verb: str = "GET", body: bytes | None = None, **headers: str) -> Reply:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        if token is not None:
            named["Authorization"] = f"Bearer {token}"
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            connection.request(verb, path, body, named)
            reply = connection.getresponse()
            return Reply(reply.status, dict(reply.getheaders()), reply.read())
        finally:
            connection.close()

    def ask_mcp(self, token: str | None) -> Reply:
        body = b'{"jsonrpc":"2.0","id":1,"method":"tools/list"}'
        return self.get("/mcp", token, "POST", body, Content_Type="application/json", Accept="application/json, text/event-stream")

    def stop(self) -> None:
        self._process.terminate()
        self._process.wait(60)
        self.store.stop()

    def _ended(self) -> None:
        assert self._process.poll() is None, self.log


def _claims(token: str) -> dict[str, Any]:
    import jwt

    return jwt.decode(token, options={"verify_signature": False})


@pytest.fixture(scope="session")
def start(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., Server]]:
    servers: list[Server] = []

    def begin(overlay: str = "", files: Mapping[str, str] | None = None, **more: Any) -> Server:
        servers.append(Server(tmp_path_factory.mktemp("api"), overlay, files, **more))
        return servers[-1]

    yield begin
    for server in servers:
        server.stop()


# A draft that published entries name (C048, C049), and a type with a field whose values are taken out as secrets.
HAUNTED = {
    "content/types/vault.yaml": (
        "name: Vaults\nslug: vault\ntableName: vaults\nfields:\n  - {name: title, type: string, required: true}\n"
        "  - {name: slug, type: uid}\n  - {name: api_key, type: string}\n  - {name: opened, type: boolean}\n"
    ),
    "content/vaults/first.md": "---\ntitle: First\nfields: {api_key: squeamish-ossifrage-91, opened: true}\n---\n",
    "content/people/ghost.md": "---\ntitle: Ghost\ndraft: true\nfields: {role: nobody}\n---\nGHOSTBODY\n",
    "content/events/seance.md": (
        "---\ntitle: Seance\nfields:\n  starts_at: 2026-12-01T20:00:00Z\n  booking_required: false\n  host: ghost\n"
        "  instruments: [salvius-refractor, 'en:person:ghost', gone]\n---\nNobody\u2028came.\u0085\n"
    ),
    "content/people/mentored.md": "---\ntitle: Mentored\nfields: {role: pupil, mentor: 'en:person:ada-okafor'}\n---\nx\n",
}


@pytest.fixture(scope="session")
def server(start: Callable[..., Server]) -> Server:
    """The one server that tests share which only ask, with a rate that none of them uses up."""
    return start("api:\n  cors: ['https://front.example']\n  rate_limit: {requests_per_minute: 60000000, burst: 1000000}\n", HAUNTED)
