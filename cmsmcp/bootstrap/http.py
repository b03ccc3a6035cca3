"""The HTTP doors of one worker: shared limits, tokens, a site that another process indexes."""

from __future__ import annotations

import importlib
import logging
import pkgutil
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from urllib.parse import urlsplit

from flask import Blueprint

import cmsmcp.core
import cmsmcp.site
from cmsmcp import __version__
from cmsmcp.bootstrap.api import open_api
from cmsmcp.bootstrap.beside import SidecarKeeper, tell_start
from cmsmcp.bootstrap.chosen import Chosen, Once, Recent, Sought, choose, discover_capabilities, open_chosen
from cmsmcp.bootstrap.governance import find_redis, redis_admission, watched
from cmsmcp.bootstrap.issuers import describe_resource, open_issuers
from cmsmcp.bootstrap.keys import open_sessions, open_tokens
from cmsmcp.bootstrap.logs import redact_logs
from cmsmcp.bootstrap.runner import open_runner
from cmsmcp.bootstrap.sharing import share_over_redis
from cmsmcp.bootstrap.signers import agree_on_key
from cmsmcp.core.ports import Caller
from cmsmcp.core.service import Service
from cmsmcp.core.shared import Shared
from cmsmcp.identity.bearers import Bearers
from cmsmcp.identity.gate import Gate
from cmsmcp.identity.peers import Peers
from cmsmcp.processes.presence import has_left
from cmsmcp.protocol.errors import Unavailable
from cmsmcp.runner.pool import Pool
from cmsmcp.settings import SiteChoice
from cmsmcp.site.open import OpenSite
from cmsmcp.state.redis.client import Client, Refused
from cmsmcp.state.redis.probe import probe
from cmsmcp.transports.http import Entrance, blueprint

log = logging.getLogger(__name__)

RUNNER_SECONDS = 1.0
"""When a worker has the process ready that its children are forked from, unless a call has needed one before."""
ANSWER_SECONDS = 0.5
"""How long an answer of `/readyz` is given again: anyone may ask, and each look costs Redis a command."""


@dataclass(frozen=True, slots=True)
class Doors:
    """`missing` names what keeps this worker from serving, and why; it is asked by `/readyz`. `finish` waits for what still runs when no
    request does, for so many seconds, and gives up the rest. `tell_start` takes where it is served and how to say a line; None where a
    supervisor says all that."""

    blueprints: Sequence[Blueprint]
    missing: Callable[[], Mapping[str, str]]
    finish: Callable[[float], None]
    tell_start: Callable[[str, Callable[[str], None]], None] | None = None


def open_doors(choice: SiteChoice, bind: str, *, supervised: bool) -> Doors:
    """Compose one worker. `bind` is the host it is reached at, blank if unknown; `supervised`: somebody else sees to the key, the sidecar
    and what is said at the start. Raises SettingsError."""
    redact_logs()
    chosen = choose(choice)
    keeper = None if supervised else SidecarKeeper(chosen)
    if keeper is not None:
        keeper.start()
    url = find_redis(chosen)
    client = watched(url, chosen.settings.site_name, log.warning) if url is not None else None
    redis = Recent(lambda: _redis(client, chosen.settings.site_name), ANSWER_SECONDS)
    if not supervised and client is not None:
        _agree_on_key(chosen, client)
    open_tokens(chosen)  # a weak key stops the start
    tokens = Sought(lambda: open_tokens(chosen))  # one that is made later is taken up
    bearers = Bearers(tokens, open_issuers(chosen))
    site = Once(lambda: open_chosen(chosen, write=False))
    policy, door, api = chosen.settings.policy, chosen.settings.door, chosen.settings.api
    admission = redis_admission(client, policy, chosen.settings.site_name)
    registry = Once(lambda: discover_capabilities(chosen.environment.capabilities))
    registry()  # a faulty declaration stops the start, not a call
    _load()
    site()  # it believes what the sidecar says of the index from now on, and a first call would wait for that
    shared = Once(lambda: share_over_redis(chosen, client))
    runner = open_runner(chosen)
    _start_soon(runner)
    service = Service(
        policy, registry, lambda: site().site, lambda: admission, __version__, site_name=chosen.settings.site_name, shared=shared,
        runner=lambda: runner, services=partial(_known_of_redis, client),
    )  # fmt: skip
    open_to = Caller(client="local", scopes=policy.scopes) if door.auth == "none" else None
    peers = _peers(chosen, bind, door.allowed_origins)
    gate = Gate(peers, partial(bearers.authenticate, door="mcp"), admission, policy.max_request_bytes, has_left)
    doors = [blueprint(service, Entrance(gate, open_to, Sought(lambda: open_sessions(chosen)))), *describe_resource(chosen)]
    if api.enabled:
        doors.append(open_api(chosen, client, service.ports, _peers(chosen, bind, api.cors), partial(bearers.authenticate, door="api")))
    missing = Recent(lambda: _missing(redis, open_to is not None or tokens() is not None, site), ANSWER_SECONDS)

    def finish(seconds: float) -> None:
        _finish(shared.made(), seconds)
        if keeper is not None:
            keeper.stop()

    where = client.address.shown if client is not None else None
    return Doors(doors, missing, finish, None if supervised else partial(tell_start, chosen, where, missing))


