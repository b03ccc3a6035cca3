"""completion/complete: values for an argument of a prompt or a variable of a resource template (C-01, C-02, C-03).

Governed like a list. Must not know where candidates come from; it ranks them and cuts them to what may be sent.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from cmsmcp.core.capability import Call, Capability
from cmsmcp.core.deadline import Deadline
from cmsmcp.core.entry import Toll, charge, new_event_id
from cmsmcp.core.exchange import Exchange
from cmsmcp.core.governed import Encoded, encode, govern
from cmsmcp.core.invoke import is_enabled, is_usable
from cmsmcp.core.schemas import argument_names
from cmsmcp.governance.audit import Event
from cmsmcp.governance.redaction import redact
from cmsmcp.governance.scopes import completion_scope
from cmsmcp.protocol import errors, messages

MOST_VALUES = 100
MAX_CANDIDATES = 1_000
"""Looked at for one answer; where there are more, nobody is told how many."""
MAX_TYPED = 1_000
MAX_CONTEXT = 64
MAX_CONTEXT_VALUE = 10_000
SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class Asked:
    """`name` is the argument's, `typed` what was typed of it so far, `others` the other arguments given."""

    capability: Capability
    name: str
    typed: str
    others: Mapping[str, str]


def complete(exchange: Exchange) -> messages.Result:
    """The best 100 values. An argument that exists and has no completer gets none; a reference to nothing is -32602."""
    try:
        asked = _asked(exchange)
    except errors.CallError:
        charge(exchange)
        raise
    capability = asked.capability
    scope = completion_scope(capability.scope)
    event = Event(new_event_id(), exchange.request.method, capability.name, scope, capability.audit, {"argument": asked.name})
    toll = Toll(seconds=min(SECONDS, capability.timeout))
    encoded = govern(exchange, event, toll, lambda call: _completed(asked, call))
    return messages.complete(exchange.era, exchange.ports.version, messages.completion(encoded.text))


def ranked(candidates: Iterable[str], typed: str, deadline: Deadline) -> tuple[list[str], bool]:
    """Every candidate that begins with what was typed, then those that contain it, each in the order they came; whatever the case.

    The second value says that there were more than MAX_CANDIDATES, and that the rest was not looked at.
    """
    wanted = _folded(typed)
    first: dict[str, None] = {}
    others: dict[str, None] = {}
    for number, candidate in enumerate(candidates):
        if number >= MAX_CANDIDATES:
            return [*first, *others], True
        if number % 256 == 0:
            deadline.check()
        found = _folded(candidate).find(wanted)
        if found >= 0:
            (others if found else first)[candidate] = None
    return [*first, *others], False


def _completed(asked: Asked, call: Call) -> Encoded:
    completer = asked.capability.complete.get(asked.name)
    found, cut = ranked(completer(asked.typed, asked.others, call), asked.typed, call.deadline) if completer is not None else ([], False)
    values = [value for value in found[:MOST_VALUES] if redact(value) == value]
    result: dict[str, Any] = {"values": values, "hasMore": cut or len(found) > MOST_VALUES}
    if not cut:
        result["total"] = len(found)
    encoded = encode(result)
    return Encoded(encoded.decode("utf-8"), "application/json", len(encoded))


def _asked(exchange: Exchange) -> Asked:
    params = exchange.request.params
    capability = _referenced(exchange, params.get("ref"))
    argument, context = params.get("argument"), params.get("context")
    if not isinstance(argument, Mapping) or not isinstance(argument.get("name"), str) or not isinstance(argument.get("value"), str):
        raise _malformed("argument is an object with name and value, both strings.")
    name, typed = argument["name"], argument["value"]
    if len(typed) > MAX_TYPED:
        raise _malformed(f"argument.value has at most {MAX_TYPED} characters.")
    known = argument_names(capability)
    if name not in known:
        raise _malformed(f"{capability.name} has no argument {name[:60]!r}; known are {', '.join(known) or 'none'}.")
    others = context.get("arguments") if isinstance(context, Mapping) else context
    if others is None:
        others = {}
    if not isinstance(others, Mapping) or len(others) > MAX_CONTEXT:
        raise _malformed(f"context.arguments is an object of at most {MAX_CONTEXT} strings.")
    others = {name: value for name, value in others.items() if value not in (None, "")}  # those that nobody has filled in yet
    if not all(isinstance(value, str) and len(value) <= MAX_CONTEXT_VALUE for value in others.values()):
        raise _malformed(f"context.arguments holds strings of at most {MAX_CONTEXT_VALUE} characters.")
    return Asked(capability, name, typed, {key: value for key, value in others.items() if key in known and key != name})


def _referenced(exchange: Exchange, ref: Any) -> Capability:
    kind = ref.get("type") if isinstance(ref, Mapping) else None
    if kind not in ("ref/prompt", "ref/resource"):
        raise _malformed("ref is an object whose type is ref/prompt, with name, or ref/resource, with uri.")
    key = "name" if kind == "ref/prompt" else "uri"
    wanted = ref.get(key)
    if not isinstance(wanted, str):
        raise _malformed(f"a {kind} needs {key}, a string.")
    registry = exchange.ports.registry()
    offered: Mapping[str, Capability] = registry.prompts
    if kind == "ref/resource":
        offered = {template.template: resource for template, resource in registry.resources.items()}
    found = offered.get(wanted)
    if found is not None and is_enabled(exchange.ports.policy, wanted if found.is_prompt else found.name, found):
        return found
    seen = [name for name, one in offered.items() if is_usable(exchange, name if one.is_prompt else one.name, one)]
    what, method = ("prompt", "prompts/list") if key == "name" else ("resource template", "resources/templates/list")
    raise errors.NotFound(what, wanted[:200], known=seen, hint=f"{method} names them all.")


def _malformed(reason: str) -> errors.ProtocolError:
    return errors.ProtocolError(f"completion/complete: {reason}", code=errors.INVALID_PARAMS)


def _folded(text: str) -> str:
    return unicodedata.normalize("NFC", text).casefold()
