"""What the requests of one process share with those of every other process of the site (`core.shared.Shared`).

Imported when that is first asked for.
"""

from __future__ import annotations

from cmsmcp.bootstrap.chosen import Chosen
from cmsmcp.bootstrap.keys import open_keyring
from cmsmcp.core.shared import Shared
from cmsmcp.core.sharing import Sealer
from cmsmcp.identity.bearers import NO_KEY
from cmsmcp.identity.sealer import PURPOSE, KeySealer, private_sealer
from cmsmcp.protocol.errors import Unavailable
from cmsmcp.state.redis.client import Client


def share_over_redis(chosen: Chosen, client: Client | None) -> Shared:
    """For a worker. Unavailable where there is no Redis or no key: nothing can be shared then."""
    if client is None:
        raise Unavailable("No governance store is configured: set REDIS_URL, or start with cmsmcp serve.", retry_after=5)
    sealer = _sealer(chosen)
    if sealer is None:
        raise Unavailable(NO_KEY, retry_after=5)
    return _over_redis(client, chosen.settings.site_name, sealer)


def share_from_stdio(chosen: Chosen, client: Client | None) -> Shared:
    """With everyone on that Redis; without one, with nobody. A site that has no key yet gets none for this: one of the process will do."""
    sealer = _sealer(chosen) or private_sealer()
    return share_in_process(sealer) if client is None else _over_redis(client, chosen.settings.site_name, sealer)


def share_in_process(sealer: Sealer | None = None) -> Shared:
    """For a process that serves its site alone."""
    from cmsmcp.state.memory.bus import MemoryBus
    from cmsmcp.state.memory.events import MemoryEvents
    from cmsmcp.state.memory.replies import MemoryReplies
    from cmsmcp.state.memory.sessions import MemorySessions
    from cmsmcp.state.memory.tasks import MemoryTasks

    return Shared(MemoryBus(), MemorySessions(), MemoryReplies(), MemoryEvents(), sealer or private_sealer(), MemoryTasks())


def _over_redis(client: Client, site: str, sealer: Sealer) -> Shared:
    from cmsmcp.state.redis.bus import RedisBus
    from cmsmcp.state.redis.events import RedisEvents
    from cmsmcp.state.redis.replies import RedisReplies
    from cmsmcp.state.redis.sessions import RedisSessions
    from cmsmcp.state.redis.tasks import RedisTasks

    return Shared(
        RedisBus(client, site), RedisSessions(client, site), RedisReplies(client, site), RedisEvents(client, site), sealer,
        RedisTasks(client, site),
    )


def _sealer(chosen: Chosen) -> Sealer | None:
    keys = open_keyring(chosen, PURPOSE)
    return None if keys is None else KeySealer(keys)
