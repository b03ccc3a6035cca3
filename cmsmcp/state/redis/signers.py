"""Which keys sign a site's tokens, by their ids: so that a host with another key learns of it instead of refusing good tokens.

Knows ids and dates, never a key. A key counts until the last token it signed has ended.
"""

from __future__ import annotations

import time

from cmsmcp.state.redis.client import Client
from cmsmcp.state.redis.keys import Keys


class RedisSigners:
    """Every method raises Unavailable when Redis does not do as asked."""

    def __init__(self, client: Client, site: str) -> None:
        self._client = client
        self._key = Keys(site).signers

    def live(self) -> dict[str, int]:
        """Key ids, each with the epoch second at which the last token it signed ends."""
        return self._listed([])

    def add(self, key_id: str, until: int) -> dict[str, int]:
        """`key_id` signs tokens that live until then. Returns what is live, this one included: of two hosts that come at once with
        different keys, one sees both."""
        return self._listed([("ZADD", self._key, "GT", until, key_id), *self._kept(until)])

    def discard(self, key_id: str) -> None:
        self._listed([("ZREM", self._key, key_id)])

    def replace(self, until: dict[str, int]) -> None:
        """These and no others."""
        listed = [word for key_id, second in until.items() for word in (second, key_id)]
        last = max(until.values())
        self._listed([("ZREMRANGEBYSCORE", self._key, "-inf", "+inf"), ("ZADD", self._key, *listed), *self._kept(last)])

    def _kept(self, until: int) -> list[tuple[str | int, ...]]:
        return [("EXPIREAT", self._key, until, "NX"), ("EXPIREAT", self._key, until, "GT")]

    def _listed(self, commands: list[tuple[str | int, ...]]) -> dict[str, int]:
        now = int(time.time())
        last = [("ZREMRANGEBYSCORE", self._key, "-inf", now), ("ZRANGE", self._key, 0, -1, "WITHSCORES")]
        words = iter(self._client.need([("MULTI",), *commands, *last, ("EXEC",)])[-1][-1])
        return {key_id.decode(): int(float(until)) for key_id, until in zip(words, words, strict=True)}
