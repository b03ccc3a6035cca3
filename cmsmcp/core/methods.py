"""The methods we serve, in which era, and whether they are answered at once. A method that is not here is -32601.

What is served is declared (T-01).
The work lives elsewhere and is imported when first needed: the handshake must not wait for it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from cmsmcp.core.announced import features, instructions
from cmsmcp.core.entry import Toll, charge, enter
from cmsmcp.core.exchange import Exchange
from cmsmcp.core.out import Stream
from cmsmcp.protocol import messages
from cmsmcp.protocol.eras import SUPPORTED, Era, declared, negotiate
from cmsmcp.protocol.errors import METHOD_NOT_FOUND, ProtocolError

if TYPE_CHECKING:
    from cmsmcp.core.capability import Capability

DISCOVER_TTL_MS = 3_600_000


@dataclass(frozen=True, slots=True)
class Method:
    """`at_once`: quick, and a door must answer it before it reads on (the handshake binds what follows).

    `talks` says whether this request may send messages of its own before its result.
    """

    run: Callable[[Exchange], messages.Result | Stream]
    modern: bool = True
    legacy: bool = True
    at_once: bool = False
    talks: Callable[[Exchange], bool] = lambda exchange: False


def find_method(name: str, era: Era) -> Method:
    """The row of a method in an era. ProtocolError (-32601) when that era has none."""
    method = METHODS.get(name)
    if method is None or not (method.modern if era.modern else method.legacy):
        data: dict[str, Any] = {"method": name[:100]}
        if name == "initialize":
            data["supported"] = list(SUPPORTED)
        raise ProtocolError(f"Method not found: {name[:100]}", code=METHOD_NOT_FOUND, data=data)
    return method


def _initialize(exchange: Exchange) -> messages.Result:
    revision = negotiate(exchange.request.params)
    enter(exchange, Toll()).release()
    exchange.connection.settle(revision, declared(exchange.request.params))
    result = messages.initialize(revision, exchange.ports.version, features(exchange), instructions(exchange))
    return messages.complete(Era(revision), exchange.ports.version, result)


def _discover(exchange: Exchange) -> messages.Result:
    enter(exchange, Toll()).release()
    result = messages.discover(features(exchange), instructions(exchange))
    return messages.complete(exchange.era, exchange.ports.version, result, ttl_ms=DISCOVER_TTL_MS)


def _ping(exchange: Exchange) -> messages.Result:
    """Exactly `{}` in every legacy revision (LG-04)."""
    charge(exchange)
    return {}


def _list_tools(exchange: Exchange) -> messages.Result:
    from cmsmcp.core.lists import list_tools

    return list_tools(exchange)


def _list_resources(exchange: Exchange) -> messages.Result:
    from cmsmcp.core.lists import list_resources

    return list_resources(exchange)


def _list_templates(exchange: Exchange) -> messages.Result:
    from cmsmcp.core.lists import list_templates

    return list_templates(exchange)


def _call_tool(exchange: Exchange) -> messages.Result:
    from cmsmcp.core.tools import call_tool

    return call_tool(exchange)


def _talking_tool(exchange: Exchange) -> bool:
    return _is_talking(exchange, exchange.ports.registry().tools)


def _list_prompts(exchange: Exchange) -> messages.Result:
    from cmsmcp.core.prompts import list_prompts

    return list_prompts(exchange)


def _get_prompt(exchange: Exchange) -> messages.Result:
    from cmsmcp.core.prompts import get_prompt

    return get_prompt(exchange)


def _talking_prompt(exchange: Exchange) -> bool:
    return _is_talking(exchange, exchange.ports.registry().prompts)


def _is_talking(exchange: Exchange, named: Mapping[str, Capability]) -> bool:
    name = exchange.request.params.get("name")
    found = named.get(name) if isinstance(name, str) else None
    return found is not None and found.talks


def _complete(exchange: Exchange) -> messages.Result:
    from cmsmcp.core.completion import complete

    return complete(exchange)


def _read_resource(exchange: Exchange) -> messages.Result:
    from cmsmcp.core.resources import read_resource

    return read_resource(exchange)


def _talking_resource(exchange: Exchange) -> bool:
    from cmsmcp.core.invoke import MAX_URI

    uri, registry = exchange.request.params.get("uri"), exchange.ports.registry()
    if not isinstance(uri, str) or len(uri) > MAX_URI or not any(resource.talks for resource in registry.resources.values()):
        return False
    found = registry.find_resource(uri)
    return found is not None and found[0].talks


def _get_task(exchange: Exchange) -> messages.Result:
    from cmsmcp.core.tasks.methods import get_task

    return get_task(exchange)


def _update_task(exchange: Exchange) -> messages.Result:
    from cmsmcp.core.tasks.methods import update_task

    return update_task(exchange)


def _cancel_task(exchange: Exchange) -> messages.Result:
    from cmsmcp.core.tasks.methods import cancel_task

    return cancel_task(exchange)


def _listen(exchange: Exchange) -> Stream:
    from cmsmcp.core.subscriptions import listen

    return listen(exchange)


def _set_level(exchange: Exchange) -> messages.Result:
    from cmsmcp.core.session_requests import set_level

    return set_level(exchange)


def _subscribe(exchange: Exchange) -> messages.Result:
    from cmsmcp.core.session_requests import subscribe

    return subscribe(exchange)


def _unsubscribe(exchange: Exchange) -> messages.Result:
    from cmsmcp.core.session_requests import unsubscribe

    return unsubscribe(exchange)


METHODS: Mapping[str, Method] = MappingProxyType(
    {
        "initialize": Method(_initialize, modern=False, at_once=True),
        "ping": Method(_ping, modern=False, at_once=True),
        "server/discover": Method(_discover, legacy=False, at_once=True),
        "tools/list": Method(_list_tools),
        "tools/call": Method(_call_tool, talks=_talking_tool),
        "prompts/list": Method(_list_prompts),
        "prompts/get": Method(_get_prompt, talks=_talking_prompt),
        "completion/complete": Method(_complete),
        "resources/list": Method(_list_resources),
        "resources/templates/list": Method(_list_templates),
        "resources/read": Method(_read_resource, talks=_talking_resource),
        "resources/subscribe": Method(_subscribe, modern=False),
        "resources/unsubscribe": Method(_unsubscribe, modern=False),
        "subscriptions/listen": Method(_listen, legacy=False),
        "logging/setLevel": Method(_set_level, modern=False),
        "tasks/get": Method(_get_task, legacy=False),
        "tasks/update": Method(_update_task, legacy=False),
        "tasks/cancel": Method(_cancel_task, legacy=False),
    }
)
