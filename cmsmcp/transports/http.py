"""The HTTP door: `/mcp` as a Flask blueprint. Bytes and headers in, status and headers out.

Knows what a wire needs: sizes, verbs, bearer tokens, media types, statuses. Must not know what a message means; the service decides
that. The order of the checks is the contract (docs/rules.md, HTTP order of checks): the first failure wins.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

from flask import Blueprint, Response, request

from cmsmcp.core.ports import Admission, Ask, Caller
from cmsmcp.core.service import Outcome, Service
from cmsmcp.core.session import Connection
from cmsmcp.identity.peers import Peers, is_loopback
from cmsmcp.identity.tokens import TokenRefused
from cmsmcp.protocol import errors
from cmsmcp.protocol.eras import LATEST_LEGACY, MODERN, SUPPORTED
from cmsmcp.protocol.jsonrpc import error_reply
from cmsmcp.protocol.mediatypes import accepts

JSON = "application/json"
SERVED = "GET, HEAD, POST, OPTIONS"
VERBS = ("GET", "HEAD", "POST", "OPTIONS", "DELETE", "PUT", "PATCH", "TRACE", "CONNECT")
PREFLIGHT = {
    "Access-Control-Allow-Methods": SERVED,
    "Access-Control-Allow-Headers": (
        "Authorization, Content-Type, Accept, MCP-Protocol-Version, Mcp-Session-Id, Mcp-Method, Mcp-Name, Last-Event-ID"
    ),
    "Access-Control-Max-Age": "600",
}
EXPOSED = "WWW-Authenticate, Mcp-Session-Id, Retry-After"
SINGLE = ("MCP-Protocol-Version", "Mcp-Method", "Mcp-Session-Id")

@dataclass(frozen=True, slots=True)
class Gate:
    """What stands before the service. `authenticate` gets the Authorization header; it may raise TokenRefused or Unavailable.

    `open_to` is the caller served without a token, on loopback only; None asks everyone for a token.
    """

    peers: Peers
    authenticate: Callable[[str | None], Caller]
    admission: Admission
    max_request_bytes: int
    open_to: Caller | None = None


class Refusal(Exception):
    """A request turned away before the service saw it."""

    def __init__(self, status: int, body: bytes, headers: Mapping[str, str] | None = None) -> None:
        self.status = status
        self.body = body
        self.headers = dict(headers or {})


def blueprint(service: Service, gate: Gate) -> Blueprint:
    """`/mcp` and `/mcp/` alike: no redirect, which would lose a POST's body (C018)."""
    door = Blueprint("mcp", __name__)
    endpoint = _Endpoint(service, gate)
    for rule in ("/mcp", "/mcp/"):
        door.add_url_rule(rule, f"endpoint{len(rule)}", endpoint.answer, methods=VERBS, provide_automatic_options=False)
    return door


