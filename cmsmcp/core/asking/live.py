"""Asking in the legacy revisions: a request of ours on the stream of the call that needs it, whose answer is a POST of its own (E-11).

The answer may reach any worker: it is left with the replies that all share, and the bus wakes the one who waits.
"""

from __future__ import annotations

import json
import secrets
import threading
import time
from collections.abc import Collection, Mapping
from typing import Any

from cmsmcp.core.asking.questions import MAX_QUESTIONS, as_request, check_answer, declared_for, lacking
from cmsmcp.core.asking.telling import Telling
from cmsmcp.core.deadline import Deadline
from cmsmcp.core.dialogue import SILENCE, CannotAsk, Dialogue, Elicit, Question
from cmsmcp.core.exchange import Exchange
from cmsmcp.core.governed import encode
from cmsmcp.core.shared import Shared
from cmsmcp.protocol.eras import WITHOUT_STRUCTURE
from cmsmcp.protocol.errors import CallError, ProtocolError, Unavailable
from cmsmcp.protocol.jsonrpc import Id, Response

DEFAULT_LEVEL = "info"
"""What is logged to a session that has not set a level (LG-04)."""
WITHOUT_TITLES = "2025-06-18"
LOOK_SECONDS = 0.25
"""How soon a cancel is noticed."""
SURE_SECONDS = 5.0
"""How often one looks for an answer although nobody announced it."""
_PREFIX = "cmsmcp-"
_ID_CHARS = len(_PREFIX) + 22


class Live(Telling):
    """Implements `core.dialogue.Dialogue` for one request of a legacy revision."""

    def __init__(self, exchange: Exchange) -> None:
        super().__init__(exchange, self._level)
        self._known_level: str | None = None
        self._deadline = Deadline(0)
        self._unanswered: set[str] = set()

    def begin(self, deadline: Deadline) -> Dialogue:
        self._deadline = deadline
        return self

    def can_ask(self, question: Question) -> bool:
        exchange = self._exchange
        if exchange.out is None or exchange.connection.session is None:
            return False
        if isinstance(question, Elicit) and not _knows_form(exchange.era.revision, question):
            return False
        return not lacking(declared_for(question), declared_at_handshake(exchange.connection.declared))

    def ask(self, questions: Mapping[str, Question], *, bound: bool = False) -> Mapping[str, Mapping[str, Any]]:
        """`bound` asks for nothing here: an answer names the request of ours that it answers, and counts once."""
        able = {key: question for key, question in questions.items() if self.can_ask(question)}
        if not able:
            return SILENCE.ask(questions)
        if len(able) > MAX_QUESTIONS:
            raise ValueError(f"at most {MAX_QUESTIONS} questions at once")
        replies = self._replies({_PREFIX + secrets.token_urlsafe(16): question for question in able.values()})
        return {key: _answer(question, reply, key) for (key, question), reply in zip(able.items(), replies, strict=True)}

    def _replies(self, asked: Mapping[str, Question]) -> list[bytes]:
        """The reply to each question, by the id of its request. Whatever happens, nobody waits for one afterwards."""
        session, shared = self._exchange.connection.session or "", self._exchange.ports.shared()
        ids, woken = frozenset(asked), threading.Event()
        found: dict[str, bytes] = {}
        shared.waiting.add(session, ids, woken)
        try:
            for id, question in asked.items():
                shared.replies.expect(session, id, self._deadline.remaining() + SURE_SECONDS)
                request = _for_revision(as_request(question), self._exchange.era.revision)
                with self._lock:
                    self._unanswered.add(id)
                    self._send(request["method"], request["params"], id=id)
            while len(found) < len(ids):
                self._wait(woken)
                found |= _taken(shared, session, ids - found.keys())
                self._unanswered -= found.keys()
                if shared.waiting.is_over and len(found) < len(ids):
                    raise CannotAsk("The client ended its input, so it answers no more.")
        finally:
            shared.waiting.drop(session, ids)
            self._withdraw()
            _forget(shared, session, ids - found.keys())
        return [found[id] for id in asked]

    def _wait(self, woken: threading.Event) -> None:
        """Until an answer may be there. Raises TimedOut and Cancelled."""
        sure = time.monotonic() + SURE_SECONDS
        while not woken.wait(min(LOOK_SECONDS, self._deadline.remaining())) and time.monotonic() < sure:
            self._deadline.check()
        self._deadline.check()
        woken.clear()

    def close(self) -> None:
        with self._lock:
            self._withdraw()
            super().close()

    def _withdraw(self) -> None:
        """The client need not go on asking its user."""
        with self._lock:
            while self._unanswered:
                self._send("notifications/cancelled", {"requestId": self._unanswered.pop(), "reason": "The call that asked has ended."})

    def _level(self) -> str | None:
        if self._known_level is None:
            session = self._exchange.connection.session
            try:
                level = self._exchange.ports.shared().sessions.read(session).level if session is not None else None
            except CallError:
                level = None
            self._known_level = level or DEFAULT_LEVEL
        return self._known_level


