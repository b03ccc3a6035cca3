"""Keys derived from `CMSMCP_SECRET_KEY`: one per purpose, so that a leaked signature of one kind opens nothing of another.

Knows HKDF and rotation. Must not read the environment; the secrets come in as bytes and never go out, not even in an error.
"""

from __future__ import annotations

import base64
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

MIN_SECRET_BYTES = 32
MAX_SECRETS = 8
LOOK_SECONDS = 1.0
"""How often a key that verifies is checked against the file it came from; one that is not known is looked for at once."""
_HOW = "Make one with: openssl rand -hex 32"


@dataclass(frozen=True, slots=True)
class Key:
    """A derived key. `id` names it in a token header and gives nothing of it away."""

    id: str
    secret: bytes = field(repr=False)


class Keyring:
    """The keys of one purpose, newest first: the first signs, all of them verify (rotation).

    `changed` gives new secrets when there are some, else None; it is asked on the way, so it must be quick.
    """

    def __init__(self, secrets: Sequence[bytes], purpose: str, changed: Callable[[], Sequence[bytes] | None] = lambda: None) -> None:
        """`secrets` newest first, each of 32 bytes or more. ValueError says what is wrong with them."""
        self._purpose = purpose
        self._changed = changed
        self._looked = time.monotonic()
        self._take(secrets)

    def find(self, key_id: object) -> Key | None:
        if not isinstance(key_id, str):
            return None
        if key_id not in self._by_id or time.monotonic() - self._looked > LOOK_SECONDS:
            self._look()
        return self._by_id.get(key_id)

    @property
    def ids(self) -> frozenset[str]:
        """Of the keys that verify."""
        return frozenset(self._by_id)

    def _look(self) -> None:
        self._looked = time.monotonic()
        secrets = self._changed()
        if secrets is not None:
            try:
                self._take(secrets)
            except ValueError:
                pass  # a faulty file keeps the keys of before

    def _take(self, secrets: Sequence[bytes]) -> None:
        if not secrets:
            raise ValueError(f"CMSMCP_SECRET_KEY is not set. {_HOW}")
        if len(secrets) > MAX_SECRETS:
            raise ValueError(f"CMSMCP_SECRET_KEY holds {len(secrets)} keys; at most {MAX_SECRETS} can be rotated through.")
        for number, secret in enumerate(secrets, 1):
            if len(secret) < MIN_SECRET_BYTES:
                raise ValueError(f"CMSMCP_SECRET_KEY: key {number} has {len(secret)} bytes, {MIN_SECRET_BYTES} are needed. {_HOW}")
        keys = [_derive(secret, self._purpose) for secret in secrets]
        self.signing = keys[0]
        self._by_id = {key.id: key for key in reversed(keys)}


def _derive(secret: bytes, purpose: str) -> Key:
    name = _expand(secret, f"cmsmcp/v1/{purpose}/id", 9)
    return Key(base64.urlsafe_b64encode(name).decode(), _expand(secret, f"cmsmcp/v1/{purpose}/key", 32))


def _expand(secret: bytes, info: str, length: int) -> bytes:
    return HKDF(algorithm=SHA256(), length=length, salt=None, info=info.encode()).derive(secret)
