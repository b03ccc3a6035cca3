"""Text that a client carries for us and can neither read nor change: encrypted, dated, and bound to the caller it was made for.

Knows keys and time. Must not know what is inside. Nothing is stored, so any process with the key opens it, and opens it twice.
"""

from __future__ import annotations

import base64
import binascii
import os
import struct
import time
from collections.abc import Callable

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from cmsmcp.core.ports import Caller
from cmsmcp.identity.keys import MIN_SECRET_BYTES, Key, Keyring
from cmsmcp.protocol.errors import ResultTooLarge

PURPOSE = "request-state"
MAX_BYTES = 32_768
"""Of content. A client sends it back in a request of its own."""
_VERSION = "s1"
_NONCE = 12
_DATE = struct.Struct(">Q")
_MAX_TEXT = len(f"{_VERSION}.{'k' * 12}.") + (_NONCE + _DATE.size + MAX_BYTES + 16) * 4 // 3 + 4


class KeySealer:
    """Implements `core.sharing.Sealer` with AES-256-GCM. `clock` in epoch seconds.

    The text is `s1.<key id>.<base64url of nonce, expiry and cipher>`; version, key id, expiry and `Caller.client` are authenticated
    with the content. One key may seal 2^32 times with random nonces.
    """

    def __init__(self, keys: Keyring, clock: Callable[[], float] = time.time) -> None:
        self._keys = keys
        self._clock = clock

    def seal(self, content: bytes, caller: Caller, seconds: float) -> str:
        if len(content) > MAX_BYTES:
            raise ResultTooLarge(len(content), MAX_BYTES, "The answers so far are too much for a client to carry; answer with less.")
        key = self._keys.signing
        date = _DATE.pack(int(self._clock() + seconds))
        nonce = os.urandom(_NONCE)
        sealed = nonce + date + AESGCM(key.secret).encrypt(nonce, content, _bound(key, date, caller))
        return f"{_VERSION}.{key.id}.{base64.urlsafe_b64encode(sealed).decode().rstrip('=')}"

    def open(self, text: str, caller: Caller) -> bytes | None:
        version, _, rest = text[: _MAX_TEXT + 1].partition(".")
        key_id, _, sealed = rest.partition(".")
        key = self._keys.find(key_id) if version == _VERSION and len(text) <= _MAX_TEXT else None
        raw = _decode(sealed)
        if key is None or raw is None or len(raw) < _NONCE + _DATE.size:
            return None
        nonce, date, cipher = raw[:_NONCE], raw[_NONCE : _NONCE + _DATE.size], raw[_NONCE + _DATE.size :]
        try:
            content = AESGCM(key.secret).decrypt(nonce, cipher, _bound(key, date, caller))
        except InvalidTag:
            return None
        return content if self._clock() < _DATE.unpack(date)[0] else None


def private_sealer() -> KeySealer:
    """With a key of this process alone, for a site that one process serves: what it seals ends with it."""
    return KeySealer(Keyring([os.urandom(MIN_SECRET_BYTES)], PURPOSE))


def _bound(key: Key, date: bytes, caller: Caller) -> bytes:
    return b"%s.%s.%s.%s" % (_VERSION.encode(), key.id.encode(), date, caller.client.encode(errors="surrogatepass"))


def _decode(text: str) -> bytes | None:
    """Strictly: one text for one content, no stray characters."""
    try:
        raw = base64.b64decode(text.encode("ascii") + b"=" * (-len(text) % 4), b"-_", validate=True)
    except (UnicodeEncodeError, binascii.Error):
        return None
    return raw if base64.urlsafe_b64encode(raw).decode().rstrip("=") == text else None
