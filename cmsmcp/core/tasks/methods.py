"""tasks/get, tasks/update and tasks/cancel, and a task as MCP shows it. Any process answers for any task."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import orjson

from cmsmcp.core.asking.questions import check_answer, missing_capability
from cmsmcp.core.dialogue import Elicit, ListRoots, Question, Sample
from cmsmcp.core.entry import Toll, charge, enter, new_event_id, refuse
from cmsmcp.core.exchange import Exchange, Visit
from cmsmcp.core.governed import encode
from cmsmcp.core.tasks.ports import CANCELLED, FAILED, INPUT_REQUIRED, WORKING, Task
from cmsmcp.governance.audit import Event
from cmsmcp.governance.scopes import missing
from cmsmcp.protocol import errors, messages
from cmsmcp.protocol.eras import Era

MAX_ID = 200
LEFT = "The process that ran this task has ended. Call the tool again."


def get_task(exchange: Exchange) -> messages.Result:
    """The task as it is (TK-03)."""
    charge(exchange)
    return messages.complete(exchange.era, exchange.ports.version, shown(_find(exchange)))


def update_task(exchange: Exchange) -> messages.Result:
    """Answers to what the task asked. Those to anything else are ignored, malformed ones to what it asked are not (TK-04)."""
    charge(exchange)
    task = _find(exchange)
    given = exchange.request.params.get("inputResponses")
    if not isinstance(given, Mapping):
        raise errors.ProtocolError("tasks/update needs inputResponses, an object.", code=errors.INVALID_PARAMS)
    answers = {key: _judged(key, request, given[key]) for key, request in task.requests.items() if key in given}
    shared = exchange.ports.shared()
    if answers and shared.tasks.answer(task.id, answers):
        shared.runs.tell(task.id, WORKING)
    return messages.complete(exchange.era, exchange.ports.version, {})


def cancel_task(exchange: Exchange) -> messages.Result:
    """The task is over at once, and its work stops as soon as it looks; one that was over stays as it is (TK-04)."""
    try:
        task = _find(exchange)
    except errors.CallError:
        charge(exchange)
        raise
    event = Event(new_event_id(), exchange.request.method, task.name, task.scopes[0], "tasks.cancel")
    permit = enter(exchange, Toll(permit=False, audited=True), event)
    try:
        shared = exchange.ports.shared()
        if shared.tasks.end(task.id, CANCELLED):
            shared.runs.tell(task.id, CANCELLED)
        permit.settle()
    except Exception as error:
        permit.settle(reason="error", code=getattr(error, "code", errors.INTERNAL_ERROR))
        raise
    finally:
        permit.release()
    return messages.complete(exchange.era, exchange.ports.version, {})


def is_declared(era: Era) -> bool:
    """Whether this very request declares the extension (EX-02)."""
    extensions = era.client_capabilities.get("extensions") if era.modern else None
    return isinstance(extensions, Mapping) and isinstance(extensions.get(messages.TASKS), Mapping)


def undeclared() -> errors.ProtocolError:
    return missing_capability({"extensions": {messages.TASKS: {}}})


def shown(task: Task) -> messages.Result:
    """A task whole, as tasks/get and notifications/tasks carry it."""
    fields: dict[str, Any] = {
        "taskId": task.id,
        "status": task.status,
        "createdAt": _moment(task.created),
        "lastUpdatedAt": _moment(task.updated),
        "ttlMs": task.ttl_ms,
        "pollIntervalMs": task.poll_ms,
    }
    if task.message:
        fields["statusMessage"] = task.message
    if task.status == INPUT_REQUIRED:
        fields["inputRequests"] = {key: orjson.Fragment(request) for key, request in task.requests.items()}
    if task.result is not None:
        fields["result"] = orjson.Fragment(task.result)
    if task.status == FAILED:
        left = {"code": errors.INTERNAL_ERROR, "message": LEFT}
        fields["error"] = orjson.Fragment(task.error) if task.error is not None else left
    return fields


def may_see(visit: Visit, task: Task) -> bool:
    """Whether the caller made it (TK-06) and still has the scopes its call needed."""
    policy, caller = visit.ports.policy, visit.caller
    return task.owner == caller.client and all(missing(policy, caller, scope) is None for scope in task.scopes)


def _find(exchange: Exchange) -> Task:
    """The task that the request names. Whoever did not make it is told what is told of one that never was."""
    if not is_declared(exchange.era):
        raise undeclared()
    id = exchange.request.params.get("taskId")
    if not isinstance(id, str) or not 0 < len(id) <= MAX_ID:
        raise errors.ProtocolError("taskId is required, as tools/call gave it.", code=errors.INVALID_PARAMS)
    task = exchange.ports.shared().tasks.read(id)
    if task is None or task.owner != exchange.caller.client:
        message = "There is no such task, or not any more. tools/call makes a new one."
        raise errors.ProtocolError(message, code=errors.INVALID_PARAMS)
    for scope in task.scopes:
        reason = missing(exchange.ports.policy, exchange.caller, scope, task.scopes)
        if reason is not None:
            refuse(exchange, Event(new_event_id(), exchange.request.method, task.name, scope), reason="scope", code=errors.SCOPE_REFUSED)
            raise errors.ScopeRefused(reason, scopes=task.scopes)
    return task


def _judged(key: str, request: bytes, answer: Any) -> bytes:
    found = check_answer(_question(orjson.loads(request)), answer, key)
    if found is None:
        message = f"The answer to {key[:80]!r} lacks a required field."
        raise errors.ProtocolError(message, code=errors.INVALID_PARAMS, data={"key": key[:80]})
    return encode(found)


def _question(request: Mapping[str, Any]) -> Question:
    params = request["params"]
    if request["method"] == "elicitation/create":
        return Elicit(params["message"], params["requestedSchema"])
    return Sample(params) if request["method"] == "sampling/createMessage" else ListRoots()


def _moment(milliseconds: int) -> str:
    return datetime.fromtimestamp(milliseconds / 1000, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
