"""A Lua script that Redis runs in one step: sent by its digest, and whole when Redis does not know it (any more)."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha1
from importlib.resources import files
from typing import Any

from cmsmcp.state.redis.client import Client, Refused, cannot


class Script:
    def __init__(self, name: str) -> None:
        """`name`: the file beside this module."""
        self._source = files("cmsmcp.state.redis").joinpath(name).read_bytes()
        self._digest = sha1(self._source, usedforsecurity=False).hexdigest()

    def run(self, client: Client, keys: Sequence[str], arguments: Sequence[bytes | str | int], *, once: bool = False) -> Any:
        """Its reply. Unavailable when Redis does not answer, or refuses. `once`: it must not be done twice (`client.py`)."""
        try:
            return self.attempt(client, keys, arguments, once=once)
        except Refused:
            raise cannot() from None

    def attempt(self, client: Client, keys: Sequence[str], arguments: Sequence[bytes | str | int], *, once: bool = False) -> Any:
        """As `run`, but Refused when Redis refuses."""
        try:
            return client.call("EVALSHA", self._digest, len(keys), *keys, *arguments, once=once)
        except Refused as refused:
            if refused.word != "NOSCRIPT":
                raise
        # Nothing was done: Redis restarted, failed over or flushed its scripts. EVAL keeps it for next time.
        return client.call("EVAL", self._source, len(keys), *keys, *arguments, once=once)
