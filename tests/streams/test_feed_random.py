"""Whatever is opened, subscribed, changed and closed in whatever order: no matching notice is lost, and no other is told (S-03, S-09)."""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cmsmcp.core.session import Connection

NAMES = ["about", "news"]
LISTS = {"toolsListChanged": "tools", "resourcesListChanged": "resources"}

some_lists = st.lists(st.sampled_from(sorted(LISTS)), max_size=2, unique=True)
some_names = st.lists(st.sampled_from(NAMES), max_size=2, unique=True)
steps = st.lists(
    st.one_of(
        st.tuples(st.just("listen"), st.integers(0, 1), some_lists, some_names),
        st.tuples(st.just("stream"), st.integers(0, 1)),
        st.tuples(st.just("subscribe"), st.sampled_from(NAMES)),
        st.tuples(st.just("unsubscribe"), st.sampled_from(NAMES)),
        st.tuples(st.just("change"), some_names, some_lists),
        st.tuples(st.just("read")),
        st.tuples(st.just("close"), st.integers(0, 5)),
    ),
    max_size=25,
)


class Expected:
    """What one stream should hear: each of `due` at least once, and what is in neither `due` nor `maybe` never.

    A change of just before may be told to who came just after it (`recent`); one of just before an unsubscribe may not be.
    """

    def __init__(self, heard, wants: set[str] | None, recent: set[str]) -> None:
        self.heard, self.wants = heard, wants
        self.due: set[str] = set()
        self.maybe = recent if wants is None else recent & wants

    def changed(self, names: set[str], subscribed: set[str]) -> None:
        wants = {"tools", "resources"} | subscribed if self.wants is None else self.wants
        self.due |= names & wants
        if self.wants is None:
            self.maybe |= names - wants

    def unsubscribed(self, name: str) -> None:
        if self.wants is None:
            self.maybe |= self.due & {name}
            self.due -= {name}

    def check(self) -> None:
        told = [name for name in self.heard.names() if name != "subscriptions"]
        assert len(told) == len(set(told)), "waiting notices are coalesced"
        assert self.due <= set(told) <= self.due | self.maybe
        self.due, self.maybe = set(), set()


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps)
def test_no_matching_notice_is_lost_and_no_other_told(place, sequence) -> None:
    p = place(2)
    connection = Connection("2025-11-25", session="s")
    subscribed: set[str] = set()
    streams: list[Expected] = []
    recent: set[str] = set()
    is_first = True
    for step, *arguments in sequence:
        if step == "listen":
            process, lists, names = arguments
            uris = [f"doc://{name}" for name in names]
            heard = p.listen({**dict.fromkeys(lists, True), "resourceSubscriptions": uris}, id=len(streams), process=process)
            streams.append(Expected(heard, {LISTS[name] for name in lists} | set(uris), recent))
        elif step == "stream" and all(expected.wants is not None for expected in streams):
            expected = Expected(p.open(connection, process=arguments[0]), None, recent)
            if is_first:  # what it subscribed to before may have changed while nobody was told
                expected.due |= subscribed
            is_first = False
            streams.append(expected)
            p.fence()
        elif step in ("subscribe", "unsubscribe"):
            uri = f"doc://{arguments[0]}"
            assert p.ask(f"resources/{step}", {"uri": uri}, connection=connection).code is None
            (subscribed.add if step == "subscribe" else subscribed.discard)(uri)
            for expected in streams if step == "unsubscribe" else ():
                expected.unsubscribed(uri)
        elif step == "change":
            names, lists = arguments
            p.change(*(f"content/{name}" for name in names), lists=tuple(LISTS[name] for name in lists))
            changed = {f"doc://{name}" for name in names} | {LISTS[name] for name in lists}
            recent = recent | changed
            for expected in streams:
                expected.changed(changed, subscribed)
        elif step == "read":
            p.fence()
            recent = set()
            for expected in streams:
                expected.check()
        elif step == "close" and arguments[0] < len(streams):
            streams.pop(arguments[0]).heard.stream.close()
            p.fence()
    p.fence()
    for expected in streams:
        expected.check()
    p.close()
