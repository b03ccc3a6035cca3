"""Questions and their answers as MCP writes them: the same objects in a request of ours, in `inputRequests` and in a task.

Knows their shapes and bounds. Must not know how they travel.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cmsmcp.core.asking import forms
from cmsmcp.core.dialogue import Elicit, Question, Sample
from cmsmcp.core.governed import encode
from cmsmcp.governance.redaction import redact
from cmsmcp.protocol.errors import INVALID_PARAMS, MISSING_CAPABILITY, ProtocolError

MAX_QUESTIONS = 16
"""In one `ask`."""
MAX_ANSWER_BYTES = 262_144
MAX_ROOTS = 200
ACTIONS = ("accept", "decline", "cancel")
_SAMPLED = ("role", "content", "model", "stopReason")


def as_request(question: Question) -> dict[str, Any]:
    """`{"method", "params"}`, without secrets, since it leaves like a result. ValueError for a question no server may ask (E-09, E-10)."""
    if isinstance(question, Elicit):
        forms.check_form(question.schema)
        params = {"mode": "form", "message": question.message, "requestedSchema": question.schema}
        return {"method": "elicitation/create", "params": redact(params)}
    if isinstance(question, Sample):
        return {"method": "sampling/createMessage", "params": redact(question.params)}
    return {"method": "roots/list", "params": {}}


def declared_for(question: Question) -> dict[str, Any]:
    """The client capability that a question needs, as a ClientCapabilities object."""
    if isinstance(question, Elicit):
        return {"elicitation": {"form": {}}}
    if isinstance(question, Sample):
        return {"sampling": {"tools": {}} if "tools" in question.params or "toolChoice" in question.params else {}}
    return {"roots": {}}


def lacking(required: Mapping[str, Any], declared: Mapping[str, Any]) -> dict[str, Any]:
    """What of `required` a client has not declared, as a ClientCapabilities object. `elicitation: {}` means forms (E-02)."""
    absent = {}
    for name, wanted in required.items():
        held = declared.get(name)
        if name == "elicitation" and held == {}:
            held = {"form": {}}
        if not isinstance(held, Mapping):
            absent[name] = wanted
        elif isinstance(wanted, Mapping) and (inner := lacking(wanted, held)):
            absent[name] = inner
    return absent


def missing_capability(absent: Mapping[str, Any]) -> ProtocolError:
    """The refusal of a request whose client lacks what the work cannot do without (E-03)."""
    names = ", ".join(absent)
    message = f"This needs client capabilities that the request does not declare: {names}."
    return ProtocolError(message, code=MISSING_CAPABILITY, data={"requiredCapabilities": dict(absent)})


def check_answer(question: Question, answer: Any, key: str = "") -> Mapping[str, Any] | None:
    """The client's result object, cut to what its question allows; None when required fields are missing, so that one asks again.

    ProtocolError (-32602) for anything malformed (E-06). `key` names the answer in its message. Unknown fields are left out.
    """
    if not isinstance(answer, Mapping):
        raise _malformed(key, "must be an object")
    if len(encode(answer)) > MAX_ANSWER_BYTES:
        raise _malformed(key, f"is larger than {MAX_ANSWER_BYTES} bytes")
    if isinstance(question, Elicit):
        return _filled(question, answer, key)
    return _sampled(answer, key) if isinstance(question, Sample) else _roots(answer, key)


def _filled(question: Elicit, answer: Mapping[str, Any], key: str) -> Mapping[str, Any] | None:
    action = answer.get("action")
    if action not in ACTIONS:
        raise _malformed(key, f"needs action, one of {', '.join(ACTIONS)}")
    if action != "accept":
        return {"action": action}
    content = answer.get("content")
    if content is not None and not isinstance(content, Mapping):
        raise _malformed(key, "needs content, an object")
    given = {name: value for name, value in (content or {}).items() if value is not None}
    reason = forms.fault(question.schema, given)
    if reason:
        raise _malformed(key, f"does not fit its form: {reason[:300].rstrip('.')}")
    if forms.missing(question.schema, given):
        return None
    return {"action": "accept", "content": forms.cleaned(question.schema, given)}


def _sampled(answer: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    content = answer.get("content")
    blocks: list[Any] = content if isinstance(content, list) else [content]
    if not blocks or not all(isinstance(block, Mapping) and isinstance(block.get("type"), str) for block in blocks):
        raise _malformed(key, "needs content, a block with a type or a list of them")
    if any(block["type"] == "text" and not isinstance(block.get("text"), str) for block in blocks):
        raise _malformed(key, "has a text block without text")
    if answer.get("role") not in ("assistant", "user") or not isinstance(answer.get("model"), str):
        raise _malformed(key, "needs role (user or assistant) and model, a string")
    return {name: answer[name] for name in _SAMPLED if answer.get(name) is not None}


def _roots(answer: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    roots = answer.get("roots")
    if not isinstance(roots, list) or not all(isinstance(root, Mapping) and isinstance(root.get("uri"), str) for root in roots):
        raise _malformed(key, "needs roots, a list of objects with a uri")
    if len(roots) > MAX_ROOTS:
        raise _malformed(key, f"has more than {MAX_ROOTS} roots")
    return {"roots": [{name: root[name] for name in ("uri", "name") if isinstance(root.get(name), str)} for root in roots]}


def _malformed(key: str, reason: str) -> ProtocolError:
    return ProtocolError(f"The answer to {key[:80]!r} {reason}.", code=INVALID_PARAMS, data={"key": key[:80]})