def _agree_on_key(chosen: Chosen, client: Client) -> None:
    """Where Redis is away nothing is served, so nothing is refused for its key."""
    try:
        for line in agree_on_key(chosen, client, make=False):
            log.warning("%s", line)
    except (Unavailable, Refused):
        pass


def _load() -> None:
    """What stdio imports when a request first needs it, a worker imports before it takes one: no request waits for that."""
    for room in (cmsmcp.core, cmsmcp.site):
        for module in pkgutil.walk_packages(room.__path__, f"{room.__name__}."):
            importlib.import_module(module.name)


def _start_soon(runner: Pool) -> None:
    """When this worker answers; its start is not to compete with it."""
    timer = threading.Timer(RUNNER_SECONDS, runner.start)
    timer.daemon = True
    timer.start()


def _finish(shared: Shared | None, seconds: float) -> None:
    if shared is not None:
        shared.runs.end_all(seconds)


def _peers(chosen: Chosen, bind: str, allowed: Sequence[str]) -> Peers:
    """Known hosts: those configured, the one of the public URL, and the address bound, if it is one. `allowed` are a door's origins."""
    door = chosen.settings.door
    hosts = [*door.allowed_hosts]
    origins = [*allowed]
    if door.public_url:
        parts = urlsplit(door.public_url)
        hosts.append(parts.netloc.lower())
        origins.append(f"{parts.scheme}://{parts.netloc}".lower())
    if bind not in ("", "0.0.0.0", "::"):
        hosts.append(f"[{bind}]" if ":" in bind else bind.lower())
    return Peers(hosts, origins, door.trusted_proxies)


def _redis(client: Client | None, site_name: str) -> Mapping[str, str]:
    """What is wrong with `redis`, blank when it serves; without addresses, because `/readyz` tells it to anyone."""
    if client is None:
        return {"redis": "REDIS_URL is not set, and no cmsmcp serve runs for this site"}
    trouble = probe(client, site_name)
    return {"redis": "" if trouble is None else trouble.sentence}


def _known_of_redis(client: Client | None) -> Mapping[str, str]:
    """As `_redis`, from what is known of it; the watcher sees to that."""
    trouble = client.condition.trouble if client is not None else None
    return {"redis": "" if trouble is None else trouble.sentence}


def _missing(services: Callable[[], Mapping[str, str]], has_key: bool, site: Once[OpenSite]) -> Mapping[str, str]:
    """`secret`, `redis`, `index`, each with its reason where there is one to tell."""
    found = {} if has_key else {"secret": ""}
    found |= {name: why for name, why in services().items() if why}
    if not site().state.ready():
        found["index"] = ""
    return found
