"""The `/api` door of one worker: the same site, permits, tokens and audit as `/mcp`, a rate of its own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from flask import Blueprint

from cmsmcp.api.door import blueprint
from cmsmcp.api.reading import Reading
from cmsmcp.bootstrap.chosen import Chosen, Sought
from cmsmcp.bootstrap.governance import redis_admission
from cmsmcp.bootstrap.keys import open_keyring
from cmsmcp.core.exchange import Ports
from cmsmcp.core.ports import Caller
from cmsmcp.identity.cursors import PURPOSE, CursorSeal
from cmsmcp.identity.gate import Gate
from cmsmcp.identity.peers import Peers
from cmsmcp.processes.presence import has_left
from cmsmcp.state.redis.client import Client


def open_api(
    chosen: Chosen, client: Client | None, ports: Ports, peers: Peers, authenticate: Callable[[str | None], Caller]
) -> Blueprint:
    """`ports` are those of the service behind `/mcp`."""
    policy = replace(ports.policy, rate=chosen.settings.api.rate)
    admission = redis_admission(client, policy, chosen.settings.site_name, bucket="api:")
    keys, alone = Sought(lambda: open_keyring(chosen, PURPOSE)), CursorSeal()
    ports = replace(ports, policy=policy, admission=lambda: admission)
    reading = Reading(ports, lambda: CursorSeal(keys()) if keys() else alone, chosen.settings.door.public_url or "/")
    return blueprint(reading, Gate(peers, authenticate, admission, policy.max_request_bytes, has_left))
