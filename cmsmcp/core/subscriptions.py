"""subscriptions/listen: one request that stays open and is told of changes (2026-07-28), and what opening a stream takes in any era.

Every refusal comes before the stream: what is returned has been admitted, is registered, and begins with its acknowledgment.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

from cmsmcp.core.announced import told_lists
from cmsmcp.core.deadline import Cancelled
from cmsmcp.core.entry import Permit, Toll, charge, enter, new_event_id
from cmsmcp.core.exchange import Exchange, Visit
from cmsmcp.core.out import Stream
from cmsmcp.core.sharing import MAX_URIS
from cmsmcp.core.subscriber import Subscriber
from cmsmcp.core.tasks.methods import MAX_ID, is_declared, may_see, undeclared
from cmsmcp.core.tasks.ports import Task
from cmsmcp.core.tenure import LEASE_SECONDS
from cmsmcp.core.watches import readable
from cmsmcp.governance.audit import Event
from cmsmcp.protocol import errors, notices

CATEGORY = "stream"
"""Audit category of streams: their intent is the opening, their outcome the end."""
_LISTS = {"toolsListChanged": "tools", "promptsListChanged": "prompts", "resourcesListChanged": "resources"}


@dataclass(frozen=True, slots=True)
class Filter:
    """What a client asked to hear of. `uris` and `tasks` are None when it named none at all."""

    lists: frozenset[str]
    uris: tuple[str, ...] | None
    tasks: tuple[str, ...] | None


def listen(exchange: Exchange) -> Stream:
    """Register first, then acknowledge: nothing that changes after the acknowledgment is lost (S-01)."""
    try:
        wanted = _wanted(exchange)
    except errors.ProtocolError:
        charge(exchange)
        raise
    event = Event(new_event_id(), exchange.request.method, category=CATEGORY, arguments=exchange.request.params["notifications"])
    with admitted(exchange, event) as permit:
        watches = readable(exchange, wanted.uris or ())
        tasks: dict[str, Task] = {}
        honoured: dict[str, Any] = {name: True for name, kind in _LISTS.items() if kind in wanted.lists}
        if wanted.uris is not None:
            honoured["resourceSubscriptions"] = list(watches)
        if wanted.tasks is not None:
            tasks = _visible(exchange, wanted.tasks)
            honoured["taskIds"] = list(tasks)
        tag = exchange.request.id
        final = notices.listened(tag, exchange.ports.version)
        subscriber = Subscriber(exchange, permit, wanted.lists, partial(_let_go, exchange), tag=tag, final=final)
        subscriber.tasks = tasks
        subscriber.watch(watches)
        subscriber.stream.put("acknowledged", notices.acknowledged(honoured, tag))
        exchange.ports.shared().feed.open(subscriber)
    exchange.flight.bind(subscriber.stream)
    return subscriber.stream


def _let_go(exchange: Exchange, subscriber: Subscriber) -> None:
    try:
        let_go(subscriber)
    finally:
        exchange.connection.end(exchange.request.id, exchange.flight)


@contextmanager
def admitted(visit: Visit, event: Event) -> Iterator[Permit]:
    """A permit for a stream; given back at once when the block fails, else when the stream is closed.

    Raises LimitRefused, TokenRevoked, Unavailable.
    """
    permit = enter(visit, Toll(seconds=LEASE_SECONDS, audited=True, stream=True), event)
    try:
        yield permit
    except BaseException as error:
        if isinstance(error, Cancelled):
            permit.settle(reason="cancelled")
        else:
            permit.settle(reason="error", code=getattr(error, "code", errors.INTERNAL_ERROR))
        permit.release()
        raise


def let_go(subscriber: Subscriber) -> None:
    """The door is done with its stream: the permit goes back, and how it ended is written down."""
    try:
        subscriber.visit.ports.shared().feed.close(subscriber)
    finally:
        subscriber.permit.settle(reason=subscriber.ended)
        subscriber.permit.release()


def _wanted(exchange: Exchange) -> Filter:
    """The filter of a request. Kinds that do not exist are left out, those that exist must have the right form (S-04)."""
    given = exchange.request.params.get("notifications")
    if not isinstance(given, Mapping):
        raise _faulty("subscriptions/listen needs notifications, an object that says what to tell; {} for nothing.")
    for name in _LISTS:
        if not isinstance(given.get(name), bool | None):
            raise _faulty(f"notifications.{name} is true or false.")
    uris, tasks = given.get("resourceSubscriptions"), given.get("taskIds")
    for name, listed in (("resourceSubscriptions", uris), ("taskIds", tasks)):
        if listed is None:
            continue
        if not isinstance(listed, list) or not all(isinstance(one, str) for one in listed):
            raise _faulty(f"notifications.{name} is a list of strings.")
        if len(listed) > MAX_URIS:
            raise _faulty(f"notifications.{name} has {len(listed)} entries; at most {MAX_URIS}. Open another stream for the rest.")
    if tasks is not None and not is_declared(exchange.era):
        raise undeclared()
    lists = frozenset(kind for name, kind in _LISTS.items() if given.get(name)) & told_lists(exchange)
    return Filter(lists, None if uris is None else tuple(uris), None if tasks is None else tuple(tasks))


def _visible(exchange: Exchange, ids: Iterable[str]) -> dict[str, Task]:
    """Of these tasks those that are there and the caller's own."""
    store = exchange.ports.shared().tasks
    read = ((id, store.read(id)) for id in dict.fromkeys(ids) if 0 < len(id) <= MAX_ID)
    return {id: task.brief() for id, task in read if task is not None and may_see(exchange, task)}


def _faulty(message: str) -> errors.ProtocolError:
    return errors.ProtocolError(message, code=errors.INVALID_PARAMS)
