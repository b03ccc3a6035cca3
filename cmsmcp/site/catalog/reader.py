"""The catalog's reading side: a small pool of read-only connections, each borrowed for one question.

Works under threads and greenlets alike: nothing is kept per thread, and nobody waits for a connection (an empty pool opens
one more). A question is bounded by the call's deadline through SQLite's progress handler, because `sqlite3.interrupt` from a
timer never fires under gevent.
"""

from __future__ import annotations

import os
import sqlite3
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, NoReturn

from cmsmcp.core.deadline import Deadline, OverBudget
from cmsmcp.protocol.errors import Unavailable
from cmsmcp.site.catalog.writer import CATALOG_NAME

KEPT = 8
CHECK_EVERY = 0.2
"""Seconds a reader may believe what it read of `meta` last."""
_OPCODES = 20_000
"""SQLite instructions between two looks at the deadline: well under a millisecond."""
_OPCODES_COST = 4 * 1024
"""Of so many, in bytes of text (`Deadline.spend`): a process that answers others spends some 40 ms on one call's questions."""

_MAPPED = 1 << 30
_ASK_EVERY = 60.0

REBUILD_MARK = "rebuild"
"""A file of this name in the folder asks the writer, whichever process that is, to begin the catalog anew."""


class Snapshot:
    """What a reader answers within one transaction. `asked` counts the questions."""

    def __init__(self, connection: sqlite3.Connection, deadline: Deadline | None = None) -> None:
        self._connection = connection
        self._deadline = deadline
        self.asked = 0

    def rows(self, sql: str, parameters: Mapping[str, Any] | Sequence[Any] = ()) -> list[Any]:
        """Every row of one question, as tuples."""
        self.asked += 1
        return self._connection.execute(sql, parameters).fetchall()

    def row(self, sql: str, parameters: Mapping[str, Any] | Sequence[Any] = ()) -> Any:
        found = self.rows(sql, parameters)
        return found[0] if found else None

    def texts(self, sql: str, parameters: Mapping[str, Any] | Sequence[Any] = ()) -> list[Any]:
        """Rows that hold texts of any length: what they have is spent (`Deadline.spend`), as it comes."""
        self.asked += 1
        return _spent(self._connection.execute(sql, parameters), self._deadline)


