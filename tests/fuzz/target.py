"""A whole service with everything on, thrown messages at in one process; every reply is held to what must always be true of one."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

from marshmallow import Schema, fields

from cmsmcp.bootstrap.sharing import share_in_process
from cmsmcp.core.capability import Blocks, Call, prompt, resource, tool
from cmsmcp.core.dialogue import Elicit
from cmsmcp.core.methods import METHODS
from cmsmcp.core.ports import Caller
from cmsmcp.core.registry import Registry
from cmsmcp.core.service import Outcome, Service
from cmsmcp.core.session import Connection
from cmsmcp.governance.policy import Policy, Rate
from cmsmcp.state.memory.admission import MemoryAdmission

SCOPES = frozenset({"read:content"})
FORM = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
SHORT = 0.01


class EchoInput(Schema):
    text = fields.String()
    count = fields.Integer(strict=True)
    items_ = fields.List(fields.String(), data_key="items", attribute="items")


class EchoOutput(Schema):
    said = fields.String()


class BriefInput(Schema):
    topic = fields.String(required=True, metadata={"description": "What about"})


@tool(scope="read:content", audit="fuzz", input=EchoInput, output=EchoOutput)
def echo(arguments: Any, call: Call) -> Any:
    """Says it again."""
    return {"said": str(arguments.get("text", ""))}


@tool(scope="read:content", audit="fuzz", blocks=True, talks=True, timeout=SHORT)
def talk(arguments: Any, call: Call) -> Any:
    """Reports, and asks who is there."""
    call.dialogue.progress(1, 2, "half")
    call.dialogue.log("info", {"password": "x"})
    answer = call.dialogue.ask({"who": Elicit("Who?", FORM)})["who"]
    return Blocks([{"type": "text", "text": json.dumps(answer.get("content"))[:100]}])


@tool(scope="read:content", audit="fuzz", blocks=True, talks=True, task="optional", timeout=SHORT)
def toil(arguments: Any, call: Call) -> Any:
    """Works for a moment."""
    return Blocks([{"type": "text", "text": "done"}])


@resource("test://thing/{name}", scope="read:content", audit="fuzz", output=EchoOutput, complete={"name": lambda *_: ["a", "b"]})
def thing(variables: Any, call: Call) -> Any:
    """A thing by name."""
    return {"said": variables["name"]}


@prompt(scope="read:content", audit="fuzz", input=BriefInput, complete={"topic": lambda *_: ["owls", "oaks"]})
def brief(arguments: Any, call: Call) -> Any:
    """Asks for a brief."""
    return f"Write about {arguments['topic']}."


class Silent:
    """An audit that keeps nothing."""

    def append(self, record: Any) -> None: ...


class Spoken:
    """The way of one request's own messages: each must be JSON of ours on one line."""

    def __init__(self) -> None:
        self.messages: list[bytes] = []

    def send(self, message: bytes) -> None:
        self.messages.append(message)

    def hang_up(self, retry_ms: int) -> None: ...


class Fault(AssertionError):
    """What must never happen did; the message holds all it takes to see it again."""


class Target:
    """`thrown`, `parsed`, `answered` (methods with a result) and `codes` (of errors) count what happened."""

    def __init__(self) -> None:
        registry = Registry([echo, talk, toil, thing, brief])
        most = 60_000_000
        policy = Policy(enabled=True, audit=True, scopes=SCOPES, max_concurrency=4_096, max_streams=1_000_000, rate=Rate(most, most))
        self.admission = MemoryAdmission(policy, Silent())
        self.shared = share_in_process()
        self.service = Service(policy, lambda: registry, lambda: None, lambda: self.admission, "0", shared=lambda: self.shared)  # type: ignore[arg-type, return-value]
        self.caller = Caller("fuzz", SCOPES)
        self.thrown = self.parsed = 0
        self.answered: set[str] = set()
        self.codes: Counter[int] = Counter()
        self._task = "t"

    def throw(self, sent: Any) -> None:
        """Fault if anything escapes, or a reply is not one."""
        connection = Connection(sent.revision, frozenset({"elicitation"}), session="s")
        spoken = Spoken()
        raw = sent.raw.replace(b'"taskId": "t"', b'"taskId": "%b"' % self._task.encode())
        try:
            outcome = self.service.begin(raw, self.caller, connection, sent.headers, spoken)
            if not isinstance(outcome, Outcome):
                outcome = outcome()
            if outcome.stream is not None:
                spoken.messages += outcome.stream.take(0.1) or []
                outcome.stream.close()
                self.answered.add("subscriptions/listen")
        except Exception as error:
            raise Fault(f"{type(error).__name__} escaped on {sent!r}") from error
        self._judge(sent, outcome, spoken)

    def _judge(self, sent: Any, outcome: Outcome, spoken: Spoken) -> None:
        self.thrown += 1
        replies = _decoded(sent, outcome.body) if outcome.body is not None else []
        for message in spoken.messages:
            for one in _decoded(sent, message):
                if "method" not in one or one.get("jsonrpc") != "2.0":
                    raise Fault(f"{one!r} was sent beside the reply to {sent!r}")
        if outcome.body is None and outcome.stream is None and outcome.status not in (200, 202):
            raise Fault(f"no body with status {outcome.status} for {sent!r}")
        self.parsed += not any(reply.get("error", {}).get("code") == -32700 for reply in replies)
        for reply in replies:
            self._judge_reply(sent, reply)

    def _judge_reply(self, sent: Any, reply: dict[str, Any]) -> None:
        error = reply.get("error")
        if reply.get("jsonrpc") != "2.0" or ("result" in reply) == (error is not None) or reply.get("id", 0) is None:
            raise Fault(f"{reply!r} is no reply; to {sent!r}")
        if error is None:
            self._task = reply["result"].get("taskId", self._task) if isinstance(reply["result"], dict) else self._task
            if sent.is_whole:
                self.answered.add(sent.method)
            return
        if type(error["code"]) is not int or "\n" in error["message"] or "Traceback" in error["message"]:
            raise Fault(f"{error!r} is no error of ours; to {sent!r}")
        if error["code"] == -32603 and "reference" in error["message"]:
            raise Fault(f"an exception reached the edge on {sent!r}")
        self.codes[error["code"]] += 1

    def unreached(self) -> set[str]:
        """Methods that no whole message got a result from."""
        return set(METHODS) - self.answered


def _decoded(sent: Any, body: bytes) -> list[dict[str, Any]]:
    try:
        found = json.loads(body)
    except ValueError as error:
        raise Fault(f"{body[:200]!r} is no JSON; to {sent!r}") from error
    if b"\n" in body or b"\r" in body:
        raise Fault(f"{body[:200]!r} has more than a line; to {sent!r}")
    return found if isinstance(found, list) else [found]