def declared_at_handshake(names: Collection[str]) -> dict[str, Any]:
    """As a ClientCapabilities object what a session says its client declared (`protocol.eras.declared`)."""
    capabilities: dict[str, Any] = {name: {} for name in ("roots", "sampling") if name in names}
    modes: dict[str, Any] = {mode: {} for mode, name in (("form", "elicitation"), ("url", "elicitation-url")) if name in names}
    return {**capabilities, "elicitation": modes} if modes else capabilities


def is_ours(id: Id) -> bool:
    """Whether a request of ours may have had this id; all others are ignored without asking anybody."""
    return isinstance(id, str) and id.startswith(_PREFIX) and len(id) == _ID_CHARS


def deliver(shared: Shared, session: str, response: Response) -> bool:
    """Bring a client's response to whoever waits for it, in any process. False when nobody does (E-11)."""
    id = str(response.id)
    reply = {"result": response.result} if response.error is None else {"error": response.error}
    if not shared.replies.deliver(session, id, encode(reply)):
        return False
    shared.bus.publish("reply", {"session": session, "id": id})
    return True


def _taken(shared: Shared, session: str, ids: Collection[str]) -> dict[str, bytes]:
    try:
        taken = {id: shared.replies.take(session, id) for id in ids}
    except Unavailable:
        return {}  # it may be back before the time is over
    return {id: reply for id, reply in taken.items() if reply is not None}


def _forget(shared: Shared, session: str, ids: Collection[str]) -> None:
    for id in ids:
        try:
            shared.replies.forget(session, id)
        except Unavailable:
            pass  # it lapses by itself


def _answer(question: Question, reply: bytes, key: str) -> Mapping[str, Any]:
    """CannotAsk for an error and for an answer that does not fit: the model reads why, since the call goes no further."""
    said = json.loads(reply)
    if "error" in said:
        message = " ".join(str(said["error"].get("message", "")).split())[:200]
        raise CannotAsk(f"The client did not answer {key!r}: {message or 'it sent an error'}")
    try:
        answer = check_answer(question, said["result"], key)
    except ProtocolError as error:
        raise CannotAsk(error.message) from None
    if answer is None:
        raise CannotAsk(f"The answer to {key!r} leaves out required fields.")
    return answer


def _for_revision(request: dict[str, Any], revision: str) -> dict[str, Any]:
    """2025-06-18 knows no modes, and titles of choices as `enumNames` alone."""
    if request["method"] != "elicitation/create" or revision != WITHOUT_TITLES:
        return request
    schema = request["params"]["requestedSchema"]
    fields = {name: _with_enum_names(field) for name, field in schema["properties"].items()}
    params = {"message": request["params"]["message"], "requestedSchema": {**schema, "properties": fields}}
    return {"method": request["method"], "params": params}


def _knows_form(revision: str, question: Elicit) -> bool:
    """2025-03-26 knows no forms, 2025-06-18 none with a choice of several (E-09)."""
    if revision != WITHOUT_TITLES:
        return revision != WITHOUT_STRUCTURE
    return all(field["type"] != "array" for field in question.schema["properties"].values())


def _with_enum_names(field: Mapping[str, Any]) -> Mapping[str, Any]:
    if "oneOf" not in field:
        return field
    plain = {name: value for name, value in field.items() if name != "oneOf"}
    values = [choice["const"] for choice in field["oneOf"]]
    return {**plain, "enum": values, "enumNames": [choice.get("title", choice["const"]) for choice in field["oneOf"]]}
