"""Real redis-servers for the adapters, and a client."""

from __future__ import annotations

import uuid
from collections.abc import Iterator

import pytest

from cmsmcp.state.redis.client import Client
from tests.redis_servers import RedisServer, ShippedRedis


def running(server: RedisServer) -> Iterator[RedisServer]:
    try:
        server.start()
        yield server
    finally:
        server.remove()


@pytest.fixture(scope="session")
def redis_server() -> Iterator[RedisServer]:
    yield from running(RedisServer())


@pytest.fixture
def own_redis() -> Iterator[RedisServer]:
    """One that the test may stop."""
    yield from running(RedisServer())


@pytest.fixture
def shipped() -> Iterator[RedisServer]:
    """One with the shipped configuration and users, that the test may stop."""
    yield from running(ShippedRedis())


@pytest.fixture
def client(redis_server: RedisServer) -> Iterator[Client]:
    made = Client(redis_server.url)
    yield made
    made.close()


@pytest.fixture
def site() -> str:
    """A name of its own, so that tests share nothing."""
    return f"site-{uuid.uuid4().hex[:8]}"
