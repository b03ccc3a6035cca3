"""MCP over standard input and output: one JSON-RPC message a line (MCP, transports, stdio). Knows no method.

Bytes of a line go to the Service, replies and notices go out as lines.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable

from cmsmcp.core.out import Stream
from cmsmcp.core.ports import Caller
from cmsmcp.core.service import Outcome, Pending, Service
from cmsmcp.core.session import Connection
from cmsmcp.protocol.errors import INVALID_REQUEST
from cmsmcp.protocol.jsonrpc import error_reply
from cmsmcp.transports.stdio.pool import Pool
from cmsmcp.transports.stdio.streams import Stop, Writer, read_lines

MAX_LINE = 8 * 1024 * 1024


def serve(
    service: Service, caller: Caller, stdin: int, stdout: int, *, max_line: int = MAX_LINE, closing: Callable[[], None] = lambda: None
) -> int:
    """Serve one client over two file descriptors until its input ends. Returns the exit status, which is 0 (ST-03).

    `closing` is called then, to end the streams that are open.
    """
    stop = Stop()
    writer = Writer(stdout, stop)
    pool = Pool(writer, stop)
    connection = Connection(session=secrets.token_urlsafe(16))  # what is shared over Redis must not meet that of another process
    notices = _Notices(service, caller, connection, pool)
    try:
        for line in read_lines(stdin, stop, max_line):
            if line is None:
                message = f"Invalid request: a line holds at most {max_line} bytes. Send less, or in several calls."
                writer.write(error_reply(None, INVALID_REQUEST, message))
                continue
            outcome = service.begin(line, caller, connection, out=writer)
            if isinstance(outcome, Outcome):
                writer.write(outcome.body)
            else:
                pool.submit(outcome)
            notices.follow()
        stop.ending = True
        closing()
        pool.drain(connection)
    finally:
        stop.close()
    return 0


class _Notices:
    """What a legacy client is told without having asked each time: from the first message after its handshake on (S-08)."""

    def __init__(self, service: Service, caller: Caller, connection: Connection, pool: Pool) -> None:
        self._service = service
        self._caller = caller
        self._connection = connection
        self._pool = pool
        self._expected = False
        self._stream: Stream | None = None

    def follow(self) -> None:
        """Called after every message."""
        if self._connection.is_new:
            self._connection.is_new = False
            self._expected = True
        elif self._expected:
            self._expected = False
            # Beside the reader: what it takes to open a stream is loaded then, and a ping must not wait for that (LG-04).
            self._pool.submit(Pending(self._open))

    def _open(self) -> Outcome:
        if self._stream is not None:
            self._stream.end()
        self._stream = self._service.listen(self._caller, self._connection).stream
        return Outcome(stream=self._stream)
