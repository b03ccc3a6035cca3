"""The dialogue of a running task: questions wait in its record until tasks/update has answered them all; progress is its message.

Knows the record and its process; how answers are judged is `core/asking`. Log messages do not exist for tasks (TK-07).
"""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from typing import Any

import orjson

from cmsmcp.core.asking.questions import MAX_QUESTIONS, as_request, declared_for, lacking
from cmsmcp.core.asking.telling import spoken
from cmsmcp.core.capability import Call
from cmsmcp.core.dialogue import SILENCE, Question
from cmsmcp.core.governed import encode
from cmsmcp.core.shared import Shared
from cmsmcp.core.sharing import Change
from cmsmcp.core.tasks.ports import INPUT_REQUIRED, WORKING
from cmsmcp.core.tasks.runs import Run
from cmsmcp.protocol.errors import TimedOut, Unavailable

ANSWER_SECONDS = 600.0
"""How long one task waits for answers, all its questions together. That time does not count as its own."""
LOOK_SECONDS = 5.0
"""How often a waiting task looks for answers that no message of the bus announced."""
NOTE_SECONDS = 1.0


class TaskDialogue:
    """Implements `core.dialogue.Dialogue`. `call` is the one before it became a task, `declared` what its client can do, `before` what was
    answered while there was no task.

    A question gets a key of its own each time it is asked (TK-04): the capability's, and the number of the asking.
    """

    def __init__(self, run: Run, shared: Shared, call: Call, declared: Mapping[str, Any], before: Mapping[str, Mapping[str, Any]]) -> None:
        self._run = run
        self._runs = shared.runs
        self._store = shared.tasks
        self._deadline = call.deadline
        self._outer = call.dialogue
        self._declared = declared
        self._before = before
        self._lock = threading.Lock()
        self._asked = 0
        self._left = ANSWER_SECONDS
        self._done = -1.0
        self._noted_at = 0.0

    def progress(self, done: float, total: float | None = None, message: str = "") -> None:
        now = time.monotonic()
        with self._lock:
            if done <= self._done or now - self._noted_at < NOTE_SECONDS:
                return
            self._done, self._noted_at = done, now
        text = message or (f"{done:g}" if total is None else f"{done:g} of {total:g}")
        try:
            if self._store.note(self._run.id, spoken(text)):
                self._runs.tell(self._run.id, WORKING)
        except Unavailable:
            pass

    def log(self, level: str, data: Any, logger: str = "") -> None: ...
    def hang_up(self, retry_ms: int) -> None: ...

    def changed(self, change: Change) -> None:
        self._outer.changed(change)

    def can_ask(self, question: Question) -> bool:
        return not lacking(declared_for(question), self._declared)

    def ask(self, questions: Mapping[str, Question], *, bound: bool = False) -> Mapping[str, Mapping[str, Any]]:
        """Every answer comes through the record, which only its owner reaches: all are `bound`."""
        able = {key: question for key, question in questions.items() if self.can_ask(question)}
        if not able:
            return SILENCE.ask(questions)
        if able.keys() <= self._before.keys():
            return {key: self._before[key] for key in able}
        if len(able) > MAX_QUESTIONS:
            raise ValueError(f"at most {MAX_QUESTIONS} questions at once")
        with self._lock:
            self._asked += 1
            keys = {key: f"{key}-{self._asked}" for key in able}
        requests = {keys[key]: encode(as_request(question)) for key, question in able.items()}
        self._deadline.check()
        if self._store.ask(self._run.id, requests):
            self._runs.tell(self._run.id, INPUT_REQUIRED)
        answers = self._wait(frozenset(requests))
        return {key: orjson.loads(answers[keys[key]]) for key in able}

    def _wait(self, keys: frozenset[str]) -> Mapping[str, bytes]:
        """The answers to all `keys`. The deadline stands still meanwhile."""
        began = time.monotonic()
        self._deadline.extend(self._left)
        try:
            while True:
                self._run.heard.clear()
                answers = self._answers()
                if keys <= answers.keys():
                    return answers
                self._deadline.check()
                left = began + self._left - time.monotonic()
                if left <= 0:
                    raise TimedOut(ANSWER_SECONDS)
                self._run.heard.wait(min(left, LOOK_SECONDS))
        finally:
            waited = min(time.monotonic() - began, self._left)
            self._deadline.extend(waited - self._left)
            self._left -= waited

    def _answers(self) -> Mapping[str, bytes]:
        try:
            return self._store.answers(self._run.id)
        except Unavailable:
            return {}  # it may be back before the time is over
