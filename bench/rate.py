"""Whether the rate limit admits what it says, to the unit, over real HTTP and several workers.

`bench/rate.py --workers 4` starts a server of its own (a private Redis, the site of `cmsmcp init`), asks as fast as it can over many
connections of one token, and counts what was admitted in the first minute: burst + rate, and not one more. Prints one JSON object
and ends with 1 when the figure is another.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import re
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

CMSMCP = Path(sys.executable).with_name("cmsmcp")
PING = b'{"jsonrpc":"2.0","id":1,"method":"ping"}'
START_SECONDS = 40.0


@dataclass
class Tally:
    """When each request was sent (seconds on the client's clock), by what came of it."""

    admitted: list[float] = field(default_factory=list)
    refused: list[float] = field(default_factory=list)
    other: list[int] = field(default_factory=list)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--per-minute", type=int, default=600)
    parser.add_argument("--burst", type=int, default=120)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--connections", type=int, default=16)
    options = parser.parse_args()
    interval = 60.0 / options.per_minute
    with serving(options.workers, options.per_minute, options.burst) as (address, token, process):
        connections = spread(address, process, options.connections, options.workers)
        workers = sorted(Counter(held_by(process, address).values()).values())
        tally = hammer(connections, token, options.seconds + 2 * interval, min(0.02, interval / 10))
    began = min(tally.admitted)
    # A unit comes free each interval, the last one at the end of the span; half an interval later it has been taken, and the next not.
    within = sum(sent < began + options.seconds + interval / 2 for sent in tally.admitted)
    expected = options.burst + int(options.per_minute * options.seconds / 60)
    figure = {
        "workers": options.workers, "connections_per_worker": workers, "requests_per_minute": options.per_minute, "burst": options.burst,
        "seconds": options.seconds, "sent": len(tally.admitted) + len(tally.refused), "admitted": within, "expected": expected,
        "other_statuses": tally.other,
    }  # fmt: skip
    print(json.dumps(figure))
    return int(within != expected or bool(tally.other) or len(workers) != options.workers)


@contextmanager
def serving(workers: int, per_minute: int, burst: int) -> Iterator[tuple[str, str, int]]:
    """A started server: its address, a token, its process id."""
    with tempfile.TemporaryDirectory(prefix="rate-") as folder:
        site, log = Path(folder, "site"), Path(folder, "log")
        environment = {name: value for name, value in os.environ.items() if name not in ("REDIS_URL", "CMSMCP_SECRET_KEY")}
        environment["CMSMCP_STATE_DIR"] = str(Path(folder, "state"))
        subprocess.run([CMSMCP, "init", site], env=environment, check=True, capture_output=True)
        config = site / "content/config/site.yaml"
        limit = f"mcp:\n  rate_limit: {{requests_per_minute: {per_minute}, burst: {burst}}}\n"
        config.write_text(config.read_text().replace("mcp:\n", limit, 1))
        with log.open("wb") as output:
            command = [CMSMCP, "serve", "--site", site, "--bind", "127.0.0.1:0", "--workers", str(workers)]
            process = subprocess.Popen(command, env=environment, stdout=output, stderr=output)
        try:
            end = time.monotonic() + START_SECONDS
            while (found := re.search(r"on http://([0-9.]+:\d+)", log.read_text())) is None:
                if process.poll() is not None or time.monotonic() > end:
                    raise SystemExit(log.read_text())
                time.sleep(0.05)
            create = [CMSMCP, "tokens", "create", "--site", site, "--name", "rate"]
            token = subprocess.run(create, env=environment, check=True, capture_output=True, text=True).stdout.strip()
            yield found[1], token, process.pid
        finally:
            process.terminate()
            process.wait(30)


def spread(address: str, process: int, wanted: int, workers: int) -> list[http.client.HTTPConnection]:
    """Kept connections, at least one to every worker. A probe opens them, because a probe costs no unit."""
    connections: list[http.client.HTTPConnection] = []
    while len(connections) < wanted or len(set(held_by(process, address).values())) < workers:
        if len(connections) > 50 * wanted:
            raise SystemExit("a worker takes no connection")
        connection = http.client.HTTPConnection(address, timeout=30)
        connection.request("GET", "/healthz")
        connection.getresponse().read()
        connections.append(connection)
    holder = held_by(process, address)
    seen: Counter[int] = Counter()
    ranked = []
    for connection in connections:
        worker = holder.get(connection.sock.getsockname()[1])
        if worker is None:  # idle for so long that its worker has closed it
            connection.close()
            continue
        ranked.append((seen[worker], connection))
        seen[worker] += 1
    ranked.sort(key=lambda pair: pair[0])  # the first of each worker, then the second of each, …
    for _, surplus in ranked[wanted:]:
        surplus.close()
    return [connection for _, connection in ranked[:wanted]]


def held_by(process: int, address: str) -> dict[int, int]:
    """The worker that holds each connection to the server's port, by the port of the connection's other end."""
    port = f":{int(address.rpartition(':')[2]):04X}"
    rows = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    peers = {f"socket:[{row[9]}]": int(row[2].rpartition(":")[2], 16) for row in rows if row[1].endswith(port) and row[3] == "01"}
    return {peers[link]: one for one in descendants(process) for entry in _entries(one) if (link := _link(entry)) in peers}


def descendants(process: int) -> set[int]:
    parents = {int(entry.name): _parent(entry) for entry in Path("/proc").iterdir() if entry.name.isdecimal()}
    found: set[int] = set()
    frontier = {process}
    while frontier:
        frontier = {child for child, parent in parents.items() if parent in frontier}
        found |= frontier
    return found


def _parent(entry: Path) -> int:
    try:
        return int((entry / "stat").read_text().rpartition(")")[2].split()[1])
    except OSError:
        return 0


def _entries(process: int) -> list[Path]:
    try:
        return list(Path(f"/proc/{process}/fd").iterdir())
    except OSError:
        return []


def _link(entry: Path) -> str:
    try:
        return str(entry.readlink())
    except OSError:
        return ""


def hammer(connections: list[http.client.HTTPConnection], token: str, seconds: float, pause: float) -> Tally:
    """Ask over all connections at once for so long. Each asks again when it was answered, after a refusal with a pause (seconds)."""
    tally, lock, start = Tally(), threading.Lock(), threading.Barrier(len(connections))
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}

    def run(connection: http.client.HTTPConnection) -> None:
        start.wait()
        end = time.monotonic() + seconds
        while (sent := time.monotonic()) < end:
            connection.request("POST", "/mcp", PING, headers)
            reply = connection.getresponse()
            reply.read()
            with lock:
                if reply.status == 200:
                    tally.admitted.append(sent)
                elif reply.status == 429:
                    tally.refused.append(sent)
                else:
                    tally.other.append(reply.status)
            if reply.status != 200:
                time.sleep(pause)

    threads = [threading.Thread(target=run, args=(connection,)) for connection in connections]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return tally


if __name__ == "__main__":
    sys.exit(main())
