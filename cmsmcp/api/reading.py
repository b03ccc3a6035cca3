"""One governed question to `/api`: its way through scope, admission, deadline, redaction and size is that of `/mcp` (`core.governed`).

Knows no wire and no parameter.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from cmsmcp.api.answer import Answer, Asked
from cmsmcp.api.query import split_query
from cmsmcp.api.routes import Route, find_route
from cmsmcp.api.validators import ANY, tag_of
from cmsmcp.core.capability import DEFAULT_TIMEOUT, Call
from cmsmcp.core.deadline import nobody_leaves
from cmsmcp.core.entry import Toll, new_event_id
from cmsmcp.core.exchange import Ports, Visit
from cmsmcp.core.governed import govern
from cmsmcp.core.placing import Job, place
from cmsmcp.core.ports import Caller, Verdict
from cmsmcp.core.registry import Registry
from cmsmcp.core.session import Flight
from cmsmcp.governance.audit import Event
from cmsmcp.governance.policy import Rate
from cmsmcp.identity.cursors import CursorSeal
from cmsmcp.protocol.errors import CallError

SCOPE = "read:content"
TOLL = Toll(seconds=DEFAULT_TIMEOUT, audited=True)


@dataclass(frozen=True, slots=True)
class Question:
    """What a request says: the decoded path behind `/api/`, the query string as it was sent, tags of answers that the client has."""

    verb: str
    path: str
    query: bytes
    held: frozenset[str] = frozenset()


class Reading:
    """Keeps nothing about a request on itself. `server` is the URL that `/api` stands behind."""

    def __init__(self, ports: Ports, cursors: Callable[[], CursorSeal], server: str = "/") -> None:
        self._ports = ports
        self._cursors = cursors
        self._server = server

    @property
    def rate(self) -> Rate:
        """What each client may ask."""
        return self._ports.policy.rate

    def answer(
        self, caller: Caller, question: Question, told: Callable[[Verdict], None] | None = None,
        has_left: Callable[[], bool] = nobody_leaves,
    ) -> Answer:  # fmt: skip
        """`told` gets the admission's verdict, `has_left` says whether the client has gone.

        Raises CallError, of which NotFound says the same of what is hidden and what is absent; Cancelled once the client has gone.
        """
        route, named = find_route(question.path)
        event = _event(question, route, named)
        visit = Visit(event.method, caller, Flight(has_left), self._ports)
        return govern(visit, event, TOLL, lambda call: self._read(visit, question, call), told=told)

    def _read(self, visit: Visit, question: Question, call: Call) -> Answer:
        given = (question, self._cursors(), self._ports.version, self._server)
        return place(visit, call, Job(work, given, SCOPE), lambda: work(call, self._ports.registry(), given))


def work(call: Call, _registry: Registry, given: tuple[Question, CursorSeal, str, str]) -> Answer:
    """The work of a question, in whichever process (`core.placing`)."""
    question, cursors, release, server = given
    route, named = find_route(question.path)
    found = route.read(Asked(call, named, split_query(question.query), cursors, release, server, question.held))
    tag = found.tag or tag_of(found.text.encode())
    if tag in question.held or ANY in question.held:
        return replace(found, size=0, tag=tag, unchanged=True)
    return replace(found, tag=tag)


def _event(question: Question, route: Route, named: dict[str, str]) -> Event:
    asked = dict(named)
    try:
        asked |= split_query(question.query)
    except CallError:
        pass  # it is refused where it is read, on the record
    return Event(new_event_id(), f"{question.verb} {route.template}", route.capability, SCOPE, route.category, asked)
