"""Whether this Redis, asked as this user, can do what serving needs: everything is tried, nothing is assumed."""

from __future__ import annotations

import re
import threading
import time
from typing import Any

from cmsmcp.protocol.errors import Unavailable
from cmsmcp.state.redis.client import Client, Refused
from cmsmcp.state.redis.keys import Keys
from cmsmcp.state.redis.script import Script
from cmsmcp.state.redis.trouble import OLDEST, Trouble, lacking, of_refusal, too_old

KEEP_MS = 60_000
LOOK_SECONDS = 1.0
LOOKS_PER_PROBE = 10
_OUTSIDE = (("PING",), ("TIME",), ("INFO", "server"), ("MULTI",), ("EXEC",))
"""What is needed beside scripts."""
_SCRIPT = Script("probe.lua")


def probe(client: Client, site: str) -> Trouble | None:
    """What keeps it from serving; None when nothing does. The client's condition is that from now on. Never raises."""
    condition = client.condition
    with condition.held():
        try:
            condition.examined(_examine(client, site))
        except Unavailable:
            pass  # the condition has why
    return condition.trouble


def _examine(client: Client, site: str) -> Trouble | None:
    replies = client.pipeline(_OUTSIDE)
    refused = [(command[0], str(reply)) for command, reply in zip(_OUTSIDE, replies, strict=True) if isinstance(reply, Refused)]
    version = re.search(rb"redis_version:(\d+)([\d.]*)", replies[2]) if isinstance(replies[2], bytes) else None
    if version and int(version[1]) < OLDEST:
        return too_old((version[1] + version[2]).decode())
    try:
        flat = _SCRIPT.attempt(client, Keys(site).probes, [KEEP_MS, int(time.time()) + KEEP_MS // 1000])
        refused += [(name.decode(), error.decode(errors="replace")) for name, error in zip(flat[::2], flat[1::2], strict=True)]
    except Refused as error:
        refused.append(("eval", str(error)))
    return _meaning(refused)


def _meaning(refused: list[tuple[str, str]]) -> Trouble | None:
    """Rights are named together; of everything else the first is said."""
    troubles = [(name, of_refusal(error)) for name, error in refused]
    for _, trouble in troubles:
        if trouble is not None and trouble.word != "rights":
            return trouble
    names = {name for name, trouble in troubles if trouble is not None}
    if not names:
        return None
    return lacking(() if all("key" in error for _, error in refused) else names)


class Watcher:
    """Looks at Redis once a second, so that a process that nobody asks anything tells of an outage too, and of its end."""

    def __init__(self, client: Client, site: str) -> None:
        self._client = client
        self._site = site
        self._ended = threading.Event()

    def start(self) -> None:
        """In a thread, from after the fork on."""
        threading.Thread(target=self._run, name="redis watcher", daemon=True).start()

    def stop(self) -> None:
        self._ended.set()

    def _run(self) -> None:
        looks = 0
        while not self._ended.is_set():
            if looks % LOOKS_PER_PROBE == 0 or self._client.condition.trouble is not None:
                probe(self._client, self._site)
            else:
                self._ping()
            looks += 1
            self._ended.wait(LOOK_SECONDS)

    def _ping(self) -> Any:
        try:
            self._client.call("PING")
        except (Unavailable, Refused):
            pass  # the condition has it
