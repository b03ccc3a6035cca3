"""What open listen streams cost, and how soon an edit reaches them: `python -m bench.streams [--streams 1000]`.

A server of its own (a private Redis, the site of `cmsmcp init`), over real sockets. Prints a table: from the catalog's commit to the
receipt, memory for each stream, calls beside streams and without, what is refused, and how streams end. The commit is taken when a
reader of the catalog sees its new generation, looked for a thousand times a second. Ends with 1 when a target is missed.
"""

from __future__ import annotations

import argparse
import http.client
import json
import multiprocessing
import os
import resource
import signal
import sqlite3
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from bench.listeners import Listeners, listen_request
from bench.server import descendants, held_by, serving, spread

PAGE = "foundry://content/pages/about"
CALL = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "get_document", "arguments": {"slug": "about"}}}
EDIT_SECONDS = 10.0
CONNECTIONS = 4
WITHIN_MS, RATIO = 500.0, 2.0
"""The targets: 99 of 100 streams within so long, and a p99 of calls at most so many times that without streams."""


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.streams", description=__doc__)
    parser.add_argument("--streams", type=int, default=1_000)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--calls", type=float, default=20.0, help="plain calls a second")
    parser.add_argument("--seconds", type=float, default=60.0, help="of each of the two measures of calls")
    options = parser.parse_args()
    limits = (f"max_streams: {options.streams}", "rate_limit: {requests_per_minute: 100000, burst: 10000}")
    with serving(options.workers, *limits) as (address, token, process, folder):
        return int(measure(options, Site(folder), (address, token, process)))


def measure(options: argparse.Namespace, site: Site, server: tuple[str, str, int]) -> bool:
    """Whether a target was missed."""
    address, token, process = server
    count = options.streams
    calls = (options.calls, options.seconds, options.workers)
    timed_calls(server, (options.calls, 5.0, options.workers), site.edit)  # whatever is slow the first time
    empty = memory(process)
    without = timed_calls(server, calls, site.edit)
    with Listeners(address, token, [PAGE]) as listeners:
        began = time.monotonic()
        listeners.open(count)
        opened = time.monotonic() - began
        full = memory(process)
        on_workers = sorted(Counter(held_by(process, address).values()).values())
        delays: list[list[float]] = []

        def edit() -> None:
            committed = site.edit()
            delays.append([(time - committed) * 1000 for time in listeners.received(count, 5.0)])

        beside = timed_calls(server, calls, edit)
        refused = refusal(server)
        told = [delay for one in delays for delay in one]
        print(f"the machine: {os.cpu_count()} processors, load {os.getloadavg()[0]:.1f} (the bench's own share is below 1)")
        print(f"streams: {count} on workers with {on_workers} connections, opened in {opened:.1f} s; one more: {refused}")
        print(f"memory: {(full - empty) / count / 1024:.1f} KiB for each stream (RSS of the workers, {empty >> 20} MiB before)")
        print(f"notices of {len(delays)} edits: {len(told) / count / len(delays):.1%} received; ms from the commit: {shown(told)}")
        print(f"calls, {options.calls:g}/s, an edit every {EDIT_SECONDS:g} s, without streams: {shown(without)}")
        ratio = percentile(beside, 99) / percentile(without, 99)
        print(f"calls, the same beside {count} streams: {shown(beside)}; p99 is {ratio:.2f} times that without")
        for name in ("SIGHUP", "SIGTERM"):
            os.kill(process, getattr(signal, name))
            print("ended by {}: {} streams with their result, of {} closed".format(name, *listeners.ended(count, 40.0)))
            if name == "SIGHUP":
                listeners.open(count)
    late = percentile(told, 99) > WITHIN_MS or len(told) < 0.99 * count * len(delays)
    return late or ratio > RATIO or not refused.startswith("503")


class Site:
    """The bench's site, and its catalog."""

    def __init__(self, folder: Path) -> None:
        self._page = folder / "site/content/pages/about.md"
        self._text = self._page.read_text(encoding="utf-8")
        [catalog] = (folder / "state").rglob("catalog-*.sqlite")
        self._catalog = sqlite3.connect(f"{catalog.as_uri()}?mode=ro", uri=True, check_same_thread=False)

    def edit(self) -> float:
        """Edit the page; when the catalog had it, as Unix time."""
        before = self._generation()
        self._page.write_text(f"{self._text}\nEdited at {time.time()}.\n", encoding="utf-8")
        while self._generation() == before:
            time.sleep(0.001)
        return time.time()

    def _generation(self) -> int:
        [generation] = self._catalog.execute("SELECT value FROM meta WHERE name = 'generation'").fetchone()
        return int(generation)


def timed_calls(server: tuple[str, str, int], plan: tuple[float, float, int], edit: Callable[[], Any]) -> list[float]:
    """Call for so many seconds from a process of its own, while `edit` is run every EDIT_SECONDS. The time of each call in ms."""
    spawn = multiprocessing.get_context("spawn")
    pipe, theirs = spawn.Pipe()
    process = spawn.Process(target=_call, args=(theirs, server, plan), daemon=True)
    process.start()
    pipe.recv()
    due = time.monotonic() + EDIT_SECONDS / 2
    while not pipe.poll(max(0.0, due - time.monotonic())):
        edit()
        due += EDIT_SECONDS
    times: list[float] = pipe.recv()
    process.join()
    return times


def _call(pipe: Any, server: tuple[str, str, int], plan: tuple[float, float, int]) -> None:
    """A call counts from when it was due, not from when the one before let it be sent."""
    address, token, process = server
    rate, seconds, workers = plan
    connections = spread(address, process, CONNECTIONS, workers)
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json", "MCP-Protocol-Version": "2025-11-25"}
    pause = len(connections) / rate
    times: list[float] = []
    pipe.send("begun")
    began = time.monotonic()

    def run(number: int, connection: http.client.HTTPConnection) -> None:
        due = began + number / rate
        while due < began + seconds:
            time.sleep(max(0.0, due - time.monotonic()))
            connection.request("POST", "/mcp", json.dumps(CALL), headers)
            reply = connection.getresponse()
            assert b'"structuredContent"' in reply.read(), reply.status
            times.append((time.monotonic() - due) * 1000)
            due += pause

    threads = [threading.Thread(target=run, args=one) for one in enumerate(connections)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    pipe.send(times)


def refusal(server: tuple[str, str, int]) -> str:
    """What one stream more is told: status and Retry-After."""
    address, token, _ = server
    head, _, body = listen_request(address, token, [PAGE]).decode().partition("\r\n\r\n")
    connection = http.client.HTTPConnection(address, timeout=30)
    connection.request("POST", "/mcp", body, dict(line.split(": ", 1) for line in head.split("\r\n")[1:]))
    reply = connection.getresponse()
    connection.close()
    return f"{reply.status}, Retry-After: {reply.getheader('Retry-After')}"


def memory(process: int) -> int:
    """Bytes of RSS of the server's workers: of gunicorn's processes that hold no other process."""
    found = 0
    for one in descendants(process):
        command = Path(f"/proc/{one}/cmdline").read_bytes()
        if b"gunicorn" in command and not descendants(one):
            found += int(Path(f"/proc/{one}/statm").read_text().split()[1]) * resource.getpagesize()
    return found


def percentile(values: Sequence[float], percent: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * percent / 100))] if ordered else float("nan")


def shown(values: Sequence[float]) -> str:
    return f"p50 {percentile(values, 50):.1f}, p99 {percentile(values, 99):.1f}, worst {percentile(values, 100):.1f} of {len(values)}"


if __name__ == "__main__":
    sys.exit(main())
