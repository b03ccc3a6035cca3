"""What legacy sessions have told the one process that serves them."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace

from cmsmcp.core.sharing import MAX_URI_BYTES, MAX_URIS, SessionState

MAX_SESSIONS = 1_000
"""stdio has one; the bound is for tests and hosts that serve many. The one changed longest ago is forgotten first."""


class MemorySessions:
    """Implements `core.sharing.SessionStore`. A session ends with its process, which lives less than a week or has the memory for it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._sessions: dict[str, SessionState] = {}

    def read(self, session: str) -> SessionState:
        with self._lock:
            return self._sessions.get(session, SessionState())

    def set_level(self, session: str, level: str) -> None:
        self._change(session, lambda state: replace(state, level=level))

    def set_stream(self, session: str, stream: str) -> None:
        self._change(session, lambda state: replace(state, stream=stream))

    def subscribe(self, session: str, uri: str) -> bool:
        def add(state: SessionState) -> SessionState | None:
            uris = state.uris | {uri}
            return replace(state, uris=uris) if len(uris) <= MAX_URIS else None

        return len(uri.encode(errors="surrogatepass")) <= MAX_URI_BYTES and self._change(session, add)

    def unsubscribe(self, session: str, uri: str) -> None:
        self._change(session, lambda state: replace(state, uris=state.uris - {uri}))

    def _change(self, session: str, change: Callable[[SessionState], SessionState | None]) -> bool:
        """False when `change` gives None: nothing is changed then."""
        with self._lock:
            changed = change(self._sessions.get(session, SessionState()))
            if changed is None:
                return False
            self._sessions.pop(session, None)
            self._sessions[session] = changed
            if len(self._sessions) > MAX_SESSIONS:
                del self._sessions[next(iter(self._sessions))]
            return True
