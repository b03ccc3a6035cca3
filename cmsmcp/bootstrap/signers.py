"""One site, several hosts, one key: whoever would sign or verify with another key than the others is told before a token is refused.

Only where REDIS_URL is given: a private Redis serves one host, whose key is in the same state folder.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import UTC, datetime

from cmsmcp.bootstrap.chosen import Chosen
from cmsmcp.bootstrap.keys import make_secret_if_absent, open_tokens, rotate_key
from cmsmcp.called import command
from cmsmcp.identity.tokens import DEFAULT_TTL
from cmsmcp.settings import KEY_FILE, SettingsError
from cmsmcp.state.redis.client import Client
from cmsmcp.state.redis.signers import RedisSigners

STARTED = 86_400
"""Seconds for which a server's key counts although it has signed nothing yet."""
_ONE_KEY = "Set CMSMCP_SECRET_KEY to one key on every host of the site; make it with: openssl rand -hex 32"


def agree_on_key(chosen: Chosen, client: Client, seconds: int = STARTED, *, make: bool = True) -> tuple[str, ...]:
    """Use the key of this host for so long, making one (`make`) if there is none. Returns what to tell the operator.

    SettingsError when a key was made for this host alone (no CMSMCP_SECRET_KEY) and the site's tokens are signed with another one. A key
    in the environment is the operator's choice: he is told which tokens it refuses. Unavailable when Redis is away.
    """
    return tuple(_agree(chosen, client, seconds, make))


def _agree(chosen: Chosen, client: Client, seconds: int, make: bool) -> Iterator[str]:
    signers = RedisSigners(client, chosen.settings.site_name)
    tokens = open_tokens(chosen)
    before = signers.live()
    if not chosen.environment.secrets and not set(before) <= (tokens.key_ids if tokens else set()):
        raise SettingsError(_refusal(chosen))
    if tokens is None:
        if not make:
            return
        if make_secret_if_absent(chosen):
            yield f"CMSMCP_SECRET_KEY is not set; made a key in {chosen.state / KEY_FILE}"
        tokens = open_tokens(chosen)
        assert tokens is not None
    now = signers.add(tokens.key_id, int(time.time()) + seconds)
    others = {key_id: until for key_id, until in now.items() if key_id not in tokens.key_ids}
    if others and not chosen.environment.secrets:  # they came at the same moment: nobody has the key yet
        signers.discard(tokens.key_id)
        raise SettingsError(_refusal(chosen))
    if others:
        last = datetime.fromtimestamp(max(others.values()), UTC).strftime("%Y-%m-%d")
        yield (f"warning: tokens of {chosen.settings.site_name} that were signed with another key than CMSMCP_SECRET_KEY, good until "
               f"{last}, are refused here as invalid. If another server made them, give both the same key (docs/tokens.md)")


def rotate_agreed_key(chosen: Chosen, client: Client, keep: int) -> int:
    """As `rotate_key`; tokens of any key that is not here end, since this host's is the site's from now on."""
    signers = RedisSigners(client, chosen.settings.site_name)
    tokens, live, now = open_tokens(chosen), signers.live(), int(time.time())
    beside = 0 if tokens is None and live and make_secret_if_absent(chosen) else rotate_key(chosen, keep)
    replaced = {key_id: min(until, now + keep) for key_id, until in live.items() if tokens and key_id in tokens.key_ids}
    rotated = open_tokens(chosen)
    assert rotated is not None
    signers.replace({**replaced, rotated.key_id: now + DEFAULT_TTL})
    return beside


def _refusal(chosen: Chosen) -> str:
    choice = chosen.choice
    rotate = command("tokens rotate-key", choice.folder, choice.env, choice.overlays)
    return (f"the tokens of {chosen.settings.site_name} are signed with a key that this host does not have: another host made it, or it is "
            f"lost. {_ONE_KEY}. Or end those tokens and sign with a key of this host: {rotate}. If they are another site's, give this one "
            "a name of its own in site.yaml")