class _Endpoint:
    def __init__(self, service: Service, gate: Gate) -> None:
        self._service = service
        self._gate = gate

    def answer(self) -> Response:
        origin = None
        try:
            self._check_size()
            origin = self._check_host_and_origin()
            response = self._serve(origin)
        except Refusal as refusal:
            response = self._refuse(refusal)
        if origin is not None:
            response.headers["Access-Control-Allow-Origin"] = origin
            response.headers["Access-Control-Expose-Headers"] = EXPOSED
        response.headers["Vary"] = "Origin"
        response.headers["Cache-Control"] = "no-store"
        return response

    def _serve(self, origin: str | None) -> Response:
        verb = request.method
        if verb == "OPTIONS":
            return Response(status=204, headers={"Allow": SERVED, **(PREFLIGHT if origin is not None else {})})
        if verb == "DELETE":
            raise _refusal(405, "Session termination is not supported", Allow=SERVED)
        if verb not in ("POST", "GET", "HEAD") or (verb != "POST" and _wants_stream()):
            raise _refusal(405, f"{verb} is not supported here; send JSON-RPC with POST", Allow=SERVED)
        caller = self._caller()
        if verb != "POST":
            return Response(json.dumps(_metadata()), mimetype=JSON)
        _check_media_types()
        _check_single_headers()
        body = _read_body(self._gate.max_request_bytes)
        headers = {name.lower(): value for name, value in request.headers.items()}
        return _response(self._service.handle(body, caller, Connection(), headers))

    def _check_size(self) -> None:
        length = request.environ.get("CONTENT_LENGTH", "")
        if length and (not length.isdecimal() or int(length[:20]) > self._gate.max_request_bytes):
            raise _too_large(self._gate.max_request_bytes)

    def _check_host_and_origin(self) -> str | None:
        """The origin to allow in the answer, if one was sent."""
        host = request.environ.get("HTTP_HOST", "")
        if not self._gate.peers.knows_host(host):
            raise _refusal(403, "Host not allowed; the operator can add it to mcp.allowed_hosts")
        origin = request.environ.get("HTTP_ORIGIN")
        if origin is not None and not self._gate.peers.knows_origin(origin, host):
            raise _refusal(403, "Origin not allowed")
        return origin

    def _caller(self) -> Caller:
        if self._gate.open_to is not None:
            # A proxy on this host looks like loopback, so a forwarded request is not.
            if "HTTP_X_FORWARDED_FOR" in request.environ or not is_loopback(request.environ.get("REMOTE_ADDR", "")):
                raise _refusal(403, "mcp.auth is none, so only this host is served")
            return self._gate.open_to
        try:
            return self._gate.authenticate(request.environ.get("HTTP_AUTHORIZATION"))
        except TokenRefused as refused:
            challenge = {"WWW-Authenticate": refused.challenge}
            raise Refusal(refused.status, json.dumps(refused.body).encode(), challenge) from None
        except errors.Unavailable as error:
            body = error_reply(None, error.code, error.message, error.data)
            raise Refusal(503, body, {"Retry-After": str(error.retry_after)}) from None

    def _refuse(self, refusal: Refusal) -> Response:
        """A flood of rubbish is not free: refusals draw on a bucket of their address."""
        environ = request.environ
        address = self._gate.peers.address(environ.get("REMOTE_ADDR", ""), environ.get("HTTP_X_FORWARDED_FOR", ""))
        try:
            verdict = self._gate.admission.admit(Ask(uuid4().hex, f"address:{address}", cost=1, permit=False, lease_ms=0))
        except errors.Unavailable:
            verdict = None  # the refusal stands either way
        if verdict is not None and verdict.reason is not None:
            wait = max(1, -(-verdict.retry_after_ms // 1000))
            body = error_reply(None, errors.RATE_LIMITED, f"Too many refused requests. Try again in {wait} s.", {"retry_after": wait})
            return Response(body, 429, {"Retry-After": str(wait)}, mimetype=JSON)
        return Response(refusal.body, refusal.status, refusal.headers, mimetype=JSON)


def _check_media_types() -> None:
    if request.mimetype != JSON:
        raise _rpc_refusal(415, "Send the body with Content-Type: application/json.")
    if request.environ.get("HTTP_CONTENT_ENCODING", "identity").lower() != "identity":
        raise _rpc_refusal(415, "Send the body without Content-Encoding.")
    accept = request.environ.get("HTTP_ACCEPT", "").strip()
    if accept and not accepts(accept, JSON):
        raise _rpc_refusal(406, "Replies are application/json; allow it in Accept.")


def _wants_stream() -> bool:
    """A GET for an event stream, or from a client of 2026-07-28: both take 405 for the answer that there is none."""
    if request.environ.get("HTTP_MCP_PROTOCOL_VERSION", "").strip() == MODERN:
        return True
    accept = request.environ.get("HTTP_ACCEPT", "")
    return "text/event-stream" in accept.lower() and not accepts(accept, JSON)


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
    wanted = int(length) if length else limit + 1 if chunked else 0
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


def _metadata() -> dict[str, Any]:
    """What Plank's `GET /mcp` says, and what else is served (P8)."""
    return {
        "name": "cmsmcp", "transport": "streamable-http", "endpoint": "/mcp", "protocolVersion": LATEST_LEGACY,
        "protocolVersions": list(SUPPORTED), "capabilities": ["resources", "tools"],
    }


def _response(outcome: Outcome) -> Response:
    """The service says which status its reply has: only it knows a refused request from one that was answered with an error."""
    if outcome.body is None:
        return Response(status=outcome.status)
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
