"""Where a host listens, and whether it answers there. Knows sockets and their faults; no command line, no site."""

from __future__ import annotations

import errno
import http.client
import socket

BACKLOG = 1_024


class CannotListen(Exception):
    """One line that says why, and how to choose another place."""


def listen(bind: str, another: str = "--bind") -> socket.socket:
    """A listening socket, so that a busy port is known before any process starts. `another` says how to choose another port.

    ValueError when `bind` is not HOST:PORT, CannotListen when nothing can listen there.
    """
    name, colon, port = bind.rpartition(":")
    if not colon or not name or not port.isdecimal() or int(port) > 65_535:
        raise ValueError(f"{bind!r} is not HOST:PORT, such as 127.0.0.1:8080")
    name = name.removeprefix("[").removesuffix("]")
    try:
        family, _, _, _, address = socket.getaddrinfo(name, int(port), type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
        listener = socket.socket(family, socket.SOCK_STREAM)
    except OSError:
        raise CannotListen(f"{name} names no address of this host; try --bind 127.0.0.1:{port}") from None
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen(BACKLOG)
    except OSError as error:
        listener.close()
        raise CannotListen(_bind_fault(bind, error, another)) from None
    return listener


def _bind_fault(bind: str, error: OSError, another: str) -> str:
    if error.errno == errno.EADDRINUSE:
        return f"{bind} is in use by another program; stop that one, or choose another port with {another}"
    if error.errno == errno.EACCES:
        return f"{bind} needs more rights; choose a port above 1023 with {another}"
    return f"{bind} cannot be listened on ({error.strerror}); choose another address with --bind"


def is_ready(address: str) -> bool:
    """Whether `GET /readyz` says so."""
    connection = http.client.HTTPConnection(address, timeout=2)
    try:
        connection.request("GET", "/readyz")
        return connection.getresponse().status == 200
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()
