"""A fetch ends in time and within its bytes, whatever the other side sends (docs/tokens.md, External issuers)."""

from __future__ import annotations

import fcntl
import http.client
import itertools
import os
import socket
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from cmsmcp.identity.fetching import fetch
from cmsmcp.identity.keysource import KeySource, Pace

SECONDS = 0.4
MOST = 10_000
OK = b"HTTP/1.1 200 OK\r\n"
CHUNKED = OK + b"Transfer-Encoding: chunked\r\n\r\n"


class Sender:
    """Sends the pieces to whoever connects, `pause` seconds apart, until he leaves; at the end it waits for that."""

    def __init__(self, pieces: Callable[[], Iterable[bytes]], pause: float) -> None:
        self._pieces, self._pause = pieces, pause
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.address = f"127.0.0.1:{self._listener.getsockname()[1]}"
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        with suppress(OSError):
            while True:
                peer, _ = self._listener.accept()
                threading.Thread(target=self._send, args=(peer,), daemon=True).start()

    def _send(self, peer: socket.socket) -> None:
        with peer, suppress(OSError):
            for piece in self._pieces():
                peer.sendall(piece)
                time.sleep(self._pause)
            while peer.recv(4096):
                pass

    def close(self) -> None:
        self._listener.close()


@pytest.fixture
def sends() -> Iterator[Callable[..., Sender]]:
    made: list[Sender] = []

    def make(pieces: Callable[[], Iterable[bytes]], pause: float = 0.0) -> Sender:
        made.append(Sender(pieces, pause))
        return made[-1]

    yield make
    for sender in made:
        sender.close()


def bytewise(text: bytes) -> Iterator[bytes]:
    return (text[at : at + 1] for at in range(len(text)))


ENDLESS: dict[str, tuple[str, Callable[[], Iterable[bytes]], float]] = {
    "nothing": ("http", list, 0),
    "a header, byte by byte": ("http", lambda: itertools.chain([OK], bytewise(b"X: " + b"a" * 60_000)), 0.05),
    "100 Continue, slowly": ("http", lambda: itertools.repeat(b"HTTP/1.1 100 Continue\r\n\r\n"), 0.05),
    "100 Continue, at full speed": ("http", lambda: itertools.repeat(b"HTTP/1.1 100 Continue\r\n\r\n" * 99), 0),
    "headers without end": ("http", lambda: itertools.chain([OK], itertools.repeat(b"X: " + b"a" * 60_000 + b"\r\n")), 0),
    "a body, byte by byte": ("http", lambda: itertools.chain([OK, b"Content-Length: 9999\r\n\r\n"], itertools.repeat(b"x")), 0.05),
    "a body without end": ("http", lambda: itertools.chain([OK, b"\r\n"], itertools.repeat(b"x" * 9999)), 0),
    "chunks without end": ("http", lambda: itertools.chain([CHUNKED], itertools.repeat(b"1\r\nx\r\n")), 0),
    "one chunk, byte by byte": ("http", lambda: itertools.chain([CHUNKED, b"fff\r\n"], itertools.repeat(b"x")), 0.05),
    "trailers without end": ("http", lambda: itertools.chain([CHUNKED, b"0\r\n"], itertools.repeat(b"X: y\r\n")), 0),
    "trailers, slowly": ("http", lambda: itertools.chain([CHUNKED, b"0\r\n"], itertools.repeat(b"X: y\r\n")), 0.05),
    "no handshake": ("https", list, 0),
    "a handshake, byte by byte": ("https", lambda: bytewise(b"\x16\x03\x03\x40\x00\x02\x00\x3f\xfc" + b"\x03" * 16_000), 0.05),
}


@pytest.mark.parametrize("case", ENDLESS)
def test_a_host_that_never_ends_is_left(sends: Any, case: str) -> None:
    """Each of them would go on for ever, or for minutes."""
    scheme, pieces, pause = ENDLESS[case]
    began = time.monotonic()
    with pytest.raises((OSError, ValueError, http.client.HTTPException)):
        fetch(f"{scheme}://{sends(pieces, pause).address}/keys", SECONDS, MOST)
    assert time.monotonic() - began < 30, "an upper bound"


def test_a_lookup_and_addresses_that_never_answer_are_left(monkeypatch: pytest.MonkeyPatch) -> None:
    """The system gives up a name after half a minute, and an address after two; a host may have many."""
    asked = threading.Event()
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: asked.wait(60))
    with pytest.raises(TimeoutError):
        fetch("http://id.example/keys", SECONDS, MOST)
    asked.set()
    with socket.create_server(("127.0.0.1", 0), backlog=0) as full:
        waiting = [socket.socket() for _ in range(3)]  # fill what waits to be accepted: further ones get no answer
        for one in waiting:
            one.setblocking(False)
            one.connect_ex(full.getsockname())
        entry = (socket.AF_INET, socket.SOCK_STREAM, 6, "", full.getsockname())
        monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: [entry] * 1_000)
        with pytest.raises(TimeoutError):
            fetch("http://id.example/keys", SECONDS, MOST)
        for one in waiting:
            one.close()


def test_what_is_whole_arrives_and_what_is_elsewhere_is_not_followed(sends: Any) -> None:
    def served(reply: bytes) -> bytes:
        return fetch(f"http://{sends(lambda: [reply]).address}/keys?a=b", 60, MOST)

    assert served(OK + b"Content-Length: 2\r\n\r\n{}") == b"{}"
    assert served(b"HTTP/1.1 100 Continue\r\n\r\n" + CHUNKED + b"1\r\n{\r\n1\r\n}\r\n0\r\n\r\n") == b"{}"
    assert len(served(OK + b"Content-Length: 10000\r\n\r\n" + b"x" * MOST)) == MOST
    for status in (b"302 Found", b"404 Not Found"):
        with pytest.raises(ValueError, match="^status"):
            served(b"HTTP/1.1 " + status + b"\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n")
    with pytest.raises(ValueError, match="10000"):
        served(OK + b"Content-Length: 10001\r\n\r\n" + b"x" * (MOST + 1))


def test_the_lock_of_a_refresh_is_free_again_in_time(sends: Any, tmp_path: Path, until: Any) -> None:
    """Else no process of the host would fetch these keys any more. Whoever asks for a key meanwhile is answered at once."""
    slow = sends(lambda: itertools.repeat(b"HTTP/1.1 100 Continue\r\n\r\n"), 0.05)
    source = KeySource(f"http://{slow.address}/keys", tmp_path / "issuer-1.json", Pace(least=60, look=0.02, fetch=SECONDS))
    source.start()
    lock = tmp_path / "issuer-1.lock"
    try:
        until(lambda: lock.exists() and lock.stat().st_size > 0)
        assert source.find("k1") is None
        handle = os.open(lock, os.O_RDWR)
        fcntl.flock(handle, fcntl.LOCK_EX)
        os.close(handle)
    finally:
        source.stop()
