"""The public keys an issuer publishes (JWKS, RFC 7517): which of them may verify a token, and with which algorithms.

Knows keys. Must not know where the document came from, nor what a token says. A key that is odd is left out, never the others with it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import jwt

MAX_BYTES = 512 * 1024
MAX_KEYS = 100
MAX_KEY_ID = 256
RSA_BITS = range(2048, 8193)

# Asymmetric alone: with a public key as a shared secret anyone could sign.
_ALGORITHMS: Mapping[tuple[str, str], tuple[str, ...]] = {
    ("RSA", ""): ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512"),
    ("EC", "P-256"): ("ES256",),
    ("EC", "P-384"): ("ES384",),
    ("EC", "P-521"): ("ES512",),
    ("OKP", "Ed25519"): ("EdDSA",),
}


@dataclass(frozen=True, slots=True)
class VerifyingKey:
    """A public key and the algorithms it may be used with: the one it names, else those of its type."""

    key: Any = field(repr=False)
    algorithms: tuple[str, ...]


def read_keys(document: bytes) -> dict[str, VerifyingKey]:
    """By `kid`. Of two keys with one id the first counts. ValueError when this is no JWKS at all."""
    if len(document) > MAX_BYTES:
        raise ValueError(f"more than {MAX_BYTES} bytes")
    try:
        listed = json.loads(document)["keys"]
    except (ValueError, KeyError, TypeError, RecursionError):
        raise ValueError("no JWKS") from None
    if not isinstance(listed, list):
        raise ValueError("no JWKS")
    found: dict[str, VerifyingKey] = {}
    for entry in listed[:MAX_KEYS]:
        key = _read(entry)
        if key is not None:
            found.setdefault(entry["kid"], key)
    return found


def _read(entry: Any) -> VerifyingKey | None:
    if not isinstance(entry, dict) or not _is_for_signatures(entry):
        return None
    kind, curve = entry.get("kty"), entry.get("crv", "")
    algorithms = _ALGORITHMS.get((kind, "" if kind == "RSA" else curve)) if isinstance(kind, str) and isinstance(curve, str) else None
    named = entry.get("alg")
    if algorithms is None or (named is not None and named not in algorithms):
        return None
    try:
        key = jwt.PyJWK(entry, algorithms[0]).key
    except (jwt.PyJWTError, ValueError, TypeError, KeyError, AttributeError):
        return None
    if kind == "RSA" and key.key_size not in RSA_BITS:
        return None
    return VerifyingKey(key, algorithms if named is None else (named,))


def _is_for_signatures(entry: Mapping[str, Any]) -> bool:
    """Has an id, is public, and is not meant for something else."""
    key_id, operations = entry.get("kid"), entry.get("key_ops", ["verify"])
    return (
        isinstance(key_id, str) and 0 < len(key_id) <= MAX_KEY_ID
        and "d" not in entry
        and entry.get("use", "sig") == "sig"
        and isinstance(operations, list) and "verify" in operations
    )
