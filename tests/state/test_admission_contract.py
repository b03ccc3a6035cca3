"""One contract for both adapters of `core.ports.Admission` (F45, C063): memory, and a real Redis on its own clock.

Rates are chosen so that the seconds a test takes cannot change its counts: 1 per minute, or 60,000,000 where rate is not the point.
"""

from __future__ import annotations

import time
import uuid
from concurrent.futures import ThreadPoolExecutor
from typing import Protocol

import pytest

from cmsmcp.core.ports import Admission, Ask, Verdict
from cmsmcp.governance.policy import Policy, Rate
from cmsmcp.protocol.errors import Unavailable
from cmsmcp.state.memory.admission import MemoryAdmission
from cmsmcp.state.redis.admission import RedisAdmission
from cmsmcp.state.redis.client import Client
from cmsmcp.state.redis.keys import Keys
from cmsmcp.state.redis.tokens import RedisTokens, TokenRecord
from tests.waiting import until

SLOW = Rate(1, 3)
FAST = Rate(60_000_000, 60_000_000)


class Place(Protocol):
    """What a test needs beside the port: a policy's admission, what was recorded, and a way to revoke."""

    def admission(self, policy: Policy) -> Admission: ...
    def records(self) -> list[dict[str, str]]: ...
    def register(self, jti: str) -> None: ...
    def revoke(self, jti: str) -> None: ...
    def forget(self) -> None:
        """Lose everything, as a store that was emptied."""
        ...


class InMemory:
    def __init__(self) -> None:
        self._kept: list[dict[str, str]] = []
        self._issued: set[str] = set()
        self._revoked: set[str] = set()
        self.full = False

    def append(self, record: dict[str, str]) -> None:
        if self.full:
            raise OSError(28, "No space left on device")
        self._kept.append(dict(record))

    def admission(self, policy: Policy) -> Admission:
        return MemoryAdmission(policy, self, issued=self._issued, revoked=self._revoked)  # type: ignore[arg-type]

    def records(self) -> list[dict[str, str]]:
        return self._kept

    def register(self, jti: str) -> None:
        self._issued.add(jti)

    def revoke(self, jti: str) -> None:
        self._revoked.add(jti)

    def forget(self) -> None:
        self._issued.clear()
        self._revoked.clear()


class OnRedis:
    def __init__(self, client: Client, site: str) -> None:
        self._client, self._site = client, site

    def admission(self, policy: Policy) -> Admission:
        return RedisAdmission(self._client, policy, self._site)

    def records(self) -> list[dict[str, str]]:
        self._client.settle()
        entries = self._client.call("XRANGE", Keys(self._site).audit, "-", "+")
        return [{fields[i].decode(): fields[i + 1].decode() for i in range(0, len(fields), 2)} for _, fields in entries]

    def register(self, jti: str) -> None:
        now = int(time.time())
        RedisTokens(self._client, self._site).register(TokenRecord(jti, "t", "mcp-server", "read:content", now, now + 60))

    def revoke(self, jti: str) -> None:
        RedisTokens(self._client, self._site).revoke(jti)

    def forget(self) -> None:
        for key in self._client.call("KEYS", Keys(self._site).audit.removesuffix("audit") + "*"):
            self._client.call("DEL", key)


@pytest.fixture(params=["memory", "redis"])
def place(request: pytest.FixtureRequest) -> Place:
    if request.param == "memory":
        return InMemory()
    return OnRedis(request.getfixturevalue("client"), request.getfixturevalue("site"))


def ask(client: str = "c", *, cost: int = 1, permit: bool = False, lease_ms: int = 60_000, **more: object) -> Ask:
    return Ask(str(more.pop("event_id", uuid.uuid4().hex)), client, cost, permit, lease_ms, **more)  # type: ignore[arg-type]


def reasons(admission: Admission, asks: list[Ask]) -> list[str | None]:
    return [admission.admit(each).reason for each in asks]


def test_the_burst_is_admitted_and_then_no_more(place: Place) -> None:
    """F45: rejected, never queued; the hint is whole and sufficient."""
    admission = place.admission(Policy(rate=SLOW))
    verdicts = [admission.admit(ask()) for _ in range(5)]
    assert [verdict.reason for verdict in verdicts] == [None, None, None, "rate", "rate"]
    assert [verdict.remaining for verdict in verdicts] == [2, 1, 0, 0, 0]
    assert 50_000 < verdicts[3].retry_after_ms <= 60_000
    now_ms = time.time() * 1000
    assert now_ms + 170_000 < verdicts[3].reset_ms <= now_ms + 180_001


