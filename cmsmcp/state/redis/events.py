"""The last events of legacy streams, for any worker: a Redis stream for each, in which an entry's id is the event's number."""

from __future__ import annotations

from collections.abc import Sequence

from cmsmcp.core.sharing import EVENTS_SECONDS, MAX_EVENT_BYTES, MAX_EVENTS, MAX_EVENTS_BYTES, Event
from cmsmcp.state.redis.client import Client
from cmsmcp.state.redis.keys import Keys
from cmsmcp.state.redis.script import Script

_APPEND = Script("append.lua")
MAX_NUMBER = 2**53
"""Numbers are a client's to name; this is further than any stream goes, and exact in a script."""
_LAST, _GAP = b"last", b"gap"


class RedisEvents:
    """Implements `core.sharing.EventLog`."""

    def __init__(self, client: Client, site: str) -> None:
        self._client = client
        self._keys = Keys(site)

    def append(self, session: str, stream: str, event: Event) -> None:
        data, kind = event.data, _LAST if event.last else b""
        if len(data) > MAX_EVENT_BYTES:
            data, kind = b"", _GAP
        key = self._keys.events(session, stream)
        _APPEND.run(self._client, [key], [event.number, data, kind, MAX_EVENTS, MAX_EVENTS_BYTES, EVENTS_SECONDS * 1000])

    def after(self, session: str, stream: str, number: int) -> Sequence[Event] | None:
        if not 0 <= number <= MAX_NUMBER:
            return None
        entries = self._client.need([("XRANGE", self._keys.events(session, stream), f"{number}-0", "+")])[0]
        found = [_event(id, dict(zip(fields[::2], fields[1::2], strict=True))) for id, fields in entries]
        if not found:
            return None
        first = found[0][0].number
        if first == number:
            del found[0]
        elif first != number + 1:
            return None
        return None if any(kind == _GAP for _, kind in found) else [event for event, _ in found]


def _event(id: bytes, fields: dict[bytes, bytes]) -> tuple[Event, bytes]:
    kind = fields[b"kind"]
    return Event(int(id.split(b"-")[0]), fields[b"data"], kind == _LAST), kind
