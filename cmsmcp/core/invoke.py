"""One call of a capability, top to bottom: find, govern (`governed.py`), and within that load, run, dump, redact, encode, size.

Must not know how a capability works or which door was used.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from cmsmcp.core import arguments
from cmsmcp.core.capability import Call, Capability, Text
from cmsmcp.core.deadline import Deadline
from cmsmcp.core.entry import Toll, charge, new_event_id
from cmsmcp.core.exchange import Exchange
from cmsmcp.core.governed import Encoded, encode, govern, within
from cmsmcp.core.schemas import mirrored_arguments, schema_instance
from cmsmcp.governance.audit import Event
from cmsmcp.governance.policy import Policy
from cmsmcp.governance.redaction import redact
from cmsmcp.governance.scopes import allowed
from cmsmcp.protocol import errors, messages
from cmsmcp.protocol.paramheaders import fault

MAX_URI = 8_192
READ_TTL_MS = 1_000
_FOR_THE_MODEL = (errors.InvalidArguments, errors.NotFound, errors.ResultTooLarge, errors.TimedOut)
"""What a model can mend or work around. So is a fault that a capability names without a code of its own, such as a file that is broken."""


def call_tool(exchange: Exchange) -> messages.Result:
    """tools/call. What the model can mend comes back as an `isError` result (T-11), everything else as an error."""
    name, given = _tool_params(exchange.request.params)
    capability = exchange.ports.registry().tools.get(name)
    if capability is None or not is_enabled(exchange.ports.policy, name, capability):
        charge(exchange)
        seen = [other for other, tool in exchange.ports.registry().tools.items() if is_usable(exchange, other, tool)]
        raise errors.NotFound("tool", name[:80], known=seen, hint="tools/list names them all.")
    _check_mirrored(exchange, capability, given)
    limits = limits_of(exchange.ports.policy, name, capability)
    event = Event(new_event_id(), exchange.request.method, name, capability.scope, capability.audit, given)
    if capability.task is not None:
        from cmsmcp.core.tasks.calls import start_task, wants_task

        if wants_task(exchange, capability):
            return start_task(exchange, capability, event, partial(_answer_call, limits, event, given))
    return _answer_call(limits, event, given, exchange, lambda call: call)


def _answer_call(
    limits: Limits, event: Event, given: Mapping[str, Any], exchange: Exchange, begin: Callable[[Call], Call]
) -> messages.Result:
    """Run the tool and put its result into words. `begin` comes between the arguments and the work."""
    capability, name = limits.capability, event.capability

    def produce(call: Call) -> Encoded:
        loaded = arguments.load(capability, given)
        return _tool_result(limits, loaded, begin(call))

    try:
        encoded = govern(exchange, event, limits.toll, produce)
    except errors.CallError as error:
        if not (error.code == errors.INTERNAL_ERROR or isinstance(error, _FOR_THE_MODEL)):
            raise
        return messages.complete(exchange.era, exchange.ports.version, messages.call_error(error.message))
    note = f'More follow: call {name} again with the same arguments and cursor "{encoded.next_cursor}".' if encoded.next_cursor else ""
    return messages.complete(exchange.era, exchange.ports.version, messages.call_result(exchange.era, encoded.text, note))


def read_resource(exchange: Exchange) -> messages.Result:
    """resources/read. A missing resource is an error, never empty contents (R-02, R-03)."""
    uri = exchange.request.params.get("uri")
    if not isinstance(uri, str) or not 0 < len(uri) <= MAX_URI:
        charge(exchange)
        message = f"A resource URI is required: uri, a string of at most {MAX_URI} characters."
        raise errors.ProtocolError(message, code=errors.INVALID_PARAMS)
    found = exchange.ports.registry().find_resource(uri)
    if found is None or not is_enabled(exchange.ports.policy, found[0].name, found[0]):
        charge(exchange)
        raise _not_found(exchange, uri, "Resource not found. resources/list and resources/templates/list name what exists.")
    capability, variables = found
    limits = limits_of(exchange.ports.policy, capability.name, capability)
    event = Event(new_event_id(), exchange.request.method, capability.name, capability.scope, capability.audit, {"uri": uri})
    try:
        encoded = govern(exchange, event, limits.toll, lambda call: _resource_result(limits, variables, call))
    except errors.ContentTypeNotFound as error:
        code = errors.INVALID_PARAMS if exchange.era.modern else errors.CONTENT_TYPE_NOT_FOUND_LEGACY
        raise errors.ProtocolError(error.message, code=code, data={**error.data, "uri": uri}) from None
    except (errors.NotFound, errors.InvalidArguments) as error:  # what is at fault is a part of the URI: it names nothing
        raise _not_found(exchange, uri, error.message) from None
    result = messages.contents(uri, encoded.mime_type, encoded.text)
    return messages.complete(exchange.era, exchange.ports.version, result, ttl_ms=READ_TTL_MS)


@dataclass(frozen=True, slots=True)
class Limits:
    """A capability as the operator configured it."""

    capability: Capability
    cost: int

    @property
    def toll(self) -> Toll:
        return Toll(cost=self.cost, seconds=self.capability.timeout, audited=True)


def is_enabled(policy: Policy, name: str, capability: Capability) -> bool:
    override = policy.overrides.get(name)
    return capability.enabled if override is None or override.enabled is None else override.enabled


def is_usable(exchange: Exchange, name: str, capability: Capability) -> bool:
    """Whether this caller is told of it: offered here, and its scope within the caller's rights."""
    return is_enabled(exchange.ports.policy, name, capability) and allowed(exchange.ports.policy, exchange.caller, capability.scope)


