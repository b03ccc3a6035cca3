"""Admission inside one process: rate, permits and audit for a stdio server without Redis, and the twin of the Redis adapter.

Knows the order of decisions (the same as `state/redis/admission.lua`). Must not know what is being asked for. One lock makes each
decision one step; nothing grows without bound.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Collection, Container, Mapping
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
        self._permits: tuple[dict[str, int], dict[str, int]] = ({}, {})
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
            if ask.permit and _in_flight(permits, now) >= (self._policy.max_streams if ask.stream else self._policy.max_concurrency):
                reason, retry_ms = ("streams", STREAMS_RETRY_MS) if ask.stream else ("concurrency", CONCURRENCY_RETRY_MS)
                return self._refuse(ask, Verdict(reason, retry_ms, decision.remaining, reset_ms))
            self._append(ask.intent)
            self._owe(ask.client, decision.debt, now)
            if ask.permit:
                permits[ask.event_id] = now + ask.lease_ms * 1000
            return Verdict(None, 0, decision.remaining, reset_ms)

    def renew(self, event_ids: Collection[str], lease_ms: int) -> None:
        with self._lock:
            lapses = self._clock() + lease_ms * 1000
            for permits in self._permits:
                for event_id in permits.keys() & set(event_ids):
                    permits[event_id] = max(permits[event_id], lapses)

    def release(self, event_id: str, outcome: Mapping[str, str] | None) -> None:
        with self._lock:
            for permits in self._permits:
                permits.pop(event_id, None)
            self._append(outcome)

    def record(self, event: Mapping[str, str]) -> None:
        with self._lock:
            self._append(event)

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


def _in_flight(permits: dict[str, int], now: int) -> int:
    """Permits held, once those whose holders died have lapsed."""
    for event_id in [event_id for event_id, lapses in permits.items() if lapses <= now]:
        del permits[event_id]
    return len(permits)
