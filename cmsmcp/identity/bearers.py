"""Who sends a request, by its Authorization header: our own tokens and those of the issuers the operator trusts, through one door.

Knows which of them a token claims to come from. All faults look alike to the sender (C058).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import jwt

from cmsmcp.core.ports import Caller
from cmsmcp.identity.issuers import ExternalIssuer
from cmsmcp.identity.tokens import TokenRefused, Tokens, bearer_token, is_compact
from cmsmcp.protocol.errors import Unavailable

NO_KEY = "This server has no key: set CMSMCP_SECRET_KEY, or make a token with cmsmcp tokens create."


class Bearers:
    """`own` gives None while there is no key."""

    def __init__(self, own: Callable[[], Tokens | None], issuers: Iterable[ExternalIssuer] = ()) -> None:
        self._own = own
        self._issuers = {issuer.name: issuer for issuer in issuers}

    def authenticate(self, authorization: str | None, door: str) -> Caller:
        """The caller, at a door of `identity.tokens.DOORS`. TokenRefused as `Tokens.authenticate`; Unavailable when nobody can tell."""
        token = bearer_token(authorization, door)
        issuer = self._issuer_of(token)
        if issuer is None:
            own = self._own()
            if own is None:
                raise Unavailable(NO_KEY, retry_after=5)
            return own.verify(token, door)
        try:
            return issuer.verify(token, door)
        except (jwt.PyJWTError, ValueError, TypeError, KeyError, RecursionError, OverflowError):
            raise TokenRefused.invalid(door) from None

    def _issuer_of(self, token: str) -> ExternalIssuer | None:
        """By what the token says of itself: it only chooses who is asked."""
        if not self._issuers:
            return None
        try:
            claimed = jwt.decode(token, options={"verify_signature": False}).get("iss") if is_compact(token) else None
        except (jwt.PyJWTError, ValueError, TypeError, RecursionError, OverflowError):
            return None
        return self._issuers.get(claimed) if isinstance(claimed, str) else None