class CatalogReader:
    """Answers SQL against the newest catalog in `folder`. Raises Unavailable while there is none that can be read."""

    def __init__(self, folder: Path, clock: Callable[[], float] = time.monotonic) -> None:
        self._folder = folder
        self._path = folder / CATALOG_NAME
        self._clock = clock
        self._idle: deque[sqlite3.Connection] = deque()
        self._inode = 0
        self._meta: Mapping[str, Any] = {}
        self._meta_until = 0.0
        self._log = f"{self._path}-wal"
        self._log_state: tuple[int, int] | None = None
        self._may_ask = 0.0

    def close(self) -> None:
        while self._idle:
            self._idle.pop().close()

    def meta(self) -> Mapping[str, Any]:
        """`ready`, `generation`, `done`, `total` and what else the writer notes, as of its last commit. Empty: no catalog.

        SQLite's log shows a commit for one look at the file; where it does not, what is given is at most CHECK_EVERY seconds old.
        """
        now, state = self._clock(), self._look_at_log()
        if now >= self._meta_until or state != self._log_state:
            self._log_state = state
            self._notice_new_file()
            try:
                self._meta = dict(self.rows("SELECT name, value FROM meta"))
            except Unavailable:
                self._meta = {}
            self._meta_until = now + CHECK_EVERY
        return self._meta

    def forget_meta(self) -> None:
        """Look again at the next question."""
        self._meta_until = 0.0

    def rows(self, sql: str, parameters: Mapping[str, Any] | Sequence[Any] = (), deadline: Deadline | None = None) -> list[Any]:
        """Every row of one question, as tuples. Raises TimedOut past the deadline."""
        with self._borrow(deadline) as connection:
            return connection.execute(sql, parameters).fetchall()

    def row(self, sql: str, parameters: Mapping[str, Any] | Sequence[Any] = (), deadline: Deadline | None = None) -> Any:
        found = self.rows(sql, parameters, deadline)
        return found[0] if found else None

    def texts(self, sql: str, parameters: Mapping[str, Any] | Sequence[Any], deadline: Deadline) -> list[Any]:
        """Rows that hold texts of any length: what they have is spent (`Deadline.spend`), as it comes."""
        with self._borrow(deadline) as connection:
            return _spent(connection.execute(sql, parameters), deadline)

    @contextmanager
    def snapshot(self, deadline: Deadline | None = None) -> Iterator[Snapshot]:
        """Several questions about one and the same state of the catalog."""
        with self._borrow(deadline) as connection:
            connection.execute("BEGIN")
            try:
                yield Snapshot(connection, deadline)
            finally:
                connection.execute("ROLLBACK")

    @contextmanager
    def _borrow(self, deadline: Deadline | None) -> Iterator[sqlite3.Connection]:
        inode = self._inode
        try:
            connection = self._idle.pop()
        except IndexError:
            connection = self._connect()
        try:
            if deadline is not None:
                deadline.check()
                connection.set_progress_handler(partial(_tick, deadline), _OPCODES)
            yield connection
        except sqlite3.DatabaseError as error:
            connection.close()
            if deadline is not None:
                deadline.check()
            self._explain(error)
        except BaseException:
            connection.close()
            raise
        else:
            if deadline is not None:
                connection.set_progress_handler(None, 0)
            if inode == self._inode and len(self._idle) < KEPT:
                self._idle.append(connection)
            else:
                connection.close()

    def ask_rebuild(self) -> None:
        """Leave word for the writer that what it derived is damaged. At most once a minute: the damage may be elsewhere."""
        now = self._clock()
        if now >= self._may_ask:
            self._may_ask = now + _ASK_EVERY
            try:
                (self._folder / REBUILD_MARK).touch()
            except OSError:
                return

    def _connect(self) -> sqlite3.Connection:
        try:
            connection = sqlite3.connect(f"{self._path.absolute().as_uri()}?mode=ro", uri=True, check_same_thread=False, timeout=2.0)
            connection.execute("PRAGMA query_only = 1")
            connection.execute("PRAGMA cache_size = -8000")
            # Rows are looked up at random: twice as fast from the system's own cache. The file is replaced or grows, it is never cut.
            connection.execute(f"PRAGMA mmap_size = {_MAPPED}")
        except sqlite3.OperationalError:
            raise Unavailable("The index is being built; try again in a moment.", retry_after=1) from None
        except sqlite3.DatabaseError as error:
            self._explain(error)
        return connection

    def _explain(self, error: sqlite3.DatabaseError) -> NoReturn:
        """A locked or vanishing file passes by itself; a damaged one takes the writer."""
        if not isinstance(error, sqlite3.OperationalError):
            self.ask_rebuild()
        raise Unavailable("The index is being rebuilt; try again in a moment.", retry_after=1) from None

    def _look_at_log(self) -> tuple[int, int] | None:
        try:
            found = os.stat(self._log)  # noqa: PTH116 - Path.stat costs three times as much
        except OSError:
            return None
        return found.st_size, found.st_mtime_ns

    def _notice_new_file(self) -> None:
        try:
            inode = os.stat(self._path).st_ino  # noqa: PTH116 - Path.stat costs three times as much
        except OSError:
            inode = 0
        if inode != self._inode:
            self._inode = inode
            self.close()


def _tick(deadline: Deadline) -> bool:
    """Whether SQLite is to stop."""
    try:
        deadline.spend(_OPCODES_COST)
    except OverBudget:
        return True
    return deadline.is_over


def _spent(found: Iterable[Any], deadline: Deadline | None) -> list[Any]:
    rows = []
    for row in found:
        if deadline is not None:
            deadline.spend(sum(len(value) for value in row if isinstance(value, str)))
        rows.append(row)
    return rows
