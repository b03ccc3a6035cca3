"""The stdio door: one local client, limits and audit in this process, the index kept here unless a server beside keeps it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from cmsmcp import __version__
from cmsmcp.bootstrap.chosen import Chosen, Once, choose, discover_capabilities, open_chosen
from cmsmcp.bootstrap.logs import redact_logs
from cmsmcp.capabilities._offers import OFFERS
from cmsmcp.core.ports import Admission, Caller
from cmsmcp.core.service import Service
from cmsmcp.processes.signals import ignore_meaningless
from cmsmcp.settings import AUDIT_FILE, SettingsError, SiteChoice
from cmsmcp.transports.stdio import StreamsClosed, claim_streams, serve

if TYPE_CHECKING:
    from cmsmcp.core.shared import Shared
    from cmsmcp.core.sharing import Change
    from cmsmcp.governance.policy import Policy
    from cmsmcp.runner.pool import Pool
    from cmsmcp.state.redis.client import Client

WARM_UP_SECONDS = 0.3
"""When the site is opened if nobody has asked for it yet: after the handshake, which must not compete with it."""


def serve_stdio(choice: SiteChoice) -> int:
    """Serve until the client's input ends; the exit code. Raises SettingsError before a byte is written."""
    try:
        incoming, outgoing = claim_streams()
    except StreamsClosed:
        raise SettingsError("standard input or output is closed; a client starts this command with both open") from None
    ignore_meaningless()
    redact_logs()
    chosen = choose(choice)
    client = _client(chosen)
    policy = replace(chosen.settings.policy, max_concurrency_per_client=None)  # there is one client
    admission = Once(lambda: _admission(chosen, client, policy))
    shared = Leaving(Once(lambda: _shared(chosen, client)))
    site = Once(lambda: open_chosen(chosen, write=True, on_change=_teller(chosen, client, shared), follow=client is None))
    registry = Once(lambda: discover_capabilities(chosen.environment.capabilities))
    runner = Once(lambda: _runner(chosen))
    has_others = bool(chosen.environment.capabilities)
    if has_others:
        registry()  # a faulty package stops the start; ours, which a test holds, are imported when they are asked for
    service = Service(
        policy, registry, lambda: site().site, admission, __version__, site_name=chosen.settings.site_name, shared=shared, runner=runner,
        offers=(lambda: registry().offers) if has_others else (lambda: OFFERS),
    )  # fmt: skip
    caller = Caller(client="local", scopes=policy.scopes)  # every scope the configuration enables, no token (F38, F39)
    warm_up = threading.Timer(WARM_UP_SECONDS, site)
    warm_up.daemon = True
    warm_up.start()
    try:
        return serve(service, caller, incoming, outgoing, max_line=policy.max_request_bytes, closing=shared.leave)
    finally:
        warm_up.cancel()
        opened, sharing, pool = site.made(), shared.made(), runner.made()
        if pool is not None:
            pool.close()
        if opened is not None:
            opened.close()
        if sharing is not None:
            sharing.bus.close()


class Leaving:
    """What is shared, until the client says no more: then tasks fail in sight, streams end with their results, and nobody waits for its
    answers; also what a call that is still running asks for only now."""

    def __init__(self, shared: Once[Shared]) -> None:
        self._shared = shared
        self._has_left = threading.Event()

    def __call__(self) -> Shared:
        shared = self._shared()
        if self._has_left.is_set():
            _take_leave(shared)
        return shared

    def made(self) -> Shared | None:
        return self._shared.made()

    def leave(self) -> None:
        self._has_left.set()
        shared = self.made()
        if shared is not None:
            _take_leave(shared)


def _take_leave(shared: Shared) -> None:
    shared.runs.end_all(0)
    shared.feed.end_all()
    shared.waiting.give_up()


def _teller(chosen: Chosen, client: Client | None, shared: Leaving) -> Callable[[Change], None]:
    """Whom to tell of changes: everyone on that Redis, where whoever else keeps the index tells them too; else the streams here, if any."""
    if client is not None:
        from cmsmcp.bootstrap.notices import notices_over_redis

        return notices_over_redis(client, chosen.settings.site_name).tell

    def tell(change: Change) -> None:
        sharing = shared.made()
        if sharing is not None:
            sharing.bus.publish("change", change.as_message())

    return tell


def _client(chosen: Chosen) -> Client | None:
    """Of the Redis that `REDIS_URL` names. SettingsError when it cannot be read."""
    if chosen.environment.redis_url is None:
        return None
    import logging

    from cmsmcp.bootstrap.governance import connect

    return connect(chosen.environment.redis_url, tell=logging.getLogger(__name__).warning)


def _admission(chosen: Chosen, client: Client | None, policy: Policy) -> Admission:
    """Over Redis the limits are shared with everyone there; without, this process has its own, and an audit file."""
    if client is not None:
        from cmsmcp.bootstrap.governance import redis_admission

        return redis_admission(client, policy, chosen.settings.site_name)
    from cmsmcp.state.auditfile import AuditFile
    from cmsmcp.state.memory.admission import MemoryAdmission

    return MemoryAdmission(policy, AuditFile(chosen.state / AUDIT_FILE))


def _runner(chosen: Chosen) -> Pool:
    from cmsmcp.bootstrap.runner import open_runner

    return open_runner(chosen)


def _shared(chosen: Chosen, client: Client | None) -> Shared:
    from cmsmcp.bootstrap.sharing import share_from_stdio

    return share_from_stdio(chosen, client)
