"""Twenty thousand mutated messages at the whole service: nothing escapes, every reply is one (C002, C004). `make fuzz` does a million."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

MESSAGES = 20_000
AT_ONCE = 200
LEAST_PARSED = 0.3


@pytest.fixture(scope="module")
def modules() -> Iterator[tuple[ModuleType, ModuleType]]:
    """`mutations` and `target`, which `fuzz.py` imports as scripts do."""
    sys.path.insert(0, str(Path(__file__).parent))
    try:
        import mutations
        import target

        yield mutations, target
    finally:
        sys.path.pop(0)


def test_no_mutated_message_escapes_the_service(modules: tuple[ModuleType, ModuleType], caplog: pytest.LogCaptureFixture) -> None:
    """At least 30 % of them are JSON, and every method has answered."""
    mutations, target = modules
    aim = target.Target()

    @settings(max_examples=MESSAGES // AT_ONCE, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    @given(st.integers(0, 2**64))
    def throw(seed: int) -> None:
        for sent in mutations.messages(seed, AT_ONCE):
            aim.throw(sent)

    throw()
    assert aim.thrown >= MESSAGES
    assert aim.parsed >= LEAST_PARSED * aim.thrown
    assert aim.unreached() == set()
    assert not [record for record in caplog.records if record.exc_info]
