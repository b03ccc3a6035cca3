"""How long streams stay: leases, outages, revocation (docs/rules.md: S-07; Governance order)."""

from __future__ import annotations

import dataclasses
import time

import pytest

from cmsmcp.core import tenure
from cmsmcp.protocol.errors import Unavailable


@pytest.fixture
def p(place):
    return place(max_streams=2)


def tenure_of(p) -> tenure.Tenure:
    return p.services[0].ports.shared().feed._tenure


def test_all_permits_of_a_process_are_renewed_together_and_in_time(p, monkeypatch) -> None:
    """A killed process gives its places back within the lease; one that lives keeps them."""
    renewed = []
    monkeypatch.setattr(p.admission, "renew", lambda asks, lease_ms: renewed.append((sorted(ask.event_id for ask in asks), lease_ms)))
    heard = [p.listen({}, id=number) for number in range(2)]
    events = sorted(record["event"] for record in p.audit.of("intent", "subscriptions/listen"))
    now = time.monotonic()
    tenure_of(p).look(now)
    assert renewed == []
    tenure_of(p).look(now + tenure.RENEW_SECONDS + 1)
    assert renewed == [(events, int(tenure.LEASE_SECONDS * 1000))]
    assert tenure.RENEW_SECONDS * 2 < tenure.LEASE_SECONDS, "one renewal may fail"
    heard[0].stream.close()
    tenure_of(p).look(now + 2 * tenure.RENEW_SECONDS + 2)
    assert renewed[-1][0] == sorted(set(events) - {p.audit.of("outcome", "subscriptions/listen")[0]["event"]})


def test_the_lease_asked_for_is_that_which_is_renewed(p, monkeypatch) -> None:
    asks = []
    admit = p.admission.admit
    monkeypatch.setattr(p.admission, "admit", lambda ask: asks.append(ask) or admit(ask))
    p.listen({})
    (ask,) = asks
    assert (ask.cost, ask.permit, ask.stream) == (1, True, True)
    assert ask.lease_ms >= tenure.LEASE_SECONDS * 1000


def test_streams_outlive_a_short_outage_and_end_after_a_long_one(p, monkeypatch) -> None:
    """Fail closed: a permit that lapsed may be somebody else's, and who was revoked is not known."""

    def gone(ids, lease_ms):
        raise Unavailable("gone")

    heard = p.listen({})
    heard.await_acknowledged()
    now = time.monotonic()
    with monkeypatch.context() as patch:
        patch.setattr(p.admission, "renew", gone)
        tenure_of(p).look(now + tenure.LEASE_SECONDS - 1)
        assert heard.take() == []
        tenure_of(p).look(now + tenure.LEASE_SECONDS + tenure.RETRY_SECONDS)
    assert heard.await_one()["result"]
    heard.stream.close()
    assert p.audit.of("outcome", "subscriptions/listen")[0]["reason"] == "unavailable"


def test_a_revoked_token_is_found_at_the_next_renewal_whatever_the_bus_did(p) -> None:
    mine = p.listen({}, caller=dataclasses.replace(p.caller, token_id="t1"), id=1)
    other = p.listen({}, caller=dataclasses.replace(p.caller, token_id="t2"), id=2)
    mine.await_acknowledged(), other.await_acknowledged()
    p.revoked.add("t1")
    tenure_of(p).look(time.monotonic() + tenure.RENEW_SECONDS + 1)
    assert mine.await_one()["result"]
    assert other.take() == []


def test_a_doubt_that_comes_while_permits_are_renewed_is_not_lost(p, monkeypatch) -> None:
    """S-07: whoever was asked about before it may have been revoked since."""
    heard = p.listen({})
    heard.await_acknowledged()
    looks = tenure_of(p)
    renewals = []

    def renew(ids, lease_ms):
        renewals.append(ids)
        if len(renewals) == 1:
            looks.doubt()

    monkeypatch.setattr(p.admission, "renew", renew)
    later = time.monotonic() + tenure.RENEW_SECONDS + 1
    looks.look(later)
    looks.look(later)
    assert len(renewals) >= 2


def test_a_stream_for_which_there_is_no_thread_is_refused_and_the_next_one_is_looked_after(p, monkeypatch, until) -> None:
    """S-07: else nobody would end the streams of this process, nor renew them."""
    feed = p.services[0].ports.shared().feed

    def none_left(thread):
        raise RuntimeError("can't start new thread")

    with monkeypatch.context() as patch:
        patch.setattr(tenure.threading.Thread, "start", none_left)
        assert p.refused({})["code"] == -32603
    assert feed.subscribers() == []
    heard = p.listen({}, id=2)
    heard.await_acknowledged()
    assert feed.subscribers()
    [outcome] = p.audit.of("outcome", "subscriptions/listen")
    assert (outcome["reason"], outcome["code"]) == ("error", "-32603"), "docs/audit.md: the code that the caller got"
    heard.stream.close()
    tenure_of(p).doubt()
    until(lambda: not tenure_of(p)._is_running)


def test_the_threads_of_a_process_without_streams_are_gone(p, until) -> None:
    feed = p.services[0].ports.shared().feed
    heard = p.listen({"toolsListChanged": True})
    heard.await_acknowledged()
    p.change(lists=("tools",))
    heard.await_one()
    assert feed._is_running and feed._tenure._is_running
    heard.stream.close()
    tenure_of(p).doubt()
    until(lambda: not feed._is_running and not feed._tenure._is_running)
    again = p.listen({"toolsListChanged": True}, id=2)
    again.await_acknowledged()
    p.change(lists=("tools",))
    assert again.await_one()["method"] == "notifications/tools/list_changed"
