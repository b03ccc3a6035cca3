"""A tools/call that is answered with a task: the call goes on in a thread of its own, under the permit it was admitted with.

Everything that would refuse the call, and every question put before it, is answered while there is no task yet. Must not know how a
tool works, nor how its result looks.
"""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial

import orjson

from cmsmcp.core.capability import Call, Capability
from cmsmcp.core.deadline import Cancelled
from cmsmcp.core.entry import charge, new_event_id
from cmsmcp.core.exchange import Exchange
from cmsmcp.core.governed import encode
from cmsmcp.core.outcome import told
from cmsmcp.core.ports import Ask
from cmsmcp.core.session import Flight
from cmsmcp.core.tasks.dialogue import ANSWER_SECONDS, TaskDialogue
from cmsmcp.core.tasks.methods import is_declared, shown, undeclared
from cmsmcp.core.tasks.ports import CANCELLED, COMPLETED, FAILED, MAX_PER_CLIENT, MAX_PER_SITE, Task
from cmsmcp.core.tasks.runs import LEASE_MS, Run
from cmsmcp.governance.audit import Event
from cmsmcp.governance.scopes import allowed, needed
from cmsmcp.protocol import errors, messages
from cmsmcp.protocol.eras import MODERN

POLL_MS = 1_000
KEEP_SECONDS = 300.0
"""How long the end of a task can be read, at least."""
STORE_ATTEMPTS = 10
STORE_PAUSE = 1.0
"""Seconds between two attempts to write the end of a task."""

Answer = Callable[[Exchange, Callable[[Call], Call]], messages.Result]
"""Serves the call of an exchange: governs, loads the arguments, lets the call begin, runs. The result of tools/call, or CallError."""

_log = logging.getLogger(__name__)


def wants_task(exchange: Exchange, capability: Capability) -> bool:
    """Whether this call becomes a task: its tool can, and the request allows it. ProtocolError (-32021) when it only can so (TK-01).

    Whoever lacks the scope is told that instead, by `govern`.
    """
    if is_declared(exchange.era):
        return True
    if capability.task == "required" and allowed(exchange.ports.policy, exchange.caller, capability.scope):
        charge(exchange)
        if exchange.era.modern:
            raise undeclared()
        message = f"This tool runs only as a task: it needs {MODERN} and the extension {messages.TASKS}."
        raise errors.ProtocolError(message, code=errors.INVALID_PARAMS)
    return False


def start_task(exchange: Exchange, capability: Capability, event: Event, answer: Answer) -> messages.Result:
    """The new task, once any process can read it (TK-02); or the result itself, when it came before there was a task."""
    start = _Start(exchange, capability, event)
    threading.Thread(target=start.run, args=(answer,), name="cmsmcp-task", daemon=True).start()
    return start.first_result()


class _Start:
    """One such call. `begin` makes the task, in the thread of the work; whoever comes first of it and the end decides the reply."""

    def __init__(self, exchange: Exchange, capability: Capability, event: Event) -> None:
        self._shared = exchange.ports.shared()
        self._declared = exchange.era.client_capabilities
        # Its own flight: neither the end of the connection nor notifications/cancelled touches a task.
        self._exchange = replace(exchange, flight=Flight(), out=None)
        self._capability = capability
        self._event = event
        self._lock = threading.Lock()
        self._decided = threading.Event()
        self._is_over = False
        self._run: Run | None = None
        self._result: messages.Result = {}
        self._error: Exception | None = None

    def first_result(self) -> messages.Result:
        self._decided.wait()
        if self._error is not None:
            raise self._error
        return self._result

    def run(self, answer: Answer) -> None:
        result: messages.Result = {}
        encoded: bytes | None = None
        error: Exception | None = None
        try:
            result = answer(self._exchange, self._begin)
            encoded = orjson.dumps(result)
        except Exception as raised:  # noqa: BLE001 - it belongs to whoever waits, or to the task
            error = raised
        except BaseException as raised:  # noqa: BLE001 - an exit was meant for the process; somebody waits here for an answer
            error = RuntimeError(f"the work ended by {type(raised).__name__}")
        with self._lock:
            self._is_over, run = True, self._run
        if run is None:
            self._decide(result, error)
            return
        try:
            self._finish(run, encoded, error)
        finally:
            self._shared.runs.drop(run)  # else it would be kept alive for ever

    def _decide(self, result: messages.Result, error: Exception | None = None) -> None:
        self._result, self._error = result, error
        self._decided.set()

    def _begin(self, call: Call) -> Call:
        before = call.dialogue.ask(self._capability.asks_first) if self._capability.asks_first else {}
        task = self._create()
        permit = Ask(self._event.event_id, self._exchange.caller.client, cost=0, permit=True, lease_ms=LEASE_MS)
        run = Run(task.id, self._exchange.flight, partial(self._exchange.ports.admission().renew, (permit,)))
        shared = self._shared
        shared.runs.add(run)
        with self._lock:
            if not self._is_over:
                self._run = run
        if self._run is None:  # its time was over before it could begin
            shared.runs.drop(run)
            shared.tasks.end(task.id, CANCELLED)
            raise Cancelled
        era, version = self._exchange.era, self._exchange.ports.version
        self._decide({**messages.complete(era, version, shown(task)), "resultType": "task"})
        dialogue = TaskDialogue(run, shared, call, self._declared, before)
        return replace(call, dialogue=dialogue)

    def _create(self) -> Task:
        policy, caller = self._exchange.ports.policy, self._exchange.caller
        scopes = needed(self._event.scope, self._event.arguments)
        ttl = int((self._capability.timeout + ANSWER_SECONDS + KEEP_SECONDS) * 1000)
        task = Task(new_event_id(), caller.client, self._event.capability, scopes, ttl, POLL_MS)
        full = self._shared.tasks.create(task, max(1, policy.max_concurrency // 2))
        if full is not None:
            raise _refused(full)
        return self._shared.tasks.read(task.id) or task

    def _finish(self, run: Run, encoded: bytes | None, error: Exception | None) -> None:
        status = COMPLETED if encoded is not None else CANCELLED if isinstance(error, Cancelled) else FAILED
        fault = _described(error, self._event.capability) if status == FAILED else None
        for attempt in range(STORE_ATTEMPTS):
            try:
                if self._shared.tasks.end(run.id, status, result=encoded, error=fault):
                    self._shared.runs.tell(run.id, status)
                break
            except errors.Unavailable:
                _log.warning("the end of a task could not be written (%d)", attempt + 1)
                time.sleep(STORE_PAUSE)


def _described(error: Exception | None, name: str) -> bytes:
    """A JSON-RPC error object; what nobody foresaw is a reference to our log."""
    if isinstance(error, errors.CallError):
        message, data = told(error)
        return encode({"code": error.code, "message": message, **({"data": data} if data else {})})
    reference = os.urandom(6).hex()
    _log.error("internal error %s in a task of %s", reference, name, exc_info=error)
    return encode({"code": errors.INTERNAL_ERROR, "message": f"Internal error (reference {reference})"})


def _refused(full: str) -> errors.LimitRefused:
    if full == "running":
        return errors.LimitRefused("Too many tasks are running. Try again in 5 s.", code=errors.CONCURRENCY_LIMITED, retry_after=5)
    whose = f"You have {MAX_PER_CLIENT}" if full == "client" else f"This server keeps {MAX_PER_SITE}"
    return errors.LimitRefused(
        f"{whose} tasks, and each is kept for a while. Try again in 60 s.", code=errors.CONCURRENCY_LIMITED, retry_after=60
    )
