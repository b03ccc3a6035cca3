"""What tools, resources and prompts have in common when they are run: offered, limited, spoken with, dumped, redacted, sized.

Their own modules (`tools`, `resources`, `prompts`) know what each of them is asked with and how its result looks.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from cmsmcp.core.capability import Capability
from cmsmcp.core.deadline import Deadline
from cmsmcp.core.dialogue import Talk
from cmsmcp.core.entry import Toll, charge
from cmsmcp.core.exchange import Exchange
from cmsmcp.core.governed import Encoded, check_size, within
from cmsmcp.core.schemas import schema_instance
from cmsmcp.governance.policy import Policy
from cmsmcp.governance.redaction import redact
from cmsmcp.governance.scopes import allowed
from cmsmcp.protocol import errors, messages

MAX_URI = 8_192


@dataclass(frozen=True, slots=True)
class Limits:
    """A capability as the operator configured it."""

    capability: Capability
    cost: int

    @property
    def toll(self) -> Toll:
        return Toll(cost=self.cost, seconds=self.capability.timeout, audited=True)


def is_enabled(policy: Policy, name: str, capability: Capability) -> bool:
    return policy.enables(name, capability.enabled)


def is_usable(exchange: Exchange, name: str, capability: Capability) -> bool:
    """Whether this caller is told of it: offered here, and its scope within the caller's rights."""
    return is_enabled(exchange.ports.policy, name, capability) and allowed(exchange.ports.policy, exchange.caller, capability.scope)


def find_enabled(exchange: Exchange, kind: str, among: Mapping[str, Capability], name: str) -> Capability:
    """The tool or prompt of that name. NotFound, at the price of a unit, suggests the nearest that this caller is told of."""
    found = among.get(name)
    if found is not None and is_enabled(exchange.ports.policy, name, found):
        return found
    charge(exchange)
    seen = [other for other, one in among.items() if is_usable(exchange, other, one)]
    raise errors.NotFound(kind, name[:80], known=seen, hint=f"{kind}s/list names them all.")


def limits_of(policy: Policy, name: str, capability: Capability) -> Limits:
    override = policy.overrides.get(name)
    if override is not None:
        timeout, most = override.timeout or capability.timeout, override.max_result or capability.max_result
        capability = replace(capability, timeout=timeout, max_result=most)
    return Limits(capability, policy.rate.cost(name))


def check_requirements(exchange: Exchange, capability: Capability) -> None:
    """Refuse what the client cannot carry, before anything runs and before a permit is taken.

    ProtocolError (-32021) in 2026-07-28, CannotAsk before (E-03).
    """
    if capability.requires:
        from cmsmcp.core.asking.conversation import check_requirements as check

        check(exchange, capability)


def converse(exchange: Exchange, capability: Capability, run: Callable[[Talk | None], messages.Result]) -> messages.Result:
    """Run a capability in the dialogue that its request allows: the result of `run`, or one that asks the client for input.

    For tools/call, resources/read and prompts/get alike. `run` governs (`govern(..., talk)` with what it is given) and makes the
    whole result; it lets InputNeeded pass. A capability that does not talk costs nothing here.
    """
    if not capability.talks and not capability.asks_first:
        return run(None)
    from cmsmcp.core.asking.conversation import hold

    return hold(exchange, run)


def is_retry(exchange: Exchange) -> bool:
    """Whether this request brings answers, so that its result is for it alone (K-02)."""
    params = exchange.request.params
    return exchange.era.modern and not (params.get("inputResponses") is None and params.get("requestState") is None)


def clean(capability: Capability, value: Any, deadline: Deadline) -> Any:
    """Only declared keys leave (the output schema), and no secret (the leaf scan)."""
    dumped = schema_instance(capability.output).dump(value) if capability.output is not None else value
    deadline.check()
    check_size(dumped, capability.max_result, capability.hint)
    return redact(dumped)


def sized(capability: Capability, encoded: bytes) -> Encoded:
    return within(Encoded(encoded.decode("utf-8"), capability.mime_type, len(encoded)), capability.max_result, capability.hint)
