"""The file of signing keys, and rotation while servers run (docs/tokens.md): no valid token is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from cmsmcp.identity.keyfile import KeyFile
from cmsmcp.identity.keys import MAX_SECRETS, Keyring
from cmsmcp.identity.tokens import Grant, TokenRefused, Tokens

AUDIENCE = "urn:cmsmcp:test"


@pytest.fixture
def file(tmp_path: Path) -> KeyFile:
    made = KeyFile(tmp_path / "secret.key")
    assert made.secrets() == () and made.make() is True
    return made


def running(path: Path, clock: list[float] | None = None) -> Tokens:
    """What a server that started a while ago verifies with."""
    followed = KeyFile(path) if clock is None else KeyFile(path, clock=lambda: clock[0])
    ring = Keyring(followed.secrets(), "tokens", followed.changed)
    ring._looked -= 60
    return Tokens(ring, AUDIENCE)


def test_a_made_key_is_private_and_never_replaced(file: KeyFile) -> None:
    (kept,) = file.secrets()
    assert len(kept) >= 32 and file.path.stat().st_mode & 0o777 == 0o600
    assert file.make() is False and file.secrets() == (kept,)
    assert [path.name for path in file.path.parent.iterdir()] == ["secret.key"]


def test_a_running_server_takes_a_new_key_at_once_and_keeps_the_old(file: KeyFile) -> None:
    """Token of the new key right after the rotation, token of the old key long after: both pass, without a restart."""
    server = running(file.path)
    old = server.create(Grant("old")).token
    assert file.rotate(keep=3600) == 1
    fresh = running(file.path).create(Grant("new")).token
    for _ in range(3):
        assert server.verify(fresh, "mcp").registered
        assert server.verify(old, "mcp").registered
    assert file.path.stat().st_mode & 0o777 == 0o600


def test_a_replaced_key_ends_when_its_time_is_over_also_on_a_running_server(tmp_path: Path) -> None:
    clock = [1_790_000_000.0]
    file = KeyFile(tmp_path / "secret.key", clock=lambda: clock[0])
    file.make()
    server = running(file.path, clock)
    old = server.create(Grant("old")).token
    file.rotate(keep=100)
    file.rotate(keep=3600)
    assert len(file.secrets()) == 3, "a later rotation does not prolong what an earlier one ended"
    clock[0] += 101
    server._keys._looked -= 60
    with pytest.raises(TokenRefused):
        server.verify(old, "mcp")
    assert len(file.secrets()) == 2


def test_rotation_stops_before_a_key_in_use_would_fall_out(file: KeyFile) -> None:
    for _ in range(MAX_SECRETS - 1):
        file.rotate(keep=3600)
    with pytest.raises(ValueError, match="--keep 1s"):
        file.rotate(keep=3600)
    Keyring(file.secrets(), "tokens")


@pytest.mark.parametrize("content", ["", "short\n", "k" * 40 + " soon\n", "ü" * 40 + "\n", "\x00" * 50])
def test_a_damaged_file_is_refused_at_start_and_ignored_while_running(file: KeyFile, content: str) -> None:
    server = running(file.path)
    token = server.create(Grant("x")).token
    file.path.write_text(content)
    with pytest.raises(ValueError, match="damaged") as refused:
        KeyFile(file.path).secrets()
    assert "kkkk" not in str(refused.value)
    assert server.verify(token, "mcp").registered
    file.path.unlink()
    server._keys._looked -= 60
    assert server.verify(token, "mcp").registered
