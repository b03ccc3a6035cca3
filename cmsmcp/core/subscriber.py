"""One open stream: what its client wants to hear, and how a change is told to it.

Must not know where changes come from.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from cmsmcp.core.entry import Permit
from cmsmcp.core.exchange import Visit
from cmsmcp.core.out import Stream
from cmsmcp.core.sharing import EVERYTHING, Change
from cmsmcp.core.tasks.ports import Task
from cmsmcp.core.watches import Watch, find_watch
from cmsmcp.governance.scopes import allowed
from cmsmcp.protocol import notices
from cmsmcp.protocol.jsonrpc import Id


@dataclass(eq=False, slots=True)
class Subscriber:
    """`lists` are those it wants to hear of, `tasks` the tasks, by id, as it was last told of them. `tag` is the id of its listen
    request, None for the stream of a legacy session.

    `session` and `name`: of several streams of a legacy session exactly one `is_owner` and is told (S-09); it `owes` everything
when it takes over from one that was closed. One that `is_first` in its session is told of what was subscribed to before it.
    `ended` says why we ended it, blank while we have not. `closed` runs once, when the door lets go of the stream.
    """

    visit: Visit
    permit: Permit
    lists: frozenset[str]
    closed: Callable[[Subscriber], None]
    tag: Id | None = None
    final: bytes | None = None
    session: str | None = None
    name: str = ""
    is_owner: bool = True
    owes: bool = False
    is_first: bool = False
    ended: str = ""
    tasks: dict[str, Task] = field(default_factory=dict)
    watches: Mapping[str, Watch] = field(default_factory=dict)
    stream: Stream = field(init=False)
    _topics: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        self.stream = Stream(lambda: self.closed(self), self.tag)

    @property
    def expires(self) -> int | None:
        return self.visit.caller.expires

    def is_expired(self) -> bool:
        return self.expires is not None and self.expires <= time.time()

    def watch(self, watches: Mapping[str, Watch]) -> None:
        """Hear of these resources from now on, and of no others."""
        self.watches = watches
        self._topics = frozenset().union(*(watch.topics for watch in watches.values()))

    def watch_uris(self, uris: Iterable[str]) -> None:
        """The same by URI; those that mean nothing (any more) are left out."""
        known = self.watches
        found = {uri: known.get(uri) or find_watch(self.visit, uri) for uri in sorted(uris)}
        self.watch({uri: watch for uri, watch in found.items() if watch is not None})

    def concerns(self, change: Change) -> bool:
        if not self.lists.isdisjoint(change.lists):
            return True
        return bool(self.watches) and (EVERYTHING in change.topics or not self._topics.isdisjoint(change.topics))

    def tell(self, change: Change) -> None:
        """A notice for each thing it asked for that is different. Rights are looked at again (S-07)."""
        if self.is_expired():
            return
        for name in sorted(self.lists & change.lists):
            self.stream.put(("list", name), notices.list_changed(name, self.tag))
        everything = EVERYTHING in change.topics
        if not everything and self._topics.isdisjoint(change.topics):
            return
        for watch in self.watches.values():
            is_concerned = everything or not watch.topics.isdisjoint(change.topics)
            if is_concerned and allowed(self.visit.ports.policy, self.visit.caller, watch.scope):
                self.stream.put(("resource", watch.uri), notices.updated(watch.uri, self.tag))

    def tell_task(self, task: Task) -> None:
        """The whole task, to whoever may see it, if something about it is different from before (TK-07). One thread at a time."""
        from cmsmcp.core.tasks.methods import may_see, shown

        known, brief = self.tasks[task.id], task.brief()
        if known != brief and known.updated <= task.updated and not self.is_expired() and may_see(self.visit, task):
            self.tasks[task.id] = brief
            self.stream.put(("task", task.id), notices.task_changed(shown(task), self.tag))
