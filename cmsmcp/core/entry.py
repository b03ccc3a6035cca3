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
from cmsmcp.protocol.errors import CONCURRENCY_LIMITED, REFUSED_BY_THE_STORE, LimitRefused, TokenRevoked, Unavailable

if TYPE_CHECKING:
    from cmsmcp.governance.audit import Event, Result
    from cmsmcp.governance.policy import Policy

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

    __slots__ = ("ask", "_ports", "_caller", "_event", "_began", "_result")

    def __init__(self, visit: Visit, ask: Ask, event: Event | None) -> None:
        self.ask = ask
        self._ports = visit.ports
        self._caller = visit.caller
        self._event = event
        self._began = time.monotonic()
        self._result: Result | None = None

    def settle(self, *, reason: str = "", code: int | None = None, result_bytes: int | None = None) -> None:
        if self._event is not None:
            from cmsmcp.governance.audit import Result

            self._result = Result(reason, code, (time.monotonic() - self._began) * 1000, result_bytes)

    def keep(self) -> None:
        self._ports.overdue.add(self.ask.event_id, self._renew, self.ask.lease_ms / 1000)

    def _renew(self) -> None:
        try:
            self._ports.admission().renew((self.ask,), self.ask.lease_ms)
        except Unavailable:
            _log.warning("the permit of %s could not be renewed", self.ask.event_id)

    def release(self) -> None:
        self._ports.overdue.drop(self.ask.event_id)
        outcome = None
        if self._event is not None and self._result is not None:
            outcome = self._ports.records().outcome(self._caller, self._event, self._result)
        try:
            self._ports.admission().release(self.ask, outcome)
        except Unavailable:
            # The lease frees the permit, and the intent without an outcome shows in the audit as unknown.
            _log.warning("release of %s could not be delivered", self.ask.event_id)


def enter(visit: Visit, toll: Toll, event: Event | None = None, told: Callable[[Verdict], None] | None = None) -> Permit:
    """Admit the request or raise LimitRefused, TokenRevoked or Unavailable. `event` is for the audit; `told` gets the verdict."""
    caller, ports = visit.caller, visit.ports
    event_id = event.event_id if event is not None else new_event_id()
    lease_ms = int(toll.seconds * 1000) + LEASE_MARGIN_MS
    if toll.permit and not toll.stream and len(ports.overdue) >= ports.policy.max_concurrency:
        # The store may have forgotten their permits, but their threads are here, and more would come.
        refuse(visit, event or _unnamed(visit, event_id), reason="concurrency", code=CONCURRENCY_LIMITED)
        raise _refused(Verdict("concurrency"), ports.policy)
    intent = _intent(visit, event_id, event) if ports.policy.audit else None
    refusal = ports.records().refused(intent) if intent is not None else None
    ask = Ask(
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
    verdict = ports.admission().admit(ask)
    if told is not None:
        told(verdict)
    if verdict.reason is not None:
        raise _refused(verdict, ports.policy)
    return Permit(visit, ask, event if toll.audited and ports.policy.audit else None)


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


def _refused(verdict: Verdict, policy: Policy) -> LimitRefused | TokenRevoked:
    """Whose limit it is decides what helps: waiting for one's own calls, or for those of others."""
    from cmsmcp.governance.limits import retry_seconds

    if verdict.reason == "revoked":
        return TokenRevoked()
    said = {
        "rate": "The rate limit of this client is used up.",
        "concurrency": f"This site has {policy.max_concurrency} calls of all its clients running, the most that it may have.",
        "streams": "Too many streams are open on this site.",
    }[verdict.reason or ""]
    if verdict.own:
        said = f"This client has {policy.max_concurrency_per_client} calls running, the most that one client may have."
    seconds = retry_seconds(verdict.retry_after_ms)
    return LimitRefused(f"{said} Try again in {seconds} s.", code=REFUSED_BY_THE_STORE[verdict.reason or ""], retry_after=seconds)
