"""An edit of the site reaches the streams of every worker (docs/rules.md, Changes)."""

from __future__ import annotations

import http.client
import json
import queue
import sqlite3
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import pytest

from cmsmcp.bootstrap.notices import Notices
from cmsmcp.core.sharing import EVERYTHING, Change
from cmsmcp.processes.private_redis import find_server
from cmsmcp.protocol.errors import Unavailable

PAGE = "foundry://content/pages/about"


class Listener:
    """One open `subscriptions/listen`, acknowledged."""

    def __init__(self, server: Any, held: dict[str, str], filters: dict[str, Any]) -> None:
        body = {
            "jsonrpc": "2.0", "id": "L", "method": "subscriptions/listen",
            "params": {
                "notifications": filters,
                "_meta": {
                    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                    "io.modelcontextprotocol/clientInfo": {"name": "t", "version": "1"},
                    "io.modelcontextprotocol/clientCapabilities": {},
                },
            },
        }  # fmt: skip
        headers = {
            "Content-Type": "application/json", "Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2026-07-28",
            "Mcp-Method": "subscriptions/listen", **held,
        }  # fmt: skip
        self._connection = http.client.HTTPConnection(server.host, server.port, timeout=60)
        self._connection.request("POST", "/mcp", json.dumps(body), headers)
        self._reply = self._connection.getresponse()
        assert self._reply.status == 200, self._reply.read()
        self.acknowledged = self.next()

    def next(self) -> dict[str, Any]:
        while True:
            line = self._reply.readline()
            assert line, "the stream ended"
            if line.startswith(b"data: "):
                return json.loads(line[6:])

    def notices(self, count: int) -> set[str]:
        """The methods, with the URI where there is one, of the next few."""
        found = [self.next() for _ in range(count)]
        return {" ".join((one["method"].removeprefix("notifications/"), *filter(None, [one["params"].get("uri")]))) for one in found}

    def close(self) -> None:
        self._connection.close()


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


@pytest.fixture(scope="module")
def place(new_place: Callable[[], Any], start: Callable[..., Any]) -> Any:
    """A server of two workers of its own: its site is written to."""
    return start(new_place(), "--workers", "2")


@pytest.fixture
def listen(place: Any) -> Iterator[Callable[..., list[Listener]]]:
    held = {"Authorization": f"Bearer {place.place.token()}"}
    with ExitStack() as stack:
        yield lambda count, **filters: [stack.enter_context(closing(Listener(place, held, filters))) for _ in range(count)]


def test_an_edit_reaches_streams_on_both_workers(place: Any, listen: Callable[..., list[Listener]]) -> None:
    """S-02, S-10. Eight streams: all of them on one worker in one of 128 runs, which would prove less, not fail.

    `bench/streams.py` has the times.
    """
    path = place.place.site / "content/pages/about.md"
    streams = listen(8, resourceSubscriptions=[PAGE], resourcesListChanged=True)
    for stream in streams:
        assert stream.acknowledged["method"] == "notifications/subscriptions/acknowledged"
        assert stream.acknowledged["params"]["notifications"]["resourceSubscriptions"] == [PAGE]
    text = path.read_text(encoding="utf-8")
    write(place.place.site / "content/pages/hidden.md", "---\ntitle: Hidden\ndraft: true\n---\n")
    path.write_text(f"{text}\nOne more sentence.\n", encoding="utf-8")
    assert [stream.notices(1) for stream in streams] == [{f"resources/updated {PAGE}"}] * 8


def test_what_readers_find_after_a_notice_is_what_it_told_of(place: Any, listen: Callable[..., list[Listener]]) -> None:
    """On whichever worker they ask, at once: a type, a theme, a docs file."""
    held = {"Authorization": f"Bearer {place.place.token()}"}
    docs = "foundry://docs/index.md"
    [stream] = listen(1, resourcesListChanged=True, resourceSubscriptions=["plank://content-types", docs])
    write(place.place.site / "content/types/dish.yaml", "name: Dish\nslug: dish\nkind: collection\ntableName: dishes\nfields: []\n")
    assert stream.notices(2) == {"resources/list_changed", "resources/updated plank://content-types"}
    for _ in range(6):
        reply = place.post('{"jsonrpc":"2.0","id":1,"method":"resources/list"}', held)
        assert "plank://content-types/dish/schema" in {one["uri"] for one in reply.json["result"]["resources"]}
    write(place.place.site / "themes/fresh/theme.yaml", "name: fresh\n")
    assert stream.notices(1) == {"resources/list_changed"}
    write(place.place.site / "docs/index.md", "# New words")
    assert stream.notices(1) == {f"resources/updated {docs}"}


def test_what_could_not_be_told_is_told_as_everything_once_it_can() -> None:
    """Indexing goes on; nobody is left with what was true before an outage."""
    published: queue.Queue[Change] = queue.Queue()
    away = threading.Event()

    def publish(change: Change) -> None:
        if away.is_set():
            raise Unavailable("away")
        published.put(change)

    notices = Notices(publish)
    one = Change(topics=frozenset({"config"}))
    notices.tell(one)
    away.set()
    notices.tell(one)
    notices.tell(one)
    assert published.get_nowait() == one and published.empty()
    away.clear()
    notices.tell(one)
    assert published.get(timeout=60).topics == {EVERYTHING}
    notices.tell(one)
    assert published.get_nowait() == one and published.empty()


@pytest.fixture
def redis() -> Iterator[Callable[[], subprocess.Popen[bytes]]]:
    """Starts a Redis, each time the same with the same data. Its socket has a short name, because the system wants that."""
    started: list[subprocess.Popen[bytes]] = []
    with tempfile.TemporaryDirectory(prefix="cn-", dir="/tmp") as folder:
        options = ["--port", "0", "--unixsocket", f"{folder}/s", "--dir", folder, "--save", "", "--appendonly", "yes"]

        def begin() -> subprocess.Popen[bytes]:
            started.append(subprocess.Popen([find_server(), *options], stdout=subprocess.DEVNULL))
            end = time.monotonic() + 60
            while not Path(folder, "s").is_socket():
                assert time.monotonic() < end, "Redis does not start"
                time.sleep(0.02)
            return started[-1]

        begin.url = f"unix://{folder}/s"  # type: ignore[attr-defined]
        yield begin
        for one in started:
            one.kill()
            one.wait()


def test_an_edit_while_redis_is_away_is_told_when_it_is_back(new_place: Callable[[], Any], start: Callable[..., Any], redis: Any) -> None:
    """docs/operations.md, "When Redis is away": the streams stay, and indexing goes on."""
    process = redis()
    place = new_place().with_(REDIS_URL=redis.url)
    server = start(place, "--workers", "2")
    with closing(Listener(server, {"Authorization": f"Bearer {place.token()}"}, {"resourceSubscriptions": [PAGE]})) as stream:
        process.kill()
        process.wait()
        with (place.site / "content/pages/about.md").open("a") as page:
            page.write("\nOne more sentence.\n")
        [catalog] = Path(place.environment["CMSMCP_STATE_DIR"]).rglob("catalog-*.sqlite")
        with closing(sqlite3.connect(f"{catalog.as_uri()}?mode=ro", uri=True)) as reader:
            query = "SELECT count(*) FROM changes WHERE change LIKE '%content/page/about%'"
            end = time.monotonic() + 60
            while not reader.execute(query).fetchone()[0]:
                assert time.monotonic() < end, "the edit was not indexed"
                time.sleep(0.05)
        redis()
        assert stream.notices(1) == {f"resources/updated {PAGE}"}
