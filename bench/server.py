"""A server of a bench's own: `cmsmcp serve` on a fresh site with a private Redis, and which of its workers holds which connection."""

from __future__ import annotations

import http.client
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

CMSMCP = Path(sys.executable).with_name("cmsmcp")
START_SECONDS = 40.0


@contextmanager
def serving(
    workers: int, *settings: str, site: Path | None = None, options: Sequence[str] = (),
) -> Iterator[tuple[str, str, int, Path]]:  # fmt: skip
    """A started server, `settings` being lines of its `mcp` block: its address, a token, its process id, and its folder.

    It serves a copy of `site`, else the one of `cmsmcp init`. The folder has `site` and `state` in it.
    """
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        served, log = Path(folder, "site"), Path(folder, "log")
        environment = {name: value for name, value in os.environ.items() if name not in ("REDIS_URL", "CMSMCP_SECRET_KEY")}
        environment["CMSMCP_STATE_DIR"] = str(Path(folder, "state"))
        if site is None:
            subprocess.run([CMSMCP, "init", served], env=environment, check=True, capture_output=True)
        else:
            shutil.copytree(site, served)
        config = served / "content/config/site.yaml"
        config.write_text(config.read_text().replace("mcp:\n", "".join(("mcp:\n", *(f"  {line}\n" for line in settings))), 1))
        with log.open("wb") as output:
            command = [CMSMCP, "serve", "--site", served, "--bind", "127.0.0.1:0", "--workers", str(workers), *options]
            process = subprocess.Popen(command, env=environment, stdout=output, stderr=output)
        try:
            end = time.monotonic() + START_SECONDS
            while (found := re.search(r"on http://([0-9.]+:\d+)", log.read_text())) is None:
                if process.poll() is not None or time.monotonic() > end:
                    raise SystemExit(log.read_text())
                time.sleep(0.05)
            create = [CMSMCP, "tokens", "create", "--site", served, "--name", "bench"]
            token = subprocess.run(create, env=environment, check=True, capture_output=True, text=True).stdout.strip()
            yield found[1], token, process.pid, Path(folder)
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
