"""`requestState`: what a client carries from one round of a request to the next (2026-07-28), sealed so that it can only be carried (E-04).

Bound to the caller and a time by the sealer, and here to the request: its method, its target, its arguments. Must not know what is asked.
"""

from __future__ import annotations

import hashlib
import json
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from cmsmcp.core.exchange import Exchange
from cmsmcp.core.shared import Shared
from cmsmcp.protocol.errors import INVALID_PARAMS, ProtocolError

SECONDS = 600.0
MAX_ROUNDS = 50
_USED_ONCE = "requestState"
"""The place of states that count once among the replies; no session has this id."""


@dataclass(frozen=True, slots=True)
class State:
    """`answers`: those used so far. `asked`: a digest of each question, of those answered too. `once`: a second use is refused (E-05)."""

    round: int = 0
    answers: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    asked: Mapping[str, str] = field(default_factory=dict)
    once: bool = False
    nonce: str = field(default_factory=lambda: secrets.token_urlsafe(16))


def seal(exchange: Exchange, state: State) -> str:
    """Its text. ResultTooLarge when the answers are too much to carry; ProtocolError after MAX_ROUNDS."""
    if state.round > MAX_ROUNDS:
        raise _refused(f"This request went back and forth {MAX_ROUNDS} times")
    shared = exchange.ports.shared()
    content = {
        "request": _digest_of_request(exchange),
        "round": state.round,
        "answers": state.answers,
        "asked": state.asked,
        "once": state.once,
        "nonce": state.nonce,
    }
    text = shared.sealer.seal(json.dumps(content, separators=(",", ":"), ensure_ascii=False).encode(), exchange.caller, SECONDS)
    if state.once:
        # An answer that lies ready: whoever takes it first has used the state, on whichever worker.
        shared.replies.expect(_USED_ONCE, state.nonce, SECONDS)
        shared.replies.deliver(_USED_ONCE, state.nonce, b"1")
    return text


def unseal(exchange: Exchange, text: Any) -> State:
    """ProtocolError (-32602) for a state that was altered, has expired, or belongs to another caller or request (E-04)."""
    content = exchange.ports.shared().sealer.open(text, exchange.caller) if isinstance(text, str) else None
    if content is None:
        raise _refused("requestState is not one we gave out to you, or it has expired")
    said = json.loads(content)
    if said["request"] != _digest_of_request(exchange):
        raise _refused("requestState belongs to another request: the retry needs the same method, name and arguments")
    return State(said["round"], said["answers"], said["asked"], said["once"], said["nonce"])


def use_up(shared: Shared, state: State) -> None:
    """ProtocolError when a state that counts once was used before, on any worker (E-05)."""
    if state.once and shared.replies.take(_USED_ONCE, state.nonce) is None:
        raise _refused("requestState was used before")


def digest(value: Any) -> str:
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _digest_of_request(exchange: Exchange) -> str:
    params = exchange.request.params
    return digest([exchange.request.method, params.get("name"), params.get("uri"), params.get("arguments") or {}])


def _refused(reason: str) -> ProtocolError:
    return ProtocolError(f"{reason}. Begin again without requestState and inputResponses.", code=INVALID_PARAMS)
