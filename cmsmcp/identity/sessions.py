"""Session ids of the legacy revisions: signed and self-describing, so any worker that holds the key reads them and none stores them.

Knows what an id says and for how long. Must not know requests or replies. An id authenticates nobody (MCP 2025-11-25,
basic/transports, Session Management): it is read only for a caller who has already shown a token, and it reads for no other.
"""

from __future__ import annotations

import base64
import hmac
import re
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass

from cmsmcp.core.ports import Caller
from cmsmcp.identity.keys import Key, Keyring

PURPOSE = "sessions"
TTL = 7 * 86_400
"""Seconds. A client whose session has ended gets 404 and initialises again; no worker remembers that it did."""
_SHAPE = re.compile(
    r"(?P<key>[A-Za-z0-9_-]{12}):(?P<revision>[0-9-]{10}):(?P<declared>[a-z+-]{0,80}):(?P<expires>[0-9]{1,12}):[A-Za-z0-9_-]{16}"
)


@dataclass(frozen=True, slots=True)
class Session:
    """What `initialize` settled: the revision, and the client capabilities a server may need later, by name. `expires` in epoch seconds."""

    revision: str
    declared: frozenset[str]
    expires: int


class Sessions:
    """Issues and reads ids. They are visible ASCII, unguessable (HMAC-SHA-256) and bound to `Caller.client`, which is not in them."""

    def __init__(self, keys: Keyring, clock: Callable[[], float] = time.time) -> None:
        self._keys = keys
        self._clock = clock

    def issue(self, caller: Caller, revision: str, declared: frozenset[str]) -> str:
        key = self._keys.signing
        expires = int(self._clock()) + TTL
        said = f"{key.id}:{revision}:{'+'.join(sorted(declared))}:{expires}:{secrets.token_urlsafe(12)}"
        return f"{said}:{_mac(key, said, caller)}"

    def read(self, text: str, caller: Caller) -> Session | None:
        """What a genuine id of this caller says, even if it has expired; None for anything else."""
        said, _, mac = text.rpartition(":")
        shape = _SHAPE.fullmatch(said)
        key = self._keys.find(shape["key"]) if shape else None
        if shape is None or key is None or not hmac.compare_digest(_mac(key, said, caller).encode(), mac.encode()):
            return None
        return Session(shape["revision"], frozenset(filter(None, shape["declared"].split("+"))), int(shape["expires"]))

    def is_over(self, session: Session) -> bool:
        return session.expires <= self._clock()


def _mac(key: Key, said: str, caller: Caller) -> str:
    digest = hmac.digest(key.secret, f"{said}\n{caller.client}".encode(), "sha256")
    return base64.urlsafe_b64encode(digest).decode().rstrip("=")
