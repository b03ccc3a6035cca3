"""One governed piece of work, whichever wire asked for it: scope, admit, run under a deadline, settle, release.

The one code path of `/mcp`, stdio and `/api` (docs/rules.md, Governance order). Must not know what the work is, nor how its result is sent.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

import orjson

from cmsmcp.core.capability import Call
from cmsmcp.core.deadline import Cancelled, Deadline
from cmsmcp.core.dialogue import SILENCE, InputNeeded, Talk
from cmsmcp.core.entry import Toll, enter, refuse
from cmsmcp.core.exchange import Visit
from cmsmcp.core.ports import Verdict
from cmsmcp.core.work import Work
from cmsmcp.governance.audit import Event
from cmsmcp.governance.scopes import missing, needed, visibility
from cmsmcp.protocol import errors
from cmsmcp.protocol.linebreaks import escape_line_breaks


@dataclass(frozen=True, slots=True)
class Encoded:
    """What the work produced, ready to be sent. `size` is in bytes of JSON; `next_cursor` is that of a list which goes on."""

    text: str
    mime_type: str
    size: int
    next_cursor: str | None = None


Result = TypeVar("Result", bound=Encoded)


def govern(
    visit: Visit, event: Event, toll: Toll, produce: Callable[[Call], Result], talk: Talk | None = None, *,
    told: Callable[[Verdict], None] | None = None,
) -> Result:
    """Run `produce` if the caller holds the event's scope and is admitted; the permit goes back when the work has really stopped.

    With `talk` it can speak with its client; `told` gets the verdict of the admission, before the work. Raises ScopeRefused,
    LimitRefused, TokenRevoked, Unavailable, TimedOut, Cancelled, InputNeeded, and what `produce` raises.
    """
    every = needed(event.scope, event.arguments)
    reason = missing(visit.ports.policy, visit.caller, event.scope, every)
    if reason is not None:
        refuse(visit, event, reason="scope", code=errors.SCOPE_REFUSED)
        raise errors.ScopeRefused(reason, scopes=every)
    permit = enter(visit, toll, event, told)
    deadline = Deadline(toll.seconds, left=visit.flight.has_left)
    work = Work(lambda: produce(new_call(visit, deadline, event.scope, talk)), permit.release, permit.keep)
    try:
        encoded: Result = work.run(deadline, visit.flight)
        permit.settle(result_bytes=encoded.size)
        return encoded
    except Cancelled:
        permit.settle(reason="cancelled")
        raise
    except InputNeeded:
        permit.settle(reason="input")
        raise
    except errors.CallError as error:
        permit.settle(reason=_REASONS.get(type(error), "error"), code=error.code)
        raise
    except Exception:
        permit.settle(reason="error", code=errors.INTERNAL_ERROR)
        raise
    finally:
        work.leave()


def new_call(visit: Visit, deadline: Deadline, scope: str, talk: Talk | None = None) -> Call:
    """What a capability of this scope gets; the site is opened here, by the first call that needs it."""
    return Call(
        site=visit.ports.site(),
        caller=visit.caller,
        deadline=deadline,
        visibility=lambda status: visibility(visit.ports.policy, visit.caller, status, scope),
        dialogue=SILENCE if talk is None else talk(deadline),
        services=visit.ports.services(),
    )


def within(encoded: Result, most: int, hint: str) -> Result:
    """The result itself, or ResultTooLarge when it has more than `most` bytes."""
    if encoded.size > most:
        raise errors.ResultTooLarge(encoded.size, most, hint)
    return encoded


def check_size(value: Any, most: int, hint: str) -> None:
    """ResultTooLarge when a JSON value is over `most` bytes as it is: redaction takes its time for each byte, so it gets no more."""
    size = len(encode(value))
    if size > most:
        raise errors.ResultTooLarge(size, most, hint)


def encode(value: Any, *, indent: bool = False) -> bytes:
    """Compact JSON, or indented by two spaces. What orjson cannot write (integers beyond 64 bits, lone surrogates) still leaves as JSON."""
    try:
        encoded = orjson.dumps(value, option=orjson.OPT_INDENT_2 if indent else 0)
    except TypeError:
        separators = None if indent else (",", ":")
        text = json.dumps(value, ensure_ascii=False, allow_nan=False, indent=2 if indent else None, separators=separators)
        encoded = text.encode("utf-8", "replace")
    return escape_line_breaks(encoded)


_REASONS: Mapping[type[BaseException], str] = {
    errors.InvalidArguments: "arguments",
    errors.NotFound: "not found",
    errors.ContentTypeNotFound: "not found",
    errors.ScopeRefused: "scope",
    errors.ResultTooLarge: "size",
    errors.TimedOut: "timeout",
}
