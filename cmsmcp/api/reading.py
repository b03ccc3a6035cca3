"""One governed question to `/api`: which entries, under which rule, in which shape. Knows no wire.

Its way through scope, admission, deadline, redaction and size is that of `/mcp` (`core.governed`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from cmsmcp.api.parameters import OF_ENTRY, OF_LIST, read_parameters, split_query
from cmsmcp.core.capability import DEFAULT_MAX_RESULT, DEFAULT_TIMEOUT, Call
from cmsmcp.core.entry import Toll, new_event_id
from cmsmcp.core.exchange import Ports, Visit
from cmsmcp.core.governed import Encoded, encode, govern, within
from cmsmcp.core.ports import Caller
from cmsmcp.core.session import Flight
from cmsmcp.governance.audit import Event
from cmsmcp.governance.redaction import redact
from cmsmcp.protocol.errors import CallError

SCOPE = "read:content"
TOLL = Toll(seconds=DEFAULT_TIMEOUT, audited=True)
JSON = "application/json"


@dataclass(frozen=True, slots=True)
class Question:
    """What the URL says: the type's slug, an id or slug (None: all entries), and the query string as it was sent."""

    verb: str
    type: str
    ref: str | None
    query: bytes


@dataclass(frozen=True, slots=True)
class Answer(Encoded):
    """`locale` is the one served; None for a list without entries."""

    locale: str | None = None


class Reading:
    """Keeps nothing about a request on itself."""

    def __init__(self, ports: Ports) -> None:
        self._ports = ports

    def answer(self, caller: Caller, question: Question) -> Answer:
        """Raises CallError, of which NotFound says the same of what is hidden and what is absent."""
        event = _event(question)
        visit = Visit(event.method, caller, Flight(), self._ports)
        return govern(visit, event, TOLL, lambda call: _read(question, call))


def _event(question: Question) -> Event:
    route, capability, category = "/api/{type}", "entries", "content.list"
    asked = {"type": question.type}
    if question.ref is not None:
        route, capability, category = "/api/{type}/{entry}", "entry", "content.read"
        asked["entry"] = question.ref
    try:
        asked |= split_query(question.query)
    except CallError:
        pass  # it is refused where it is read, on the record
    return Event(new_event_id(), f"{question.verb} {route}", capability, SCOPE, category, asked)


def _read(question: Question, call: Call) -> Answer:
    single = call.site.types.get(question.type)["kind"] == "single"
    if question.ref is not None or single:
        return _entry(question, call)
    given = read_parameters(split_query(question.query), OF_LIST)
    page = call.site.entries.list_entries(
        type=question.type, locale=given.locale, visibility=call.visibility(None), limit=given.limit, cursor=given.cursor,
        deadline=call.deadline,
    )  # fmt: skip
    data = {
        "data": [entry.values for entry in page.items], "total": page.total, "page": None if given.cursor else 1, "limit": given.limit,
        "next_cursor": page.next_cursor,
    }  # fmt: skip
    return _answer(data, call, page.items[0].locale if page.items else None, "Ask for fewer entries with limit.")


def _entry(question: Question, call: Call) -> Answer:
    given = read_parameters(split_query(question.query), OF_ENTRY)
    common: dict[str, Any] = {
        "type": question.type, "locale": given.locale, "visibility": call.visibility(None), "deadline": call.deadline,
    }  # fmt: skip
    entries = call.site.entries
    entry = entries.get_single(**common) if question.ref is None else entries.get_entry(ref=question.ref, **common)
    return _answer(entry.values, call, entry.locale, "This entry is larger than /api sends.")


def _answer(value: Mapping[str, Any], call: Call, locale: str | None, hint: str) -> Answer:
    call.deadline.check()
    encoded = encode(redact(value))
    return within(Answer(encoded.decode(), JSON, len(encoded), locale=locale), DEFAULT_MAX_RESULT, hint)
