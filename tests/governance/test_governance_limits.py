"""The rate limit, to the unit (F4, F45, C063; docs/rules.md, Limits)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cmsmcp.governance.limits import Debt, decide, retry_seconds
from cmsmcp.governance.policy import MAX_REQUESTS_PER_MINUTE, Policy, Rate

START = 1_790_000_000_123_456


def test_six_hundred_a_minute_with_a_burst_of_120_admits_720_in_the_first_minute() -> None:
    """F4: at most 720, to the unit, whoever hammers."""
    debt, admitted = Debt(), 0
    for step in range(60_000):
        decision = decide(Rate(), debt, START + step * 1000, 1)
        debt = decision.debt
        admitted += decision.allowed
    assert admitted == 719
    assert decide(Rate(), debt, START + 60_000_000, 1).allowed


rates = st.builds(Rate, st.integers(1, MAX_REQUESTS_PER_MINUTE) | st.sampled_from([1, 7, 600, 59_999_999, 60_000_000]), st.integers(1, 500))
steps = st.lists(st.tuples(st.integers(0, 5_000_000), st.integers(1, 4)), min_size=1, max_size=60)


@given(rates, steps)
def test_no_window_holds_more_than_the_burst_and_what_the_rate_gives_back(rate: Rate, steps: list[tuple[int, int]]) -> None:
    now, debt, taken = START, Debt(), []
    for wait, cost in steps:
        now += wait
        decision = decide(rate, debt, now, cost)
        debt = decision.debt
        assert 0 <= decision.remaining <= rate.burst
        assert debt.points < 2**53, "Lua knows only doubles"
        if decision.allowed:
            taken.append((now, cost))
    for index, (begin, _) in enumerate(taken):
        total = 0
        for end, cost in taken[index:]:
            total += cost
            assert total * 60_000_000 <= rate.burst * 60_000_000 + (end - begin) * rate.requests_per_minute


@given(rates, steps)
def test_waiting_as_told_is_enough_and_a_microsecond_less_is_not(rate: Rate, steps: list[tuple[int, int]]) -> None:
    """C063: waiting that long is enough."""
    now, debt = START, Debt()
    for wait, cost in steps:
        now += wait
        decision = decide(rate, debt, now, min(cost, rate.burst))
        debt = decision.debt
        if not decision.allowed:
            assert decide(rate, debt, now + decision.retry_after, min(cost, rate.burst)).allowed
            assert not decide(rate, debt, now + decision.retry_after - 1, min(cost, rate.burst)).allowed
        assert decide(rate, debt, now + decision.reset, rate.burst).allowed


@pytest.mark.parametrize("jump", [-3_600_000_000, -90_000_000, 3_600_000_000])
def test_a_clock_that_jumps_locks_nobody_out(jump: int) -> None:
    """docs/rules.md, Limits: a clock step at failover; C063 steps the time back by 90 s."""
    rate = Rate(60, 5)
    debt = Debt()
    for _ in range(5):
        debt = decide(rate, debt, START, 1).debt
    after = decide(rate, debt, START + jump, 1)
    assert after.allowed == (jump > 0)
    assert after.retry_after <= 1_000_000


def test_a_lowered_burst_binds_at_once_and_locks_nobody_out() -> None:
    debt = decide(Rate(60, 100), Debt(), START, 100).debt
    assert decide(Rate(60, 2), debt, START, 1).retry_after == 1_000_000


@pytest.mark.parametrize(("milliseconds", "seconds"), [(0, 1), (1, 1), (999, 1), (1000, 1), (1001, 2), (-5, 1), (60_000, 60)])
def test_retry_after_is_whole_seconds_of_at_least_one(milliseconds: int, seconds: int) -> None:
    """C063."""
    assert retry_seconds(milliseconds) == seconds


@pytest.mark.parametrize("numbers", [(0, 120), (60_000_001, 120), (600, 0), (True, 120), (600, 1.5), ("600", 120)])
def test_a_rate_out_of_bounds_is_refused(numbers: tuple) -> None:
    """F4: at most 60,000,000 per minute, at least 1; a wrong type is no number (C070)."""
    with pytest.raises(ValueError, match="must be a whole number from 1 to 60000000"):
        Rate(*numbers)


def test_a_cost_above_the_burst_is_refused_by_name() -> None:
    """docs/rules.md, Limits: its Retry-After would be never."""
    with pytest.raises(ValueError, match=r"costs\.search_content is 6, more than the burst of 5"):
        Rate(60, 5, {"search_content": 6})


def test_the_defaults_are_the_seeds() -> None:
    """F4, F46: 600 and 120, 16 at once, 8 MiB, off."""
    policy = Policy()
    assert (policy.rate.requests_per_minute, policy.rate.burst, policy.max_concurrency) == (600, 120, 16)
    assert (policy.enabled, policy.audit, policy.max_request_bytes) == (False, False, 8_388_608)
    assert policy.rate.cost("get_document") == 1
