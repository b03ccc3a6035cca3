"""One request being served, and the ports it is served with. Values only; nothing here decides anything."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from cmsmcp.core.out import Out
from cmsmcp.core.overdue import Overdue
from cmsmcp.core.ports import Admission, Caller, Runner, Site
from cmsmcp.core.session import Connection, Flight
from cmsmcp.governance.policy import Policy
from cmsmcp.protocol.eras import Era
from cmsmcp.protocol.jsonrpc import Request

if TYPE_CHECKING:
    from cmsmcp.core.announced import Offer
    from cmsmcp.core.registry import Registry
    from cmsmcp.core.shared import Shared
    from cmsmcp.governance.audit import AuditRecords


@dataclass(frozen=True, slots=True)
class Ports:
    """What the middle needs. The callables are called when first needed: the first reply waits for none of them but `admission`.

    `offers` tells of what `registry` holds, without waiting for it. `overdue` is one for all doors of a process. `runner`: None where all
    work is done in this process. `services`: see `Call`; asked for each call, so it answers from what is known.
    """

    policy: Policy
    registry: Callable[[], Registry]
    site: Callable[[], Site]
    admission: Callable[[], Admission]
    records: Callable[[], AuditRecords]
    version: str
    shared: Callable[[], Shared]
    offers: Callable[[], Sequence[Offer]]
    runner: Callable[[], Runner | None] = lambda: None
    services: Callable[[], Mapping[str, str]] = dict
    overdue: Overdue = field(default_factory=Overdue)


@dataclass(frozen=True, slots=True)
class Visit:
    """What governance knows of a request, whatever its wire. `method` is the JSON-RPC method or the HTTP route."""

    method: str
    caller: Caller
    flight: Flight
    ports: Ports


@dataclass(frozen=True, slots=True)
class Exchange(Visit):
    """A JSON-RPC request. `headers` have lower-case names; None where there are none (stdio).

    `out` is the way of this request's own messages; None where the client gets a reply and nothing else.
    """

    request: Request
    era: Era
    connection: Connection
    headers: Mapping[str, str] | None
    out: Out | None = None
