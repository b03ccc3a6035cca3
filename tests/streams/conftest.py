"""A site whose processes share a bus, sessions, tasks and governance, and nothing else; documents that tests publish and withdraw."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pytest
from marshmallow import Schema, fields

from cmsmcp.core.capability import Capability, prompt, resource, tool
from cmsmcp.core.out import Stream
from cmsmcp.core.ports import Caller, Site
from cmsmcp.core.registry import Registry
from cmsmcp.core.service import Connection, Outcome, Service
from cmsmcp.core.shared import Shared
from cmsmcp.core.sharing import Change
from cmsmcp.governance.policy import Policy, Rate
from cmsmcp.identity.sealer import private_sealer
from cmsmcp.protocol.errors import NotFound
from cmsmcp.state.memory.admission import MemoryAdmission
from cmsmcp.state.memory.bus import MemoryBus
from cmsmcp.state.memory.events import MemoryEvents
from cmsmcp.state.memory.replies import MemoryReplies
from cmsmcp.state.memory.sessions import MemorySessions
from cmsmcp.state.memory.tasks import MemoryTasks
from tests.waiting import until

MODERN = "2026-07-28"
TAG = "io.modelcontextprotocol/subscriptionId"
TASKS = "io.modelcontextprotocol/tasks"
SCOPES = frozenset({"read:content", "read:ops"})
PATIENCE = 60.0


class Body(Schema):
    ok = fields.Boolean()


class Trail(list):
    """The audit, in memory."""

    def of(self, phase: str, method: str) -> list[Mapping[str, str]]:
        return [record for record in self if record["phase"] == phase and record["method"] == method]


class Place:
    """One site. `published` are the names of documents that any reader can read; others are drafts or do not exist."""

    def __init__(self, processes: int = 1, **policy: Any) -> None:
        self.published = {"about", "news"}
        self.fences = 0
        self.read: list[str] = []
        self.revoked: set[str] = set()
        self.audit = Trail()
        policy = {"enabled": True, "scopes": SCOPES, "audit": True, "rate": Rate(60_000_000, 1_000_000), **policy}
        self.policy = Policy(**policy)
        self.admission = MemoryAdmission(self.policy, self.audit, revoked=self.revoked)
        self.bus, self.sessions, self.tasks = MemoryBus(), MemorySessions(), MemoryTasks()
        self.caller = Caller("local", SCOPES)
        self.services = [self._process() for _ in range(processes)]

    def _process(self) -> Service:
        registry = Registry(self._capabilities())
        shared = Shared(self.bus, self.sessions, MemoryReplies(), MemoryEvents(), private_sealer(), self.tasks)
        site = Site(*[None] * 7)  # type: ignore[arg-type]
        return Service(self.policy, lambda: registry, lambda: site, lambda: self.admission, "9.9.9", site_name="s", shared=lambda: shared)

    def _capabilities(self) -> list[Capability]:
        @resource("doc://{name}", scope="read:content", audit="t", output=Body, topics=lambda variables: [f"content/{variables['name']}"])
        def document(variables: Mapping[str, str], call: Any) -> Any:
            """A document."""
            self.read.append(variables["name"])
            if variables["name"] == "crash":
                raise RuntimeError("no")
            if variables["name"] not in self.published:
                raise NotFound("document", variables["name"])
            return {"ok": True}

        @resource("ops://state", scope="read:ops", audit="t", output=Body, name="state")
        def state(variables: Mapping[str, str], call: Any) -> Any:
            """How things are; it declares no topics."""
            return {"ok": True}

        @tool(scope="read:content", audit="t", output=Body)
        def probe(arguments: Mapping[str, Any], call: Any) -> Any:
            """A tool, without which its list could not change."""

        @prompt(scope="read:content", audit="t")
        def draft(arguments: Mapping[str, Any], call: Any) -> Any:
            """A prompt, for the same reason."""

        return [document, state, probe, draft]

    def ask(
        self,
        method: str,
        params: Mapping[str, Any] | None = None,
        *,
        id: Any = 1,
        process: int = 0,
        connection: Connection | None = None,
        caller: Caller | None = None,
        extensions: tuple[str, ...] = (),
        modern: bool = False,
    ) -> Outcome:
        params = dict(params or {})
        if modern:
            capabilities = {"extensions": {name: {} for name in extensions}} if extensions else {}
            params["_meta"] = {
                "io.modelcontextprotocol/protocolVersion": MODERN,
                "io.modelcontextprotocol/clientCapabilities": capabilities,
            }
        raw = json.dumps({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).encode()
        return self.services[process].handle(raw, caller or self.caller, connection or Connection("2025-11-25"))

    def listen(self, wanted: Any, *, id: Any = "L1", **more: Any) -> Heard:
        outcome = self.ask("subscriptions/listen", {"notifications": wanted}, id=id, modern=True, **more)
        assert outcome.stream is not None, outcome.body
        return Heard(outcome.stream)

    def open(self, connection: Connection, *, process: int = 0, caller: Caller | None = None) -> Heard:
        """The stream of a legacy session."""
        outcome = self.services[process].listen(caller or self.caller, connection)
        assert outcome.stream is not None, outcome.body
        return Heard(outcome.stream)

    def refused(self, wanted: Any, **more: Any) -> Mapping[str, Any]:
        params = {} if wanted is None else {"notifications": wanted}
        outcome = self.ask("subscriptions/listen", params, modern=True, **more)
        assert outcome.stream is None and outcome.body is not None
        return json.loads(outcome.body)["error"]

    def change(self, *topics: str, lists: tuple[str, ...] = ()) -> None:
        self.bus.publish("change", Change(frozenset(lists), frozenset(topics)).as_message())

    def fence(self) -> None:
        """Wait until every process has told what was published before. Messages keep their order, and so do streams of one process."""
        for process in range(len(self.services)):
            self.fences += 1
            name = f"fence-{self.fences}"
            self.published.add(name)
            last = self.listen({"resourceSubscriptions": [f"doc://{name}"]}, id="fence", process=process)
            last.await_acknowledged()
            self.change(f"content/{name}")
            assert last.await_one()["params"]["uri"] == f"doc://{name}"
            last.stream.close()
            self.published.remove(name)

    def close(self) -> None:
        for service in self.services:
            service.ports.shared().feed.end_all()
        self.bus.close()


class Heard:
    """A stream, read by a client."""

    def __init__(self, stream: Stream) -> None:
        self.stream = stream

    def take(self, seconds: float = 0) -> list[dict[str, Any]] | None:
        taken = self.stream.take(seconds)
        return None if taken is None else [json.loads(message) for message in taken]

    def await_some(self) -> list[dict[str, Any]]:
        taken = self.take(PATIENCE)
        assert taken, "nothing came"
        return taken

    def await_one(self) -> dict[str, Any]:
        (one,) = self.await_some()
        return one

    def await_acknowledged(self) -> Any:
        one = self.await_one()
        assert one["method"] == "notifications/subscriptions/acknowledged"
        return one["params"]["notifications"]

    def names(self) -> list[str]:
        """What came, in short: `tools`, or the URI."""
        taken = self.take() or []
        return [message["params"]["uri"] if "uri" in message.get("params", {}) else message["method"].split("/")[1] for message in taken]


@pytest.fixture
def place() -> Iterator[Callable[..., Place]]:
    made: list[Place] = []

    def make(processes: int = 1, **policy: Any) -> Place:
        made.append(Place(processes, **policy))
        return made[-1]

    yield make
    for one in made:
        one.close()


@pytest.fixture(name="until")
def until_true() -> Callable[[Callable[[], Any]], None]:
    return until
