"""A service around hand-written capabilities, with an admission that writes down what it was asked."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any

import pytest

from cmsmcp.bootstrap.sharing import share_in_process
from cmsmcp.core.capability import Capability
from cmsmcp.core.ports import Ask, Caller, Runner, Site, Verdict
from cmsmcp.core.registry import Registry
from cmsmcp.core.service import Connection, Outcome, Service
from cmsmcp.core.shared import Shared
from cmsmcp.governance.policy import Policy

SCOPES = frozenset({"read:content", "read:docs", "read:themes", "read:plugins", "read:ops"})
META = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}


class WrittenAdmission:
    """Admits everything unless `verdict` says otherwise; keeps every ask, release and record in order."""

    def __init__(self) -> None:
        self.verdict = Verdict(None)
        self.asks: list[Ask] = []
        self.releases: list[tuple[Ask, Mapping[str, str] | None]] = []
        self.renewals: list[tuple[str, int]] = []
        self.records: list[Mapping[str, str]] = []
        self.lock = threading.Lock()

    def admit(self, ask: Ask) -> Verdict:
        with self.lock:
            self.asks.append(ask)
        return self.verdict

    def release(self, ask: Ask, outcome: Mapping[str, str] | None) -> None:
        with self.lock:
            self.releases.append((ask, outcome))

    def renew(self, asks: Collection[Ask], lease_ms: int) -> None:
        with self.lock:
            self.renewals += [(ask.event_id, lease_ms) for ask in asks]

    def record(self, event: Mapping[str, str]) -> None:
        with self.lock:
            self.records.append(event)

    def balanced(self) -> bool:
        """Every admitted ask was released exactly once."""
        with self.lock:
            return sorted(ask.event_id for ask in self.asks) == sorted(ask.event_id for ask, _ in self.releases)


class Bench:
    """A service under test. `ask` sends one request on its connection and gives the decoded reply (None: nothing was sent)."""

    def __init__(
        self, capabilities: list[Capability], policy: Policy, site: Callable[[], Site], runner: Runner | None = None
    ) -> None:  # fmt: skip
        self.admission = WrittenAdmission()
        self.registry = Registry(capabilities)
        self.made: list[Shared] = []
        self.service = Service(
            policy, lambda: self.registry, site, lambda: self.admission, "9.9.9", site_name="bench", shared=lambda: self.shared,
            runner=lambda: runner,
        )  # fmt: skip
        self.caller = Caller("local", SCOPES)
        self.connection = Connection("2025-11-25")
        self.outcome = Outcome()

    @property
    def shared(self) -> Shared:
        """What the process shares, made when first needed."""
        if not self.made:
            self.made.append(share_in_process())
        return self.made[0]

    def send(self, message: Any, headers: Mapping[str, str] | None = None) -> Any:
        raw = message if isinstance(message, bytes) else json.dumps(message).encode()
        self.outcome = self.service.handle(raw, self.caller, self.connection, headers)
        return None if self.outcome.body is None else json.loads(self.outcome.body)

    def ask(self, method: str, params: Mapping[str, Any] | None = None, *, id: Any = 1, headers: Mapping[str, str] | None = None) -> Any:
        return self.send({"jsonrpc": "2.0", "id": id, "method": method, "params": params or {}}, headers)

    def ask_modern(self, method: str, params: Mapping[str, Any] | None = None) -> Any:
        return self.ask(method, {**(params or {}), "_meta": META})

    def call(self, name: str, arguments: Mapping[str, Any] | None = None) -> Any:
        return self.ask("tools/call", {"name": name, "arguments": arguments or {}})


@pytest.fixture
def bench() -> Iterator[Callable[..., Bench]]:
    benches: list[Bench] = []

    def make(
        *capabilities: Capability, policy: Policy | None = None, site: Callable[[], Site] | None = None, runner: Runner | None = None
    ) -> Bench:  # fmt: skip
        policy = policy or Policy(enabled=True, scopes=SCOPES, audit=True)
        benches.append(Bench(list(capabilities), policy, site or (lambda: Site(*[None] * 7)), runner))  # type: ignore[arg-type]
        return benches[-1]

    yield make
    for shared in (shared for made in benches for shared in made.made):
        shared.feed.end_all()
        shared.bus.close()
