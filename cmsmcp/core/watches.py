"""Resources that somebody wants to hear about: whether a caller may, and which changes of the site concern them.

Must not know streams.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cmsmcp.core.capability import Call, Capability
from cmsmcp.core.deadline import Cancelled, Deadline
from cmsmcp.core.entry import Toll, enter
from cmsmcp.core.exchange import Visit
from cmsmcp.core.governed import Encoded
from cmsmcp.core.invoke import MAX_URI, is_enabled
from cmsmcp.core.placing import job_of, place
from cmsmcp.core.ports import Visibility
from cmsmcp.core.work import Work
from cmsmcp.governance.scopes import allowed
from cmsmcp.protocol import errors

if TYPE_CHECKING:
    from cmsmcp.core.registry import Registry

CHECK_SECONDS = 10.0
READS_PER_UNIT = 10

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Watch:
    """One resource. A change with any of `topics` concerns it; hearing of it takes `scope`."""

    uri: str
    scope: str
    topics: frozenset[str]


def find_watch(visit: Visit, uri: str) -> Watch | None:
    """None when no resource that this caller may read is registered for the URI. Whether there is one is `is_readable`."""
    found = _find(visit, uri)
    return _watch(uri, *found) if found is not None else None


def readable(visit: Visit, uris: Iterable[str]) -> dict[str, Watch]:
    """A Watch for each URI that this caller can read now. What is unknown, unpublished or out of scope is left out, all alike.

    Reads each of them, under one deadline and an ordinary permit, for a unit for every READS_PER_UNIT beside that of the request; together
    no more than the burst, so that it can be paid. Raises LimitRefused, TokenRevoked, Unavailable, TimedOut, Cancelled.
    """
    found = {uri: capability for uri in dict.fromkeys(uris) if (capability := _find(visit, uri)) is not None}
    if not found:
        return {}
    cost = min(len(found) // READS_PER_UNIT, visit.ports.policy.rate.burst - 1)
    permit = enter(visit, Toll(cost=cost, seconds=CHECK_SECONDS))
    deadline = Deadline(CHECK_SECONDS, left=visit.flight.has_left)

    def check() -> dict[str, Watch]:
        return {uri: _watch(uri, *pair) for uri, pair in found.items() if is_readable(visit, uri, *pair, deadline)}

    work = Work(check, permit.release, permit.keep)
    try:
        watches: dict[str, Watch] = work.run(deadline, visit.flight)
        return watches
    finally:
        work.leave()


def is_readable(visit: Visit, uri: str, capability: Capability, variables: Mapping[str, str], deadline: Deadline) -> bool:
    """Whether reading it now gives something. Published documents count alone: whoever subscribes sees no more than any reader."""
    call = Call(visit.ports.site(), visit.caller, deadline, visibility=lambda _status: Visibility())
    deadline.check()
    try:
        place(visit, call, job_of(capability, work, uri), lambda: _found(capability, variables, call))
    except (errors.TimedOut, errors.Unavailable, Cancelled):
        raise
    except errors.CallError:
        return False
    except Exception:
        _log.exception("%s cannot be read", capability.name)
        return False
    return True


def work(call: Call, registry: Registry, uri: str) -> Encoded:
    """The same in whichever process (`core.placing`)."""
    found = registry.find_resource(uri)
    assert found is not None
    return _found(*found, call)


def _found(capability: Capability, variables: Mapping[str, str], call: Call) -> Encoded:
    capability.run(variables, call)
    return Encoded("", capability.mime_type, 0)


def _find(visit: Visit, uri: str) -> tuple[Capability, Mapping[str, str]] | None:
    found = visit.ports.registry().find_resource(uri) if 0 < len(uri) <= MAX_URI else None
    if found is None or not is_enabled(visit.ports.policy, found[0].name, found[0]):
        return None
    return found if allowed(visit.ports.policy, visit.caller, found[0].scope) else None


def _watch(uri: str, capability: Capability, variables: Mapping[str, str]) -> Watch:
    topics = capability.topics(variables) if capability.topics is not None else ()
    return Watch(uri, capability.scope, frozenset(topics) | {f"resource/{uri}"})
