"""Bearer tokens: JWTs that this server signs itself, made by `cmsmcp tokens create` and read by every HTTP door.

Knows what a token says and which door it opens. Must not know whether it was revoked (the admission asks that in its one step)
nor what the configuration enables. Nothing in a token's header is followed: one algorithm, our own keys, no URLs.
"""

from __future__ import annotations

import base64
import re
import time
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from types import MappingProxyType
from typing import Any

import jwt

from cmsmcp.core.ports import Caller
from cmsmcp.governance.scopes import token_rights
from cmsmcp.identity.keys import Key, Keyring

ISSUER = "cmsmcp"
ALGORITHM = "HS256"
PURPOSE = "tokens"
MAX_TOKEN_BYTES = 8 * 1024
MAX_SEEN = 1024
"""Verified tokens remembered by their digest: checking a signature costs an eighth of a short call."""
LEEWAY = 10
DEFAULT_TTL = 90 * 86_400
MAX_TTL = 10 * 366 * 86_400
MAX_NAME = 100

ACCESS = ("mcp-server", "read-only", "full-access", "operator")
DOORS = MappingProxyType({
    "mcp": frozenset({"mcp-server"}),
    "api": frozenset({"read-only", "full-access"}),
    "ops": frozenset({"operator"}),
})
"""Which access types a door lets in (P5, P6)."""

_SHAPE = re.compile(r"[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.([A-Za-z0-9_-]+)")
_CLAIMS = ("iss", "aud", "sub", "jti", "iat", "exp", "access", "scope", "capabilities")


class TokenRefused(Exception):
    """No entry at this door: answer with `status`, the JSON `body` and the `WWW-Authenticate` value `challenge`. All failures look alike.

    In `body`, `error` is the seed's line (P23, P24), and `hint` says what to send instead.
    """

    def __init__(self, status: int, error: str, challenge: str, door: str) -> None:
        super().__init__(error)
        access = sorted(DOORS[door], reverse=True)
        hint = (
            f"Send the header Authorization: Bearer TOKEN, where TOKEN is of access type {' or '.join(access)}. "
            f"The operator makes one with: cmsmcp tokens create --access {access[0]} --name NAME"
        )
        self.status = status
        self.body = {"error": error, "hint": hint}
        self.challenge = challenge

    @classmethod
    def absent(cls, door: str) -> TokenRefused:
        return cls(401, "API token required", "Bearer", door)

    @classmethod
    def invalid(cls, door: str) -> TokenRefused:
        return cls(401, "Invalid API token", 'Bearer error="invalid_token"', door)

    @classmethod
    def other_door(cls, door: str) -> TokenRefused:
        return cls(403, "This token cannot access this endpoint", 'Bearer error="insufficient_scope"', door)


class Forged(ValueError):
    """Not a good token. The reason is for us; the sender learns nothing from it."""


@dataclass(frozen=True, slots=True)
class Grant:
    """What `tokens create` asks for. `ttl` in seconds; `scopes` None means the default of the access type."""

    name: str
    access: str = "mcp-server"
    scopes: tuple[str, ...] | None = None
    roles: tuple[str, ...] = ()
    subject: str | None = None
    ttl: int = DEFAULT_TTL


@dataclass(frozen=True, slots=True)
class Issued:
    """A new token and what the registry keeps of it. `token` is shown once. Times are epoch seconds."""

    token: str
    jti: str
    name: str
    access: str
    scopes: tuple[str, ...]
    created: int
    expires: int


