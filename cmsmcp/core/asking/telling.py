"""What running work says to its client without being asked: progress and log messages, in both eras, and changes of the site.

Knows who wants to hear what, and how often. Must not know how a message reaches the client.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any

from cmsmcp.core.exchange import Exchange
from cmsmcp.core.governed import encode
from cmsmcp.core.sharing import Change
from cmsmcp.governance.redaction import redact
from cmsmcp.protocol.eras import LATEST_LEGACY, LEVELS, MODERN
from cmsmcp.protocol.jsonrpc import is_id

PER_SECOND = 20
BURST = 10
"""So many may follow at once before PER_SECOND counts (PR-03)."""
MAX_MESSAGE = 500
MAX_LOG_BYTES = 8_192
_RESUMES = (LATEST_LEGACY, MODERN)
"""Revisions of a session whose streams may be closed early and taken up again."""


class Telling:
    """The part of a Dialogue that only talks. `least` gives the level from which on log messages are wanted, None for none.

    Thread-safe. After `close`, and once the request was withdrawn, nothing is sent (PR-02, X-01).
    """

    def __init__(self, exchange: Exchange, least: Callable[[], str | None]) -> None:
        self._exchange = exchange
        self._least = least
        self._lock = threading.RLock()
        self._is_closed = exchange.out is None
        self._token = _progress_token(exchange.request.params)
        self._done = -math.inf
        self._held: dict[str, Any] | None = None
        self._progress_pace, self._log_pace = _Pace(), _Pace()

    def progress(self, done: float, total: float | None = None, message: str = "") -> None:
        if self._token is None or not _is_finite(done):
            return
        params: dict[str, Any] = {"progressToken": self._token, "progress": done}
        if total is not None and _is_finite(total):
            params["total"] = total
        if message:
            params["message"] = message
        with self._lock:
            if done <= self._done:
                return
            self._done, self._held = done, params
            if self._progress_pace.allows():
                self._flush()

    def log(self, level: str, data: Any, logger: str = "") -> None:
        if level not in LEVELS:
            raise ValueError(f"no such level: {level}")
        if self._is_closed:
            return
        least = self._least()
        if least is None or LEVELS.index(level) < LEVELS.index(least):
            return
        with self._lock:
            if self._log_pace.allows():
                params = {"level": level, "data": _bounded(redact(data))}
                self._send("notifications/message", {**params, "logger": spoken(logger)} if logger else params)

    def changed(self, change: Change) -> None:
        self._exchange.ports.shared().bus.publish("change", change.as_message())

    def hang_up(self, retry_ms: int) -> None:
        """Only where a session takes up what it missed."""
        era, out = self._exchange.era, self._exchange.out
        if out is not None and not era.modern and era.revision in _RESUMES and self._exchange.connection.session is not None:
            out.hang_up(retry_ms)

    def close(self) -> None:
        """The reply comes next. The latest progress, if it was held back, goes before it."""
        with self._lock:
            self._flush()
            self._is_closed = True

    def _flush(self) -> None:
        held, self._held = self._held, None
        if held is not None:
            self._send("notifications/progress", {**held, "message": spoken(held["message"])} if "message" in held else held)

    def _send(self, method: str, params: Mapping[str, Any], **more: Any) -> None:
        """One message of ours, in order. With `more`, a request."""
        with self._lock:
            if not self._is_closed and not self._exchange.flight.cancelled and self._exchange.out is not None:
                self._exchange.out.send(encode({"jsonrpc": "2.0", **more, "method": method, "params": params}))


def spoken(text: str) -> str:
    """What a capability says in passing, as it may leave: at most MAX_MESSAGE characters, cut once no secret is in it (LG-05)."""
    said: str = redact(text)
    return said[:MAX_MESSAGE]


class _Pace:
    """BURST at once, PER_SECOND in the long run."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._left, self._at = float(BURST), clock()

    def allows(self) -> bool:
        now = self._clock()
        self._left, self._at = min(BURST, self._left + (now - self._at) * PER_SECOND), now
        if self._left < 1:
            return False
        self._left -= 1
        return True


def _progress_token(params: Mapping[str, Any]) -> str | int | None:
    """As it was sent (PR-01); what could not be an id either is no token: too long, or neither string nor integer."""
    meta = params.get("_meta")
    token = meta.get("progressToken") if isinstance(meta, Mapping) else None
    return token if is_id(token) else None


def _is_finite(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _bounded(data: Any) -> Any:
    encoded = encode(data)
    return data if len(encoded) <= MAX_LOG_BYTES else encoded[:MAX_LOG_BYTES].decode("utf-8", "ignore") + "…"
