"""Two processes of one site, as far as the middle can tell: a service each, and in common only what a site shares."""

from __future__ import annotations

import json
import threading
import uuid
from collections.abc import Callable, Generator, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pytest

from cmsmcp.core.capability import Capability
from cmsmcp.core.ports import Ask, Caller, Site, Verdict
from cmsmcp.core.registry import Registry
from cmsmcp.core.service import Connection, Outcome, Pending, Service
from cmsmcp.core.shared import Shared
from cmsmcp.core.sharing import Bus, Replies, SessionStore
from cmsmcp.governance.policy import Policy
from cmsmcp.identity.sealer import private_sealer
from cmsmcp.processes.private_redis import PrivateRedis
from cmsmcp.state.memory.bus import MemoryBus
from cmsmcp.state.memory.events import MemoryEvents
from cmsmcp.state.memory.replies import MemoryReplies
from cmsmcp.state.memory.sessions import MemorySessions
from cmsmcp.state.memory.tasks import MemoryTasks
from cmsmcp.state.redis.bus import RedisBus
from cmsmcp.state.redis.client import Client as RedisClient
from cmsmcp.state.redis.replies import RedisReplies
from cmsmcp.state.redis.sessions import RedisSessions
from tests.waiting import until

PREFIX = "io.modelcontextprotocol/"
SCOPES = frozenset({"read:content"})
ALL_ABLE = {"elicitation": {}, "sampling": {}, "roots": {}}
SECONDS = 60.0


class Admitting:
    """Admits everything, and knows what has not been given back."""

    def __init__(self) -> None:
        self.asks: list[Ask] = []
        self.open: set[str] = set()
        self.outcomes: list[Mapping[str, str] | None] = []
        self.lock = threading.Lock()

    def admit(self, ask: Ask) -> Verdict:
        with self.lock:
            self.asks.append(ask)
            self.open.add(ask.event_id)
        return Verdict(None)

    def renew(self, asks: Any, lease_ms: int) -> None: ...

    def release(self, ask: Ask, outcome: Mapping[str, str] | None) -> None:
        with self.lock:
            self.open.discard(ask.event_id)
            self.outcomes.append(outcome)

    def record(self, event: Mapping[str, str]) -> None: ...


class Sent:
    """Implements `core.out.Out`: keeps what was sent, in order."""

    def __init__(self) -> None:
        self.messages: list[Any] = []
        self.hung_up: list[int] = []

    def send(self, message: bytes) -> None:
        self.messages.append(json.loads(message))

    def hang_up(self, retry_ms: int) -> None:
        self.hung_up.append(retry_ms)

    def of(self, method: str) -> list[Any]:
        return [message for message in list(self.messages) if message.get("method") == method]

    def wait_for(self, method: str, count: int = 1) -> list[Any]:
        until(lambda: len(self.of(method)) >= count)
        return self.of(method)


@dataclass(frozen=True)
class Place:
    """What one process reaches of what all share."""

    bus: Bus
    sessions: SessionStore
    replies: Replies


def in_memory() -> Generator[Place, None, None]:
    place = Place(MemoryBus(), MemorySessions(), MemoryReplies())
    while True:
        yield place


def over_redis(url: str) -> Generator[Place, None, None]:
    """A connection, and a bus with its thread, for each process."""
    name, clients = f"site-{uuid.uuid4().hex[:8]}", []
    try:
        while True:
            clients.append(RedisClient(url))
            yield Place(RedisBus(clients[-1], name), RedisSessions(clients[-1], name), RedisReplies(clients[-1], name))
    finally:
        for client in clients:
            client.close()


class TwoWorkers:
    """What the two share, and the two."""

    def __init__(self, capabilities: tuple[Capability, ...], places: Iterator[Place]) -> None:
        self.sealer, self.admission = private_sealer(), Admitting()
        self.registry = Registry(capabilities)
        self.one, self.other = Worker(self, next(places)), Worker(self, next(places))
        self.bus, self.sessions, self.replies = self.one.shared.bus, self.one.shared.sessions, self.one.shared.replies

    def until(self, condition: Callable[[], Any]) -> None:
        until(condition)

    def settled(self) -> bool:
        until(lambda: not self.admission.open)
        return True


