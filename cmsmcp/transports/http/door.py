"""The HTTP door: `/mcp` as a Flask blueprint. Bytes and headers in; status, headers, and bytes or an event stream out.

Knows what a wire needs: sizes, verbs, bearer tokens, media types, statuses. Must not know what a message means; the service decides
that. The order of the checks is the contract (docs/rules.md, HTTP order of checks): the first failure wins.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

from flask import Blueprint, Response, request
from flask.blueprints import BlueprintSetupState
from werkzeug.routing import Rule

from cmsmcp.core.outcome import GIVEN_UP
from cmsmcp.core.ports import Caller
from cmsmcp.core.service import Outcome, Pending, Service
from cmsmcp.core.session import Connection
from cmsmcp.core.sharing import EventLog
from cmsmcp.identity.addresses import FORWARDING, is_loopback
from cmsmcp.identity.gate import Gate, TurnedAway
from cmsmcp.identity.sessions import Sessions
from cmsmcp.identity.tokens import TokenRefused
from cmsmcp.protocol import errors
from cmsmcp.protocol.eras import LATEST_LEGACY, MODERN
from cmsmcp.protocol.jsonrpc import error_reply
from cmsmcp.protocol.mediatypes import choose
from cmsmcp.protocol.sse import EVENT_STREAM
from cmsmcp.transports.http import checks, replies
from cmsmcp.transports.http.openings import Openings
from cmsmcp.transports.http.replies import JSON, SERVED, Refusal, refusal, rpc_refusal
from cmsmcp.transports.http.resuming import Record, Resumption
from cmsmcp.transports.http.streaming import FIRST_SECONDS, IDLE_PULSE, WORKING_PULSE, Frames, Notices, Source, Speech

EXPOSED = "WWW-Authenticate, Mcp-Session-Id, Retry-After"
RESUMABLE = (LATEST_LEGACY, MODERN)
"""Revisions whose clients know an event without data, which is how they learn where to resume. Modern ones have no session."""


@dataclass(frozen=True, slots=True)
class Entrance:
    """`gate` stands before the service. `open_to` is the caller served without a token, on loopback only; None asks everyone for a token.

    While `sessions` gives none a legacy client gets no session id, and is served all the same, but for streams of its own.
    """

    gate: Gate
    open_to: Caller | None = None
    sessions: Callable[[], Sessions | None] = lambda: None

def blueprint(service: Service, entrance: Entrance) -> Blueprint:
    """`/mcp` and `/mcp/` alike: no redirect, which would lose a POST's body (C018)."""
    door = Blueprint("mcp", __name__)
    endpoint = _Endpoint(service, entrance)

    def register(state: BlueprintSetupState) -> None:
        """Every verb comes here, so that one nobody knows is refused like any other; Flask's own rules want a list of verbs."""
        state.app.view_functions["mcp.endpoint"] = endpoint.answer
        state.app.extensions["cmsmcp"] = endpoint.openings
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
        self.openings = Openings(self._end_streams)

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
            told = rpc_refusal(away.status, away.message) if away.status == 413 else refusal(away.status, away.message)
            response = self._refuse(told)
        except Refusal as refused:
            response = self._refuse(refused)
        if origin is not None:  # refusals too: a browser must be able to read why (C021)
            response.headers["Access-Control-Allow-Origin"] = origin
            response.headers["Access-Control-Expose-Headers"] = EXPOSED
        response.headers["Vary"] = "Origin"
        response.headers["Cache-Control"] = "no-store"
        return response

    def _serve(self) -> Response:
        verb = request.method
        if verb == "OPTIONS":
            return replies.options()
        if verb == "DELETE":
            raise refusal(405, "Session termination is not supported", Allow=SERVED)
        if verb not in ("POST", "GET", "HEAD") or (verb != "POST" and self._has_no_stream()):
            raise _not_here()
        caller = self._caller()
        headers = {name.lower(): value for name, value in request.headers.items()}
        if verb == "POST":
            return self._post(caller, headers)
        if checks.wants_stream():
            return self._get(caller, headers)
        metadata = replies.metadata(headers, self._service.features(caller))
        refused = self._service.charge(caller, f"{verb} /mcp")
        return metadata if refused is None else replies.reply(refused, JSON)

    def _has_no_stream(self) -> bool:
        """A GET for a stream, or from a client of 2026-07-28, where there is none: both take 405 for that answer.

        The exception is a session that was initialised with that revision; the id says so, once the caller is known.
        """
        wanted = checks.wants_stream()
        if checks.names_modern():
            return not (wanted and "HTTP_MCP_SESSION_ID" in request.environ)
        return wanted and self._sessions() is None

    def _post(self, caller: Caller, headers: Mapping[str, str]) -> Response:
        media_type = checks.check_media_types()
        checks.check_single_headers()
        body = checks.read_body(self._gate.max_request_bytes)
        connection = self._connection(caller)
        speech = Speech() if checks.takes_events() and _is_threaded() else None
        begun = self._service.begin(body, caller, connection, headers, speech)
        if speech is not None and isinstance(begun, Pending) and begun.talks:
            return self._converse(speech, begun, connection, media_type)
        connection.watch(partial(self._gate.has_left, request.environ))
        outcome = begun if isinstance(begun, Outcome) else begun()
        if outcome == GIVEN_UP and connection.has_left():
            return replies.closed()
        if outcome.unpaid:
            raise Refusal(outcome.status, outcome.body or b"")
        if outcome.stream is not None:
            return self._listened(outcome)
        response = replies.reply(outcome, media_type)
        sessions = self._sessions() if connection.is_new and connection.revision is not None else None
        if sessions is not None and connection.revision is not None:
            response.headers[checks.SESSION] = sessions.issue(caller, connection.revision, connection.declared)
        return response

    def _converse(self, speech: Speech, pending: Pending, connection: Connection, media_type: str) -> Response:
        """Run what may speak before its outcome. A client that leaves has cancelled, unless it has a session (X-01, X-02)."""
        if not self.openings.enter():
            raise replies.no_room()
        era = pending.era
        keeps = connection.session is not None and era is not None and not era.modern
        events = self._events() if keeps and era is not None and era.revision in RESUMABLE else None
        record = Record(events, connection.session or "") if events is not None else None
        if not keeps:
            connection.watch(partial(self._gate.has_left, request.environ))
        self.openings.began()
        try:
            speech.run(pending, record, _nothing if keeps else connection.cancel_all, self.openings.ended)
            outcome = speech.wait(FIRST_SECONDS)
        except BaseException:
            self.openings.leave()
            raise
        if outcome is not None:
            self.openings.leave()
            return replies.reply(outcome, media_type)
        return _stream(Frames(speech, WORKING_PULSE, self.openings.leave))

    def _get(self, caller: Caller, headers: Mapping[str, str]) -> Response:
        """The stream of a session (2025-03-26 to 2025-11-25: basic/transports), or the rest of one that it had before."""
        replies.refuse_unknown_version(headers)
        checks.check_single_headers()
        connection = self._connection(caller)
        if checks.names_modern() and connection.revision != MODERN:
            raise _not_here()
        if connection.session is None:
            raise rpc_refusal(400, "A stream belongs to a session; send Mcp-Session-Id, as initialize returned it.")
        if connection.lost:
            dead = errors.SessionNotFound()
            raise rpc_refusal(404, dead.message, dead.code)
        if request.method == "HEAD" or "last-event-id" in headers:
            refused = self._service.charge(caller, f"{request.method} /mcp")
            if refused is not None:
                return replies.reply(refused, JSON)
            return self._resume(connection.session, headers.get("last-event-id"))
        return self._listened(self._service.listen(caller, connection))

    def _resume(self, session: str, after: str | None) -> Response:
        """`after` None: only the headers are wanted."""
        if after is None:
            return Response(iter(()), headers=replies.STREAM_HEADERS, mimetype=EVENT_STREAM)
        events = self._events()
        try:
            found = Resumption(events, session, after, self.openings.ending) if events is not None else None
        except errors.Unavailable as error:
            raise replies.unavailable(error) from None
        if found is None or not found.exists:
            raise rpc_refusal(400, "There is nothing to resume after this Last-Event-ID: it is no event of this session, or too old.")
        return self._opened(found, WORKING_PULSE)

    def _listened(self, outcome: Outcome) -> Response:
        """The stream that the service opened, or its refusal."""
        if outcome.stream is None:
            return replies.reply(outcome, JSON)
        source = Notices(outcome.stream)
        if choose(request.environ.get("HTTP_ACCEPT", ""), (EVENT_STREAM,)) is None:
            source.close()
            raise rpc_refusal(406, "This is answered with text/event-stream; allow it in Accept.")
        response = self._opened(source, IDLE_PULSE)
        self.openings.opened()
        return response

    def _opened(self, source: Source, pulse: float) -> Response:
        if not (_is_threaded() and self.openings.enter()):
            source.close()
            raise replies.no_room()
        return _stream(Frames(source, pulse, self.openings.leave))

    def _events(self) -> EventLog | None:
        """Where events are kept; None when nothing is shared, so nothing can be resumed."""
        try:
            return self._service.ports.shared().events
        except errors.CallError:
            return None

    def _end_streams(self) -> None:
        try:
            feed = self._service.ports.shared().feed
        except errors.CallError:
            return
        feed.end_all()

    def _connection(self, caller: Caller) -> Connection:
        """What the session id says, if one was sent. Whether it matters is for the message to say: modern ones ignore it."""
        named = request.environ.get("HTTP_MCP_SESSION_ID")
        if named is None:
            return Connection()
        sessions, id = self._sessions(), named.strip()
        found = sessions.read(id, caller) if sessions is not None else None
        if sessions is None or found is None:
            return Connection(lost=True, session=id)
        return Connection(found.revision, found.declared, lost=sessions.is_over(found), session=id)

    def _caller(self) -> Caller:
        if self._open_to is not None:
            # A proxy on this host looks like loopback, so a forwarded request is not.
            if not is_loopback(request.environ.get("REMOTE_ADDR", "")) or any(name in request.environ for name in FORWARDING):
                raise refusal(403, "mcp.auth is none, so only this host is served")
            return self._open_to
        try:
            return self._gate.caller(request.environ)
        except TokenRefused as refused:
            challenge = {"WWW-Authenticate": refused.challenge}
            raise Refusal(refused.status, json.dumps(refused.body).encode(), challenge) from None
        except errors.Unavailable as error:
            raise replies.unavailable(error) from None

    def _refuse(self, refused: Refusal) -> Response:
        """A flood of rubbish is not free: refusals draw on a bucket of their address."""
        wait = self._gate.charge_refusal(request.environ)
        if wait is not None:
            body = error_reply(None, errors.RATE_LIMITED, f"Too many refused requests. Try again in {wait} s.", {"retry_after": wait})
            return Response(body, 429, {"Retry-After": str(wait)}, mimetype=JSON)
        return Response(refused.body, refused.status, refused.headers, mimetype=JSON)


def _stream(frames: Frames) -> Response:
    return Response(frames, headers=replies.STREAM_HEADERS, mimetype=EVENT_STREAM)


def _is_threaded() -> bool:
    """A worker that serves one request at a time holds no stream: nothing else would be served meanwhile (W-01)."""
    return bool(request.environ.get("wsgi.multithread"))


def _not_here() -> Refusal:
    return refusal(405, f"{request.method} is not supported here; send JSON-RPC with POST", Allow=SERVED)


def _nothing() -> None:
    """The client of a session has gone: its work runs on."""
