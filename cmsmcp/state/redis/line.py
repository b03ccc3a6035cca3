"""One open connection to Redis that many threads or greenlets share, with commands pipelined on it.

Knows bytes, order and one time limit. Must not know what a command means, nor when to open another line (`client.py`).
A sender packs and sends under one lock, which puts its `Pending` at the end of a queue; replies come back in that order. Whoever
waits and finds nobody reading becomes the reader: it settles the replies of others on the way to its own, then hands the role on.
Whatever leaves the order in doubt (a timeout, a half-sent command, an exception while reading) drops the line and fails all that
is still on its way: a reply can be lost, but never reach another caller.
"""

from __future__ import annotations

import os
import select
import ssl
import threading
import time
from collections import deque
from collections.abc import Sequence
from typing import Any

import hiredis

from cmsmcp.state.redis.address import Address

RECEIVE_BYTES = 65_536
MOMENT = 0.01
GRACE = 1.0
"""Seconds past its time that a waiter leaves to a reader who has something to read."""
Command = tuple[bytes | str | int, ...]
_NOTHING_YET = object()


class LineBroken(Exception):
    """The line was dropped before the replies came. Whether the commands were done is not known."""


class Refused(Exception):
    """Redis answered a command with an error. `word` is its first word (NOSCRIPT, OOM, READONLY …)."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.word = text.split(" ", 1)[0]


class Pending:
    """Commands sent together, and their replies as they come. `awaited` says whether anybody will ask for them.

    Commands nobody waits for are kept until then, to be sent anew; `again`: they were.
    """

    __slots__ = ("again", "awaited", "commands", "done", "gate", "lost", "missing", "replies")

    def __init__(self, missing: int, awaited: bool, commands: Sequence[Command] = (), again: bool = False) -> None:
        self.missing = missing
        self.awaited = awaited
        self.commands = commands
        self.again = again
        self.replies: list[Any] = []
        self.done = False
        self.lost = False
        self.gate: threading.Lock | None = None

    def finish(self, *, lost: bool = False) -> None:
        self.lost = lost
        self.done = True
        self.nudge()

    def nudge(self) -> None:
        """Let the waiter look again: it is done, or it is its turn to read."""
        if self.gate is not None:
            try:
                self.gate.release()
            except RuntimeError:
                pass  # nudged before, not yet woken


class Line:
    """Opens at once; OSError or a redis-py error when it cannot. `timeout` in seconds bounds connecting, sending and each reply.

    `error`: what broke it; a ConnectionError when the other side hung up, a TimeoutError when it was silent. Of what nobody waited for,
    `unacknowledged` counts what was refused, and `lost` has what was on its way when the line broke.
    """

    def __init__(self, address: Address, timeout: float) -> None:
        self.pid = os.getpid()
        self.broken = False
        self.error: BaseException | None = None
        self.used = time.monotonic()
        self.unacknowledged = 0
        self.lost: list[Pending] = []
        self._timeout = timeout
        self._connection = address.connection(timeout)
        self._connection.connect()
        self._socket = self._connection._get_socket()
        self._parser = hiredis.Reader(replyError=Refused, notEnoughData=_NOTHING_YET)
        self._sending = threading.Lock()
        self._reading = threading.Lock()
        self._queue: deque[Pending] = deque()

    def __len__(self) -> int:
        """How many are on their way."""
        return len(self._queue)

    def send(self, commands: Sequence[Command], *, awaited: bool = True, again: bool = False) -> Pending:
        """Write the commands to the socket. LineBroken when that fails; they are then not among the `lost`."""
        pending = Pending(len(commands), awaited, () if awaited else commands, again)
        packed = b"".join(hiredis.pack_command(command) for command in commands)  # type: ignore[arg-type]
        with self._sending:
            if self.broken:
                raise LineBroken
            self._queue.append(pending)
            try:
                self._socket.sendall(packed)
            except BaseException as error:
                self.drop(error)
                if pending in self.lost:
                    self.lost.remove(pending)
                if isinstance(error, OSError):
                    raise LineBroken from None
                raise
            self.used = time.monotonic()
        if self.broken:
            self.drop()  # it broke between the check and the send: nobody else will fail this one
        return pending

    def wait(self, pending: Pending) -> list[Any]:
        """The replies in order, each a value or a Refused. LineBroken when they will not come."""
        end = time.monotonic() + self._timeout
        while not pending.done:
            if self.broken:
                self.drop()
                if not pending.done:
                    pending.finish(lost=True)
            elif self._reading.acquire(blocking=False):
                try:
                    self._read_until(pending)
                finally:
                    self._reading.release()
                    self._hand_on()
            else:
                self._follow(pending, end)
        if pending.lost:
            raise LineBroken
        return pending.replies

    def settle(self) -> None:
        """Wait for everything on its way."""
        while self._queue:
            self.wait(self._queue[-1])

    def is_closed(self) -> bool:
        """Whether the other side has hung up, as far as the socket knows: nothing is on its way, and yet there is something to read."""
        with self._sending:
            return not self._queue and self._has_news()

    @property
    def was_closed(self) -> bool:
        """Whether the other side hung up, which is told at once, and is no sign that it hangs."""
        return isinstance(self.error, ConnectionError)

    def _has_news(self) -> bool:
        """Whether a read would not wait: bytes are there, or the end. Not when we have closed it ourselves."""
        poll = select.poll()
        try:
            poll.register(self._socket, select.POLLIN)
        except ValueError:
            return False
        return bool(poll.poll(0))

    def drop(self, error: BaseException | None = None) -> None:
        """Close it and fail what is on its way. May be called more than once, from anywhere; the first `error` is kept."""
        if not self.broken:
            self.error = error
        self.broken = True
        try:
            self._connection.disconnect()
        except OSError:
            pass
        while self._queue:
            try:
                pending = self._queue.popleft()
            except IndexError:
                break
            self._lose(pending)

    def _lose(self, pending: Pending) -> None:
        if not pending.awaited:
            self.lost.append(pending)
        pending.finish(lost=True)

    def _follow(self, pending: Pending, end: float) -> None:
        """Somebody else reads: wait to be done, or to be next."""
        if pending.gate is None:
            pending.gate = threading.Lock()
            pending.gate.acquire()
            return  # look once more: the reader may have left before it could see the gate
        if pending.gate.acquire(timeout=max(MOMENT, end - time.monotonic())) or pending.done:
            return
        if time.monotonic() > end + GRACE or not self._has_news():
            self.drop(TimeoutError())

    def _hand_on(self) -> None:
        for pending in list(self._queue):
            if pending.gate is not None:
                pending.nudge()
                return

    def _read_until(self, pending: Pending) -> None:
        end = time.monotonic() + self._timeout
        try:
            while not pending.done:
                reply = self._parser.gets()
                if reply is not _NOTHING_YET:
                    self._deliver(reply)
                elif time.monotonic() > end and not self._has_news():
                    raise TimeoutError
                else:
                    self._receive()
        except BaseException as error:
            self.drop(error)
            if not isinstance(error, OSError | hiredis.HiredisError | IndexError | LineBroken):
                raise

    def _deliver(self, reply: Any) -> None:
        first = self._queue[0]
        first.replies.append(reply)
        first.missing -= 1
        if first.missing == 0:
            turn = self._queue.popleft()
            if turn is not first:  # the line was dropped meanwhile, and this one came after
                self._lose(turn)
                raise LineBroken
            if not first.awaited and any(isinstance(answer, Refused) for answer in first.replies):
                self.unacknowledged += 1
            first.finish()

    def _receive(self) -> None:
        try:
            data = self._read()
        except TimeoutError:
            # Whoever got no time to run finds its timer over and the reply there, both at once: that is no outage.
            if not self._has_news():
                raise
            data = self._read()
        if not data:
            raise ConnectionResetError
        self._parser.feed(data)

    def _read(self) -> bytes:
        sock = self._socket
        data: bytes = self._receive_tls(sock) if isinstance(sock, ssl.SSLSocket) else sock.recv(RECEIVE_BYTES)
        return data

    def _receive_tls(self, sock: ssl.SSLSocket) -> bytes:
        """OpenSSL must not read and write one connection at once, so the read waits outside the lock and reads inside it."""
        if not sock.pending():
            poll = select.poll()
            poll.register(sock, select.POLLIN)
            if not poll.poll(self._timeout * 1000):
                raise TimeoutError
        with self._sending:
            return sock.recv(RECEIVE_BYTES)
