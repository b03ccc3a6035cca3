"""What the HTTP door sends when it is no stream: refusals, outcomes, metadata, preflights. Must not know when each of them applies."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

from flask import Response, request

from cmsmcp.core.outcome import Outcome, as_error, told
from cmsmcp.protocol import errors
from cmsmcp.protocol.eras import LATEST_LEGACY, SUPPORTED, refuse_version
from cmsmcp.protocol.jsonrpc import error_reply
from cmsmcp.protocol.sse import EVENT_STREAM, event

JSON = "application/json"
SERVED = "GET, HEAD, POST, OPTIONS"
ALLOWED_HEADERS = "Authorization, Content-Type, Accept, MCP-Protocol-Version, Mcp-Session-Id, Mcp-Method, Mcp-Name, Last-Event-ID"
PREFLIGHT_SECONDS = "600"
STREAM_HEADERS = {"X-Accel-Buffering": "no"}
RETRY_SECONDS = 5
"""When a client that found no room for its stream may ask again."""
_PARAM_HEADER = re.compile(r"mcp-param-[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}", re.IGNORECASE)


class Refusal(Exception):
    """A request turned away before the service saw it."""

    def __init__(self, status: int, body: bytes, headers: Mapping[str, str] | None = None) -> None:
        self.status = status
        self.body = body
        self.headers = dict(headers or {})


def refusal(status: int, message: str, **headers: str) -> Refusal:
    """In the shape of the seed's refusals: `{"error": "…"}` (P23)."""
    return Refusal(status, json.dumps({"error": message}).encode(), headers)


def rpc_refusal(status: int, message: str, code: int = errors.INVALID_REQUEST) -> Refusal:
    """As a JSON-RPC error: a client of both eras takes anything else for a server that only knows the older one."""
    return Refusal(status, error_reply(None, code, message))


def unavailable(error: errors.Unavailable) -> Refusal:
    body = error_reply(None, error.code, *told(error))
    return Refusal(503, body, {"Retry-After": str(error.retry_after)})


def closed() -> Response:
    """For a client that has shut down its side of the connection, which looks like one that is gone, and reads on."""
    message = "The connection was closed while the call was running, so it was stopped. Keep it open until the reply."
    return Response(error_reply(None, errors.INVALID_REQUEST, message), 400, mimetype=JSON)


def no_room() -> Refusal:
    """503: this process holds as many streams as it may (W-01)."""
    message = f"Too many streams are open here. Try again in {RETRY_SECONDS} s."
    body = error_reply(None, errors.STREAMS_LIMITED, message, {"retry_after": RETRY_SECONDS})
    return Refusal(503, body, {"Retry-After": str(RETRY_SECONDS)})


def options() -> Response:
    """A preflight needs no token and costs nothing (C021). Headers for tool parameters are allowed by the name the browser asks for."""
    headers = {"Allow": SERVED}
    if "HTTP_ORIGIN" in request.environ:
        asked = (name.strip() for name in request.environ.get("HTTP_ACCESS_CONTROL_REQUEST_HEADERS", "").split(","))
        headers["Access-Control-Allow-Methods"] = SERVED
        headers["Access-Control-Allow-Headers"] = ", ".join([ALLOWED_HEADERS, *filter(_PARAM_HEADER.fullmatch, asked)])
        headers["Access-Control-Max-Age"] = PREFLIGHT_SECONDS
    return _empty(204, headers)


def metadata(headers: Mapping[str, str], features: Iterable[str]) -> Response:
    """What Plank's `GET /mcp` says, and what else is served (P8). `features` are the names of those declared to the caller."""
    refuse_unknown_version(headers)
    known: dict[str, Any] = {
        "name": "cmsmcp", "transport": "streamable-http", "endpoint": "/mcp", "protocolVersion": LATEST_LEGACY,
        "protocolVersions": list(SUPPORTED), "capabilities": sorted(features),
    }  # fmt: skip
    return Response(json.dumps(known), mimetype=JSON)


def refuse_unknown_version(headers: Mapping[str, str]) -> None:
    found = refuse_version(headers)
    if found is not None:
        raise Refusal(400, error_reply(None, found.code, *told(as_error(found))))


def reply(outcome: Outcome, media_type: str) -> Response:
    """The service says which status its reply has: only it knows a refused request from one that was answered with an error."""
    if outcome.body is None:
        return _empty(outcome.status)
    if media_type == EVENT_STREAM and outcome.status == 200:
        # An iterator, so that no length is announced: a stream ends by its last event (W-04).
        return Response(iter((event(outcome.body),)), headers=STREAM_HEADERS, mimetype=EVENT_STREAM)
    headers = {"Retry-After": str(outcome.retry_after)} if outcome.retry_after else {}
    if outcome.status == 401:
        headers["WWW-Authenticate"] = 'Bearer error="invalid_token"'
    elif outcome.status == 403:
        headers["WWW-Authenticate"] = f'Bearer error="insufficient_scope", scope="{" ".join(outcome.scopes)}"'
    return Response(outcome.body, outcome.status, headers, mimetype=JSON)


def _empty(status: int, headers: Mapping[str, str] | None = None) -> Response:
    """Nothing, and no type of it either."""
    response = Response(status=status, headers=dict(headers or {}))
    del response.headers["Content-Type"]
    return response
