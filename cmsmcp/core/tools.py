"""One tools/call, top to bottom: find, govern (`governed.py`), and within that load, run, dump, redact, encode, size.

Must not know how a tool works or which door was used.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from cmsmcp.core import arguments
from cmsmcp.core.blocks import clean_block
from cmsmcp.core.capability import Blocks, Call, Capability
from cmsmcp.core.dialogue import Talk
from cmsmcp.core.entry import charge, new_event_id
from cmsmcp.core.exchange import Exchange
from cmsmcp.core.governed import Encoded, encode, govern, within
from cmsmcp.core.invoke import check_requirements, clean, converse, find_enabled, limits_of, sized
from cmsmcp.core.outcome import told
from cmsmcp.core.placing import job_of, place
from cmsmcp.core.schemas import mirrored_arguments
from cmsmcp.governance.audit import Event
from cmsmcp.governance.scopes import allowed
from cmsmcp.protocol import errors, messages
from cmsmcp.protocol.eras import Era
from cmsmcp.protocol.paramheaders import fault

if TYPE_CHECKING:
    from cmsmcp.core.registry import Registry

_FOR_THE_MODEL = (errors.InvalidArguments, errors.NotFound, errors.ResultTooLarge, errors.TimedOut)
"""What a model can mend or work around. So is a fault that a capability names without a code of its own, such as a file that is broken."""


@dataclass(frozen=True, slots=True)
class Content(Encoded):
    """What a tool without an output schema produced: a JSON array of content blocks."""

    is_error: bool = False


def call_tool(exchange: Exchange) -> messages.Result:
    """tools/call. What the model can mend comes back as an `isError` result (T-11), everything else as an error."""
    name, given = _tool_params(exchange)
    capability = find_enabled(exchange, "tool", exchange.ports.registry().tools, name)
    _check_mirrored(exchange, capability, given)
    limits = limits_of(exchange.ports.policy, name, capability)
    event = Event(new_event_id(), exchange.request.method, name, capability.scope, capability.audit, given)

    def answer(exchange: Exchange, begin: Callable[[Call], Call] = lambda call: call) -> messages.Result:
        """`begin` gets the call once it is admitted and its arguments are right, and gives the one to run with."""

        def produce(call: Call) -> Encoded:
            loaded = arguments.load(limits.capability, given)
            call = begin(call)
            job = job_of(capability, work, (name, limits.capability.max_result, loaded, exchange.era))
            return place(exchange, call, job, lambda: _produced(limits.capability, loaded, call, exchange.era))

        def run(talk: Talk | None) -> messages.Result:
            return _result(exchange, name, govern(exchange, event, limits.toll, produce, talk))

        try:
            check_requirements(exchange, capability)
            return converse(exchange, capability, run)
        except errors.CallError as error:
            if not (error.code == errors.INTERNAL_ERROR or isinstance(error, _FOR_THE_MODEL)):
                raise
            return messages.complete(exchange.era, exchange.ports.version, messages.call_error(told(error)[0]))

    if capability.task is not None:
        from cmsmcp.core.tasks.calls import start_task, wants_task

        if wants_task(exchange, capability):
            return start_task(exchange, limits.capability, event, answer)
    return answer(exchange)


def _tool_params(exchange: Exchange) -> tuple[str, Mapping[str, Any]]:
    name, given = exchange.request.params.get("name"), exchange.request.params.get("arguments")
    if isinstance(name, str) and (given is None or isinstance(given, Mapping)):
        return name, given or {}
    charge(exchange)
    reason = "takes arguments as an object" if isinstance(name, str) else "needs name, a string"
    raise errors.ProtocolError(f"tools/call {reason}.", code=errors.INVALID_PARAMS)


def _check_mirrored(exchange: Exchange, capability: Capability, given: Mapping[str, Any]) -> None:
    """Headers that repeat arguments must agree with them (H-02). Whoever lacks the scope is told that instead, by `govern`."""
    if not exchange.era.modern or exchange.headers is None or not allowed(exchange.ports.policy, exchange.caller, capability.scope):
        return
    found = fault(mirrored_arguments(capability), given, exchange.headers)
    if found is not None:
        charge(exchange)
        raise errors.ProtocolError(found, code=errors.HEADER_MISMATCH)


def work(call: Call, registry: Registry, given: tuple[str, int, Mapping[str, Any], Era]) -> Encoded:
    """The work of a call, in whichever process (`core.placing`)."""
    name, max_result, loaded, era = given
    return _produced(replace(registry.tools[name], max_result=max_result), loaded, call, era)


def _produced(capability: Capability, loaded: Mapping[str, Any], call: Call, era: Era) -> Encoded:
    value = capability.run(loaded, call)
    if isinstance(value, Blocks):
        call.deadline.check()
        encoded = encode([clean_block(block, era) for block in value.content])
        content = Content(encoded.decode("utf-8"), "application/json", len(encoded), is_error=value.is_error)
        return within(content, capability.max_result, capability.hint)
    cleaned = clean(capability, value, call.deadline)
    whole = sized(capability, encode(cleaned))
    return replace(whole, next_cursor=cleaned.get("next_cursor")) if isinstance(cleaned, Mapping) else whole


def _result(exchange: Exchange, name: str, encoded: Encoded) -> messages.Result:
    if isinstance(encoded, Content):
        result = messages.call_content(encoded.text, encoded.is_error)
    else:
        note = f'More follow: call {name} again with the same arguments and cursor "{encoded.next_cursor}".' if encoded.next_cursor else ""
        result = messages.call_result(exchange.era, encoded.text, note)
    return messages.complete(exchange.era, exchange.ports.version, result)
