"""Nothing freezes a worker: every hard body at the largest size, on every route that reads bodies, alone and sixteen at once."""

from __future__ import annotations

import http.client
import json
import os
import subprocess
import threading
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from tests.http.conftest import CMSMCP, Place, Server
from tests.worst.files import FRONT_MATTER, write_plugins, write_themes
from tests.worst.markdown import BODIES

SIZE = 1_000_000
ALONE = 3.0
"""Seconds one such call may take, or the deadline of the call for what is refused."""
DEADLINE = 10.0
HEALTH = 0.3
IDLE_AFTER = 1.5
INDEX_SECONDS = 900.0


def slug_of(name: str) -> str:
    return name.lower().replace(" ", "-").replace(",", "")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("worst")
    kept = {name: value for name, value in os.environ.items() if name not in ("REDIS_URL", "CMSMCP_SECRET_KEY")}
    place = Place(folder / "site", {**kept, "CMSMCP_STATE_DIR": str(folder / "state")})
    assert place.run("init", str(place.site)).returncode == 0
    pages = place.site / "content" / "pages"
    for name, build in BODIES.items():
        (pages / f"{slug_of(name)}.md").write_text(f"---\ntitle: {name}\n---\n{build(SIZE)}", encoding="utf-8", newline="")
    for name, front in FRONT_MATTER.items():
        (pages / f"front-{slug_of(name)}.md").write_text(front, encoding="utf-8", newline="")
    write_themes(place.site / "themes")
    write_plugins(place.site / "plugins")
    config = place.site / "content" / "config" / "site.yaml"
    rate = "  rate_limit: {requests_per_minute: 600000, burst: 60000}\n"
    config.write_text(config.read_text().replace("mcp:\n", f"mcp:\n{rate}", 1) + f"\napi:\n{rate}")
    indexed = subprocess.run([CMSMCP, "index", "--site", place.site], env=place.environment, timeout=INDEX_SECONDS, check=False)
    assert indexed.returncode in (0, 1)
    made = Server(place, folder / "log", "--workers", "2")
    yield made
    made.stop()


