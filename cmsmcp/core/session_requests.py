"""What a legacy session asks for once and is served beside its requests: log level, subscriptions, the stream they are told on.

All of it is kept by session (`sharing.SessionStore`), so that any worker may be asked and any may hold the stream (S-08, S-09, LG-04).
"""

from __future__ import annotations

import os
from typing import Any

from cmsmcp.core.announced import told_lists
from cmsmcp.core.deadline import Deadline
from cmsmcp.core.entry import Toll, charge, enter, new_event_id
from cmsmcp.core.exchange import Exchange, Visit
from cmsmcp.core.governed import Encoded, govern
from cmsmcp.core.invoke import is_enabled, limits_of
from cmsmcp.core.out import Stream
from cmsmcp.core.session import Connection
from cmsmcp.core.sharing import MAX_URI_BYTES, MAX_URIS
from cmsmcp.core.subscriber import Subscriber
from cmsmcp.core.subscriptions import CATEGORY, admitted, let_go
from cmsmcp.core.watches import is_readable
from cmsmcp.governance.audit import Event
from cmsmcp.protocol import errors, messages
from cmsmcp.protocol.eras import LEVELS


def set_level(exchange: Exchange) -> messages.Result:
    """logging/setLevel. Exactly `{}`. Without a session there is nowhere to keep it, and no stream that it would bear on."""
    level = exchange.request.params.get("level")
    if level not in LEVELS:
        charge(exchange)
        raise errors.ProtocolError(f"level is one of {', '.join(LEVELS)}.", code=errors.INVALID_PARAMS)
    enter(exchange, Toll()).release()
    session = exchange.connection.session
    if session is not None:
        shared = exchange.ports.shared()
        shared.sessions.set_level(session, level)
        shared.bus.publish("session", {"session": session})
    return {}


def subscribe(exchange: Exchange) -> messages.Result:
    """resources/subscribe: only what can be read. What is not published is not found, like what does not exist."""
    session, uri = _session_and_uri(exchange)
    found = exchange.ports.registry().find_resource(uri)
    if found is None or not is_enabled(exchange.ports.policy, found[0].name, found[0]):
        charge(exchange)
        raise _not_found(uri)
    capability, variables = found
    limits = limits_of(exchange.ports.policy, capability.name, capability)
    event = Event(new_event_id(), exchange.request.method, capability.name, capability.scope, capability.audit, {"uri": uri})

    def keep(deadline: Deadline) -> Encoded:
        if not is_readable(exchange, uri, capability, variables, deadline):
            raise _not_found(uri)
        deadline.check()
        if not exchange.ports.shared().sessions.subscribe(session, uri):
            message = f"This session has {MAX_URIS} subscriptions, which is the most. Unsubscribe from what is not needed any more."
            raise errors.ProtocolError(message, code=errors.INVALID_PARAMS)
        return Encoded("", "", 0)

    govern(exchange, event, Toll(seconds=limits.toll.seconds, audited=True), lambda call: keep(call.deadline))
    exchange.ports.shared().bus.publish("session", {"session": session})
    return {}


def unsubscribe(exchange: Exchange) -> messages.Result:
    """resources/unsubscribe. Also of what was never subscribed, or is there no more."""
    session, uri = _session_and_uri(exchange)
    enter(exchange, Toll()).release()
    shared = exchange.ports.shared()
    shared.sessions.unsubscribe(session, uri)
    shared.bus.publish("session", {"session": session})
    return {}


def open_stream(visit: Visit, connection: Connection) -> Stream:
    """The stream of a session: the changes of all lists, and of what it subscribed to. It replaces the one that was told before."""
    if connection.lost:
        charge(visit)
        raise errors.SessionNotFound
    if connection.session is None:
        charge(visit)
        raise errors.ProtocolError("A stream belongs to a session. Send initialize first.", code=errors.INVALID_REQUEST)
    with admitted(visit, Event(new_event_id(), visit.method, category=CATEGORY)) as permit:
        subscriber = Subscriber(visit, permit, told_lists(visit), let_go, session=connection.session, name=os.urandom(8).hex())
        visit.ports.shared().feed.open(subscriber)
    return subscriber.stream


def _session_and_uri(exchange: Exchange) -> tuple[str, str]:
    uri: Any = exchange.request.params.get("uri")
    fault = None
    if not isinstance(uri, str) or not 0 < len(uri.encode(errors="surrogatepass")) <= MAX_URI_BYTES:
        fault = errors.ProtocolError(f"A resource URI is required: uri, at most {MAX_URI_BYTES} bytes.", code=errors.INVALID_PARAMS)
    elif exchange.connection.session is None:
        message = "Subscriptions belong to a session, and this request names none. Send initialize first, then name the session it gives."
        fault = errors.ProtocolError(message, code=errors.INVALID_REQUEST)
    if fault is not None:
        charge(exchange)
        raise fault
    return exchange.connection.session or "", uri


def _not_found(uri: str) -> errors.ProtocolError:
    message = "Resource not found. resources/list and resources/templates/list name what exists."
    return errors.ProtocolError(message, code=errors.RESOURCE_NOT_FOUND_LEGACY, data={"uri": uri})
