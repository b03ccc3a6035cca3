"""Who in this process hears which messages of the bus, and how a message is written. Shared by both adapters of `core.sharing.Bus`.

Must not know how messages travel.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Mapping
from typing import Any

from cmsmcp.core.sharing import MAX_MESSAGE_BYTES

MISSED = "missed"
_log = logging.getLogger(__name__)

Receiver = Callable[[Mapping[str, Any]], None]


def pack(body: Mapping[str, Any]) -> bytes:
    """JSON. ValueError when it is larger than a message may be."""
    packed = json.dumps(body, separators=(",", ":")).encode()
    if len(packed) > MAX_MESSAGE_BYTES:
        raise ValueError(f"a message of {len(packed)} bytes; the limit is {MAX_MESSAGE_BYTES}")
    return packed


class Receivers:
    """Thread-safe. `deliver` never raises: one receiver's fault is logged and the next one is called."""

    def __init__(self) -> None:
        self._of_kind: dict[str, tuple[Receiver, ...]] = {}

    def add(self, kind: str, receive: Receiver) -> None:
        """Callers see to it that one thread adds at a time."""
        self._of_kind = {**self._of_kind, kind: (*self._of_kind.get(kind, ()), receive)}

    def deliver(self, kind: str, packed: bytes = b"{}") -> None:
        receivers = self._of_kind.get(kind, ())
        if not receivers:
            return
        try:
            body = json.loads(packed)
        except ValueError:
            _log.error("a message of kind %s cannot be read", kind)
            return
        for receive in receivers:
            try:
                receive(body)
            except Exception:
                _log.exception("a receiver of %s failed", kind)
