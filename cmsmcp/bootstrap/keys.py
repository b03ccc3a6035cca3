"""Where a site's signing keys come from: `CMSMCP_SECRET_KEY`, else the file in its state folder, which running servers follow."""

from __future__ import annotations

from cmsmcp.bootstrap.chosen import Chosen
from cmsmcp.identity.keyfile import KeyFile
from cmsmcp.identity.keys import Keyring
from cmsmcp.identity.sessions import PURPOSE as SESSIONS
from cmsmcp.identity.sessions import Sessions
from cmsmcp.identity.tokens import PURPOSE, Tokens
from cmsmcp.settings import KEY_FILE, SettingsError

_IN_ENVIRONMENT = """\
the keys of this site are in CMSMCP_SECRET_KEY, which only you can change. No token is refused if you do it in this order:
1. Make a key: openssl rand -hex 32
2. Set CMSMCP_SECRET_KEY="OLD,NEW" for every server and restart them one after the other: the new key now verifies everywhere.
3. Set CMSMCP_SECRET_KEY="NEW,OLD" and restart them again: the new key now signs.
4. When the last token signed with the old key has ended (cmsmcp tokens list), set CMSMCP_SECRET_KEY="NEW" and restart."""


def open_keyring(chosen: Chosen, purpose: str) -> Keyring | None:
    """The keys of one purpose, of this site alone: another one with the same secret opens nothing of it. None without a key.
    SettingsError when they cannot be used."""
    return _keyring(chosen, f"{purpose}/{chosen.audience}")


def _keyring(chosen: Chosen, purpose: str) -> Keyring | None:
    file = KeyFile(chosen.state / KEY_FILE)
    try:
        if chosen.environment.secrets:
            return Keyring(chosen.environment.secrets, purpose)
        kept = file.secrets()
        return Keyring(kept, purpose, file.changed) if kept else None
    except ValueError as error:
        raise SettingsError(str(error)) from None


def open_tokens(chosen: Chosen) -> Tokens | None:
    """None without a key. SettingsError when the key is too weak."""
    keyring = _keyring(chosen, PURPOSE)  # whose site a token is for, it says itself
    return None if keyring is None else Tokens(keyring, chosen.audience)


def open_sessions(chosen: Chosen) -> Sessions | None:
    """None without a key. SettingsError when the key is too weak."""
    keyring = open_keyring(chosen, SESSIONS)
    return None if keyring is None else Sessions(keyring)


def make_secret_if_absent(chosen: Chosen) -> bool:
    """Whether one had to be made."""
    return not chosen.environment.secrets and KeyFile(chosen.state / KEY_FILE).make()


def rotate_key(chosen: Chosen, keep: int) -> int:
    """A new key signs from now on; the one before verifies for `keep` seconds more. Returns how many verify beside it.

    SettingsError says how to rotate when the keys are in the environment, or that there is none yet.
    """
    if chosen.environment.secrets:
        raise SettingsError(*_IN_ENVIRONMENT.splitlines())
    try:
        return KeyFile(chosen.state / KEY_FILE).rotate(keep)
    except FileNotFoundError:
        raise SettingsError("this site has no key yet; the first token, or the first cmsmcp serve, makes one") from None
    except ValueError as error:
        raise SettingsError(str(error)) from None