class Client:
    """Speaks to a server with tokens of its own; every answer with its seconds."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self.mcp = {"Authorization": f"Bearer {server.place.token('--access', 'mcp-server')}"}
        self.api = {"Authorization": f"Bearer {server.place.token('--access', 'read-only')}"}

    def get(self, path: str, headers: Mapping[str, str] | None = None) -> tuple[int, float]:
        return self._send("GET", path, headers if headers is not None else self.api)

    def ask(self, method: str, params: Mapping[str, Any]) -> tuple[int, float]:
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
        return self._send("POST", "/mcp", {"Content-Type": "application/json", **self.mcp}, body)

    def _send(self, verb: str, path: str, headers: Mapping[str, str], body: str | None = None) -> tuple[int, float]:
        began = time.monotonic()
        connection = http.client.HTTPConnection(self.server.host, self.server.port, timeout=60)
        try:
            connection.request(verb, path, body, dict(headers))
            reply = connection.getresponse()
            reply.read()
            return reply.status, time.monotonic() - began
        finally:
            connection.close()


@pytest.fixture(scope="module")
def client(server: Server) -> Client:
    return Client(server)


def questions(slug: str) -> list[Any]:
    """Every way to a body but its HTML."""
    return [
        ("GET", f"/api/page/{slug}"), ("GET", f"/api/page?filters[slug][eq]={slug}&limit=100"),
        ("tools/call", {"name": "get_document", "arguments": {"slug": slug}}),
        ("tools/call", {"name": "search_content", "arguments": {"query": slug.replace("-", " "), "limit": 50}}),
        ("tools/call", {"name": "list_documents", "arguments": {"limit": 100}}),
        ("resources/read", {"uri": f"foundry://content/pages/{slug}"}),
        ("prompts/get", {"name": "audit_page", "arguments": {"page": slug}}),
    ]  # fmt: skip


REPORTS: list[Any] = [
    ("tools/call", {"name": name, "arguments": arguments})
    for name, arguments in (
        ("get_runtime_health", {}), ("validate_configuration", {}), ("list_plugins", {}), ("validate_theme", {"name": "all"}),
        ("get_theme_security_report", {"name": "parentheses"}), ("get_plugin_status", {"name": "calls"}),
    )
] + [("resources/read", {"uri": "foundry://plugins"}), ("GET", "/api/page?format=html&limit=100"), ("GET", "/api/page?limit=100")]


def asked(client: Client, question: Any) -> tuple[int, float]:
    method, rest = question
    return client.get(rest) if method == "GET" else client.ask(method, rest)


@pytest.mark.parametrize("name", BODIES)
def test_a_hard_body_alone_is_soon_html(client: Client, name: str) -> None:
    """Answered, or refused as too large."""
    status, seconds = client.get(f"/api/page/{slug_of(name)}?format=html")
    assert status in (200, 413) and seconds <= ALONE


@pytest.mark.parametrize("name", list(BODIES)[::6])
def test_every_way_to_a_hard_body_is_short(client: Client, name: str) -> None:
    took = {}
    for question in questions(slug_of(name)):
        status, seconds = asked(client, question)
        assert status in (200, 413), question
        took[str(question)] = seconds
    assert max(took.values()) <= ALONE, took


@pytest.mark.parametrize("question", REPORTS, ids=str)
def test_a_report_is_answered_or_ends_with_its_deadline(client: Client, question: Any) -> None:
    status, seconds = asked(client, question)
    assert status in (200, 413, 504) and seconds <= DEADLINE + 1


class Health:
    """Asks every worker whether it lives, ten times a second, on connections of its own."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._over = threading.Event()
        self.seconds: list[float] = []

    def run(self) -> None:
        while not self._over.wait(0.05):
            status, seconds = self._client.get("/healthz", {})
            assert status == 200
            self.seconds.append(seconds)

    def end(self) -> None:
        self._over.set()


def test_sixteen_at_once_leave_the_workers_free(client: Client) -> None:
    """Others are answered at once meanwhile; each of the sixteen is answered, or ends with its deadline; then nothing computes any more."""
    hardest = ["table", "aligned table", "lists of one item", "deep quotes again and again", "nested quotes", "loose list", "links",
               "mixed runs"]  # fmt: skip
    sixteen = [("GET", f"/api/page/{slug_of(name)}?format=html") for name in hardest] + [*REPORTS[:7], questions("one-long-line")[-1]]
    health = [Health(client), Health(client)]
    threads = [threading.Thread(target=one.run) for one in health]
    for thread in threads:
        thread.start()
    with ThreadPoolExecutor(16) as pool:
        answers = list(pool.map(lambda question: asked(client, question), sixteen))
    for one in health:
        one.end()
    for thread in threads:
        thread.join()
    slowest = max(seconds for one in health for seconds in one.seconds)
    print(f"health {slowest:.3f} s of {sum(len(one.seconds) for one in health)}; answers {sorted(round(s, 2) for _, s in answers)}")
    assert all(status in (200, 413, 429, 504) and seconds <= 31 for status, seconds in answers), answers
    assert slowest <= HEALTH
    time.sleep(IDLE_AFTER)
    before = spent(client.server.process.pid)
    time.sleep(1)
    assert spent(client.server.process.pid) - before <= 0.2


def spent(pid: int) -> float:
    """Seconds of CPU of a process and of all below it."""
    total, ticks = 0.0, os.sysconf("SC_CLK_TCK")
    below: dict[int, list[int]] = {}
    used: dict[int, float] = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        below.setdefault(int(fields[1]), []).append(int(path.parent.name))
        used[int(path.parent.name)] = (int(fields[11]) + int(fields[12])) / ticks
    pending = [pid]
    while pending:
        one = pending.pop()
        total += used.get(one, 0.0)
        pending += below.get(one, [])
    return total
