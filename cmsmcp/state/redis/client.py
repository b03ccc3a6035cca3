"""The worker's way to Redis: one shared line, opened when it is first needed, after fork, and again when it broke.

Knows when to open, when to ask again, when to give up (breaker) and what an outage looks like to a caller: Unavailable. Must not know
what commands mean. What Redis has not answered because it hung up is sent once more on a new line, so it must bear being done twice;
what must not, says `once`. Nothing is sent again after a silence: a Redis that hangs gets no more to do, and callers wait once.
"""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

from redis.exceptions import RedisError

from cmsmcp.protocol.errors import Unavailable
from cmsmcp.state.redis.address import Address, parse_address
from cmsmcp.state.redis.breaker import Breaker
from cmsmcp.state.redis.condition import Condition
from cmsmcp.state.redis.line import Command, Line, LineBroken, Pending, Refused
from cmsmcp.state.redis.trouble import of_error

__all__ = ["Client", "Refused", "cannot"]

log = logging.getLogger(__name__)

TIMEOUT = 0.25
IDLE_CHECK = 0.5
"""Seconds of silence after which a line is looked at before it is used: the server may have hung up."""
MAX_POSTED = 256
"""Commands sent without waiting; at more, the next one waits, so that a slow Redis slows its callers down. As many are kept to be
sent anew while Redis is away."""


def cannot() -> Unavailable:
    """Redis is there but refuses (full, read-only after a failover, loading): one line, without its words."""
    return Unavailable("The governance store cannot record this request, so nothing is served. Try again in a second.", retry_after=1)


class LineCut(LineBroken):
    """It broke while the commands were sent."""

    def __init__(self, line: Line) -> None:
        super().__init__()
        self.line = line


