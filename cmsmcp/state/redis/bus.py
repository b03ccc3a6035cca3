"""The bus of a site with several processes: one Redis stream, written on the shared line and read on a connection of its own.

Knows positions in the stream and when one is lost. Must not know what a message says. The reader follows the id of the last entry it
has seen: while that entry is still there, everything after it is too. When it is gone (trimmed away, or another Redis answers), the
reader goes on from the newest entry and says `missed`.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Mapping
from typing import Any

from redis.exceptions import RedisError

from cmsmcp.protocol.errors import Unavailable
from cmsmcp.state.receivers import MISSED, Receiver, Receivers, pack
from cmsmcp.state.redis.client import Client, Refused
from cmsmcp.state.redis.keys import Keys
from cmsmcp.state.redis.line import Command, Line, LineBroken

MAX_KEPT = 2_000
"""Messages, or a few more; a reader further behind has missed some."""
KEEP_MS = 86_400_000
AT_ONCE = 100
BLOCK_MS = 2_000
"""How long one read waits at Redis; also how late an emptied stream is noticed."""
PATIENCE = 1.0
"""Seconds beyond that after which Redis counts as gone."""
PAUSES = (0.05, 2.0)
"""Seconds before the first try to connect again, and at most, doubling."""
CLOSE_SECONDS = 1.0

log = logging.getLogger(__name__)


def message(key: str, kind: str, body: Mapping[str, Any]) -> list[Command]:
    """What puts a message on the bus that is kept at `key`."""
    return [("XADD", key, "MAXLEN", "~", MAX_KEPT, "*", "kind", kind, "body", pack(body)), ("PEXPIRE", key, KEEP_MS)]


class RedisBus:
    """Implements `core.sharing.Bus`. Its thread and connection begin with the first `listen`, so never before a fork.

    What is published while Redis is away is Unavailable, or sent when it is back; a full Redis loses it, and serves nothing anyway.
    """

    def __init__(self, client: Client, site: str) -> None:
        self._client = client
        self._key = Keys(site).bus
        self._receivers = Receivers()
        self._starting = threading.Lock()
        self._closed = threading.Event()
        self._thread: threading.Thread | None = None
        self._line: Line | None = None
        self._position: bytes | None = None

    def publish(self, kind: str, body: Mapping[str, Any]) -> None:
        self._client.post(message(self._key, kind, body))

    def listen(self, kind: str, receive: Receiver) -> None:
        """Holds even while Redis is away: the first thing to be heard is then `missed`."""
        with self._starting:
            self._receivers.add(kind, receive)
            if self._thread is not None:
                return
            try:
                self._position = self._newest(self._client.call)
            except (Unavailable, Refused):
                pass  # the reader finds it
            self._thread = threading.Thread(target=self._run, name="cmsmcp-bus", daemon=True)
            self._thread.start()

    def close(self) -> None:
        self._closed.set()
        line = self._line
        if line is not None:
            line.drop()
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join(CLOSE_SECONDS)

    def _run(self) -> None:
        pause = PAUSES[0]
        while not self._closed.is_set():
            try:
                self._line = Line(self._client.address, BLOCK_MS / 1000 + PATIENCE)
                wait_ms = 1  # first whether the position still holds
                while not self._closed.is_set():
                    self._read(self._line, wait_ms)
                    wait_ms, pause = BLOCK_MS, PAUSES[0]
            except (LineBroken, RedisError, OSError):
                pass
            except Refused as refused:
                log.error("Redis refuses to be read (%s)", refused.word)
            except Exception:
                log.exception("the bus failed")
            if self._line is not None:
                self._line.drop()
            self._closed.wait(pause)
            pause = min(2 * pause, PAUSES[1])

    def _read(self, line: Line, wait_ms: int) -> None:
        """What comes within that time. The two commands run one after the other with nothing between them."""
        position = self._position
        if position is None:
            self._position = self._newest(lambda *command: _ask(line, command)[0])
            self._receivers.deliver(MISSED)
            return
        here, found = _ask(
            line,
            ("XRANGE", self._key, position, position),
            ("XREAD", "COUNT", AT_ONCE, "BLOCK", wait_ms, "STREAMS", self._key, position),
        )
        if not here:
            self._position = None
            return
        for id, fields in found[0][1] if found else ():
            self._position = id
            said = dict(zip(fields[::2], fields[1::2], strict=True))
            self._receivers.deliver(said.get(b"kind", b"").decode(errors="replace"), said.get(b"body", b""))

    def _newest(self, ask: Callable[..., Any]) -> bytes:
        """The id of the newest entry; of a mark, where there was none to follow."""
        found = ask("XREVRANGE", self._key, "+", "-", "COUNT", 1)
        id: bytes = found[0][0] if found else ask("XADD", self._key, "*", "kind", "mark", "body", "{}")
        return id


def _ask(line: Line, *commands: Command) -> list[Any]:
    replies = line.wait(line.send(commands))
    for reply in replies:
        if isinstance(reply, Refused):
            raise reply
    return replies
