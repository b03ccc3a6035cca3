"""Admission inside one process: rate, permits and audit for a stdio server without Redis, and the twin of the Redis adapter.

Knows the order of decisions (the same as `state/redis/admission.lua`). Must not know what is being asked for. One lock makes each
decision one step; nothing grows without bound.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Collection, Container, Mapping
from dataclasses import dataclass, replace
from typing import Protocol

from cmsmcp.core.ports import Ask, Verdict
from cmsmcp.governance.limits import Debt, ceil_div, decide, drained
from cmsmcp.governance.policy import Policy
from cmsmcp.protocol.errors import REFUSED_BY_THE_STORE, Unavailable

SWEEP_CLIENTS = 10_000
"""Debts kept before those that have drained are thrown away."""
CONCURRENCY_RETRY_MS = 1000
"""What a caller over the concurrency cap is told to wait: nobody knows when a permit comes free."""
STREAMS_RETRY_MS = 5000
"""Streams stay open for long, so asking again at once is in vain."""


@dataclass(slots=True)
class _Held:
    """A permit: whose, and until when (microseconds) unless renewed."""

    client: str
    lapses: int


class AuditSink(Protocol):
    def append(self, record: Mapping[str, str]) -> None:
        """Keep the record before returning. Raises OSError when it cannot."""
        ...


def _microseconds() -> int:
    return time.time_ns() // 1000


class MemoryAdmission:
    """Implements `core.ports.Admission`. `clock` gives microseconds since the epoch.

    `issued` (None: any) and `revoked` hold ids of tokens.
    """

    def __init__(
        self, policy: Policy, audit: AuditSink, clock: Callable[[], int] = _microseconds, *,
        issued: Container[str] | None = None, revoked: Container[str] = frozenset(),
    ) -> None:
        self._policy = policy
        self._audit = audit
        self._clock = clock
        self._issued = issued
        self._revoked = revoked
        self._lock = threading.Lock()
        self._debts: dict[str, Debt] = {}
        self._permits: tuple[dict[str, _Held], dict[str, _Held]] = ({}, {})
        self._sweep_at = SWEEP_CLIENTS

    def admit(self, ask: Ask) -> Verdict:
        with self._lock:
            now = self._clock()
            if ask.token_id is not None and self._is_withdrawn(ask.token_id, ask.registered):
                return self._refuse(ask, Verdict("revoked"))
            permits = self._permits[ask.stream]
            if ask.event_id in permits:
                return Verdict(None)
            decision = decide(self._policy.rate, self._debts.get(ask.client, Debt()), now, ask.cost)
            reset_ms = ceil_div(now + decision.reset, 1000)
            if not decision.allowed:
                return self._refuse(ask, Verdict("rate", ceil_div(decision.retry_after, 1000), decision.remaining, reset_ms))
            full = self._full(ask, now) if ask.permit else None
            if full is not None:
                return self._refuse(ask, replace(full, remaining=decision.remaining, reset_ms=reset_ms))
            self._append(ask.intent)
            self._owe(ask.client, decision.debt, now)
            if ask.permit:
                permits[ask.event_id] = _Held(ask.client, now + ask.lease_ms * 1000)
            return Verdict(None, 0, decision.remaining, reset_ms)

    def renew(self, asks: Collection[Ask], lease_ms: int) -> None:
        with self._lock:
            lapses = self._clock() + lease_ms * 1000
            for ask in asks:
                held = self._permits[ask.stream].get(ask.event_id)
                if held is not None:
                    held.lapses = max(held.lapses, lapses)

    def release(self, ask: Ask, outcome: Mapping[str, str] | None) -> None:
        with self._lock:
            self._permits[ask.stream].pop(ask.event_id, None)
            self._append(outcome)

    def record(self, event: Mapping[str, str]) -> None:
        with self._lock:
            self._append(event)

    def _full(self, ask: Ask, now: int) -> Verdict | None:
        """The refusal, where no permit is left for this client, else for the site."""
        permits, policy = self._permits[ask.stream], self._policy
        for event_id in [event_id for event_id, held in permits.items() if held.lapses <= now]:
            del permits[event_id]  # its holder died
        if ask.stream:
            return Verdict("streams", STREAMS_RETRY_MS) if len(permits) >= policy.max_streams else None
        own = policy.max_concurrency_per_client
        if own is not None and sum(held.client == ask.client for held in permits.values()) >= own:
            return Verdict("concurrency", CONCURRENCY_RETRY_MS, own=True)
        return Verdict("concurrency", CONCURRENCY_RETRY_MS) if len(permits) >= policy.max_concurrency else None

    def _is_withdrawn(self, token_id: str, registered: bool) -> bool:
        return token_id in self._revoked or (registered and self._issued is not None and token_id not in self._issued)

    def _owe(self, client: str, debt: Debt, now: int) -> None:
        self._debts[client] = debt
        if len(self._debts) > self._sweep_at:
            rate = self._policy.rate
            self._debts = {name: owed for name, owed in self._debts.items() if drained(rate, owed, now) > 0}
            self._sweep_at = max(SWEEP_CLIENTS, 2 * len(self._debts))

    def _refuse(self, ask: Ask, verdict: Verdict) -> Verdict:
        if ask.refusal is not None:
            reason = verdict.reason or ""
            self._append({**ask.refusal, "reason": reason, "code": str(REFUSED_BY_THE_STORE[reason])})
        return verdict

    def _append(self, record: Mapping[str, str] | None) -> None:
        if record is None:
            return
        try:
            self._audit.append(record)
        except OSError as error:
            raise Unavailable(f"The audit cannot be written ({error.strerror or 'unknown error'}), so nothing is served.") from None
