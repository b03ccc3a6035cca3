"""The HTTP door: `/mcp` as a Flask blueprint. Bytes and headers in, status and headers out.

Knows what a wire needs: sizes, verbs, bearer tokens, media types, statuses. Must not know what a message means; the service decides
that. The order of the checks is the contract (docs/rules.md, HTTP order of checks): the first failure wins.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from flask import Blueprint, Response, request
from flask.blueprints import BlueprintSetupState
from werkzeug.routing import Rule

from cmsmcp.core.ports import Caller
from cmsmcp.core.service import Outcome, Service
from cmsmcp.core.session import Connection
from cmsmcp.identity.gate import Gate, TurnedAway
from cmsmcp.identity.peers import is_loopback
from cmsmcp.identity.sessions import Sessions
from cmsmcp.identity.tokens import TokenRefused
from cmsmcp.protocol import errors
from cmsmcp.protocol.eras import LATEST_LEGACY, MODERN, SUPPORTED, refuse_version
from cmsmcp.protocol.jsonrpc import error_reply
from cmsmcp.protocol.mediatypes import accepts, choose, names
from cmsmcp.protocol.sse import EVENT_STREAM, event

JSON = "application/json"
SERVED = "GET, HEAD, POST, OPTIONS"
ALLOWED_HEADERS = "Authorization, Content-Type, Accept, MCP-Protocol-Version, Mcp-Session-Id, Mcp-Method, Mcp-Name, Last-Event-ID"
PREFLIGHT_SECONDS = "600"
EXPOSED = "WWW-Authenticate, Mcp-Session-Id, Retry-After"
SESSION = "Mcp-Session-Id"
SINGLE = ("MCP-Protocol-Version", "Mcp-Method", SESSION)
_PARAM_HEADER = re.compile(r"mcp-param-[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Entrance:
    """`gate` stands before the service. `open_to` is the caller served without a token, on loopback only; None asks everyone for a token.

    Without `sessions` a legacy client gets no session id, and is served all the same.
    """

    gate: Gate
    open_to: Caller | None = None
    sessions: Sessions | None = None


class Refusal(Exception):
    """A request turned away before the service saw it."""

    def __init__(self, status: int, body: bytes, headers: Mapping[str, str] | None = None) -> None:
        self.status = status
        self.body = body
        self.headers = dict(headers or {})


def blueprint(service: Service, entrance: Entrance) -> Blueprint:
    """`/mcp` and `/mcp/` alike: no redirect, which would lose a POST's body (C018)."""
    door = Blueprint("mcp", __name__)
    endpoint = _Endpoint(service, entrance)

    def register(state: BlueprintSetupState) -> None:
        """Every verb comes here, so that one nobody knows is refused like any other; Flask's own rules want a list of verbs."""
        state.app.view_functions["mcp.endpoint"] = endpoint.answer
        for path in ("/mcp", "/mcp/"):
            state.app.url_map.add(Rule(path, endpoint="mcp.endpoint"))

    door.record(register)
    return door