def test_clients_do_not_share_a_rate(place: Place) -> None:
    admission = place.admission(Policy(rate=SLOW))
    assert reasons(admission, [ask("a") for _ in range(4)]) == [None, None, None, "rate"]
    assert reasons(admission, [ask("b"), ask("{x}\r\n \u2028" * 50), ask("ä" * 1000)]) == [None, None, None]


def test_a_cost_counts_for_its_units(place: Place) -> None:
    admission = place.admission(Policy(rate=SLOW))
    assert reasons(admission, [ask(cost=2), ask(cost=2), ask(cost=1), ask(cost=1), ask(cost=0)]) == [None, "rate", None, "rate", None]


def test_waiting_as_told_is_enough(place: Place) -> None:
    """C063, on the real clock: 600 a minute is one each 100 ms."""
    admission = place.admission(Policy(rate=Rate(600, 1)))
    assert admission.admit(ask()).reason is None
    refused = admission.admit(ask())
    assert 0 < refused.retry_after_ms <= 100
    time.sleep(refused.retry_after_ms / 1000)
    assert admission.admit(ask()).reason is None


def test_no_more_permits_than_the_cap_and_a_release_frees_one(place: Place) -> None:
    admission = place.admission(Policy(rate=FAST, max_concurrency=2))
    first = ask(permit=True)
    assert reasons(admission, [first, ask(permit=True), ask(permit=True)]) == [None, None, "concurrency"]
    assert admission.admit(ask(permit=False)).reason is None, "what needs no permit is not held up"
    admission.release(first, None)
    assert reasons(admission, [ask(permit=True), ask(permit=True)]) == [None, "concurrency"]


def test_one_client_gets_no_more_than_its_share_and_the_others_the_rest(place: Place) -> None:
    """docs/rules.md, Limits: whoever holds its share is told that it is its own; the site's cap holds for all together."""
    admission = place.admission(Policy(rate=FAST, max_concurrency=4, max_concurrency_per_client=3))
    mine = [ask("a", permit=True) for _ in range(3)]
    assert reasons(admission, mine) == [None] * 3
    refused = admission.admit(ask("a", permit=True, refusal={"event": "r"}))
    assert (refused.reason, refused.own, refused.retry_after_ms) == ("concurrency", True, 1000)
    assert place.records() == [{"event": "r", "reason": "concurrency", "code": "4291"}]
    assert admission.admit(ask("b", permit=True)).reason is None
    refused = admission.admit(ask("c", permit=True))
    assert (refused.reason, refused.own) == ("concurrency", False), "this one has none at all"
    assert admission.admit(ask("a", permit=True)).own, "both caps are reached: its own is the one that it can do something about"
    assert reasons(admission, [ask("a", permit=False), ask("a", permit=True, stream=True), mine[0]]) == [None] * 3
    for _ in range(3):
        admission.release(mine[0], None)
    assert reasons(admission, [ask("a", permit=True), ask("a", permit=True)]) == [None, "concurrency"]


def test_a_share_is_counted_for_all_doors_of_a_client(place: Place) -> None:
    """docs/rules.md, Limits: /api has a rate of its own, and the same permits."""
    doors = [place.admission(Policy(rate=rate, max_concurrency=4, max_concurrency_per_client=2)) for rate in (FAST, SLOW)]
    if isinstance(place, OnRedis):
        assert [door.admit(ask("a", permit=True)).reason for door in (*doors, *doors)] == [None, None, "concurrency", "concurrency"]
    for door in doors:
        assert door.admit(ask("b", permit=True)).own is False


def test_a_share_lapses_is_renewed_and_let_go_together_with_the_permit(place: Place) -> None:
    """docs/rules.md, Governance order: leased; what lapses for the site lapses for the client."""
    admission = place.admission(Policy(rate=FAST, max_concurrency=3, max_concurrency_per_client=2))
    dead, alive = ask("a", permit=True, lease_ms=300), ask("a", permit=True, lease_ms=300)
    assert reasons(admission, [dead, alive, ask("a", permit=True)]) == [None, None, "concurrency"]
    admission.renew([alive], 60_000)
    until(lambda: admission.admit(ask("a", permit=True, lease_ms=60_000)).reason is None)
    assert admission.admit(ask("a", permit=True)).own
    admission.renew([dead], 60_000)
    assert admission.admit(ask("b", permit=True)).reason is None, "two of three are held: the dead one is not brought back"
    assert reasons(admission, [ask("b", permit=True)]) == ["concurrency"]
    admission.release(alive, None)
    assert admission.admit(ask("a", permit=True)).reason is None


def test_without_a_share_one_client_may_have_everything(place: Place) -> None:
    """`mcp.auth: none` and stdio know one client."""
    admission = place.admission(Policy(rate=FAST, max_concurrency=3))
    assert reasons(admission, [ask("a", permit=True) for _ in range(4)]) == [None] * 3 + ["concurrency"]
    assert not admission.admit(ask("a", permit=True)).own


