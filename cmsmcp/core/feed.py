"""The streams open in this process, and what of the site's changes each of them is told.

What the bus brings waits in order for one thread of ours, so that a long fan-out holds up neither the bus nor the calls of this
process. Must not know how a stream was asked for, nor who may have one.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from cmsmcp.core.sharing import EVERYTHING, LISTS, Bus, Change, SessionStore
from cmsmcp.core.subscriber import Subscriber
from cmsmcp.core.tasks.ports import Task, TaskStore
from cmsmcp.core.tasks.watch import TaskWatch
from cmsmcp.core.tenure import Tenure
from cmsmcp.protocol.errors import Unavailable

SLICE = 25
"""Streams that are told in one go; then others may run."""
MAX_TOPICS = 5_000
"""Of changes that wait together; with more of them everything counts as changed."""
RETRY_SECONDS = 1.0
ALL = Change(LISTS, frozenset({EVERYTHING}))

_log = logging.getLogger(__name__)


class Feed:
    """Thread-safe. Whoever is in it hears of every change that is published after `open` returned."""

    def __init__(self, bus: Bus, sessions: SessionStore, tasks: TaskStore) -> None:
        self._bus = bus
        self._sessions = sessions
        self._tasks = tasks
        self._changed = threading.Condition()
        self._open: dict[Subscriber, None] = {}
        self._heard: list[Change | Callable[[], None]] = []
        self._unread: set[str] = set()
        self._read_at = 0.0
        self._is_running = False
        self._is_ending = False
        self._tenure = Tenure(self.subscribers, self.end)
        self._telling = threading.Lock()
        self._watch = TaskWatch(tasks, self._tasks_wanted)
        bus.listen("change", lambda body: self._hear(Change.from_message(body)))
        bus.listen("session", self._hear_session)
        bus.listen("task", lambda body: self._hear_task(body["task"]))
        bus.listen("revoked", lambda body: self._hear(partial(self._revoke, body["token"])))
        bus.listen("missed", lambda _body: self._hear(self._catch_up))

    def subscribers(self) -> list[Subscriber]:
        with self._changed:
            return list(self._open)

    def open(self, subscriber: Subscriber) -> None:
        """In a process that is about to stop it ends at once. A legacy session's stream becomes the one that is told (S-09)."""
        subscriber.is_owner = subscriber.session is None
        with self._changed:
            is_ending = self._is_ending
            if not is_ending:
                self._open[subscriber] = None
        if is_ending:
            self.end(subscriber, "stopping")
            return
        try:
            self._tenure.wake()
            if subscriber.tasks:
                self._watch.wake()
            self._take_over(subscriber)
        except Exception:
            self._drop(subscriber)
            raise

    def end(self, subscriber: Subscriber, reason: str) -> None:
        """It is told what waits, then that this was all; the door closes it."""
        self._drop(subscriber)
        subscriber.ended = subscriber.ended or reason
        subscriber.stream.end(subscriber.final)

    def close(self, subscriber: Subscriber) -> None:
        """The door let go of it. Another stream of its session, wherever it is, takes over."""
        self._drop(subscriber)
        if subscriber.session is not None and subscriber.is_owner:
            try:
                self._bus.publish("session", {"session": subscriber.session, "left": subscriber.name})
            except Unavailable:
                _log.warning("nobody could be told that a stream was closed")

    def end_all(self) -> None:
        """The process is about to stop: every stream ends, those of 2026-07-28 with their result (S-05)."""
        with self._changed:
            self._is_ending = True
        for subscriber in self.subscribers():
            self.end(subscriber, "stopping")

    def _drop(self, subscriber: Subscriber) -> None:
        with self._changed:
            self._open.pop(subscriber, None)
            self._changed.notify()

    def _hear(self, news: Change | Callable[[], None]) -> None:
        with self._changed:
            if not self._open:
                return
            last = self._heard[-1] if self._heard else None
            if isinstance(news, Change) and isinstance(last, Change):
                self._heard[-1] = _together(last, news)
            else:
                self._heard.append(news)
            if self._is_running:
                self._changed.notify()
                return
            threading.Thread(target=self._run, name="cmsmcp-feed", daemon=True).start()
            self._is_running = True

    def _run(self) -> None:
        while True:
            with self._changed:
                if not self._open:
                    self._heard, self._is_running = [], False
                    self._unread.clear()
                    return
                if not self._heard:
                    self._changed.wait(max(0.0, self._read_at - time.monotonic()) if self._unread else None)
                if self._unread and time.monotonic() >= self._read_at:
                    unread, self._unread = self._unread, set()
                    self._heard += [partial(self._read_again, session) for session in sorted(unread)]
                heard, self._heard = self._heard, []
            for news in heard:
                try:
                    if isinstance(news, Change):
                        self._tell(news)
                    else:
                        news()
                except Exception:
                    _log.exception("a change could not be told")

    def _tell(self, change: Change, subscribers: list[Subscriber] | None = None) -> None:
        told = 0
        for subscriber in self.subscribers() if subscribers is None else subscribers:
            if subscriber.is_owner and subscriber.concerns(change):
                subscriber.tell(change)
                told += 1
                if told % SLICE == 0:
                    time.sleep(0)

    def _revoke(self, token: str) -> None:
        for subscriber in self.subscribers():
            if subscriber.visit.caller.token_id == token:
                self.end(subscriber, "revoked")

    def _catch_up(self) -> None:
        """Nobody knows what was missed."""
        self._tenure.doubt()
        for session in {subscriber.session for subscriber in self.subscribers() if subscriber.session is not None}:
            self._read_again(session)
        self._tell(ALL, [subscriber for subscriber in self.subscribers() if subscriber.session is None])
        for task in {id for subscriber in self.subscribers() for id in subscriber.tasks}:
            self._tell_task(task)

    def _hear_task(self, id: str) -> None:
        with self._changed:
            is_here = any(id in subscriber.tasks for subscriber in self._open)
        if is_here:
            self._hear(partial(self._tell_task, id))

    def _tell_task(self, id: str) -> None:
        try:
            task = self._tasks.read(id)
        except Unavailable:
            return  # the watch reads it again
        if task is not None:
            self._tell_of(task)

    def _tell_of(self, task: Task) -> None:
        with self._telling:
            for subscriber in self.subscribers():
                if task.id in subscriber.tasks:
                    subscriber.tell_task(task)

    def _tasks_wanted(self) -> dict[str, Callable[[Task], None]]:
        return {id: self._tell_of for subscriber in self.subscribers() for id in subscriber.tasks}

    def _hear_session(self, body: Mapping[str, Any]) -> None:
        session = body["session"]
        with self._changed:
            is_here = any(subscriber.session == session for subscriber in self._open)
        if is_here:
            self._hear(partial(self._follow, session, body.get("stream"), body.get("left")))

    def _of(self, session: str) -> list[Subscriber]:
        return [subscriber for subscriber in self.subscribers() if subscriber.session == session]

    def _follow(self, session: str, stream: str | None, left: str | None) -> None:
        """What became of a session: `stream` is told from now on, `left` was closed, or it subscribed to something else.

        All processes read this in the same order among the changes, so that each change is told once whoever is told.
        """
        mine = self._of(session)
        try:
            if left is not None and mine:
                mine[-1].owes = True
                self._take_over(mine[-1])
                return
            for subscriber in mine:
                subscriber.is_owner = subscriber.is_owner if stream is None else subscriber.name == stream
            self._refresh(session, [subscriber for subscriber in mine if subscriber.is_owner])
        except Unavailable:
            self._read_later(session)

    def _read_again(self, session: str) -> None:
        """Follow a session by what is kept of it, when messages about it were lost."""
        mine = self._of(session)
        try:
            owner = self._sessions.read(session).stream
            for subscriber in mine:
                subscriber.is_owner = subscriber.name == owner
                subscriber.owes = True
            if owner is None and mine:  # what was kept is lost too
                self._take_over(mine[-1])
            self._refresh(session, [subscriber for subscriber in mine if subscriber.is_owner])
        except Unavailable:
            self._read_later(session)

    def _read_later(self, session: str) -> None:
        self._unread.add(session)
        self._read_at = time.monotonic() + RETRY_SECONDS

    def _refresh(self, session: str, owners: list[Subscriber]) -> None:
        if not owners:
            return
        uris = self._sessions.read(session).uris
        for subscriber in owners:
            subscriber.watch_uris(uris)
            if subscriber.owes:
                self._tell(ALL, [subscriber])
            elif subscriber.is_first and uris:
                # Subscribed to before the stream was open: whatever changed in between was told to nobody.
                self._tell(Change(topics=frozenset({EVERYTHING})), [subscriber])
            subscriber.owes = subscriber.is_first = False

    def _take_over(self, subscriber: Subscriber) -> None:
        if subscriber.session is not None:
            subscriber.is_first = self._sessions.read(subscriber.session).stream is None
            self._sessions.set_stream(subscriber.session, subscriber.name)
            self._bus.publish("session", {"session": subscriber.session, "stream": subscriber.name})


def _together(first: Change, second: Change) -> Change:
    topics = first.topics | second.topics
    return Change(first.lists | second.lists, topics if len(topics) <= MAX_TOPICS else frozenset({EVERYTHING}))
