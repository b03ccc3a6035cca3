"""`REDIS_URL` (C068): decoded once, refused clearly, never printed."""

from __future__ import annotations

import pytest

from cmsmcp.state.redis.address import AddressError, parse_address


@pytest.mark.parametrize(("url", "shown", "options"), [
    ("redis://:p%23a%40b%2Fc%25d%3F@localhost:6379/2", "redis://localhost:6379/2",
     {"host": "localhost", "port": 6379, "db": 2, "password": "p#a@b/c%d?"}),
    ("redis://user%3A1:pw@localhost/0", "redis://localhost:6379/0", {"username": "user:1", "password": "pw"}),
    ("unix://:pw%40x@/run/redis.sock?db=3", "unix:///run/redis.sock?db=3", {"path": "/run/redis.sock", "db": 3, "password": "pw@x"}),
    ("unix:///run/redis.sock", "unix:///run/redis.sock?db=0", {"path": "/run/redis.sock", "db": 0}),
    ("rediss://:pw@localhost:6380/0?ssl_cert_reqs=none", "rediss://localhost:6380/0",
     {"ssl_cert_reqs": "none", "ssl_check_hostname": False}),
    ("rediss://h", "rediss://h:6379/0", {"ssl_cert_reqs": "required", "ssl_check_hostname": True}),
    ("redis://localhost", "redis://localhost:6379/0", {"host": "localhost", "db": 0}),
    ("redis://[::1]:6379/0", "redis://[::1]:6379/0", {"host": "::1"}),
    ("redis://:%2525@localhost/0", "redis://localhost:6379/0", {"password": "%25"}),
])
def test_a_url_is_read_and_shown_without_its_password(url: str, shown: str, options: dict) -> None:
    address = parse_address(url)
    assert address.shown == shown
    assert {name: address.options.get(name) for name in options} == options
    assert "pw" not in repr(address)
    address.connection(0.1)  # redis-py accepts every option


@pytest.mark.parametrize("url", [
    "redis://:pw-FAKE#a@localhost:6379/0", "redis://:pw-FAKE@localhost:notaport/0", "redis://:pw-FAKE@localhost/abc", "http://:pw-FAKE@localhost",
    "rediss://:pw-FAKE@x?ssl_cert_reqs=maybe", "", " ", "localhost:6379", "redis:pw-FAKE", "redis://:pw-FAKE@h/0?db=1&dbb=2", "redis://h?db=1&db=2",
    "unix://:pw-FAKE@host/run/s", "unix://relative", "unix:///" + "x" * 200, "redis://h\n", "redis://[::1", "redis://h/0?pw-FAKE=1#", "sentinel://h",
    "redis://:pw-FAKE@h:99999", "rediss://h/99999",
])
def test_a_bad_url_is_a_clear_error_without_its_password(url: str) -> None:
    with pytest.raises(AddressError, match=r"^REDIS_URL .*redis://") as refused:
        parse_address(url)
    assert "pw-FAKE" not in str(refused.value)
    assert len(str(refused.value).splitlines()) == 1
