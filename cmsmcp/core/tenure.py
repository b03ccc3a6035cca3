"""How long open streams may stay: their permits are renewed, and those whose caller has lost its rights are ended (S-07).

One thread for all streams of a process, there while any is open. Must not know what a stream is told.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable

from cmsmcp.core.entry import new_event_id
from cmsmcp.core.ports import Ask
from cmsmcp.core.subscriber import Subscriber
from cmsmcp.protocol.errors import Unavailable

LEASE_SECONDS = 60.0
"""A permit whose process died is free after this long. A stream whose permit cannot be renewed for as long ends: fail closed."""
RENEW_SECONDS = 20.0
RETRY_SECONDS = 2.0

_log = logging.getLogger(__name__)


class Tenure:
    """Thread-safe. `subscribers` gives those that are open, `end` ends one for a reason."""

    def __init__(self, subscribers: Callable[[], list[Subscriber]], end: Callable[[Subscriber, str], None]) -> None:
        self._subscribers = subscribers
        self._end = end
        self._changed = threading.Condition()
        self._is_running = False
        self._renewed = 0.0
        self._due = 0.0

    def wake(self) -> None:
        """A stream was opened."""
        with self._changed:
            if self._is_running:
                self._changed.notify()
                return
            self._renewed = time.monotonic()
            self._due = self._renewed + RENEW_SECONDS
            threading.Thread(target=self._run, name="cmsmcp-tenure", daemon=True).start()
            self._is_running = True  # not before: where there can be no thread now, there may be one for the next stream

    def doubt(self) -> None:
        """Revocations may have been missed: look now."""
        with self._changed:
            self._due = 0.0
            self._changed.notify()

    def _run(self) -> None:
        while True:
            with self._changed:
                subscribers = self._subscribers()
                if not subscribers:
                    self._is_running = False
                    return
                pause = self._pause(subscribers)
                if pause > 0:
                    self._changed.wait(pause)
            try:
                self.look(time.monotonic())
            except Exception:
                _log.exception("open streams could not be looked after")
                self._due = time.monotonic() + RETRY_SECONDS

    def _pause(self, subscribers: list[Subscriber]) -> float:
        """Seconds until the next permit or token needs a look. At least a moment for tokens, whose clock has whole seconds."""
        expiry = min((subscriber.expires for subscriber in subscribers if subscriber.expires is not None), default=None)
        until_due = self._due - time.monotonic()
        return until_due if expiry is None else min(until_due, max(expiry - time.time(), 0.05))

    def look(self, now: float) -> None:
        """End what has expired, and renew when that is due. `now` is monotonic."""
        for subscriber in self._subscribers():
            if subscriber.is_expired():
                self._end(subscriber, "expired")
        subscribers = self._subscribers()
        if now < self._due or not subscribers:
            return
        self._due = now + RENEW_SECONDS  # before the look: a doubt that comes meanwhile asks for another
        try:
            self._renew(subscribers)
        except Unavailable:
            self._due = now + RETRY_SECONDS
            if now - self._renewed >= LEASE_SECONDS:
                for subscriber in subscribers:
                    self._end(subscriber, "unavailable")
            return
        self._renewed = now

    def _renew(self, subscribers: list[Subscriber]) -> None:
        admission = subscribers[0].visit.ports.admission()
        admission.renew([subscriber.permit.ask for subscriber in subscribers], int(LEASE_SECONDS * 1000))
        withdrawn = {}
        for subscriber in subscribers:
            caller = subscriber.visit.caller
            if caller.token_id is None:
                continue
            if caller.token_id not in withdrawn:
                ask = Ask(new_event_id(), caller.client, 0, False, 0, token_id=caller.token_id, registered=caller.registered)
                withdrawn[caller.token_id] = admission.admit(ask).reason == "revoked"
            if withdrawn[caller.token_id]:
                self._end(subscriber, "revoked")
