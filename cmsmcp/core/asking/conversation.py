"""Which dialogue a request gets, and the course of one: begin, run, ask for input, close. What it may not begin without (E-03)."""

from __future__ import annotations

from collections.abc import Callable

from cmsmcp.core.asking.live import Live, declared_at_handshake
from cmsmcp.core.asking.questions import lacking, missing_capability
from cmsmcp.core.asking.rounds import Rounds
from cmsmcp.core.capability import Capability
from cmsmcp.core.dialogue import CannotAsk, InputNeeded, Talk
from cmsmcp.core.entry import charge
from cmsmcp.core.exchange import Exchange
from cmsmcp.governance.scopes import allowed
from cmsmcp.protocol import messages


def hold(exchange: Exchange, run: Callable[[Talk | None], messages.Result]) -> messages.Result:
    """The result of `run`, or one that asks for input (2026-07-28)."""
    dialogue = Rounds(exchange) if exchange.era.modern else Live(exchange)
    try:
        return run(dialogue.begin)
    except InputNeeded as needed:
        if not isinstance(dialogue, Rounds):
            raise
        return dialogue.input_required(needed)
    finally:
        dialogue.close()


def check_requirements(exchange: Exchange, capability: Capability) -> None:
    """Refuse before anything runs what the client cannot carry: -32021, or CannotAsk where a handshake declared it (E-03).

    Whoever lacks the scope is told that instead, by `govern`.
    """
    if not allowed(exchange.ports.policy, exchange.caller, capability.scope):
        return
    era = exchange.era
    absent = lacking(capability.requires, era.client_capabilities if era.modern else declared_at_handshake(exchange.connection.declared))
    if not absent:
        return
    charge(exchange)
    if era.modern:
        raise missing_capability(absent)
    raise CannotAsk(f"This needs client capabilities that were not declared at initialize: {', '.join(absent)}.")
