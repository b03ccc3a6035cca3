"""What a governed question to `/api` comes to: a body with what a wire says about it. Knows JSON and sizes, no wire.

Every value goes through redaction here, and none leaves over the limit; nothing is cut.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from cmsmcp.core.capability import DEFAULT_MAX_RESULT, Call
from cmsmcp.core.governed import Encoded, check_size, encode, within
from cmsmcp.governance.redaction import redact
from cmsmcp.identity.cursors import CursorSeal
from cmsmcp.protocol.errors import InvalidArguments

JSON = "application/json"
SMALLER = "Ask for less."


@dataclass(frozen=True, slots=True)
class Asked:
    """One question, inside its governance. `named` are the parts of the path, `pairs` the parameters as they were sent; `release` is the
    server's version, `server` the URL that `/api` stands behind; `held` are tags of answers that the client has."""

    call: Call
    named: Mapping[str, str]
    pairs: Sequence[tuple[str, str]]
    cursors: CursorSeal
    release: str = ""
    server: str = "/"
    held: frozenset[str] = frozenset()

    def opened(self, cursor: str | None) -> str | None:
        """A cursor that a client carried. InvalidArguments when it is none of ours."""
        found = None if cursor is None else self.cursors.open(cursor)
        if found is None and cursor is not None:
            raise InvalidArguments("The cursor is not one that was given out here. Start again without a cursor.", argument="cursor")
        return found

    def sealed(self, cursor: str | None) -> str | None:
        return None if cursor is None else self.cursors.seal(cursor)


@dataclass(frozen=True, slots=True)
class Answer(Encoded):
    """`locales` were served, `modified` (ms) is when, if known; `tag` changes with the body, and stands for it where `unchanged` says that
    the client has it. `links` are query strings of other pages, by relation."""

    locales: tuple[str, ...] = ()
    modified: int | None = None
    tag: str | None = None
    unchanged: bool = False
    links: Mapping[str, str] = field(default_factory=dict)


def answer(value: Any, call: Call, hint: str = SMALLER, **more: Any) -> Answer:
    """`hint` says what to do where the value is too large. ResultTooLarge then, TimedOut when the deadline has passed."""
    call.deadline.check()
    check_size(value, DEFAULT_MAX_RESULT, hint)
    encoded = encode(redact(value))
    return within(Answer(encoded.decode(), JSON, len(encoded), **more), DEFAULT_MAX_RESULT, hint)


def unchanged(tag: str) -> Answer:
    return Answer("", JSON, 0, tag=tag, unchanged=True)


def sizes(values: Mapping[str, Any]) -> dict[str, int]:
    """Bytes of each value, before anything is taken out of it."""
    return {name: len(encode({name: value})) for name, value in values.items()}
