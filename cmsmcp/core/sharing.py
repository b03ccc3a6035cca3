"""What the processes of one site share beside governance, as Protocols. Adapters live in `state/`: in Redis, or in one process.

With these any worker serves any request: nothing that outlives a request is kept in the worker that took it.
Every method may raise Unavailable. A session is named by the whole session id a client sends; a stdio process makes up its own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from cmsmcp.core.ports import Caller
from cmsmcp.protocol.errors import RESULT_TOO_LARGE
from cmsmcp.protocol.jsonrpc import error_reply

EVERYTHING = "*"
"""The topic that touches every subscription: too much changed to name it, or nobody knows what was missed."""
LISTS = frozenset({"tools", "prompts", "resources"})


@dataclass(frozen=True, slots=True)
class Change:
    """What became different: `lists` of the protocol (of LISTS), and `topics` of the site.

    A topic is a path-like word: `content/<type>`, `content/<type>/<slug>`, `docs/<path>`, `types`, `types/<slug>`, `themes`,
    `themes/<name>`, `plugins`, `plugins/<name>`, `config`, `resource/<uri>`, or EVERYTHING. Only what any reader may see is named:
    a change that concerns unpublished documents alone has no topics.
    """

    lists: frozenset[str] = frozenset()
    topics: frozenset[str] = frozenset()

    def as_message(self) -> dict[str, Any]:
        return {"lists": sorted(self.lists), "topics": sorted(self.topics)}

    @staticmethod
    def from_message(body: Mapping[str, Any]) -> Change:
        return Change(frozenset(body["lists"]), frozenset(body["topics"]))


class Bus(Protocol):
    """Small messages to every process of the site, this one included; in order, at least once, and kept for those that reconnect.

    Kinds: `change` (a Change), `session` (`{"session"}`: its state is different), `cancel` (`{"session","request"}`), `reply`
    (`{"session","id"}`: an answer can be taken), `task` (`{"task"}`: its record is different), `revoked` (`{"token"}`).
    A process that may have missed messages gets `missed` with an empty body instead.
    """

    def publish(self, kind: str, body: Mapping[str, Any]) -> None:
        """Waits for nobody. ValueError when the body has more than MAX_MESSAGE_BYTES as JSON: say less, such as EVERYTHING."""
        ...

    def listen(self, kind: str, receive: Callable[[Mapping[str, Any]], None]) -> None:
        """Call `receive` for every message of a kind from now on, in the one thread of the bus: it must be quick and not raise."""
        ...

    def close(self) -> None: ...


@dataclass(frozen=True, slots=True)
class SessionState:
    """`level`: of `logging/setLevel`, None before it. `uris`: subscribed resources. `stream`: the GET stream that gets the notices."""

    level: str | None = None
    uris: frozenset[str] = frozenset()
    stream: str | None = None


class SessionStore(Protocol):
    """What legacy sessions have told us. Kept for a week after the last change; at most `MAX_URIS` subscriptions in each, none of
    more than `MAX_URI_BYTES`."""

    def read(self, session: str) -> SessionState: ...
    def set_level(self, session: str, level: str) -> None: ...
    def set_stream(self, session: str, stream: str) -> None: ...
    def subscribe(self, session: str, uri: str) -> bool:
        """False when the session has MAX_URIS others already, or the URI is too long."""
        ...

    def unsubscribe(self, session: str, uri: str) -> None: ...


MAX_MESSAGE_BYTES = 65_536
MAX_URIS = 200
MAX_URI_BYTES = 4_096
MAX_REPLY_BYTES = 262_144


class Replies(Protocol):
    """Answers of legacy clients to our requests, from the process that received them to the one that waits."""

    def expect(self, session: str, id: str, seconds: float) -> None: ...
    def deliver(self, session: str, id: str, reply: bytes) -> bool:
        """False when nobody of this session waits for it; it is then forgotten. Tell the bus (`reply`) after.

        One of more than MAX_REPLY_BYTES arrives as an error reply that says so (`fitting`).
        """
        ...

    def take(self, session: str, id: str) -> bytes | None:
        """The answer, once; None while there is none."""
        ...

    def forget(self, session: str, id: str) -> None: ...


def fitting(id: str, reply: bytes) -> bytes:
    """The reply, or the error that stands for one that is too large to pass on."""
    if len(reply) <= MAX_REPLY_BYTES:
        return reply
    size, limit = len(reply), MAX_REPLY_BYTES
    return error_reply(id, RESULT_TOO_LARGE, f"The answer is {size} bytes; the limit is {limit}.", {"size": size, "limit": limit})


@dataclass(frozen=True, slots=True)
class Event:
    """One message of a legacy event stream. `number` counts from 1 in its stream; `last`: the stream ends with it."""

    number: int
    data: bytes
    last: bool = False


class EventLog(Protocol):
    """The last events of legacy streams, for `Last-Event-ID`: bounded in number, size and time (MAX_EVENTS and so on).

    Within these bounds the newest are kept. An event of more than MAX_EVENT_BYTES is not: the stream resumes after it, not from before.
    """

    def append(self, session: str, stream: str, event: Event) -> None:
        """Numbers of one stream must rise; one that does not is ignored, as it was appended before."""
        ...

    def after(self, session: str, stream: str, number: int) -> Sequence[Event] | None:
        """All that followed `number` (0: all there were), in order. None when this session has no such stream (any more), when it never
        had that event, or when one of those that followed is gone."""
        ...


MAX_EVENTS = 500
MAX_EVENT_BYTES = 524_288
MAX_EVENTS_BYTES = 2_097_152
"""Of one stream together."""
EVENTS_SECONDS = 300
"""How long a stream is kept after its last event."""


class Sealer(Protocol):
    """Makes text that only this site can have made, for this caller; any process of the site opens it."""

    def seal(self, content: bytes, caller: Caller, seconds: float) -> str:
        """ResultTooLarge when there is more content than a client can be asked to carry (32 KiB)."""
        ...

    def open(self, text: str, caller: Caller) -> bytes | None:
        """The content; None when it was altered, has expired, or was sealed for somebody else."""
        ...
