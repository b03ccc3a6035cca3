"""The registry of tokens a site has issued: who made which, when it was last used, and which are revoked.

Knows ids and dates, never a token. Revocation is a field of the same record that the admission script reads, so it holds for the
next request on any worker. Everything here fails loudly when Redis is away (C061).
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

from cmsmcp.protocol.errors import NotFound, Unavailable
from cmsmcp.state.redis.bus import message
from cmsmcp.state.redis.client import Client, Refused
from cmsmcp.state.redis.keys import Keys

KEEP_AFTER_EXPIRY = 30 * 86_400
"""Seconds a record outlives its token, so that the audit's ids can still be explained."""
MAX_LISTED = 1000
_FIELDS = ("name", "access", "scope", "created", "expires", "used", "revoked")


@dataclass(frozen=True, slots=True)
class TokenRecord:
    """Times are epoch seconds. `used` is within a minute of the last use; `revoked` is None while the token is good."""

    jti: str
    name: str
    access: str
    scope: str
    created: int
    expires: int
    used: int | None = None
    revoked: int | None = None

    def is_alive(self, now: float) -> bool:
        """Neither revoked nor expired."""
        return self.revoked is None and now < self.expires


class RedisTokens:
    """Every method raises Unavailable when Redis does not do as asked."""

    def __init__(self, client: Client, site: str) -> None:
        self._client = client
        self._keys = Keys(site)

    def register(self, record: TokenRecord) -> None:
        key = self._keys.token(record.jti)
        fields: list[str | int] = ["name", record.name, "access", record.access, "scope", record.scope]
        fields += ["created", record.created, "expires", record.expires]
        gone = record.expires + KEEP_AFTER_EXPIRY
        self._do([
            ("HSET", key, *fields),
            ("EXPIREAT", key, gone),
            ("ZADD", self._keys.tokens, gone, record.jti),
            ("EXPIREAT", self._keys.tokens, gone, "NX"),
            ("EXPIREAT", self._keys.tokens, gone, "GT"),
        ])

    def revoke(self, jti: str) -> TokenRecord:
        """From the next request on, everywhere; open streams end. NotFound when no such token was issued here. Twice is once."""
        record = self.get(jti)
        told = message(self._keys.bus, "revoked", {"token": jti})
        self._do([("HSETNX", self._keys.token(jti), "revoked", int(time.time())), *told])
        return self.get(record.jti)

    def get(self, jti: str) -> TokenRecord:
        found = _record(jti, self._do([("HMGET", self._keys.token(jti), *_FIELDS)])[0])
        if found is None:
            raise NotFound("token", jti)
        return found

    def newest(self) -> list[TokenRecord]:
        """The newest `MAX_LISTED` by expiry, those that expire last first; expired ones stay for 30 days."""
        jtis = self._do([
            ("ZREMRANGEBYSCORE", self._keys.tokens, "-inf", int(time.time())),
            ("ZRANGE", self._keys.tokens, 0, MAX_LISTED - 1, "REV"),
        ])[1]
        names = [jti.decode() for jti in jtis]
        if not names:
            return []
        rows = self._do([("HMGET", self._keys.token(jti), *_FIELDS) for jti in names])
        return [record for record in map(_record, names, rows) if record is not None]

    def _do(self, commands: list[tuple[Any, ...]]) -> list[Any]:
        replies = self._client.pipeline([("MULTI",), *commands, ("EXEC",)])
        if any(isinstance(reply, Refused) for reply in replies) or any(isinstance(reply, Refused) for reply in replies[-1]):
            raise Unavailable("The token registry cannot be read or written now. Nothing was changed; try again.")
        return replies[-1]


def _record(jti: str, row: list[bytes | None]) -> TokenRecord | None:
    fields = {name: value.decode() for name, value in zip(_FIELDS, row, strict=True) if value is not None}
    if "created" not in fields:
        return None

    def moment(name: str) -> int | None:
        return int(fields[name]) if name in fields else None

    name, access, scope = (fields.get(field, "") for field in ("name", "access", "scope"))
    return TokenRecord(jti, name, access, scope, int(fields["created"]), moment("expires") or 0, moment("used"), moment("revoked"))
