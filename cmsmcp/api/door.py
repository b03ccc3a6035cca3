"""The HTTP door of `/api`: a Flask blueprint with one rule for every type, because types change without a restart.

Knows what a wire needs: verbs, headers, statuses. The order of checks is that of `/mcp` (docs/rules.md, HTTP order of checks).
"""

from __future__ import annotations

import logging
import os
import time
from functools import partial

from flask import Blueprint, Response, request
from flask.sansio.blueprints import BlueprintSetupState
from werkzeug.routing import PathConverter, Rule

from cmsmcp.api.answer import Answer
from cmsmcp.api.headers import link_header, rate_left, rate_policy
from cmsmcp.api.packing import GZIP, SMALLEST, accepts_gzip, packed
from cmsmcp.api.page import HTML, PATH, page
from cmsmcp.api.problems import of_error, of_token, problem
from cmsmcp.api.reading import Question, Reading
from cmsmcp.api.validators import http_date, in_any_coding, not_since, read_tags, tag_sent
from cmsmcp.core.deadline import Cancelled
from cmsmcp.core.ports import Caller, Verdict
from cmsmcp.identity.gate import Gate, TurnedAway
from cmsmcp.identity.tokens import TokenRefused
from cmsmcp.protocol.errors import RATE_LIMITED, CallError, Unavailable

SERVED = "GET, HEAD, OPTIONS"
PREFLIGHT = {
    "Access-Control-Allow-Methods": SERVED,
    "Access-Control-Allow-Headers": "Authorization, Accept, If-None-Match, If-Modified-Since",
    "Access-Control-Max-Age": "600",
}
EXPOSED = "Content-Language, ETag, Last-Modified, Link, RateLimit, RateLimit-Policy, Retry-After, WWW-Authenticate"
KEPT = "private, max-age=0, must-revalidate"
"""A client may keep what it got, and asks each time whether it still holds: access can be withdrawn at any moment."""

CLOSED = "The connection was closed before the answer, so the work was stopped. Keep it open until then."
"""For a client that has shut down its side of the connection, which looks like one that is gone, and reads on."""

SETTLED_MS = 2_000

_log = logging.getLogger(__name__)


def blueprint(reading: Reading, gate: Gate) -> Blueprint:
    door = Blueprint("api", __name__)
    endpoint = _Endpoint(reading, gate)

    def register(state: BlueprintSetupState) -> None:
        """Every verb comes here, so that one nobody knows is refused like any other; Flask's own rules want a list of verbs."""
        state.app.view_functions["api.endpoint"] = endpoint.answer
        state.app.url_map.converters["anything"] = _Anything
        for path in ("/api", "/api/", "/api/<anything:path>"):
            state.app.url_map.add(Rule(path, endpoint="api.endpoint", merge_slashes=False))

    door.record(register)
    return door


class _Anything(PathConverter):
    """Line breaks and empty segments too: what is no path of ours is refused here, in this door's words."""

    regex = "(?s:.+?)"
    part_isolating = False


class _Endpoint:
    def __init__(self, reading: Reading, gate: Gate) -> None:
        self._reading = reading
        self._gate = gate

    def answer(self, path: str = "") -> Response:
        origin = None
        try:
            self._gate.check_size(request.environ)
            origin = self._gate.check_origin(request.environ)
            response = self._serve(path, origin)
        except TurnedAway as refused:
            headers = {"Allow": SERVED} if refused.status == 405 else {}
            response = self._refuse(problem(refused.status, refused.message, headers))
        except TokenRefused as refused:
            response = self._refuse(of_token(refused))
        if origin is not None:
            response.headers["Access-Control-Allow-Origin"] = origin
            response.headers["Access-Control-Expose-Headers"] = EXPOSED
        response.headers["Vary"] = "Origin, Authorization, Accept-Encoding"
        response.headers.setdefault("Cache-Control", "no-store")
        return response

    def _serve(self, path: str, origin: str | None) -> Response:
        if request.method == "OPTIONS":
            return Response(status=204, headers={"Allow": SERVED, **(PREFLIGHT if origin is not None else {})})
        if request.method not in ("GET", "HEAD"):
            raise TurnedAway(405, "Method not allowed")
        if path == PATH and "Authorization" not in request.headers:
            text, headers = page()
            return Response(text, 200, headers, content_type=HTML)
        try:
            caller = self._gate.caller(request.environ)
        except Unavailable as error:
            return self._refuse(of_error(error))
        verdicts: list[Verdict] = []
        response = self._governed(caller, path, verdicts)
        response.headers["RateLimit-Policy"] = rate_policy(self._reading.rate)
        for verdict in verdicts:
            if verdict.reset_ms:  # a revoked token has no budget
                response.headers["RateLimit"] = rate_left(self._reading.rate, verdict, time.time_ns() // 1_000_000)
        return response

    def _governed(self, caller: Caller, path: str, verdicts: list[Verdict]) -> Response:
        held = read_tags(request.headers.get("If-None-Match"))
        question = Question(request.method, path, request.query_string, in_any_coding(held))
        try:
            has_left = partial(self._gate.has_left, request.environ)
            return _sent(self._reading.answer(caller, question, verdicts.append, has_left), held)
        except Cancelled:
            return problem(400, CLOSED)
        except CallError as error:
            return of_error(error)
        except Exception:
            reference = os.urandom(6).hex()
            _log.exception("internal error %s in %s /api", reference, request.method)
            return problem(500, "Internal server error", reference=reference)

    def _refuse(self, response: Response) -> Response:
        """A flood of rubbish is not free: refusals draw on a bucket of their address."""
        wait = self._gate.charge_refusal(request.environ)
        if wait is None:
            return response
        message = f"Too many refused requests. Try again in {wait} s."
        return problem(429, message, {"Retry-After": str(wait)}, code=RATE_LIMITED, retry_after=wait)


def _sent(answer: Answer, held: frozenset[str]) -> Response:
    """200 with the body, or 304 where the client has it. If-None-Match, where it was sent, decides alone."""
    body = answer.text.encode()
    packs = (answer.unchanged or len(body) >= SMALLEST) and accepts_gzip(request.accept_encodings)
    headers = {"ETag": f'"{tag_sent(answer.tag or "", held, packs=packs)}"', "Cache-Control": KEPT}
    if answer.modified is not None and _settled(answer.modified):
        headers["Last-Modified"] = http_date(answer.modified)
    asked_by_tag = "If-None-Match" in request.headers
    if answer.unchanged or (not asked_by_tag and not_since(request.headers.get("If-Modified-Since"), answer.modified)):
        return Response(status=304, headers=headers)
    if packs:
        body, headers["Content-Encoding"] = packed(body), GZIP
    if answer.locales:
        headers["Content-Language"] = ", ".join(answer.locales)
    link = link_header(answer.links)
    if link is not None:
        headers["Link"] = link
    return Response(body, 200, headers, content_type=answer.mime_type)


def _settled(modified: int) -> bool:
    """Whether no later change can have the same second as this one (RFC 9110, 8.8.2.2)."""
    return modified < time.time_ns() // 1_000_000 - SETTLED_MS
