"""The killable child (cmsmcp.runner): work that looks at nothing is ended at its deadline, and nothing of it stays."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from cmsmcp.core.deadline import Cancelled, Deadline
from cmsmcp.protocol.errors import TimedOut, Unavailable, WorkLost
from cmsmcp.runner.pool import Pool
from tests.waiting import until

ROOT = Path(__file__).resolve().parents[2]
ENTRY = "tests.runner.tasks:prepare"


def new_pool(**options: Any) -> Pool:
    return Pool(ENTRY, ["a", "b"], {}, **options)


@pytest.fixture
def pool() -> Iterator[Pool]:
    made = new_pool(size=1)
    yield made
    made.close()


def is_there(pid: int) -> bool:
    """A zombie is not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def pid_of(pool: Pool) -> int:
    return int(pool.run(b"pid", Deadline(60)))


def test_a_task_is_answered_by_what_its_entry_made_and_tells_of_it_meanwhile(pool: Pool) -> None:
    said: list[bytes] = []
    assert pool.run(b"say !", Deadline(60), said.append) == b"a b!"
    assert said == [b"0", b"1", b"2"]


def test_a_child_does_one_task_after_the_other(pool: Pool) -> None:
    assert pid_of(pool) == pid_of(pool)


def test_work_that_looks_at_nothing_is_killed_at_its_deadline_and_replaced(pool: Pool) -> None:
    first = pid_of(pool)
    with pytest.raises(TimedOut):
        pool.run(b"spin", Deadline(0.3))
    until(lambda: not is_there(first))
    assert pid_of(pool) != first


def test_waiting_for_a_free_child_counts_against_the_deadline(pool: Pool) -> None:
    pool.run(b"pid", Deadline(60))
    busy = threading.Thread(target=pool.run, args=(b"nap 3", Deadline(60)))
    busy.start()
    until(lambda: not pool._idle)
    with pytest.raises(TimedOut):
        pool.run(b"pid", Deadline(0.2))
    assert busy.is_alive()
    busy.join()


def test_who_waits_has_a_child_when_one_is_free(pool: Pool) -> None:
    answers: list[bytes] = []
    threads = [threading.Thread(target=lambda: answers.append(pool.run(b"nap 0.1", Deadline(60)))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == [b"a b0.1"] * 4


def test_a_call_that_is_withdrawn_ends_its_work(pool: Pool) -> None:
    """Whether it is at work or still waits for a child."""
    pid = pid_of(pool)
    first, second = Deadline(60), Deadline(60)
    raised: list[BaseException] = []

    def run(deadline: Deadline) -> None:
        try:
            pool.run(b"spin", deadline, lambda _said: spinning.set())
        except Cancelled as error:
            raised.append(error)

    spinning = threading.Event()
    threads = [threading.Thread(target=run, args=(first,))]
    threads[0].start()
    assert spinning.wait(60)
    threads.append(threading.Thread(target=run, args=(second,)))
    threads[1].start()
    for deadline in (second, first):
        deadline.cancel()
    for thread in threads:
        thread.join(60)
    assert len(raised) == 2
    until(lambda: not is_there(pid))


def test_a_child_has_so_much_memory_and_no_more(pool: Pool) -> None:
    small = new_pool(size=1, memory=200 << 20)
    try:
        assert small.run(b"take 1000000", Deadline(60)) == b"1000000"
        with pytest.raises(WorkLost, match="200 MiB"):
            small.run(b"take 300000000", Deadline(60))
        assert small.run(b"say", Deadline(60)) == b"a b"
    finally:
        small.close()


def test_a_child_that_has_grown_is_replaced(pool: Pool) -> None:
    small = new_pool(size=1, memory=200 << 20)
    try:
        first = pid_of(small)
        assert small.run(b"take 150000000", Deadline(60)) == b"150000000"
        assert pid_of(small) != first
    finally:
        small.close()


def test_a_child_that_ends_by_itself_is_told_of_and_replaced(pool: Pool) -> None:
    with pytest.raises(WorkLost):
        pool.run(b"die", Deadline(60))
    assert pool.run(b"say", Deadline(60)) == b"a b"


def test_an_idle_child_that_somebody_kills_costs_no_call(pool: Pool) -> None:
    pid = pid_of(pool)
    os.kill(pid, signal.SIGKILL)
    until(lambda: not is_there(pid))
    assert pid_of(pool) != pid


def test_a_template_that_somebody_kills_is_started_again(pool: Pool) -> None:
    pid = pid_of(pool)
    for one in (os.getpgid(pid), pid):
        os.kill(one, signal.SIGKILL)
    until(lambda: not is_there(pid))
    assert pid_of(pool) != pid


def test_a_child_holds_no_file_of_its_parent(pool: Pool) -> None:
    """Listening sockets and connections would outlive the worker that has them. One of the files is the folder that is read."""
    with open(os.devnull) as file:  # noqa: PTH123
        os.set_inheritable(file.fileno(), True)
        found = [int(name) for name in pool.run(b"files", Deadline(60)).split()]
    assert len(found) == 6, found


def test_a_closed_pool_starts_nothing(pool: Pool) -> None:
    pid = pid_of(pool)
    pool.close()
    until(lambda: not is_there(pid))
    with pytest.raises(Unavailable):
        pool.run(b"pid", Deadline(60))


PARENT = """
import sys, threading
from cmsmcp.core.deadline import Deadline
from cmsmcp.runner.pool import Pool
pool = Pool("tests.runner.tasks:prepare", [], {}, size=2)
def spin(): pool.run(b"spin", Deadline(60), lambda said: told.set())
told = threading.Event()
threading.Thread(target=spin).start()
assert told.wait(60)
print(int(pool.run(b"pid", Deadline(60))), flush=True)
sys.stdin.read()
"""


def test_no_child_outlives_its_parent_not_even_a_killed_one() -> None:
    """The idle one, the one at work, and what they were forked from: a group of their own, so that it can be looked for."""
    with subprocess.Popen([sys.executable, "-c", PARENT], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as parent:
        assert parent.stdout is not None
        group = os.getpgid(int(parent.stdout.readline()))
        assert len(members(group)) == 3
        parent.kill()
    until(lambda: not members(group))


def members(group: int) -> list[int]:
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, _, of = path.read_text().rpartition(")")[2].split()[:3]
        except OSError:
            continue
        if int(of) == group and state != "Z":
            found.append(int(path.parent.name))
    return found


GREENLETS = """
from gevent import monkey; monkey.patch_all()
import gevent
from cmsmcp.core.deadline import Deadline
from cmsmcp.protocol.errors import TimedOut
from cmsmcp.runner.pool import Pool
pool = Pool("tests.runner.tasks:prepare", ["a"], {}, size=1)
turns = 0
def others():
    global turns
    while True:
        turns += 1
        gevent.sleep(0.01)
gevent.spawn(others)
assert pool.run(b"say", Deadline(60)) == b"a"
before = turns
try:
    pool.run(b"spin", Deadline(1.0))
except TimedOut:
    print(turns - before, pool.run(b"take 5000000", Deadline(60)).decode())
pool.close()
"""


def test_under_greenlets_the_others_go_on_while_a_child_computes() -> None:
    done = subprocess.run([sys.executable, "-c", GREENLETS], cwd=ROOT, capture_output=True, text=True, timeout=100, check=True)
    turns, answer = done.stdout.split()
    assert int(turns) >= 5 and answer == "5000000"
