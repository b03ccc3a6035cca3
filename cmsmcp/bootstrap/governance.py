"""What processes share: the Redis of a site, its admission and its tokens."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager

from cmsmcp.bootstrap.chosen import Chosen
from cmsmcp.bootstrap.keys import make_secret_if_absent, open_tokens, rotate_key
from cmsmcp.bootstrap.signers import agree_on_key, rotate_agreed_key
from cmsmcp.called import command
from cmsmcp.core.ports import Admission, Ask, Verdict
from cmsmcp.governance.policy import Policy
from cmsmcp.identity.tokens import Grant, Issued
from cmsmcp.processes.private_redis import PrivateRedis, RedisUnavailable, find_running
from cmsmcp.protocol.errors import NotFound, Unavailable
from cmsmcp.settings import SettingsError
from cmsmcp.state.redis.admission import RedisAdmission
from cmsmcp.state.redis.client import TIMEOUT, Client, Refused
from cmsmcp.state.redis.probe import Watcher, probe
from cmsmcp.state.redis.tokens import RedisTokens, TokenRecord

PATIENCE = 2.0
"""Seconds a command line waits for Redis; a server is far stricter with each of its requests."""


class NoRedis:
    """Admission where there is no Redis: nothing is served, and the answer says why."""

    def admit(self, ask: Ask) -> Verdict:
        raise Unavailable("No governance store is configured: set REDIS_URL, or start with cmsmcp serve.", retry_after=5)

    def renew(self, asks: Collection[Ask], lease_ms: int) -> None:
        raise Unavailable("No governance store is configured.")

    def release(self, ask: Ask, outcome: Mapping[str, str] | None) -> None:
        raise Unavailable("No governance store is configured.")

    def record(self, event: Mapping[str, str]) -> None:
        raise Unavailable("No governance store is configured.")


def connect(url: str, timeout: float = TIMEOUT, *, tell: Callable[[str], None] | None = None) -> Client:
    """A client that connects when it is first used; `tell` gets a line whenever Redis stops serving it, and when it serves again.
    SettingsError when the URL cannot be read; its password is never shown."""
    try:
        return Client(url, timeout=timeout, tell=tell)
    except ValueError as error:
        raise SettingsError(str(error)) from None


def watched(url: str, site: str, tell: Callable[[str], None]) -> Client:
    """As `connect`, for a process that serves: Redis is looked at once a second, so that an outage is told while nobody calls."""
    client = connect(url, tell=tell)
    Watcher(client, site).start()
    return client


def require_redis(client: Client) -> None:
    """Raise SettingsError, which says why, unless it answers now."""
    try:
        client.call("PING")
    except (Unavailable, Refused):
        raise SettingsError(_said_of(client)) from None


def require_service(client: Client, site: str) -> None:
    """Raise SettingsError, which says why, unless it can do all that serving needs."""
    if probe(client, site) is not None:
        raise SettingsError(_said_of(client))


def _said_of(client: Client) -> str:
    trouble = client.condition.trouble
    return f"Redis at {client.address.shown} does not serve: {trouble.sentence if trouble else 'it refused this; try again'}"


def find_redis(chosen: Chosen) -> str | None:
    """The URL of the site's Redis: the one given, else the private one that runs now."""
    return chosen.environment.redis_url or find_running(chosen.state)


def redis_admission(client: Client | None, policy: Policy, site: str, bucket: str = "") -> Admission:
    """`bucket` sets the rates of one door apart."""
    return RedisAdmission(client, policy, site, bucket) if client is not None else NoRedis()


def issue_token(chosen: Chosen, grant: Grant) -> Issued:
    """Sign a token and register it. SettingsError says what is wrong with the grant, the key or Redis; nothing is issued then."""
    with open_redis(chosen) as client:
        if chosen.environment.redis_url is None:
            make_secret_if_absent(chosen)
        else:
            agree_on_key(chosen, client, grant.ttl)
        tokens = open_tokens(chosen)
        assert tokens is not None
        try:
            issued = tokens.create(grant)
        except ValueError as error:
            raise SettingsError(str(error)) from None
        record = TokenRecord(issued.jti, issued.name, issued.access, " ".join(issued.scopes), issued.created, issued.expires)
        RedisTokens(client, chosen.settings.site_name).register(record)
    return issued


def list_tokens(chosen: Chosen) -> list[TokenRecord]:
    with _registry(chosen) as registry:
        return registry.newest()


def revoke_token(chosen: Chosen, named: str) -> TokenRecord:
    """By its id, or by its name if only one that still lives has it. Holds from the next request on, on every worker. SettingsError when
    that names none or several, or Redis is away."""
    with _registry(chosen) as registry:
        try:
            return registry.revoke(named)
        except NotFound as error:
            alive = [record.jti for record in registry.newest() if record.name == named and record.is_alive(time.time())]
            if len(alive) == 1:
                return registry.revoke(alive[0])
            choice = chosen.choice
            if alive:
                again = command("tokens revoke ID", choice.folder, choice.env, choice.overlays)
                raise SettingsError(f"{len(alive)} tokens are named {named}: {', '.join(alive)}. Say which: {again}") from None
            listed = command("tokens list", choice.folder, choice.env, choice.overlays)
            raise SettingsError(f"{error.message} Those that exist are shown by: {listed}") from None


def rotate_signing_key(chosen: Chosen, keep: int) -> int:
    """As `rotate_key`, and the other hosts of a shared Redis learn of it when they start next."""
    if chosen.environment.redis_url is None or chosen.environment.secrets:
        return rotate_key(chosen, keep)
    with open_redis(chosen) as client:
        return rotate_agreed_key(chosen, client, keep)


@contextmanager
def _registry(chosen: Chosen) -> Iterator[RedisTokens]:
    with open_redis(chosen) as client:
        yield RedisTokens(client, chosen.settings.site_name)


@contextmanager
def open_redis(chosen: Chosen) -> Iterator[Client]:
    """The site's Redis, for a command line. When no server runs and none is given, the private one is started for as long as it takes."""
    private = client = None
    url = find_redis(chosen)
    try:
        if url is None:
            private = PrivateRedis(chosen.state)
            private.start()
            url = private.url
        client = connect(url, PATIENCE)
        require_redis(client)
        yield client
        client.close()
    except RedisUnavailable as error:
        raise SettingsError(f"{error}; try again, or set REDIS_URL") from None
    except Unavailable as error:
        lines = [error.message] if client is None or client.condition.trouble is None else [error.message, _said_of(client)]
        raise SettingsError(*lines) from None
    except NotFound as error:
        raise SettingsError(error.message) from None
    finally:
        if private is not None:
            private.stop()