def test_a_second_release_frees_nothing_twice(place: Place) -> None:
    """core.ports: calling it twice frees nothing twice."""
    admission = place.admission(Policy(rate=FAST, max_concurrency=2))
    first = ask(permit=True)
    assert reasons(admission, [first, ask(permit=True)]) == [None, None]
    for _ in range(3):
        admission.release(first, None)
    admission.release(ask(permit=True), None)
    assert reasons(admission, [ask(permit=True), ask(permit=True)]) == [None, "concurrency"]


def test_a_permit_whose_holder_died_lapses_with_its_lease(place: Place) -> None:
    """docs/rules.md, Governance order: leased; a killed worker leaks nothing."""
    admission = place.admission(Policy(rate=FAST, max_concurrency=1))
    assert reasons(admission, [ask(permit=True, lease_ms=200), ask(permit=True)]) == [None, "concurrency"]
    until(lambda: admission.admit(ask(permit=True)).reason is None)


def test_a_renewed_permit_is_held_for_the_new_lease(place: Place) -> None:
    """docs/rules.md, Governance order: a permit is held until the work has stopped, however late."""
    admission = place.admission(Policy(rate=FAST, max_concurrency=1))
    held = ask(permit=True, lease_ms=300)
    assert admission.admit(held).reason is None
    for lease_ms in (60_000, 100):
        admission.renew([held], lease_ms)
    end = time.monotonic() + 0.5
    while time.monotonic() < end:
        assert admission.admit(ask(permit=True)).reason == "concurrency", "a shorter lease takes nothing away"
        time.sleep(0.02)
    admission.release(held, None)
    assert admission.admit(ask(permit=True)).reason is None


def test_what_is_not_held_cannot_be_renewed(place: Place) -> None:
    """Nor does a renewal that comes after the release bring a permit back."""
    admission = place.admission(Policy(rate=FAST, max_concurrency=1))
    held = ask(permit=True)
    admission.admit(held)
    admission.release(held, None)
    admission.renew([held, ask(permit=True)], 60_000)
    admission.renew([], 60_000)
    assert admission.admit(ask(permit=True)).reason is None


def test_streams_have_a_cap_of_their_own(place: Place) -> None:
    """S-07: open streams keep no call from running, nor calls a stream from opening."""
    admission = place.admission(Policy(rate=FAST, max_concurrency=1, max_streams=2))
    first = ask(permit=True, stream=True)
    assert reasons(admission, [first, ask(permit=True), ask(permit=True, stream=True)]) == [None] * 3
    refused = {"event": "r", "phase": "refusal"}
    verdict = admission.admit(ask(permit=True, stream=True, refusal=refused))
    assert verdict.reason == "streams" and verdict.retry_after_ms >= 1000
    assert place.records() == [{**refused, "reason": "streams", "code": "5031"}]
    assert reasons(admission, [ask(permit=True), ask(permit=False, stream=True)]) == ["concurrency", None]
    for _ in range(2):
        admission.release(first, None)
    again = ask(permit=True, stream=True)
    assert reasons(admission, [again, again, ask(permit=True, stream=True)]) == [None, None, "streams"]
    assert place.admission(Policy(rate=FAST, max_streams=0)).admit(ask(permit=True, stream=True)).reason == "streams"


def test_many_streams_are_renewed_at_once_and_those_of_the_dead_lapse(place: Place) -> None:
    """S-07, docs/rules.md, Governance order: leased like calls."""
    admission = place.admission(Policy(rate=FAST, max_concurrency=1, max_streams=500))
    streams = [ask(permit=True, stream=True, lease_ms=400) for _ in range(500)]
    call = ask(permit=True, lease_ms=400)
    assert set(reasons(admission, [*streams, call])) == {None}
    admission.renew([call, *streams[1:]], 60_000)
    until(lambda: admission.admit(ask(permit=True, stream=True)).reason is None)
    assert reasons(admission, [ask(permit=True, stream=True), ask(permit=True)]) == ["streams", "concurrency"]


def test_a_short_lease_does_not_end_a_long_one(place: Place) -> None:
    admission = place.admission(Policy(rate=FAST, max_concurrency=2))
    assert reasons(admission, [ask(permit=True, lease_ms=60_000), ask(permit=True, lease_ms=50)]) == [None, None]
    until(lambda: admission.admit(ask(permit=True)).reason is None)
    assert admission.admit(ask(permit=True)).reason == "concurrency"


def test_the_same_event_asked_twice_is_admitted_once_and_charged_once(place: Place) -> None:
    admission = place.admission(Policy(rate=SLOW, max_concurrency=1))
    same = ask(permit=True, intent={"event": "e", "phase": "intent"})
    assert reasons(admission, [same, same, same, same]) == [None] * 4
    assert len(place.records()) == 1


