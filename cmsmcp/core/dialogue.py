"""What a running capability may say to its client, and ask it. The same calls serve both eras, stdio, HTTP and tasks.

Knows no wire: how a question travels (a request of ours, a result that asks for input, a task that waits) is for its
implementations to know.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from cmsmcp.core.deadline import Deadline
from cmsmcp.core.sharing import Change
from cmsmcp.protocol.errors import CallError


@dataclass(frozen=True, slots=True)
class Elicit:
    """Ask the user with a form: `schema` is an object of flat, primitive properties (E-09). The answer has `action` and `content`."""

    message: str
    schema: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Sample:
    """Ask the client's model: `params` of sampling/createMessage."""

    params: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ListRoots:
    """Ask for the client's roots."""


Question = Elicit | Sample | ListRoots


class CannotAsk(CallError):
    """The client has not declared what it would need in order to answer. The model gets this line (E-11)."""


@dataclass(eq=False)
class InputNeeded(Exception):
    """The work cannot go on before the client has answered; it is then begun again, with the answers (2026-07-28)."""

    questions: Mapping[str, Question]
    answers: Mapping[str, Any] = field(default_factory=dict)


class Dialogue(Protocol):
    """Thread-safe. Nothing here fails because the client has gone or does not listen."""

    def progress(self, done: float, total: float | None = None, message: str = "") -> None:
        """Report progress; left out unless the client asked for it, and when `done` has not grown (PR-02)."""
        ...

    def log(self, level: str, data: Any, logger: str = "") -> None:
        """A log message; left out below the level that the client asked for."""
        ...

    def can_ask(self, question: Question) -> bool: ...

    def ask(self, questions: Mapping[str, Question], *, bound: bool = False) -> Mapping[str, Mapping[str, Any]]:
        """The answer to each question, by its key: the result object of the client. Keys are unique within one call.

        Questions that the client cannot take (`can_ask`) are left out; CannotAsk when none remains. May begin the work again from
        its start when the answers have come: ask before anything has an effect. With `bound`, answers count only together with the
        state we gave out with the questions, and once. Raises CannotAsk, TimedOut, Cancelled.
        """
        ...

    def changed(self, change: Change) -> None:
        """Tell every subscriber of the site."""
        ...

    def hang_up(self, retry_ms: int) -> None:
        """Close the stream and let the client come back for the rest, where the revision has that; else nothing."""
        ...


Talk = Callable[[Deadline], Dialogue]
"""Begins the dialogue of one run, under its deadline, once the run is admitted."""


class Silence:
    """For callers with whom there is no dialogue."""

    def progress(self, done: float, total: float | None = None, message: str = "") -> None: ...
    def log(self, level: str, data: Any, logger: str = "") -> None: ...
    def can_ask(self, question: Question) -> bool:
        return False

    def ask(self, questions: Mapping[str, Question], *, bound: bool = False) -> Mapping[str, Mapping[str, Any]]:
        why = "which has not declared that it can give one, or takes no event stream to be asked on."
        raise CannotAsk(f"This needs an answer from the client, {why}")

    def changed(self, change: Change) -> None: ...
    def hang_up(self, retry_ms: int) -> None: ...


SILENCE = Silence()
