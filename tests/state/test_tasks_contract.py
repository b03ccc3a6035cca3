"""Tasks, in memory and in Redis alike: what a record goes through, and what nothing may change any more."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from cmsmcp.core.tasks.ports import (
    CANCELLED,
    COMPLETED,
    ENDS,
    FAILED,
    INPUT_REQUIRED,
    MAX_PER_CLIENT,
    WORKING,
    Task,
    TaskStore,
)
from cmsmcp.state.memory.tasks import MemoryTasks
from cmsmcp.state.redis.client import Client
from cmsmcp.state.redis.tasks import RedisTasks

MOMENT_MS = 60
"""The silence of a store that is made to lose its processes quickly."""
Maker = Callable[..., TaskStore]


@pytest.fixture(params=["memory", "redis"])
def make(request: pytest.FixtureRequest, site: str) -> Maker:
    """Each call opens the same tasks again, as another process would; of memory there is one."""
    if request.param == "redis":
        client: Client = request.getfixturevalue("client")
        return lambda **options: RedisTasks(client, site, **options)
    kept: dict[str, MemoryTasks] = {}
    return lambda **options: kept.setdefault(str(options), MemoryTasks(**options))


def new(owner: str = "token:a", ttl_ms: int = 60_000) -> Task:
    return Task(uuid.uuid4().hex, owner, "slow", ("read:ops",), ttl_ms, 500)


def created(store: TaskStore, **how: Any) -> str:
    task = new(**how)
    assert store.create(task, 1000) is None
    return task.id


def seen(store: TaskStore, id: str) -> Task:
    task = store.read(id)
    assert task is not None
    return task


def gone(store: TaskStore, id: str) -> bool:
    end = time.monotonic() + 60
    while time.monotonic() < end:
        if store.read(id) is None:
            return True
    return False


def ended(store: TaskStore, id: str) -> str:
    end = time.monotonic() + 60
    while time.monotonic() < end and seen(store, id).status not in ENDS:
        pass
    return seen(store, id).status


def test_a_task_is_read_as_it_was_made_wherever_it_is_read(make: Maker) -> None:
    """TK-02."""
    store = make()
    task = new(owner="issuer:ü#Jo Doe")
    assert store.create(task, 1) is None
    found = seen(make(), task.id)
    assert (found.owner, found.name, found.scopes, found.ttl_ms, found.poll_ms) == ("issuer:ü#Jo Doe", "slow", ("read:ops",), 60_000, 500)
    assert (found.status, found.message, found.requests, found.result, found.error) == (WORKING, "", {}, None, None)
    assert found.created == found.updated
    assert abs(found.created - time.time() * 1000) < 60_000


def test_an_unknown_task_is_nothing_and_changes_nothing(make: Maker) -> None:
    """TK-05."""
    store = make()
    assert (store.read("x"), store.beat("x"), store.note("x", "m"), store.ask("x", {"k": b"1"})) == (None, None, False, False)
    assert (store.answer("x", {"k": b"1"}), store.answers("x"), store.end("x", FAILED)) == (False, {}, False)
    assert store.read("x") is None


def test_a_question_waits_until_it_is_answered_and_its_key_is_spent(make: Maker) -> None:
    """TK-03, TK-04: answers may come in parts, those to nothing are ignored, a key is never used twice."""
    store = make()
    id = created(store)
    assert store.ask(id, {"a-1": b'{"q":1}', "b-1": b'{"q":2}'})
    assert (seen(store, id).status, seen(store, id).requests) == (INPUT_REQUIRED, {"a-1": b'{"q":1}', "b-1": b'{"q":2}'})
    assert not store.ask(id, {"c-1": b"{}", "a-1": b"{}"})
    assert not store.answer(id, {"never": b"0"})
    assert store.answer(id, {"a-1": b"1", "never": b"0"})
    assert (seen(store, id).status, seen(store, id).requests) == (INPUT_REQUIRED, {"b-1": b'{"q":2}'})
    assert not store.answer(id, {"a-1": b"other"})
    assert store.answer(id, {"b-1": b"2"})
    assert (seen(store, id).status, seen(store, id).requests) == (WORKING, {})
    assert store.answers(id) == {"a-1": b"1", "b-1": b"2"}
    assert not store.ask(id, {"a-1": b"{}"})
    assert store.ask(id, {"a-2": b"{}"})


@pytest.mark.parametrize(
    ("status", "how"),
    [(COMPLETED, {"result": b'{"content":[]}'}), (FAILED, {"error": b'{"code":1}'}), (CANCELLED, {}), (FAILED, {"message": "why"})],
)
def test_an_end_is_final(make: Maker, status: str, how: dict[str, Any]) -> None:
    """TK-03: the first end stays, whatever comes after it."""
    store = make()
    id = created(store)
    store.ask(id, {"a": b"{}"})
    assert store.end(id, status, **how)
    first = seen(store, id)
    assert (first.status, first.requests) == (status, {})
    assert (first.result, first.error, first.message) == (how.get("result"), how.get("error"), how.get("message", ""))
    for other in ENDS:
        assert not store.end(id, other, result=b"{}", error=b"{}")
    assert (store.note(id, "m"), store.ask(id, {"b": b"{}"}), store.answer(id, {"a": b"1"}), store.answers(id)) == (False, False, False, {})
    assert store.beat(id) == status
    assert seen(store, id) == first


def test_a_note_is_the_message_of_a_task_at_work(make: Maker) -> None:
    store = make()
    id = created(store)
    assert store.note(id, "half of it")
    assert seen(store, id).message == "half of it"
    store.ask(id, {"a": b"{}"})
    assert not store.note(id, "more")


def test_a_record_goes_when_its_time_is_over(make: Maker) -> None:
    """TK-05: ttlMs counts from the creation, for tasks that run and for those that ended."""
    store = make()
    running, over = created(store, ttl_ms=100), created(store, ttl_ms=100)
    store.end(over, COMPLETED, result=b"{}")
    assert gone(store, running)
    assert gone(store, over)


def test_a_task_whose_process_is_silent_has_failed(make: Maker) -> None:
    """Whoever looks sees it; the process, should it live after all, is told and changes nothing."""
    store = make(silence_ms=MOMENT_MS)
    id = created(store)
    assert ended(store, id) == FAILED
    assert (seen(store, id).error, seen(store, id).result) == (None, None)
    assert store.beat(id) == FAILED
    assert not store.end(id, COMPLETED, result=b"{}")


def test_a_task_that_is_kept_alive_goes_on(make: Maker) -> None:
    store = make(silence_ms=MOMENT_MS * 5)
    id = created(store)
    end = time.monotonic() + MOMENT_MS * 15 / 1000
    while time.monotonic() < end:
        assert store.beat(id) == WORKING
    assert seen(store, id).status == WORKING


def test_what_is_kept_is_bounded_for_each_client(make: Maker) -> None:
    """docs/rules.md, Tasks."""
    store = make()
    for _ in range(MAX_PER_CLIENT):
        created(store, owner="token:many")
    assert store.create(new(owner="token:many"), 1000) == "client"
    assert store.create(new(owner="token:other"), 1000) is None


def test_what_runs_is_bounded_and_an_end_makes_room(make: Maker) -> None:
    store = make()
    first = new()
    assert store.create(first, 1) is None
    refused = new()
    assert store.create(refused, 1) == "running"
    assert store.read(refused.id) is None
    store.end(first.id, COMPLETED)
    assert store.create(new(), 1) is None


def test_the_dead_make_room_too(make: Maker) -> None:
    store = make(silence_ms=MOMENT_MS)
    assert store.create(new(), 1) is None
    end = time.monotonic() + 60
    while (full := store.create(new(), 1)) is not None and time.monotonic() < end:
        pass
    assert full is None


KEYS = st.sampled_from(["a", "b", "c", "d"])


class Life(RuleBasedStateMachine):
    """Any order of steps, by anybody: an end never changes, and no key is a question twice (TK-03, TK-04)."""

    def __init__(self) -> None:
        super().__init__()
        self.store = MemoryTasks()
        self.id = created(self.store)
        self.end: Task | None = None
        self.outstanding: set[str] = set()
        self.spent: set[str] = set()

    @rule(keys=st.sets(KEYS, min_size=1))
    def ask(self, keys: set[str]) -> None:
        taken = self.store.ask(self.id, dict.fromkeys(keys, b"{}"))
        assert taken == (self.end is None and not keys & (self.outstanding | self.spent))
        if taken:
            self.outstanding |= keys

    @rule(keys=st.sets(KEYS), value=st.binary(max_size=3))
    def answer(self, keys: set[str], value: bytes) -> None:
        before = self.store.answers(self.id)
        taken = self.store.answer(self.id, dict.fromkeys(keys, value))
        assert taken == (self.end is None and bool(keys & self.outstanding))
        if self.end is None:
            self.spent |= keys & self.outstanding
            self.outstanding -= keys
            assert before.items() <= self.store.answers(self.id).items()

    @rule(status=st.sampled_from(sorted(ENDS)))
    def finish(self, status: str) -> None:
        assert self.store.end(self.id, status, result=b"{}") == (self.end is None)
        self.end = self.end or self.store.read(self.id)

    @rule(text=st.text(max_size=3))
    def note(self, text: str) -> None:
        self.store.note(self.id, text)

    @invariant()
    def the_record_says_so(self) -> None:
        task = seen(self.store, self.id)
        if self.end is not None:
            assert task == self.end
        else:
            assert set(task.requests) == self.outstanding
            assert task.status == (INPUT_REQUIRED if self.outstanding else WORKING)


def test_any_order_of_steps_over_redis_too(client: Client) -> None:
    """The same life, in Redis; each on a site of its own, so that none waits for room."""

    class RedisLife(Life):
        def __init__(self) -> None:
            super().__init__()
            self.store = RedisTasks(client, uuid.uuid4().hex)  # type: ignore[assignment]
            self.id = created(self.store)

    from hypothesis.stateful import run_state_machine_as_test

    run_state_machine_as_test(RedisLife, settings=settings(max_examples=25, stateful_step_count=12, deadline=None))


TestLife = Life.TestCase
TestLife.settings = settings(max_examples=60, stateful_step_count=20, deadline=None)
