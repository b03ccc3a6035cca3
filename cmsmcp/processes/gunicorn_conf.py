"""How gunicorn runs our app: `cmsmcp serve` and `config/gunicorn.conf.py` share these values. Reasons beside each; nothing else here."""

from __future__ import annotations

import json
import logging
import os
import resource
import time
from contextlib import suppress
from http import HTTPStatus
from typing import Any

from cmsmcp.processes import gunicorn_start, gunicorn_streams
from cmsmcp.processes.gunicorn_reload import post_fork, when_ready  # noqa: F401 - hooks of gunicorn's

worker_class = "gevent"  # a slow client or an open stream costs a greenlet, not a thread
worker_connections = 2_000  # a worker's calls, and open streams: all that `mcp.max_streams` allows (1000 by default) may be on one
keepalive = 5
timeout = 60
graceful_timeout = 15  # a call may run 10 s (the default deadline); it ends by itself before this
backlog = 1_024
worker_tmp_dir = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None  # heartbeats wait for no disk, and need no writable /tmp
BODY_SECONDS = 30.0  # headers have `keepalive` seconds

# The control socket is a second way in that nothing here needs.
control_socket_disable = True

# Headers: refuse what proxies and gunicorn could read differently; names with underscores would pass for ours in WSGI.
header_map = "drop"
forwarder_headers = ""
forwarded_allow_ips = ""
limit_request_line = 8_190  # the most gunicorn takes; a question to /api names fields and values
limit_request_fields = 64
limit_request_field_size = 16_384  # a token may have 8 KiB

# A request line holds no body, but it may hold a token that a client wrongly put there: no access log.
accesslog = None
errorlog = "-"
loglevel = "warning"
proc_name = "cmsmcp"


def on_starting(_server: Any) -> None:
    """Each connection is an open file, and the usual limit of 1,024 is for people at terminals. Workers inherit ours."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    with suppress(ValueError, OSError):  # not every system takes its own word for "no limit"
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))

CALL_SECONDS = 10.0
"""How long a worker that ends waits for calls whose clients have left: the default deadline."""
TASK_SECONDS = 5.0
"""How long a worker that ends waits for its tasks; within `graceful_timeout` with what it waited for requests before, usually."""


class TimedReader:
    """Where a body comes from, with one deadline for all of it: a sender of a byte a second must not be waited for (C065)."""

    def __init__(self, reader: Any, seconds: float) -> None:
        self._reader = reader
        self._end = time.monotonic() + seconds

    def read(self, size: int) -> bytes:
        """TimeoutError at the deadline; gunicorn then closes the connection."""
        import gevent

        with gevent.Timeout(max(0.0, self._end - time.monotonic()), TimeoutError("the body came too slowly")):
            return self._reader.read(size)


def pre_request(worker: Any, req: Any) -> None:
    if req.body is not None and type(worker).__name__ == "GeventWorker":
        req.body.reader = TimedReader(req.body.reader, BODY_SECONDS)


def post_worker_init(worker: Any) -> None:
    """gunicorn's own refusals (a broken request line, headers over a limit) are HTML; every body of ours is JSON. One log for both."""
    from gunicorn import util

    util.write_error = _write_error
    ours = logging.getLogger("cmsmcp")
    ours.handlers, ours.propagate = worker.log.error_log.handlers, False
    logging.getLogger("gunicorn.error").addFilter(_without_what_was_sent)
    gunicorn_streams.watch(worker)
    gunicorn_start.announce(worker)


def worker_exit(_server: Any, worker: Any) -> None:
    """The last thing before the process ends: nobody is served any more, but a call whose client has left may run, or a task."""
    gunicorn_streams.settle(worker, CALL_SECONDS)
    finish = getattr(getattr(worker, "wsgi", None), "extensions", {}).get("cmsmcp-tasks")
    if finish is not None:
        finish(TASK_SECONDS)


def _without_what_was_sent(record: logging.LogRecord) -> bool:
    """gunicorn logs broken headers and whole request lines; either may hold a token (AU-06). What stays says who and what for."""
    said = str(record.msg)
    if said.startswith("Invalid request from ip="):
        record.msg = said.partition(": ")[0]
    elif said.startswith("Error handling request") and isinstance(record.args, tuple):
        record.args = tuple(value.partition("?")[0] if isinstance(value, str) else value for value in record.args)
    return True


def _write_error(sock: Any, status_int: int, reason: str, mesg: str) -> None:
    from gunicorn import util

    if status_int == HTTPStatus.NOT_IMPLEMENTED:
        status_int = HTTPStatus.BAD_REQUEST  # a transfer coding nobody asked us to know; a 5xx would be a fault of ours
    body = json.dumps({"error": reason})
    head = f"HTTP/1.1 {status_int} {reason}\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    util.write_nonblock(sock, (head + body).encode("latin-1"))
