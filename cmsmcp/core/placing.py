"""Where the work of a call is done: in this process, or in a child that can be killed (`Ports.runner`).

Under gevent whatever computes stops every other request of its worker, native code for as long as it takes. So what a capability declares
`isolated` runs in a child. Anything else begins here, within a budget, and what turns out to need more begins again in a child: nothing
that is served has an effect. The same function does the work in both places, and what it gives is ready to be sent.
"""

from __future__ import annotations

import json
import logging
import pickle
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

from cmsmcp.core.capability import Call, Capability
from cmsmcp.core.deadline import Deadline, OverBudget
from cmsmcp.core.dialogue import Silence
from cmsmcp.core.exchange import Visit
from cmsmcp.core.governed import Encoded, encode
from cmsmcp.core.ports import Caller, Site
from cmsmcp.governance.policy import Policy
from cmsmcp.governance.scopes import visibility
from cmsmcp.protocol import errors

if TYPE_CHECKING:
    from cmsmcp.core.registry import Registry

BUDGET = 256 * 1024
"""Bytes of text that this process works on for one call; what costs more than reading spends more (`Deadline.spend`)."""

Result = TypeVar("Result", bound=Encoded)
Work = Callable[[Call, "Registry", Any], Encoded]
"""Called with what it is given. A function of a module, so that any process finds it."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Job:
    """The work of one call. `movable`: it can run elsewhere; `isolated`: it always does. `given` can be pickled."""

    work: Work
    given: Any
    scope: str
    movable: bool = True
    isolated: bool = False


def job_of(capability: Capability, work: Work, given: Any) -> Job:
    """Whoever speaks with its client does so from the process that has its connection."""
    movable = not (capability.talks or capability.asks_first or capability.blocks)
    return Job(work, given, capability.scope, movable, capability.isolated)


def place(visit: Visit, call: Call, job: Job, here: Callable[[], Result]) -> Result:
    """The outcome of a job. `here` does it in this process."""
    runner = visit.ports.runner()
    if runner is None or not job.movable:
        return here()
    if not job.isolated:
        call.deadline.limit(BUDGET)
        try:
            return here()
        except OverBudget:
            pass
        finally:
            call.deadline.limit(None)
    task = pickle.dumps((job.work, job.given, visit.caller, visit.ports.policy.scopes, job.scope, call.services))
    answer = runner.run(task, call.deadline, lambda said: call.dialogue.progress(*json.loads(said)))
    return _unpacked(answer)


def perform(task: bytes, seconds: float, note: Callable[[bytes], None], site: Callable[[], Site], registry: Registry) -> bytes:
    """The answer to a task, in the child. Never raises but for want of memory."""
    try:
        work, given, caller, scopes, scope, services = pickle.loads(task)
        call = replace(_call(site(), Deadline(seconds), note, (caller, scopes, scope)), services=services)
        encoded = work(call, registry, given)
        return encode({"as": type(encoded).__name__, **asdict(encoded)})
    except errors.CallError as error:
        return encode({"error": type(error).__name__, "said": {**vars(error), "code": error.code}})
    except MemoryError:
        raise
    except Exception as error:
        _log.exception("an internal error in a child")
        return encode({"broken": type(error).__name__})


class _Notes(Silence):
    """Progress, as far as it can be told from a child."""

    def __init__(self, note: Callable[[bytes], None]) -> None:
        self._note = note

    def progress(self, done: float, total: float | None = None, message: str = "") -> None:
        self._note(encode([done, total, message]))


def _call(site: Site, deadline: Deadline, note: Callable[[bytes], None], rights: tuple[Caller, frozenset[str], str]) -> Call:
    caller, scopes, scope = rights
    policy = Policy(scopes=scopes)
    return Call(site, caller, deadline, lambda status: visibility(policy, caller, status, scope), _Notes(note))


def _unpacked(answer: bytes) -> Any:
    """What the work gave. Raises what it raised."""
    found = json.loads(answer)
    if "broken" in found:
        raise RuntimeError(f"the work in a child ended by {found['broken']}; its log says more")
    if "error" in found:
        kind = _among(errors.CallError, found["error"])
        error = kind.__new__(kind, found["said"]["message"])
        for name, value in found["said"].items():
            setattr(error, name, value)
        raise error
    kind = _among(Encoded, found.pop("as"))
    return kind(**{name: tuple(value) if isinstance(value, list) else value for name, value in found.items()})


def _among(base: type[Any], name: str) -> type[Any]:
    """The class of that name: `base` or what is derived from it."""
    kinds = [base]
    for kind in kinds:
        kinds += kind.__subclasses__()
    return next(kind for kind in kinds if kind.__name__ == name)