class _Endpoint:
    def __init__(self, service: Service, entrance: Entrance) -> None:
        self._service = service
        self._gate = entrance.gate
        self._open_to = entrance.open_to
        self._sessions = entrance.sessions

    def answer(self) -> Response:
        origin, stranger = None, None
        try:
            origin = self._gate.check_origin(request.environ)
        except TurnedAway as away:
            stranger = away  # told after a body that is too large
        try:
            self._gate.check_size(request.environ)
            if stranger is not None:
                raise stranger
            response = self._serve()
        except TurnedAway as away:
            told = _rpc_refusal(away.status, away.message) if away.status == 413 else _refusal(away.status, away.message)
            response = self._refuse(told)
        except Refusal as refusal:
            response = self._refuse(refusal)
        if origin is not None:  # refusals too: a browser must be able to read why (C021)
            response.headers["Access-Control-Allow-Origin"] = origin
            response.headers["Access-Control-Expose-Headers"] = EXPOSED
        response.headers["Vary"] = "Origin"
        response.headers["Cache-Control"] = "no-store"
        return response

    def _serve(self) -> Response:
        verb = request.method
        if verb == "OPTIONS":
            return _options()
        if verb == "DELETE":
            raise _refusal(405, "Session termination is not supported", Allow=SERVED)
        if verb not in ("POST", "GET", "HEAD") or (verb != "POST" and _wants_stream()):
            raise _refusal(405, f"{verb} is not supported here; send JSON-RPC with POST", Allow=SERVED)
        caller = self._caller()
        headers = {name.lower(): value for name, value in request.headers.items()}
        if verb != "POST":
            metadata = _metadata(headers)
            refused = self._service.charge(caller, f"{verb} /mcp")
            return metadata if refused is None else _response(refused, JSON)
        media_type = _check_media_types()
        _check_single_headers()
        body = _read_body(self._gate.max_request_bytes)
        connection = self._connection(caller)
        outcome = self._service.handle(body, caller, connection, headers)
        if outcome.unpaid:
            raise Refusal(outcome.status, outcome.body or b"")
        response = _response(outcome, media_type)
        if connection.is_new and connection.revision is not None and self._sessions is not None:
            response.headers[SESSION] = self._sessions.issue(caller, connection.revision, connection.declared)
        return response

    def _connection(self, caller: Caller) -> Connection:
        """What the session id says, if one was sent. Whether it matters is for the message to say: modern ones ignore it."""
        named = request.environ.get("HTTP_MCP_SESSION_ID")
        if named is None:
            return Connection()
        sessions = self._sessions
        found = sessions.read(named.strip(), caller) if sessions is not None else None
        if sessions is None or found is None:
            return Connection(lost=True)
        return Connection(found.revision, found.declared, lost=sessions.is_over(found))

    def _caller(self) -> Caller:
        if self._open_to is not None:
            # A proxy on this host looks like loopback, so a forwarded request is not.
            if "HTTP_X_FORWARDED_FOR" in request.environ or not is_loopback(request.environ.get("REMOTE_ADDR", "")):
                raise _refusal(403, "mcp.auth is none, so only this host is served")
            return self._open_to
        try:
            return self._gate.caller(request.environ)
        except TokenRefused as refused:
            challenge = {"WWW-Authenticate": refused.challenge}
            raise Refusal(refused.status, json.dumps(refused.body).encode(), challenge) from None
        except errors.Unavailable as error:
            body = error_reply(None, error.code, error.message, error.data)
            raise Refusal(503, body, {"Retry-After": str(error.retry_after)}) from None

    def _refuse(self, refusal: Refusal) -> Response:
        """A flood of rubbish is not free: refusals draw on a bucket of their address."""
        wait = self._gate.charge_refusal(request.environ)
        if wait is not None:
            body = error_reply(None, errors.RATE_LIMITED, f"Too many refused requests. Try again in {wait} s.", {"retry_after": wait})
            return Response(body, 429, {"Retry-After": str(wait)}, mimetype=JSON)
        return Response(refusal.body, refusal.status, refusal.headers, mimetype=JSON)


def _options() -> Response:
    """A preflight needs no token and costs nothing (C021). Headers for tool parameters are allowed by the name the browser asks for."""
    headers = {"Allow": SERVED}
    if "HTTP_ORIGIN" in request.environ:
        asked = (name.strip() for name in request.environ.get("HTTP_ACCESS_CONTROL_REQUEST_HEADERS", "").split(","))
        headers["Access-Control-Allow-Methods"] = SERVED
        headers["Access-Control-Allow-Headers"] = ", ".join([ALLOWED_HEADERS, *filter(_PARAM_HEADER.fullmatch, asked)])
        headers["Access-Control-Max-Age"] = PREFLIGHT_SECONDS
    return _empty(204, headers)


def _check_media_types() -> str:
    """The type of the answer: JSON wherever it is admitted (C019). Refusals are JSON in any case."""
    if request.mimetype != JSON:
        raise _rpc_refusal(415, "Send the body with Content-Type: application/json.")
    if request.environ.get("HTTP_CONTENT_ENCODING", "identity").lower() != "identity":
        raise _rpc_refusal(415, "Send the body without Content-Encoding.")
    if request.environ.get("HTTP_TRANSFER_ENCODING", "chunked").strip().lower() != "chunked":
        raise _rpc_refusal(415, "Send the body with no Transfer-Encoding but chunked.")
    chosen = choose(request.environ.get("HTTP_ACCEPT", ""), (JSON, EVENT_STREAM))
    if chosen is None:
        raise _rpc_refusal(406, "Replies are application/json or text/event-stream; allow one of them in Accept.")
    return chosen