class Worker:
    def __init__(self, site: TwoWorkers, place: Place) -> None:
        self.shared = Shared(place.bus, place.sessions, place.replies, MemoryEvents(), site.sealer, MemoryTasks())
        self.service = Service(
            Policy(enabled=True, scopes=SCOPES, audit=True), lambda: site.registry, lambda: Site(*[None] * 7),  # type: ignore[arg-type]
            lambda: site.admission, "9.9.9", shared=lambda: self.shared,
        )  # fmt: skip
        self.caller = Caller("local", SCOPES)
        self.out = Sent()
        self.connection = Connection()
        self.outcome = Outcome()

    def ask(self, method: str, params: Mapping[str, Any], declared: Any = ALL_ABLE, meta: Mapping[str, Any] | None = None) -> Any:
        """A request of 2026-07-28; its whole reply."""
        envelope = {PREFIX + "protocolVersion": "2026-07-28", PREFIX + "clientCapabilities": declared, **(meta or {})}
        return self.send({"jsonrpc": "2.0", "id": 1, "method": method, "params": {**params, "_meta": envelope}}, self.connection, None)

    def call(self, name: str, arguments: Mapping[str, Any] | None = None, declared: Any = ALL_ABLE, **more: Any) -> Any:
        return self.ask("tools/call", {"name": name, "arguments": arguments or {}, **more}, declared)

    def send(self, message: Any, connection: Connection, headers: Mapping[str, str] | None, out: Any = ...) -> Any:
        raw = json.dumps(message).encode()
        self.begun = begun = self.service.begin(raw, self.caller, connection, headers, self.out if out is ... else out)
        self.outcome = begun() if isinstance(begun, Pending) else begun
        return None if self.outcome.body is None else json.loads(self.outcome.body)


class Client:
    """A legacy client: each message is a POST of its own, to whichever worker the test names."""

    def __init__(self, declared: frozenset[str] = frozenset(ALL_ABLE), revision: str = "2025-11-25", session: str | None = "s1") -> None:
        self.declared, self.revision, self.session = declared, revision, session
        self.headers = {"mcp-protocol-version": revision}

    def post(self, worker: Worker, message: Any, out: Any = ...) -> Any:
        return worker.send(message, Connection(self.revision, self.declared, session=self.session), self.headers, out)

    def call(self, worker: Worker, name: str, *, id: Any = 1, meta: Any = None, out: Any = ...) -> Any:
        params = {"name": name, "arguments": {}, **({"_meta": meta} if meta else {})}
        return self.post(worker, {"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}, out)

    def begin(self, worker: Worker, name: str, **more: Any) -> Running:
        return Running(lambda: self.call(worker, name, **more))

    def answer(self, worker: Worker, id: Any, result: Any = None, error: Any = None) -> Outcome:
        said = {"result": result} if error is None else {"error": error}
        self.post(worker, {"jsonrpc": "2.0", "id": id, **said})
        return worker.outcome

    def cancel(self, worker: Worker, id: Any) -> Outcome:
        self.post(worker, {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}})
        return worker.outcome


class Running:
    """A call in a thread of its own."""

    def __init__(self, call: Callable[[], Any]) -> None:
        self._reply: Any = None
        self._thread = threading.Thread(target=self._run, args=(call,), daemon=True)
        self._thread.start()

    def _run(self, call: Callable[[], Any]) -> None:
        self._reply = call()

    def reply(self) -> Any:
        self._thread.join(SECONDS)
        assert not self._thread.is_alive()
        return self._reply


@pytest.fixture(scope="session")
def redis_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    redis = PrivateRedis(tmp_path_factory.mktemp("redis"))
    redis.start()
    yield redis.url
    redis.stop()


@pytest.fixture(params=["memory", "redis"])
def two_workers(request: pytest.FixtureRequest) -> Iterator[Callable[..., TwoWorkers]]:
    """Whatever they share, where each of the two adapters keeps it."""
    places = in_memory() if request.param == "memory" else over_redis(request.getfixturevalue("redis_url"))
    made: list[TwoWorkers] = []

    def make(*capabilities: Capability) -> TwoWorkers:
        made.append(TwoWorkers(capabilities, places))
        return made[-1]

    yield make
    for worker in (worker for site in made for worker in (site.one, site.other)):
        worker.shared.feed.end_all()
        worker.shared.bus.close()
    places.close()


@pytest.fixture
def client() -> type[Client]:
    return Client
