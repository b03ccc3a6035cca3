"""Tokens of an external issuer (RFC 9068, OAuth access tokens), as the operator configured it: verified, and mapped to a caller.

Knows claims. Must not know how keys are fetched, nor our own tokens. Nothing in a token's header is followed (`jku`, `x5u`, `jwk`
are not read); what would change its meaning (`crit`, `b64`) is refused.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import jwt

from cmsmcp.core.ports import Caller
from cmsmcp.governance.scopes import CAPABILITY_OF, MUTATING_SCOPES, ROLES
from cmsmcp.identity.keysource import KeySource
from cmsmcp.identity.tokens import DOORS, LEEWAY, Forged, TokenRefused
from cmsmcp.protocol.errors import Unavailable

REQUIRED = ("iss", "aud", "sub", "iat", "exp")
TYPES = frozenset({"jwt", "at+jwt", "application/at+jwt"})
MAX_TEXT = 255
LAST_SECOND = 2**40
ACCESS = frozenset({"mcp-server", "read-only", "full-access"})
"""What an issuer may grant. `operator` tokens are ours alone."""


@dataclass(frozen=True, slots=True)
class Expected:
    """`issuer` and `audience` must stand in the token to the letter; `aud` may be a list that holds it."""

    issuer: str
    audience: str


class ExternalIssuer:
    def __init__(self, expected: Expected, source: KeySource, clock: Callable[[], float] = time.time) -> None:
        self.name = expected.issuer
        self._expected = expected
        self._source = source
        self._clock = clock

    def start(self) -> None:
        self._source.start()

    def verify(self, token: str, door: str) -> Caller:
        """Forged when it is not a good token of this issuer, TokenRefused at another door, Unavailable while its keys are not known."""
        claims = self._verified(token)
        access = claims.get("access", "mcp-server")
        if not isinstance(access, str) or access not in ACCESS or access not in DOORS[door]:
            raise TokenRefused.other_door(door)
        scopes = frozenset(_words(claims, "scope") or _words(claims, "scp")) & (frozenset(CAPABILITY_OF) - MUTATING_SCOPES)
        subject, jti = claims["sub"], claims.get("jti")
        return Caller(
            client=f"{self.name}#{subject}",
            scopes=scopes,
            capabilities=_capabilities(claims, scopes),
            subject=subject,
            token_id=f"external:{jti}" if isinstance(jti, str) and 0 < len(jti) <= MAX_TEXT else None,
            expires=int(claims["exp"]),
        )

    def _verified(self, token: str) -> Mapping[str, Any]:
        header = jwt.get_unverified_header(token)
        key_id, kind = header.get("kid"), header.get("typ", "JWT")
        if not isinstance(key_id, str) or not isinstance(kind, str) or kind.lower() not in TYPES or {"crit", "b64"} & set(header):
            raise Forged("not an access token with a key id")
        key = self._source.find(key_id)
        if key is None:
            if not self._source.is_known():
                raise Unavailable("The keys of this token's issuer are not known yet. Try again in a few seconds.", retry_after=5)
            raise Forged("not one of its keys")
        claims = jwt.decode(
            token, key.key, algorithms=list(key.algorithms), audience=self._expected.audience, issuer=self._expected.issuer, leeway=LEEWAY,
            options={"require": list(REQUIRED), "verify_exp": False, "verify_iat": False, "verify_nbf": False},
        )
        now = self._clock()
        if not max(claims["iat"], claims.get("nbf", 0)) - LEEWAY <= now < claims["exp"] + LEEWAY or claims["exp"] > LAST_SECOND:
            raise Forged("not now")
        subject = claims["sub"]
        if not isinstance(subject, str) or not 0 < len(subject) <= MAX_TEXT or not subject.isprintable():
            raise Forged("nobody")
        return claims


def _words(claims: Mapping[str, Any], name: str) -> list[str]:
    """A claim of words: one string with blanks, or a list."""
    value = claims.get(name, "")
    words = value.split() if isinstance(value, str) else value if isinstance(value, list) else []
    return [word for word in words if isinstance(word, str)]


def _capabilities(claims: Mapping[str, Any], scopes: frozenset[str]) -> frozenset[str]:
    """What `capabilities` lists, else what the `roles` hold (an unknown role holds nothing), else what the scopes need."""
    if "capabilities" in claims:
        return frozenset(_words(claims, "capabilities"))
    if "roles" in claims:
        return frozenset[str]().union(*(ROLES.get(role, frozenset()) for role in _words(claims, "roles")))
    return frozenset(CAPABILITY_OF[scope] for scope in scopes)
