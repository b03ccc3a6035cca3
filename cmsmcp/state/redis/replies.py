"""Answers to our own requests, from the worker that received them to the one that waits: a key for each, there while it is waited for.

An empty value waits; an answered one is taken once. Keys go with the time that was given to the answer.
"""

from __future__ import annotations

from cmsmcp.core.sharing import fitting
from cmsmcp.state.redis.client import Client
from cmsmcp.state.redis.keys import Keys
from cmsmcp.state.redis.script import Script

_TAKE = Script("take.lua")


class RedisReplies:
    """Implements `core.sharing.Replies`."""

    def __init__(self, client: Client, site: str) -> None:
        self._client = client
        self._keys = Keys(site)

    def expect(self, session: str, id: str, seconds: float) -> None:
        self._client.need([("SET", self._keys.reply(session, id), "", "PX", max(1, int(seconds * 1000)))])

    def deliver(self, session: str, id: str, reply: bytes) -> bool:
        return self._client.need([("SET", self._keys.reply(session, id), fitting(id, reply), "XX", "KEEPTTL")])[0] is not None

    def take(self, session: str, id: str) -> bytes | None:
        taken: bytes | None = _TAKE.run(self._client, [self._keys.reply(session, id)], [], once=True)
        return taken

    def forget(self, session: str, id: str) -> None:
        self._client.post([("GETDEL", self._keys.reply(session, id))])