def test_a_refusal_by_one_limit_charges_no_other(place: Place) -> None:
    """docs/rules.md, Limits: check all, then commit all."""
    admission = place.admission(Policy(rate=SLOW, max_concurrency=1))
    first = ask(permit=True)
    assert reasons(admission, [first, *(ask(permit=True) for _ in range(5))]) == [None] + ["concurrency"] * 5
    admission.release(first, None)
    assert reasons(admission, [ask(), ask(), ask(permit=True)]) == [None, None, "rate"]
    assert place.admission(Policy(rate=FAST, max_concurrency=1)).admit(ask("other", permit=True)).reason is None


def test_a_revoked_token_is_refused_whatever_else_holds(place: Place) -> None:
    """C061: with the next request."""
    admission = place.admission(Policy(rate=FAST))
    place.register("t1")
    assert admission.admit(ask(token_id="t1")).reason is None
    place.revoke("t1")
    refused = {"event": "r", "phase": "refusal"}
    assert admission.admit(ask(token_id="t1", permit=True, refusal=refused)).reason == "revoked"
    assert reasons(admission, [ask(token_id="t2"), ask()]) == [None, None]
    assert place.records() == [{**refused, "reason": "revoked", "code": "4010"}]


def test_a_token_of_ours_that_the_registry_has_lost_is_refused(place: Place) -> None:
    """Else an emptied store would give every revoked token its rights back. Tokens of other issuers are in no registry."""
    admission = place.admission(Policy(rate=FAST))
    for jti in ("kept", "revoked"):
        place.register(jti)
    place.revoke("revoked")
    both = [ask(token_id=jti, registered=True) for jti in ("kept", "revoked")]
    assert reasons(admission, both) == [None, "revoked"]
    place.forget()
    assert reasons(admission, [ask(token_id=jti, registered=True) for jti in ("kept", "revoked")]) == ["revoked"] * 2
    assert reasons(admission, [ask(token_id="external:1"), ask()]) == [None, None]


def test_intents_outcomes_and_refusals_are_recorded_in_order(place: Place) -> None:
    """docs/rules.md, Audit: intent with the admission, outcome with the release, a refusal with reason and code."""
    admission = place.admission(Policy(rate=SLOW, max_concurrency=1))
    intent, refusal = {"event": "1", "phase": "intent", "odd": "a\nb é {} 'x\""}, {"event": "2", "phase": "refusal"}
    held = ask(event_id="1", permit=True, intent=intent, refusal={"event": "1"})
    admission.admit(held)
    admission.admit(ask(event_id="2", permit=True, intent={"event": "2"}, refusal=refusal))
    admission.release(held, {"event": "1", "phase": "outcome"})
    by_core = {"event": "3", "phase": "refusal", "reason": "scope"}
    admission.record(by_core)
    admission.admit(ask())
    assert admission.admit(ask(event_id="4", cost=3, intent={"event": "4"}, refusal={"event": "4"})).reason == "rate"
    assert place.records() == [
        intent, {**refusal, "reason": "concurrency", "code": "4291"}, {"event": "1", "phase": "outcome"}, by_core,
        {"event": "4", "reason": "rate", "code": "4290"},
    ]


def test_threads_get_exactly_the_burst_and_never_more_than_the_cap(place: Place) -> None:
    admission = place.admission(Policy(rate=Rate(1, 100), max_concurrency=5))
    with ThreadPoolExecutor(8) as pool:
        admitted = list(pool.map(lambda _: admission.admit(ask(permit=False)).reason, range(300)))
        assert admitted.count(None) == 100
        held = list(pool.map(lambda number: admission.admit(ask(f"other {number}", permit=True)).reason, range(60)))
        assert held.count(None) == 5
        admission = place.admission(Policy(rate=FAST, max_concurrency=50, max_concurrency_per_client=7))
        held = list(pool.map(lambda number: admission.admit(ask(f"client {number % 3}", permit=True)).reason, range(90)))
        assert held.count(None) == 21


def test_a_full_audit_admits_nothing_and_holds_no_permit() -> None:
    """Fail closed: what cannot be recorded is not done (docs/rules.md, Governance order)."""
    full = InMemory()
    admission = full.admission(Policy(rate=SLOW, max_concurrency=1))
    full.full = True
    for _ in range(5):
        with pytest.raises(Unavailable, match="No space left"):
            admission.admit(ask(permit=True, intent={"event": "x"}))
    full.full = False
    assert admission.admit(ask(permit=True)) == Verdict(None, 0, 2, pytest.approx(time.time() * 1000 + 60_000, abs=2000))
