"""Asking in 2026-07-28: a question ends the request with a result that says what is needed; the client sends the request anew.

Every retry stands alone (E-07): what it needs to go on is in it, as answers and sealed state. Nothing waits, and any worker serves it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cmsmcp.core.asking.questions import MAX_QUESTIONS, as_request, check_answer, declared_for, lacking
from cmsmcp.core.asking.state import State, digest, seal, unseal, use_up
from cmsmcp.core.asking.telling import Telling
from cmsmcp.core.deadline import Deadline
from cmsmcp.core.dialogue import SILENCE, Dialogue, InputNeeded, Question
from cmsmcp.core.exchange import Exchange
from cmsmcp.protocol import messages
from cmsmcp.protocol.eras import LOG_LEVEL_KEY
from cmsmcp.protocol.errors import INVALID_PARAMS, ProtocolError

_NONE = State()


class Rounds(Telling):
    """Implements `core.dialogue.Dialogue` for one request of 2026-07-28."""

    def __init__(self, exchange: Exchange) -> None:
        level = exchange.request.params["_meta"].get(LOG_LEVEL_KEY)
        super().__init__(exchange, lambda: level)
        self._state = _NONE
        self._responses: Mapping[str, Any] = {}
        self._asked: dict[str, str] = {}
        self._used: dict[str, Mapping[str, Any]] = {}
        self._is_bound = False
        self._is_used_up = False

    def begin(self, deadline: Deadline) -> Dialogue:
        """Read what a retry brings, once the request is admitted. ProtocolError (-32602) for state that is not ours (E-04)."""
        params = self._exchange.request.params
        responses, state = params.get("inputResponses"), params.get("requestState")
        if not isinstance(responses, Mapping | None):
            raise ProtocolError("inputResponses must be an object.", code=INVALID_PARAMS)
        self._responses = responses or {}
        if state is not None:
            self._state = unseal(self._exchange, state)
        return self

    def can_ask(self, question: Question) -> bool:
        return not lacking(declared_for(question), self._exchange.era.client_capabilities)

    def ask(self, questions: Mapping[str, Question], *, bound: bool = False) -> Mapping[str, Mapping[str, Any]]:
        able = {key: question for key, question in questions.items() if self.can_ask(question)}
        if not able:
            return SILENCE.ask(questions)
        if len(able) > MAX_QUESTIONS:
            raise ValueError(f"at most {MAX_QUESTIONS} questions at once")
        self._asked |= {key: digest(as_request(question)) for key, question in able.items()}
        found, unanswered = {}, {}
        for key, question in able.items():
            answer = self._answer(key, question, bound)
            if answer is None:
                unanswered[key] = question
            else:
                found[key] = answer
        self._used |= found
        self._is_bound |= bound
        if unanswered:
            raise InputNeeded(unanswered, dict(self._used))
        if bound:
            self._use_up()
        return found

    def input_required(self, needed: InputNeeded) -> messages.Result:
        """The result that asks for `needed`; the state in it brings back the answers we have (E-01).

        It takes the place of the state that came: of two that count once, and hold the same answers, both would count.
        """
        self._use_up()
        requests = {key: as_request(question) for key, question in needed.questions.items()}
        state = State(self._state.round + 1, needed.answers, self._asked, once=self._is_bound)
        return messages.input_required(self._exchange.ports.version, requests, seal(self._exchange, state))

    def _use_up(self) -> None:
        if not self._is_used_up:
            use_up(self._exchange.ports.shared(), self._state)
            self._is_used_up = True

    def _answer(self, key: str, question: Question, bound: bool) -> Mapping[str, Any] | None:
        """An earlier answer, else the one that came now. A bound question takes one only with the state that asked the very same."""
        if bound and self._state.asked.get(key) != self._asked[key]:
            return None
        given = self._state.answers if key in self._state.answers else self._responses
        return check_answer(question, given[key], key) if key in given else None
