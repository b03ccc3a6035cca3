"""The HTTP door of `/api`: a Flask blueprint with one rule for every type, because types change without a restart.

Knows what a wire needs: verbs, headers, statuses. The order of checks is that of `/mcp` (docs/rules.md, HTTP order of checks).
"""

from __future__ import annotations

import logging
import os

from flask import Blueprint, Response, request
from flask.sansio.blueprints import BlueprintSetupState
from werkzeug.routing import Rule

from cmsmcp.api.problems import of_error, problem
from cmsmcp.api.reading import Answer, Question, Reading
from cmsmcp.identity.gate import Gate, TurnedAway
from cmsmcp.identity.tokens import TokenRefused
from cmsmcp.protocol.errors import RATE_LIMITED, CallError, Unavailable

SERVED = "GET, HEAD, OPTIONS"
PREFLIGHT = {
    "Access-Control-Allow-Methods": SERVED, "Access-Control-Allow-Headers": "Authorization, Accept", "Access-Control-Max-Age": "600",
}  # fmt: skip
EXPOSED = "WWW-Authenticate, Retry-After, Content-Language"

_log = logging.getLogger(__name__)


def blueprint(reading: Reading, gate: Gate) -> Blueprint:
    door = Blueprint("api", __name__)
    endpoint = _Endpoint(reading, gate)

    def register(state: BlueprintSetupState) -> None:
        """Every verb comes here, so that one nobody knows is refused like any other; Flask's own rules want a list of verbs."""
        state.app.view_functions["api.endpoint"] = endpoint.answer
        for path in ("/api", "/api/", "/api/<path:path>"):
            state.app.url_map.add(Rule(path, endpoint="api.endpoint"))

    door.record(register)
    return door


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
            response = self._refuse(problem(refused.status, refused.body["error"], {"WWW-Authenticate": refused.challenge}))
        if origin is not None:
            response.headers["Access-Control-Allow-Origin"] = origin
            response.headers["Access-Control-Expose-Headers"] = EXPOSED
        response.headers["Vary"] = "Origin, Authorization"
        response.headers["Cache-Control"] = "no-store"
        return response

    def _serve(self, path: str, origin: str | None) -> Response:
        if request.method == "OPTIONS":
            return Response(status=204, headers={"Allow": SERVED, **(PREFLIGHT if origin is not None else {})})
        if request.method not in ("GET", "HEAD"):
            raise TurnedAway(405, "Method not allowed")
        try:
            caller = self._gate.caller(request.environ)
        except Unavailable as error:
            return self._refuse(of_error(error))
        type_, slash, ref = path.removesuffix("/").partition("/")
        question = Question(request.method, type_, ref if slash else None, request.query_string)
        try:
            return _sent(self._reading.answer(caller, question))
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


def _sent(answer: Answer) -> Response:
    headers = {"Content-Language": answer.locale} if answer.locale else {}
    return Response(answer.text, 200, headers, content_type=answer.mime_type)