def _wants_stream() -> bool:
    """A GET for an event stream, or from a client of 2026-07-28: both take 405 for the answer that there is none.

    A client within a session wants a stream even if it could take JSON; without one it may be Plank's reader of metadata.
    """
    if request.environ.get("HTTP_MCP_PROTOCOL_VERSION", "").strip() == MODERN:
        return True
    accept = request.environ.get("HTTP_ACCEPT", "")
    return names(accept, EVENT_STREAM) and ("HTTP_MCP_SESSION_ID" in request.environ or not accepts(accept, JSON))


def _check_single_headers() -> None:
    """WSGI folds repeated headers with commas; of two versions or methods neither is the right one."""
    for name in SINGLE:
        if "," in request.environ.get("HTTP_" + name.upper().replace("-", "_"), ""):
            raise _rpc_refusal(400, f"{name} was sent more than once.", errors.HEADER_MISMATCH)


def _read_body(limit: int) -> bytes:
    """The whole body, sized or chunked; never more than one byte above `limit` in memory (W-05)."""
    environ = request.environ
    length = environ.get("CONTENT_LENGTH", "")
    chunked = not length and (environ.get("wsgi.input_terminated") or "HTTP_TRANSFER_ENCODING" in environ)
    wanted = min(int(length), limit + 1) if length else limit + 1 if chunked else 0
    try:
        body: bytes = environ["wsgi.input"].read(wanted) if wanted else b""
    except TimeoutError as error:
        raise _rpc_refusal(408, "The body came too slowly.", errors.PARSE_ERROR) from error
    except Exception as error:  # every server raises its own when a body breaks off
        raise _rpc_refusal(400, "The body could not be read.", errors.PARSE_ERROR) from error
    if len(body) > limit:
        raise _too_large(limit)
    if length and len(body) < wanted:
        raise _rpc_refusal(400, "The body ended before its announced length.", errors.PARSE_ERROR)
    return body


def _metadata(headers: Mapping[str, str]) -> Response:
    """What Plank's `GET /mcp` says, and what else is served (P8)."""
    refusal = refuse_version(headers)
    if refusal is not None:
        raise Refusal(400, error_reply(None, refusal.code, refusal.message, refusal.data))
    known: dict[str, Any] = {
        "name": "cmsmcp", "transport": "streamable-http", "endpoint": "/mcp", "protocolVersion": LATEST_LEGACY,
        "protocolVersions": list(SUPPORTED), "capabilities": ["resources", "tools"],
    }
    return Response(json.dumps(known), mimetype=JSON)


def _empty(status: int, headers: Mapping[str, str] | None = None) -> Response:
    """Nothing, and no type of it either."""
    response = Response(status=status, headers=dict(headers or {}))
    del response.headers["Content-Type"]
    return response


def _response(outcome: Outcome, media_type: str) -> Response:
    """The service says which status its reply has: only it knows a refused request from one that was answered with an error."""
    if outcome.body is None:
        return _empty(outcome.status)
    if media_type == EVENT_STREAM and outcome.status == 200:
        # An iterator, so that no length is announced: a stream ends by its last event (W-04).
        return Response(iter((event(outcome.body),)), headers={"X-Accel-Buffering": "no"}, mimetype=EVENT_STREAM)
    headers = {"Retry-After": str(outcome.retry_after)} if outcome.retry_after else {}
    if outcome.status == 401:
        headers["WWW-Authenticate"] = 'Bearer error="invalid_token"'
    elif outcome.status == 403:
        headers["WWW-Authenticate"] = f'Bearer error="insufficient_scope", scope="{" ".join(outcome.scopes)}"'
    return Response(outcome.body, outcome.status, headers, mimetype=JSON)


def _refusal(status: int, message: str, **headers: str) -> Refusal:
    """In the shape of the seed's refusals: `{"error": "…"}` (P23)."""
    return Refusal(status, json.dumps({"error": message}).encode(), headers)


def _rpc_refusal(status: int, message: str, code: int = errors.INVALID_REQUEST) -> Refusal:
    """As a JSON-RPC error: a client of both eras takes anything else for a server that only knows the older one."""
    return Refusal(status, error_reply(None, code, message))


def _too_large(limit: int) -> Refusal:
    return _rpc_refusal(413, f"The request is larger than {limit} bytes.")