class Tokens:
    """Signs and verifies tokens for one site. `audience` is `mcp.public_url`, else `urn:cmsmcp:<site name>`."""

    def __init__(self, keys: Keyring, audience: str, clock: Callable[[], float] = time.time) -> None:
        self._keys = keys
        self._audience = audience
        self._clock = clock
        self._seen: dict[bytes, tuple[Key, Mapping[str, Any]]] = {}

    @property
    def key_id(self) -> str:
        """Of the key that signs."""
        return self._keys.signing.id

    @property
    def key_ids(self) -> frozenset[str]:
        """Of the keys that verify."""
        return self._keys.ids

    def create(self, grant: Grant) -> Issued:
        """Sign a token. ValueError names what is wrong with the grant."""
        _check(grant)
        rights = token_rights(grant.access, grant.scopes, grant.roles)
        if grant.subject is None and any(capability.endswith(".own") for capability in rights.capabilities):
            raise ValueError(f"The role {', '.join(grant.roles)} sees a person's own documents: name the person with --subject.")
        now, jti = int(self._clock()), uuid.uuid4().hex
        scopes = tuple(sorted(rights.scopes))
        claims = {
            "iss": ISSUER, "aud": self._audience, "sub": grant.subject or jti, "jti": jti, "iat": now, "exp": now + grant.ttl,
            "access": grant.access, "scope": " ".join(scopes), "capabilities": sorted(rights.capabilities), "name": grant.name,
        }
        key = self._keys.signing
        token = jwt.encode(claims, key.secret, algorithm=ALGORITHM, headers={"kid": key.id})
        if len(token) > MAX_TOKEN_BYTES:
            raise ValueError("The token would be too long to send. Shorten its name or its subject.")
        return Issued(token, jti, grant.name, grant.access, scopes, now, now + grant.ttl)

    def authenticate(self, authorization: str | None, door: str) -> Caller:
        """The caller behind an `Authorization` header, at a door of DOORS; else TokenRefused with the seed's body.

        401 without a bearer token, 401 when it is not ours or has expired, 403 when it opens another door (P23, P24).
        """
        return self.verify(bearer_token(authorization, door), door)

    def verify(self, token: str, door: str) -> Caller:
        claims = self._claims(token, door)
        if claims["access"] not in DOORS[door]:
            raise TokenRefused.other_door(door)
        jti = claims["jti"]
        return Caller(
            client=f"token:{jti}",
            scopes=frozenset(claims["scope"].split()),
            capabilities=frozenset(claims["capabilities"]),
            subject=None if claims["sub"] == jti else claims["sub"],
            token_id=jti,
            registered=True,
            expires=claims["exp"],
        )

    def _claims(self, token: str, door: str) -> Mapping[str, Any]:
        try:
            return self._verified(token)
        except (jwt.PyJWTError, ValueError, TypeError, KeyError, RecursionError):
            # One answer for every fault: a forger learns nothing from the difference (C058).
            raise TokenRefused.invalid(door) from None

    def _verified(self, token: str) -> Mapping[str, Any]:
        """What was verified before is not verified again while its key is one of ours; its time is looked at each time."""
        mark = sha256(token.encode()).digest()
        key, claims = self._seen.get(mark, (None, {}))
        if key is None or self._keys.find(key.id) != key:
            key, claims = self._decoded(token)
            if len(self._seen) >= MAX_SEEN:
                self._seen.clear()
            self._seen[mark] = (key, claims)
        if not claims["iat"] - LEEWAY <= self._clock() < claims["exp"] + LEEWAY:
            raise Forged("not now")
        return claims

    def _decoded(self, token: str) -> tuple[Key, Mapping[str, Any]]:
        if not is_compact(token):
            raise Forged("not a token")
        header = jwt.get_unverified_header(token)
        key = self._keys.find(header.get("kid"))
        if key is None or set(header) - {"alg", "typ", "kid"}:
            raise Forged("not one of our keys")
        claims = jwt.decode(
            token, key.secret, algorithms=[ALGORITHM], audience=self._audience, issuer=ISSUER, leeway=LEEWAY,
            options={"require": list(_CLAIMS), "verify_exp": False, "verify_iat": False, "strict_aud": True},
        )
        if not all(isinstance(claims[name], str) for name in ("sub", "jti", "access", "scope")):
            raise Forged("not our claims")
        return key, claims


def bearer_token(authorization: str | None, door: str) -> str:
    """What an `Authorization` header holds after `Bearer`; TokenRefused when it holds nothing of the kind."""
    scheme, _, token = (authorization or "").partition(" ")
    if scheme.lower() != "bearer" or not token.strip():
        raise TokenRefused.absent(door)
    return token.strip(" ")


def is_compact(token: str) -> bool:
    """Whether it has the form of a signed JWT, in its one spelling."""
    shape = _SHAPE.fullmatch(token) if len(token) <= MAX_TOKEN_BYTES else None
    return shape is not None and _is_canonical(shape[1])


def _is_canonical(segment: str) -> bool:
    """The signature's last character has spare bits: only one spelling of it counts."""
    padded = segment + "=" * (-len(segment) % 4)
    return base64.urlsafe_b64encode(base64.urlsafe_b64decode(padded)).decode().rstrip("=") == segment


def _check(grant: Grant) -> None:
    if grant.access not in ACCESS:
        raise ValueError(f"There is no access type {grant.access!r}. Use one of: {', '.join(ACCESS)}.")
    for what, text in (("name", grant.name), ("subject", grant.subject)):
        if text is not None and not (0 < len(text) <= MAX_NAME and text.isprintable() and text.strip() == text):
            raise ValueError(f"The {what} of a token is 1 to {MAX_NAME} printable characters, without blanks around it.")
    if not 1 <= grant.ttl <= MAX_TTL:
        raise ValueError("A token lives at least a second and at most ten years.")
