"""Whether the client of a request is still there, asked of its socket: one system call, which takes nothing from it.

Knows the sockets of gunicorn and of Linux; must not know what is being done for the client.
"""

from __future__ import annotations

import socket
from collections.abc import Mapping
from typing import Any

_ESTABLISHED = 1
"""Of `tcpi_state`, the first byte of TCP_INFO."""


def has_left(environ: Mapping[str, Any]) -> bool:
    """Whether the client has closed the connection of this WSGI request; False where nobody can tell.

    What it sent beforehand, a request behind this one say, hides nothing. Over TCP a client that has only shut down its own side looks
    like one that is gone, until something is written to it: it counts as gone. On a unix socket the two differ, and it is waited for.
    """
    connection = environ.get("gunicorn.socket")
    if connection is None:
        return False
    try:
        if connection.family == socket.AF_UNIX:
            connection.send(b"")  # sends nothing, and fails if nobody can receive
            return False
        if not hasattr(socket, "TCP_INFO"):
            return False
        return bool(connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 1)[0] != _ESTABLISHED)
    except OSError:
        return True
