"""What legacy sessions have told any worker: one hash for each, gone a week after the last change."""

from __future__ import annotations

from cmsmcp.core.sharing import MAX_URI_BYTES, MAX_URIS, SessionState
from cmsmcp.state.redis.client import Client
from cmsmcp.state.redis.keys import Keys
from cmsmcp.state.redis.script import Script

KEEP_MS = 7 * 86_400_000
_URI = b"uri "
_SUBSCRIBE = Script("subscribe.lua")


class RedisSessions:
    """Implements `core.sharing.SessionStore`. Fields: `level`, `stream`, and `uri <uri>` for each subscription."""

    def __init__(self, client: Client, site: str) -> None:
        self._client = client
        self._keys = Keys(site)

    def read(self, session: str) -> SessionState:
        flat = self._client.need([("HGETALL", self._keys.session(session))])[0]
        fields = dict(zip(flat[::2], flat[1::2], strict=True))
        uris = frozenset(_text(name[len(_URI) :]) for name in fields if name.startswith(_URI))
        level, stream = fields.get(b"level"), fields.get(b"stream")
        return SessionState(level and _text(level), uris, stream and _text(stream))

    def set_level(self, session: str, level: str) -> None:
        self._set(session, "level", level)

    def set_stream(self, session: str, stream: str) -> None:
        self._set(session, "stream", stream)

    def subscribe(self, session: str, uri: str) -> bool:
        field = _URI + uri.encode(errors="surrogatepass")
        if len(field) - len(_URI) > MAX_URI_BYTES:
            return False
        return bool(_SUBSCRIBE.run(self._client, [self._keys.session(session)], [field, MAX_URIS, KEEP_MS]) == 1)

    def unsubscribe(self, session: str, uri: str) -> None:
        self._client.need([("HDEL", self._keys.session(session), _URI + uri.encode(errors="surrogatepass"))])

    def _set(self, session: str, field: str, value: str) -> None:
        key = self._keys.session(session)
        self._client.need([("HSET", key, field, value.encode(errors="surrogatepass")), ("PEXPIRE", key, KEEP_MS)])


def _text(raw: bytes) -> str:
    return raw.decode(errors="surrogatepass")
