"""Messages between a process and its children, over a socket: a kind, a length, the bytes. Knows nothing of what is in them."""

from __future__ import annotations

import socket
import struct
from collections.abc import Callable

HELLO, TASK, NOTE, ANSWER, LAST = b"H", b"T", b"N", b"A", b"L"
"""A child is there (its process id); what it is to do; what it says meanwhile; what came of it; the same, by one that ends with it."""
MOST = 256 * 1024 * 1024
"""Bytes of one message. A child that announces more is broken."""
_HEAD = struct.Struct(">cI")
_PIECE = 1 << 20


def write_frame(sock: socket.socket, kind: bytes, payload: bytes) -> None:
    sock.sendall(_HEAD.pack(kind, len(payload)) + payload)


def read_frame(sock: socket.socket, look: Callable[[], None] = lambda: None) -> tuple[bytes, bytes] | None:
    """(kind, payload); None when the other side is gone. `look` is called whenever the socket's own timeout has passed, and may raise."""
    head = _exactly(sock, _HEAD.size, look)
    if head is None:
        return None
    kind, length = _HEAD.unpack(head)
    payload = _exactly(sock, length, look) if length <= MOST else None
    return None if payload is None else (kind, payload)


def _exactly(sock: socket.socket, count: int, look: Callable[[], None]) -> bytes | None:
    found = bytearray()
    while len(found) < count:
        try:
            piece = sock.recv(min(_PIECE, count - len(found)))
        except TimeoutError:
            look()
            continue
        except OSError:
            return None
        if not piece:
            return None
        found += piece
    return bytes(found)
