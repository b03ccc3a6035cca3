"""Refusals of `/api` as RFC 9457 problem details that also carry Plank's `error` key. One table from errors to statuses."""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from flask import Response

from cmsmcp.core.governed import encode
from cmsmcp.core.outcome import told
from cmsmcp.identity.tokens import TokenRefused
from cmsmcp.protocol import errors

PROBLEM = "application/problem+json"

_STATUS: Mapping[type[errors.CallError], int] = {
    errors.InvalidArguments: 400,
    errors.ScopeRefused: 403,
    errors.ResultTooLarge: 413,
    errors.LimitRefused: 429,
    errors.Unavailable: 503,
    errors.TimedOut: 504,
}


def problem(status: int, error: str, headers: Mapping[str, str] | None = None, **more: Any) -> Response:
    """`error` is the line that Plank's clients read; it is the `detail` too. `more` are members of our own."""
    body = {"type": "about:blank", "title": HTTPStatus(status).phrase, "status": status, "detail": error, "error": error, **more}
    return Response(encode(body), status, headers, content_type=PROBLEM)


def of_token(refused: TokenRefused) -> Response:
    return problem(refused.status, headers={"WWW-Authenticate": refused.challenge}, **refused.body)


def of_error(error: errors.CallError) -> Response:
    """The reply to a governed request that was refused or failed."""
    if isinstance(error, errors.NotFound):
        return problem(404, "Not found")
    if isinstance(error, errors.TokenRevoked):
        return of_token(TokenRefused.invalid("api"))
    headers = {}
    if isinstance(error, errors.LimitRefused | errors.Unavailable):
        headers["Retry-After"] = str(error.retry_after)
    if isinstance(error, errors.ScopeRefused):
        headers["WWW-Authenticate"] = f'Bearer error="insufficient_scope", scope="{" ".join(error.scopes)}"'
    more = {"code": error.code} if error.code > 0 else {}
    status = next((status for kind, status in _STATUS.items() if isinstance(error, kind)), 500)
    message, data = told(error)
    return problem(status, message, headers, **more, **data)
