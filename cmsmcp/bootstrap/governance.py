"""What processes share: the Redis of a site, its admission and its tokens."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator, Mapping
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
from cmsmcp.state.redis.client import Client, Refused
from cmsmcp.state.redis.tokens import RedisTokens, TokenRecord

PATIENCE = 2.0
"""Seconds a command line waits for Redis; a server is far stricter with each of its requests."""


_REFUSALS = {
    "MISCONF": "it cannot write to its disk: free some there",
    "LOADING": "it still loads its data: try again in a moment",
}


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


def connect(url: str, timeout: float | None = None) -> Client:
    """A client that connects when it is first used. SettingsError when the URL cannot be read; its password is never shown."""
    try:
        return Client(url) if timeout is None else Client(url, timeout=timeout)
    except ValueError as error:
        raise SettingsError(str(error)) from None


def require_redis(client: Client) -> None:
    """Raise SettingsError unless it answers now."""
    shown = client.address.shown
    try:
        client.call("PING")
    except Unavailable:
        raise SettingsError(f"no Redis serves us at {shown}: it is down, unreachable, or refuses this user; check REDIS_URL") from None
    except Refused as refused:
        why = _REFUSALS.get(refused.word, "check the user and the password in REDIS_URL")
        raise SettingsError(f"Redis at {shown} refuses ({refused.word}); {why}") from None


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
    private = None
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
    except (Unavailable, NotFound) as error:
        raise SettingsError(error.message) from None
    finally:
        if private is not None:
            private.stop()
