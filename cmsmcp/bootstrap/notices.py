"""From the process that keeps the index to all that serve it: what readers see differently, put on the bus."""

from __future__ import annotations

import threading
from collections.abc import Callable

from cmsmcp.core.sharing import Change
from cmsmcp.protocol.errors import Unavailable
from cmsmcp.site.index.changes import ANYTHING
from cmsmcp.state.redis.bus import RedisBus
from cmsmcp.state.redis.client import Client

RETRY_SECONDS = 1.0


class Notices:
    """Indexing must not stop for those who are told of it: `tell` never raises. What cannot be told now is told as EVERYTHING, once that
    can be. `publish` raises Unavailable.
    """

    def __init__(self, publish: Callable[[Change], None]) -> None:
        self._publish = publish
        self._lock = threading.Lock()
        self._retry: threading.Timer | None = None
        self._is_closed = False

    def tell(self, change: Change) -> None:
        with self._lock:
            if self._retry is None:
                self._try(change)

    def close(self) -> None:
        with self._lock:
            self._is_closed = True
            if self._retry is not None:
                self._retry.cancel()

    def _again(self) -> None:
        with self._lock:
            self._retry = None
            self._try(ANYTHING)

    def _try(self, change: Change) -> None:
        if self._is_closed:
            return
        try:
            self._publish(change)
        except Unavailable:
            self._retry = threading.Timer(RETRY_SECONDS, self._again)
            self._retry.daemon = True
            self._retry.start()


def notices_over_redis(client: Client, site: str) -> Notices:
    """To every process on that Redis. A Change counts as told when Redis has said so."""
    bus = RedisBus(client, site)

    def publish(change: Change) -> None:
        lost = client.unacknowledged
        bus.publish("change", change.as_message())
        client.settle()
        if client.unacknowledged != lost:
            raise Unavailable("Redis takes no message.")

    return Notices(publish)
