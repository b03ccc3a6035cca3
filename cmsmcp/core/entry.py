"""The way in and out of governance: one decision before the work, one release after it (docs/rules.md, Governance order).

Everything that costs something enters here. Must not know what the work is.
"""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cmsmcp.core.exchange import Visit
from cmsmcp.core.ports import Ask, Verdict
from cmsmcp.protocol.errors import CONCURRENCY_LIMITED, RATE_LIMITED, STREAMS_LIMITED, LimitRefused, TokenRevoked, Unavailable

if TYPE_CHECKING:
    from cmsmcp.governance.audit import Event, Result

LEASE_MARGIN_MS = 5_000
"""A permit outlives the deadline by this much before it counts as lost with its process."""

_log = logging.getLogger(__name__)


def new_event_id() -> str:
    return os.urandom(16).hex()


@dataclass(frozen=True, slots=True)
class Toll:
    """What a request takes: rate units, whether a permit, for how many seconds, and whether intent and outcome are recorded.

    `stream`: the permit is one of an open stream, not of a call; whoever holds it renews it (`Admission.renew`).
    """

    cost: int = 1
    permit: bool = True
    seconds: float = 10.0
    audited: bool = False
    stream: bool = False


class Permit:
    """An admitted request. `settle` says how it ended; `release` must run once, when its work has stopped.

    `keep`, if it comes, comes before: the work goes on although nobody waits for it, and so must its permit.
    """

    __slots__ = ("_ports", "_caller", "_event_id", "_event", "_lease_ms", "_began", "_result")

    def __init__(self, visit: Visit, event_id: str, event: Event | None, lease_ms: int) -> None:
        self._ports = visit.ports
        self._caller = visit.caller
        self._event_id = event_id
        self._event = event
        self._lease_ms = lease_ms
        self._began = time.monotonic()
        self._result: Result | None = None

    @property
    def event_id(self) -> str:
        """By which the admission knows it."""
        return self._event_id

    def settle(self, *, reason: str = "", code: int | None = None, result_bytes: int | None = None) -> None:
        if self._event is not None:
            from cmsmcp.governance.audit import Result

            self._result = Result(reason, code, (time.monotonic() - self._began) * 1000, result_bytes)

    def keep(self) -> None:
        self._ports.overdue.add(self._event_id, self._renew, self._lease_ms / 1000)

    def _renew(self) -> None:
        try:
            self._ports.admission().renew((self._event_id,), self._lease_ms)
        except Unavailable:
            _log.warning("the permit of %s could not be renewed", self._event_id)

    def release(self) -> None:
        self._ports.overdue.drop(self._event_id)
        outcome = None
        if self._event is not None and self._result is not None:
            outcome = self._ports.records().outcome(self._caller, self._event, self._result)
        try:
            self._ports.admission().release(self._event_id, outcome)
        except Unavailable:
            # The lease frees the permit, and the intent without an outcome shows in the audit as unknown.
            _log.warning("release of %s could not be delivered", self._event_id)


def enter(visit: Visit, toll: Toll, event: Event | None = None, told: Callable[[Verdict], None] | None = None) -> Permit:
    """Admit the request or raise LimitRefused, TokenRevoked or Unavailable. `event` is for the audit; `told` gets the verdict."""
    caller, ports = visit.caller, visit.ports
    event_id = event.event_id if event is not None else new_event_id()
    lease_ms = int(toll.seconds * 1000) + LEASE_MARGIN_MS
    if toll.permit and not toll.stream and len(ports.overdue) >= ports.policy.max_concurrency:
        # The store may have forgotten their permits, but their threads are here, and more would come.
        refuse(visit, event or _unnamed(visit, event_id), reason="concurrency", code=CONCURRENCY_LIMITED)
        raise _refused("concurrency", 0)
    intent = _intent(visit, event_id, event) if ports.policy.audit else None
    refusal = ports.records().refused(intent) if intent is not None else None
    verdict = ports.admission().admit(
        Ask(
            event_id=event_id,
            client=caller.client,
            cost=toll.cost,
            permit=toll.permit,
            lease_ms=lease_ms,
            stream=toll.stream,
            token_id=caller.token_id,
            registered=caller.registered,
            intent=intent if toll.audited else None,
            refusal=refusal,
        )
    )
    if told is not None:
        told(verdict)
    if verdict.reason is not None:
        raise _refused(verdict.reason, verdict.retry_after_ms)
    return Permit(visit, event_id, event if toll.audited and ports.policy.audit else None, lease_ms)


def charge(visit: Visit, cost: int = 1) -> None:
    """Take the price of a request that is refused or answered without work, so that a flood of them is not free."""
    enter(visit, Toll(cost=cost, permit=False)).release()


def refuse(visit: Visit, event: Event, *, reason: str, code: int) -> None:
    """Write down a refusal that was decided here, not by the admission."""
    if visit.ports.policy.audit:
        visit.ports.admission().record(visit.ports.records().refusal(visit.caller, event, reason=reason, code=code))


def _intent(visit: Visit, event_id: str, event: Event | None) -> Mapping[str, str]:
    return visit.ports.records().intent(visit.caller, event or _unnamed(visit, event_id))


def _unnamed(visit: Visit, event_id: str) -> Event:
    """What is said of a request that records refusals alone."""
    from cmsmcp.governance.audit import Event

    return Event(event_id, visit.method)


def _refused(reason: str, retry_after_ms: int) -> LimitRefused | TokenRevoked:
    from cmsmcp.governance.limits import retry_seconds

    seconds = retry_seconds(retry_after_ms)
    if reason == "concurrency":
        return LimitRefused(f"Too many calls are running at once. Try again in {seconds} s.", code=CONCURRENCY_LIMITED, retry_after=seconds)
    if reason == "streams":
        return LimitRefused(f"Too many streams are open on this site. Try again in {seconds} s.", code=STREAMS_LIMITED, retry_after=seconds)
    if reason == "revoked":
        return TokenRevoked()
    return LimitRefused(f"The rate limit is used up. Try again in {seconds} s.", code=RATE_LIMITED, retry_after=seconds)
