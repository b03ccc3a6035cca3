"""Prompts: their list, and one filled in (prompts/list, prompts/get). Governed like tools; what a prompt returns goes to a model.

Must not know how a prompt finds what it says.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from cmsmcp.core import arguments
from cmsmcp.core.blocks import clean_block
from cmsmcp.core.capability import Call, Capability
from cmsmcp.core.deadline import Deadline
from cmsmcp.core.dialogue import Talk
from cmsmcp.core.entry import charge, new_event_id
from cmsmcp.core.exchange import Exchange
from cmsmcp.core.governed import Encoded, encode, govern, within
from cmsmcp.core.invoke import check_requirements, converse, find_enabled, is_usable, limits_of
from cmsmcp.core.lists import DECLARED_TTL_MS, Entry, listed
from cmsmcp.core.placing import job_of, place
from cmsmcp.core.schemas import input_schema
from cmsmcp.governance.audit import Event
from cmsmcp.protocol import errors, messages
from cmsmcp.protocol.eras import Era

if TYPE_CHECKING:
    from cmsmcp.core.registry import Registry

MAX_ARGUMENTS = 64
MAX_VALUE = 10_000
"""Characters of one argument; most prompts allow far fewer."""


def list_prompts(exchange: Exchange) -> messages.Result:
    """prompts/list: those the caller may use, by name (P-01, T-02, AU-10)."""

    def build(_deadline: Deadline) -> list[Entry]:
        return [
            messages.prompt(
                name=name,
                title=prompt.title,
                description=prompt.description,
                version=prompt.version,
                input_schema=input_schema(prompt),
            )
            for name, prompt in exchange.ports.registry().prompts.items()
            if is_usable(exchange, name, prompt)
        ]

    return listed(exchange, "prompts", build, key="name", ttl_ms=DECLARED_TTL_MS)


def get_prompt(exchange: Exchange) -> messages.Result:
    """prompts/get. An unknown prompt, a missing argument and one that is no string are -32602 (P-02, P-03)."""
    name, given = _prompt_params(exchange)
    prompt = find_enabled(exchange, "prompt", exchange.ports.registry().prompts, name)
    limits = limits_of(exchange.ports.policy, name, prompt)
    event = Event(new_event_id(), exchange.request.method, name, prompt.scope, prompt.audit, given)
    check_requirements(exchange, prompt)

    def produce(call: Call) -> Encoded:
        loaded = _loaded(prompt, given)
        job = job_of(prompt, work, (name, limits.capability.max_result, loaded, exchange.era))
        return place(exchange, call, job, lambda: _filled_in(limits.capability, loaded, call, exchange.era))

    def run(talk: Talk | None) -> messages.Result:
        encoded = govern(exchange, event, limits.toll, produce, talk)
        result = messages.prompt_result(prompt.description, encoded.text)
        return messages.complete(exchange.era, exchange.ports.version, result)

    return converse(exchange, prompt, run)


def _prompt_params(exchange: Exchange) -> tuple[str, Mapping[str, Any]]:
    name, given = exchange.request.params.get("name"), exchange.request.params.get("arguments")
    fault = None
    if not isinstance(name, str):
        fault = "prompts/get needs name, a string."
    elif given is not None and (not isinstance(given, Mapping) or len(given) > MAX_ARGUMENTS):
        fault = f"prompts/get takes arguments as an object of at most {MAX_ARGUMENTS} strings."
    if fault is not None:
        charge(exchange)
        raise errors.ProtocolError(fault, code=errors.INVALID_PARAMS)
    return str(name), given or {}


def work(call: Call, registry: Registry, given: tuple[str, int, Mapping[str, Any], Era]) -> Encoded:
    """The work of a call, in whichever process (`core.placing`)."""
    name, max_result, loaded, era = given
    return _filled_in(replace(registry.prompts[name], max_result=max_result), loaded, call, era)


def _filled_in(prompt: Capability, loaded: Mapping[str, Any], call: Call, era: Era) -> Encoded:
    returned = prompt.run(loaded, call)
    if isinstance(returned, str):
        returned = [{"role": "user", "content": {"type": "text", "text": returned}}]
    call.deadline.check()
    encoded = encode([{"role": message["role"], "content": clean_block(message["content"], era)} for message in returned])
    return within(Encoded(encoded.decode("utf-8"), "application/json", len(encoded)), prompt.max_result, prompt.hint)


def _loaded(prompt: Capability, given: Mapping[str, Any]) -> Mapping[str, Any]:
    """Strings alone, each declared, none of the required ones missing; also where the prompt has but a literal JSON Schema.

    Clients show arguments as fields of a form: one that is null, or an empty text, was not filled in.
    """
    schema = input_schema(prompt)
    declared: Mapping[str, Any] = schema.get("properties", {})
    given = {name: value for name, value in given.items() if name not in declared or value not in (None, "")}
    required: Sequence[str] = schema.get("required", ())
    takes = f"{prompt.name} takes {', '.join(f'{name} (required)' if name in required else name for name in declared) or 'no arguments'}."
    for name, value in given.items():
        if name in declared and not isinstance(value, str):
            raise errors.InvalidArguments(f"{name[:60]} must be a string: the arguments of a prompt are. {takes}", argument=name[:60])
        if name in declared and len(value) > MAX_VALUE:
            raise errors.InvalidArguments(f"{name[:60]} must be a string of at most {MAX_VALUE} characters.", argument=name[:60])
    missing = [name for name in required if name not in given]
    if missing:
        raise errors.InvalidArguments(f"{', '.join(missing)} is required. {takes}", argument=missing[0])
    unknown = [name for name in given if name not in declared]
    if unknown and prompt.input is None:
        raise errors.InvalidArguments(f"Unknown argument {unknown[0][:60]!r}. {takes}", argument=unknown[0][:60])
    return arguments.load(prompt, given)
