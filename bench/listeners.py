"""Many open listen streams in a process of their own: it notes when each notice came in, and how each stream ended."""

from __future__ import annotations

import json
import multiprocessing
import resource
import selectors
import socket
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from types import TracebackType
from typing import Any

REVISION = "2026-07-28"
AT_ONCE = 8
"""Streams that are being opened at the same time: each counts as a call until it is acknowledged."""
_TAIL = 40
_ACKNOWLEDGED, _UPDATED, _RESULT = b"subscriptions/acknowledged", b"resources/updated", b'"result"'


def listen_request(address: str, token: str, uris: Sequence[str]) -> bytes:
    """A whole HTTP request."""
    meta = {"protocolVersion": REVISION, "clientInfo": {"name": "bench", "version": "1"}, "clientCapabilities": {}}
    params = {
        "notifications": {"resourceSubscriptions": list(uris), "resourcesListChanged": True},
        "_meta": {f"io.modelcontextprotocol/{name}": value for name, value in meta.items()},
    }
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "subscriptions/listen", "params": params})
    headers = {
        "Host": address, "Authorization": f"Bearer {token}", "Content-Type": "application/json", "Content-Length": str(len(body)),
        "Accept": "application/json, text/event-stream", "MCP-Protocol-Version": REVISION, "Mcp-Method": "subscriptions/listen",
    }  # fmt: skip
    return "\r\n".join(("POST /mcp HTTP/1.1", *map(": ".join, headers.items()), "", body)).encode()


class Listeners:
    """A context: the streams are closed with it. Times are Unix time."""

    def __init__(self, address: str, token: str, uris: Sequence[str]) -> None:
        spawn = multiprocessing.get_context("spawn")
        self._pipe, theirs = spawn.Pipe()
        self._process = spawn.Process(target=_run, args=(theirs, address, listen_request(address, token, uris)), daemon=True)

    def __enter__(self) -> Listeners:
        self._process.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._process.terminate()
        self._process.join()

    def open(self, count: int) -> None:
        """Returns when all are acknowledged. SystemExit with what the server said when one is refused."""
        if refused := self._ask("open", count):
            raise SystemExit(f"a stream was refused: {refused!r}")

    def received(self, count: int, seconds: float) -> list[float]:
        """When the next notice came, on each stream: `count` of them, or fewer after so long."""
        return self._ask("received", count, seconds)

    def ended(self, count: int, seconds: float) -> tuple[int, int]:
        """(streams with a result, streams that were closed), once `count` are closed, or after so long."""
        return self._ask("ended", count, seconds)

    def _ask(self, *words: Any) -> Any:
        self._pipe.send(words)
        return self._pipe.recv()


@dataclass
class _Streams:
    address: tuple[str, int]
    request: bytes
    selector: selectors.BaseSelector = field(default_factory=selectors.DefaultSelector)
    tails: dict[socket.socket, bytes] = field(default_factory=dict)
    acknowledged: int = 0
    results: int = 0
    closed: int = 0
    times: list[float] = field(default_factory=list)
    refused: bytes = b""

    def begin(self) -> None:
        stream = socket.create_connection(self.address)
        stream.sendall(self.request)
        stream.setblocking(False)
        self.tails[stream] = b""
        self.selector.register(stream, selectors.EVENT_READ)

    def read(self, seconds: float) -> None:
        for key, _ in self.selector.select(seconds):
            stream = key.fileobj
            assert isinstance(stream, socket.socket)
            try:
                data = stream.recv(65_536)
            except OSError:
                data = b""
            now = time.time()
            before = self.tails[stream]
            if not before and data and not data.startswith(b"HTTP/1.1 200"):
                self.refused = data
            self.times += [now] * _fresh(_UPDATED, before, data)
            self.acknowledged += _fresh(_ACKNOWLEDGED, before, data)
            self.results += _fresh(_RESULT, before, data)
            self.tails[stream] = (before + data)[-_TAIL:]
            if not data:
                self.closed += 1
                self.selector.unregister(stream)
                del self.tails[stream]
                stream.close()


def _fresh(word: bytes, before: bytes, data: bytes) -> int:
    """How often the word ends within `data`, which follows `before`."""
    return (before[1 - len(word) :] + data).count(word)


def _run(pipe: Connection, address: str, request: bytes) -> None:
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    host, _, port = address.rpartition(":")
    streams = _Streams((host, int(port)), request)
    while True:
        while not pipe.poll():
            streams.read(0.02)
        word, count, *rest = pipe.recv()
        end = time.monotonic() + (rest[0] if rest else 120.0)
        if word == "open":
            streams.acknowledged = streams.results = streams.closed = begun = 0
            while streams.acknowledged < count and not streams.refused and time.monotonic() < end:
                while begun < count and begun - streams.acknowledged < AT_ONCE:
                    streams.begin()
                    begun += 1
                streams.read(0.1)
            pipe.send(streams.refused or (b"not in time" if streams.acknowledged < count else b""))
        elif word == "received":
            while len(streams.times) < count and time.monotonic() < end:
                streams.read(0.1)
            pipe.send(streams.times)
            streams.times = []
        else:
            while streams.closed < count and time.monotonic() < end:
                streams.read(0.1)
            pipe.send((streams.results, streams.closed))
