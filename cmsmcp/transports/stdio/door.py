"""MCP over standard input and output: one JSON-RPC message a line (MCP, transports, stdio). Knows no method.

Bytes of a line go to the Service, replies and notices go out as lines.
"""

from __future__ import annotations

from collections.abc import Callable

from cmsmcp.core.ports import Caller
from cmsmcp.core.service import Outcome, Service
from cmsmcp.core.session import Connection
from cmsmcp.protocol.errors import INVALID_REQUEST
from cmsmcp.protocol.jsonrpc import error_reply
from cmsmcp.transports.stdio.pool import Pool
from cmsmcp.transports.stdio.streams import Stop, Writer, read_lines

MAX_LINE = 8 * 1024 * 1024
SESSION = ""
"""There is one client, so its session needs no name."""


def serve(
    service: Service, caller: Caller, stdin: int, stdout: int, *, max_line: int = MAX_LINE, closing: Callable[[], None] = lambda: None
) -> int:
    """Serve one client over two file descriptors until its input ends. Returns the exit status, which is 0 (ST-03).

    `closing` is called then, to end the streams that are open.
    """
    stop = Stop()
    writer = Writer(stdout, stop)
    pool = Pool(writer, stop)
    connection = Connection(session=SESSION)
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
        stop.ending = True
        closing()
        pool.drain(connection)
    finally:
        stop.close()
    return 0
