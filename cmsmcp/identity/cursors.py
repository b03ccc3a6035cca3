"""Cursors of `/api` as clients carry them: encrypted, so that what is inside is no contract, and nothing in it can be guessed.

The same cursor always has the same text, so that an answer that has not changed is the same to the byte. Knows keys; not what is inside.
"""

from __future__ import annotations

import base64
import binascii
import os
import zlib

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESSIV

from cmsmcp.identity.keys import MIN_SECRET_BYTES, Keyring

PURPOSE = "api-cursor"
MAX_TEXT = 16_384


class CursorSeal:
    """AES-SIV. The text is `<key id>.<base64url of the cipher>`; the key id is authenticated with the content."""

    def __init__(self, keys: Keyring | None = None) -> None:
        """Without keys: one of this process alone, with which no other goes on."""
        self._keys = keys or Keyring([os.urandom(MIN_SECRET_BYTES)], PURPOSE)

    @property
    def key_id(self) -> str:
        """Texts change with it."""
        return self._keys.signing.id

    def seal(self, cursor: str) -> str:
        key = self._keys.signing
        cipher = AESSIV(key.secret).encrypt(zlib.compress(cursor.encode()), [key.id.encode()])
        return f"{key.id}.{base64.urlsafe_b64encode(cipher).decode().rstrip('=')}"

    def open(self, text: str) -> str | None:
        """None for what no key of ours has sealed."""
        key_id, _, sealed = text.partition(".")
        key = self._keys.find(key_id) if len(text) <= MAX_TEXT else None
        if key is None:
            return None
        try:
            cipher = base64.b64decode(sealed.encode("ascii") + b"=" * (-len(sealed) % 4), b"-_", validate=True)
            if base64.urlsafe_b64encode(cipher).decode().rstrip("=") != sealed:
                return None
            return zlib.decompress(AESSIV(key.secret).decrypt(cipher, [key.id.encode()])).decode()
        except (UnicodeEncodeError, binascii.Error, InvalidTag, ValueError):
            return None