class Client:
    """Safe to share among threads and greenlets. `timeout` in seconds bounds connecting and each answer. `tell` gets a line for each
    change of `condition`."""

    def __init__(
        self, url: str | Address, *, timeout: float = TIMEOUT, breaker: Breaker | None = None, tell: Callable[[str], None] | None = None
    ) -> None:
        """AddressError (a ValueError) when the URL cannot be read. Connects later."""
        self.address = parse_address(url) if isinstance(url, str) else url
        self.condition = Condition(self.address.shown, tell)
        self.unacknowledged = 0
        self._timeout = timeout
        self._breaker = breaker or Breaker()
        self._opening = threading.Lock()
        self._counting = threading.Lock()
        self._line: Line | None = None
        self._unsent: list[Pending] = []

    def call(self, *command: bytes | str | int, once: bool = False) -> Any:
        """The reply to one command. Refused when Redis answers with an error, Unavailable when it does not answer."""
        reply = self.pipeline([command], once=once)[0]
        if isinstance(reply, Refused):
            raise reply
        return reply

    def pipeline(self, commands: Sequence[Command], *, once: bool = False) -> list[Any]:
        """The replies to commands sent together, errors among them as Refused. Not a transaction. `once`: they must not be done twice."""
        if not once:
            try:
                replies = self._exchange(commands)
                if not _came_to_a_replica(replies):
                    return replies
            except LineCut as cut:
                if not cut.line.was_closed:
                    raise self._failed(cut.line) from None
        try:
            return self._exchange(commands, look=once)
        except LineCut as cut:
            raise self._failed(cut.line) from None

    def _exchange(self, commands: Sequence[Command], *, look: bool = False) -> list[Any]:
        line, pending = self._send(commands, awaited=True, look=look)
        try:
            replies = line.wait(pending)
        except LineBroken:
            raise LineCut(line) from None
        self._breaker.succeeded()
        self.condition.heard(commands, replies)
        if line.unacknowledged:
            self._count(line)
        if _came_to_a_replica(replies):
            line.drop(ConnectionResetError())  # this one has become a replica: whatever the address names now is the one to ask
        return replies

    def need(self, commands: Sequence[Command]) -> list[Any]:
        """The replies to commands sent together. Unavailable also when Redis refuses one of them."""
        replies = self.pipeline(commands)
        if any(isinstance(reply, Refused) for reply in replies):
            raise cannot()
        return replies

    def post(self, commands: Sequence[Command]) -> None:
        """Write commands to the socket and go on; they are done in order, before anything sent later on this line. Their answers are
        read along the way by later calls. When the line breaks before, they are sent once more by the next one, so they must bear
        being done twice; what was refused, or lost twice, is counted in `unacknowledged` and logged.
        """
        try:
            line, pending = self._send(commands, awaited=False)
        except LineCut:
            try:
                line, pending = self._send(commands, awaited=False, again=True)
            except LineCut as cut:
                raise self._failed(cut.line) from None
        if len(line) > MAX_POSTED:
            try:
                line.wait(pending)
            except LineBroken:
                self._failed(line)

    def settle(self) -> None:
        """Wait for the answers to everything posted. Unavailable when they do not come."""
        line = self._line
        if line is None:
            return
        try:
            line.settle()
        except LineBroken:
            raise self._failed(line) from None
        finally:
            self._count(line)

    def close(self) -> None:
        line, self._line = self._line, None
        if line is not None:
            line.drop()
            self._count(line)
            self._unsent += line.lost
        self._give_up(len(self._unsent))
        self._unsent.clear()

    def _send(self, commands: Sequence[Command], *, awaited: bool, again: bool = False, look: bool = False) -> tuple[Line, Pending]:
        """`look`: first whether the other side has hung up. LineCut when it cannot be sent."""
        line = self._line
        if look or line is None or line.broken or line.pid != os.getpid() or time.monotonic() - line.used > IDLE_CHECK:
            line = self._open()
        try:
            return line, line.send(commands, awaited=awaited, again=again)
        except LineBroken:
            raise LineCut(line) from None

    def _open(self) -> Line:
        """The line, opened anew if it broke, belongs to the parent process, or was closed while nobody looked."""
        with self._opening:
            line = self._line
            if line is not None and line.pid == os.getpid():
                if self._is_sound(line):
                    return line
                line.drop()
                self._count(line)
                self._keep(line)
            if not self._breaker.permits():
                raise self._unavailable()
            try:
                self._line = line = Line(self.address, self._timeout)
            except (RedisError, OSError) as error:
                self._line = None
                self._breaker.failed()
                self.condition.broke(of_error(error, handshake=self.address.is_tls))
                raise self._unavailable() from None
            self._send_anew(line)
            return line

    def _keep(self, line: Line) -> None:
        """What it lost, for the next one; what was lost twice is given up, and what is too much."""
        lost, line.lost = line.lost, []
        once = [pending for pending in lost if not pending.again]
        room = max(0, MAX_POSTED - len(self._unsent))
        self._unsent += once[:room]
        self._give_up(len(lost) - len(once[:room]))

    def _send_anew(self, line: Line) -> None:
        unsent, self._unsent = self._unsent, []
        for sent, pending in enumerate(unsent):
            try:
                line.send(pending.commands, awaited=False, again=True)
            except LineBroken:
                self._give_up(len(unsent) - sent)
                return

    @staticmethod
    def _is_sound(line: Line) -> bool:
        if line.broken:
            return False
        if time.monotonic() - line.used > IDLE_CHECK:
            try:
                line.settle()
            except LineBroken:
                return False
        if line.is_closed():
            return False
        line.used = time.monotonic()
        return True

    def _count(self, line: Line) -> None:
        with self._counting:
            refused, line.unacknowledged = line.unacknowledged, 0
        self._give_up(refused)

    def _give_up(self, outcomes: int) -> None:
        if outcomes:
            self.unacknowledged += outcomes
            log.warning("Redis did not acknowledge %d writes (audit outcomes, messages)", outcomes)

    def _failed(self, line: Line) -> Unavailable:
        """`line` broke before it answered: what to raise."""
        self._breaker.failed()
        if line.error is not None:
            self.condition.broke(of_error(line.error))
        return self._unavailable()

    @staticmethod
    def _unavailable() -> Unavailable:
        return Unavailable("The governance store does not answer, so nothing is served. Try again in a second.", retry_after=1)


def _came_to_a_replica(replies: Sequence[Any]) -> bool:
    return any(isinstance(reply, Refused) and reply.word == "READONLY" for reply in replies)
