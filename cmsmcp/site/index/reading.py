"""Files to entries: read, parsed, scanned; here or in processes beside this one. Knows nothing of where entries go.

The processes are plain children that speak over a socket: they touch no standard stream of this process (stdio carries
messages there) and end with it.
"""

from __future__ import annotations

import itertools
import json
import queue
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from multiprocessing.connection import Connection

from cmsmcp.site.catalog.entry import FileState
from cmsmcp.site.definitions import Definitions
from cmsmcp.site.index.parsing import Gone, Parser, Read

_CHUNK = 32
_START = "import json, sys; sys.path[:] = json.loads(sys.argv[2]); from cmsmcp.site.index.parsing import serve; serve(int(sys.argv[1]))"

Outcome = Read | Gone
Wanted = list[tuple[str, FileState]]


class Reading:
    """A context: the processes live as long as it does. `processes` 0 reads in this one; so does any failure to start one."""

    def __init__(self, definitions: Definitions, processes: int) -> None:
        self._definitions = definitions
        self._parser = Parser(definitions)
        self._count = processes
        self._children: list[tuple[subprocess.Popen[bytes], Connection]] = []

    def __enter__(self) -> Reading:
        try:
            for _ in range(self._count):
                self._children.append(_start(self._definitions))
        except OSError:
            self.close()
        return self

    def __exit__(self, *failure: object) -> None:
        self.close()

    def close(self) -> None:
        for process, connection in self._children:
            connection.close()
            process.kill()
            process.wait()
        self._children.clear()

    def read(self, wanted: Mapping[str, FileState]) -> Iterator[Outcome]:
        """Each of `wanted` once, in any order."""
        if not self._children:
            for path, state in wanted.items():
                yield self._parser.read(path, state)
            return
        yield from self._read_beside(wanted)

    def _read_beside(self, wanted: Mapping[str, FileState]) -> Iterator[Outcome]:
        results: queue.Queue[tuple[Wanted, list[Outcome] | None] | None] = queue.Queue(maxsize=4 * len(self._children))
        files, turn = iter(wanted.items()), threading.Lock()

        def feed(connection: Connection) -> None:
            while True:
                with turn:
                    chunk = list(itertools.islice(files, _CHUNK))
                if not chunk:
                    break
                try:
                    connection.send(chunk)
                    results.put((chunk, connection.recv()))
                except (OSError, EOFError):
                    results.put((chunk, None))
                    break
            results.put(None)

        feeders = [threading.Thread(target=feed, args=(connection,), daemon=True) for _, connection in self._children]
        for feeder in feeders:
            feeder.start()
        running = len(feeders)
        while running:
            result = results.get()
            if result is None:
                running -= 1
                continue
            chunk, outcomes = result
            # A process that died leaves its chunk, and what nobody else took, to this one.
            yield from outcomes if outcomes is not None else (self._parser.read(*one) for one in chunk)
        yield from (self._parser.read(*one) for one in files)


def _start(definitions: Definitions) -> tuple[subprocess.Popen[bytes], Connection]:
    ours, theirs = socket.socketpair()
    with theirs:
        process = subprocess.Popen(
            [sys.executable, "-P", "-c", _START, str(theirs.fileno()), json.dumps(sys.path)],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, pass_fds=[theirs.fileno()],
        )  # fmt: skip
    connection = Connection(ours.detach())
    connection.send(definitions)
    return process, connection