def limits_of(policy: Policy, name: str, capability: Capability) -> Limits:
    override = policy.overrides.get(name)
    if override is not None:
        timeout, most = override.timeout or capability.timeout, override.max_result or capability.max_result
        capability = replace(capability, timeout=timeout, max_result=most)
    return Limits(capability, policy.rate.cost(name))


def _tool_params(params: Mapping[str, Any]) -> tuple[str, Mapping[str, Any]]:
    name, given = params.get("name"), params.get("arguments")
    if not isinstance(name, str):
        raise errors.ProtocolError("tools/call needs name, a string.", code=errors.INVALID_PARAMS)
    if given is not None and not isinstance(given, Mapping):
        raise errors.ProtocolError("tools/call takes arguments as an object.", code=errors.INVALID_PARAMS)
    return name, given or {}


def _check_mirrored(exchange: Exchange, capability: Capability, given: Mapping[str, Any]) -> None:
    """Headers that repeat arguments must agree with them (H-02). Whoever lacks the scope is told that instead, by `govern`."""
    if not exchange.era.modern or exchange.headers is None or not allowed(exchange.ports.policy, exchange.caller, capability.scope):
        return
    found = fault(mirrored_arguments(capability), given, exchange.headers)
    if found is not None:
        charge(exchange)
        raise errors.ProtocolError(found, code=errors.HEADER_MISMATCH)


def _tool_result(limits: Limits, loaded: Mapping[str, Any], call: Call) -> Encoded:
    clean = _clean(limits.capability, limits.capability.run(loaded, call), call.deadline)
    encoded = _sized(limits.capability, encode(clean))
    return replace(encoded, next_cursor=clean.get("next_cursor")) if isinstance(clean, Mapping) else encoded


def _resource_result(limits: Limits, variables: Mapping[str, str], call: Call) -> Encoded:
    capability = limits.capability
    value = capability.run(variables, call)
    if isinstance(value, Text | str):
        text, mime_type = (value.text, value.mime_type) if isinstance(value, Text) else (value, capability.mime_type)
        call.deadline.check()
        clean = redact(text)
        return within(Encoded(clean, mime_type, len(encode(clean))), capability.max_result, capability.hint)
    return _sized(capability, encode(_clean(capability, value, call.deadline), indent=capability.indent))


def _clean(capability: Capability, value: Any, deadline: Deadline) -> Any:
    """Only declared keys leave (the output schema), and no secret (the leaf scan)."""
    dumped = schema_instance(capability.output).dump(value) if capability.output is not None else value
    deadline.check()
    return redact(dumped)


def _sized(capability: Capability, encoded: bytes) -> Encoded:
    return within(Encoded(encoded.decode("utf-8"), capability.mime_type, len(encoded)), capability.max_result, capability.hint)


def _not_found(exchange: Exchange, uri: str, message: str) -> errors.ProtocolError:
    code = errors.INVALID_PARAMS if exchange.era.modern else errors.RESOURCE_NOT_FOUND_LEGACY
    return errors.ProtocolError(message, code=code, data={"uri": uri})
