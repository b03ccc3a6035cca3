"""One HTTP GET with one deadline and one budget of bytes for all of it, whatever the other side does.

The limits of `http.client` are per read, which a host that sends a byte now and then, or `100 Continue` for ever, never reaches. Knows
sockets and HTTP; must not know what is fetched.
"""

from __future__ import annotations

import http.client
import io
import queue
import socket
import ssl
import threading
import time
from typing import Any
from urllib.parse import urlsplit

HEAD_BYTES = 64 * 1024
"""Beside the body: status line, headers, and the sizes of chunks."""


def fetch(url: str, seconds: float, most: int) -> bytes:
    """The body of a 200, without following redirects, of at most `most` bytes. OSError, HTTPException or ValueError if not; TimeoutError,
    an OSError, after `seconds`."""
    parts = urlsplit(url)
    connection = _Connection(parts.hostname or "", parts.port, parts.scheme == "https", time.monotonic() + seconds, most)
    try:
        path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        connection.request("GET", path, headers={"Accept": "application/json", "User-Agent": "cmsmcp"})
        reply = connection.getresponse()
        if reply.status != 200:
            raise ValueError(f"status {reply.status}")
        body = reply.read(most + 1)
        if len(body) > most:
            raise ValueError(f"more than {most} bytes")
        return body
    finally:
        connection.hang_up()


class _Connection(http.client.HTTPConnection):
    """One that ends at a moment of the monotonic clock."""

    def __init__(self, host: str, port: int | None, tls: bool, end: float, most: int) -> None:
        self.default_port = 443 if tls else 80
        super().__init__(host, port or self.default_port)
        self._tls = tls
        self._end = end
        self._most = most
        self._opened: socket.socket | None = None

    def connect(self) -> None:
        opened = _open(self.host, self.port, self._end)
        try:
            if self._tls:
                opened.settimeout(_left(self._end))  # Python's limit of a handshake is for all of it
                opened = ssl.create_default_context().wrap_socket(opened, server_hostname=self.host)
        finally:
            self._opened = opened
        self.sock = _Wire(opened, self._end, self._most + HEAD_BYTES)

    def hang_up(self) -> None:
        if self._opened is not None:
            self._opened.close()


class _Wire(io.RawIOBase):
    """What `http.client` asks of a socket: whole sends, and a file to read from. Each wait is for what is left of the time."""

    def __init__(self, opened: socket.socket, end: float, budget: int) -> None:
        super().__init__()
        self._socket = opened
        self._end = end
        self._budget = budget

    def sendall(self, data: bytes) -> None:
        self._socket.settimeout(_left(self._end))
        self._socket.sendall(data)

    def makefile(self, *_mode: Any) -> io.BufferedReader:
        return io.BufferedReader(self)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        time.sleep(0)  # others have their turn, also while a fast sender leaves nothing to wait for
        self._socket.settimeout(_left(self._end))
        received = self._socket.recv_into(buffer)
        self._budget -= received
        if self._budget < 0:
            raise ValueError("it sends too much")
        return received

    def close(self) -> None:
        """Not yet: `http.client` lets go of a socket while the reply is still read from its file."""


def _open(host: str, port: int, end: float) -> socket.socket:
    """To the first address of the host that answers."""
    fault: OSError = OSError(f"{host} has no address")
    for family, kind, protocol, _, address in _addresses(host, port, _left(end)):
        opened = socket.socket(family, kind, protocol)
        try:
            opened.settimeout(_left(end))
            opened.connect(address)
            return opened
        except OSError as error:
            opened.close()
            fault = error
    raise fault


def _addresses(host: str, port: int, seconds: float) -> list[Any]:
    """Asked for in a thread: a lookup cannot be ended, only left. It ends by itself once the system gives it up."""
    found: queue.SimpleQueue[list[Any] | OSError] = queue.SimpleQueue()

    def look_up() -> None:
        try:
            found.put(socket.getaddrinfo(host, port, type=socket.SOCK_STREAM))
        except (OSError, UnicodeError) as error:
            found.put(OSError(str(error)))

    threading.Thread(target=look_up, name="issuer lookup", daemon=True).start()
    try:
        answer = found.get(timeout=seconds)
    except queue.Empty:
        raise TimeoutError("the name was not found in time") from None
    if isinstance(answer, OSError):
        raise answer
    return answer


def _left(end: float) -> float:
    left = end - time.monotonic()
    if left <= 0:
        raise TimeoutError("it came too slowly")
    return left
