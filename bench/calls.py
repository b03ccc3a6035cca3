"""What a governed call costs beside servers that govern nothing: `python -m bench.calls`.

Four servers of two workers each take turns under the same client (wrk, Debian's package): ours with everything on, bare Flask under
gunicorn, the official Python SDK and FastMCP under uvicorn, these with a constant reply as large as ours and installed apart
(`build/peers`). Each row is the median of three runs after a warm-up; its replies are checked. Only ratios mean something: machines are
noisy.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import random
import shutil
import socket
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

from bench.corpus import LANGUAGES, make_corpus, vocabulary
from bench.server import descendants, serving

HERE = Path(__file__).parent
PEERS = Path("build/peers")
ROUNDS = 3
META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientInfo": {"name": "bench", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}  # fmt: skip
HEADERS = {
    "Content-Type": "application/json", "Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2026-07-28",
    "Mcp-Method": "tools/call",
}  # fmt: skip
WIDE = ("max_concurrency: 1000", "rate_limit: {requests_per_minute: 60000000, burst: 1000000}")


@dataclass(frozen=True, slots=True)
class Target:
    """A server to ask: its address, a token (peers want none), and the process that all of it descends from."""

    name: str
    address: str
    token: str
    process: int


@dataclass(frozen=True, slots=True)
class Load:
    """What is asked: the tool, and the arguments of each call in turn. `first` is where the measured ones begin."""

    title: str
    tool: str
    arguments: Sequence[Mapping[str, Any]]
    first: int = 0


@dataclass(frozen=True, slots=True)
class Figure:
    """Of one run, or the medians of several."""

    per_second: float
    p50_ms: float
    p99_ms: float
    cpu_ms: float


def loads(documents: int) -> Iterator[Load]:
    yield Load("get_document, one document", "get_document", [{"slug": "page-0"}])
    numbers = [number for number in range(documents) if number % 4 in (0, 1)]
    every = [{"id": f"en:{'post' if number % 3 == 2 else 'page'}:{_path(number)}"} for number in numbers]
    yield Load("get_document, each document once", "get_document", every, first=len(every) // 5)
    dice = random.Random(7)
    weights = list(itertools.accumulate(1 / rank for rank in range(1, 5_001)))
    words = vocabulary("en", dice).words
    lists = [{"limit": 20, "lang": dice.choice(LANGUAGES), "updated_after": f"{2020 + n % 6}-{1 + n % 12:02}-01"} for n in range(5_000)]
    searches = [{"query": " ".join(dice.choices(words, k=1 + n % 3))} for n in range(5_000)]
    yield Load("list_documents(20), Zipf", "list_documents", dice.choices(lists, cum_weights=weights, k=20_000))
    yield Load("search_content, Zipf", "search_content", dice.choices(searches, cum_weights=weights, k=20_000))


def _path(number: int) -> str:
    return f"part-{number // 500:03}/{'post' if number % 3 == 2 else 'page'}-{number}"


def body(tool: str, arguments: Mapping[str, Any]) -> bytes:
    params = {"name": tool, "arguments": arguments, "_meta": META}
    return json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}, separators=(",", ":")).encode()


def typical(target: Target, load: Load) -> Any:
    """The structured content of middle size among the first replies."""
    found = []
    for arguments in load.arguments[load.first : load.first + 21]:
        connection = HTTPConnection(target.address, timeout=30)
        named = {"Mcp-Name": load.tool, "Authorization": f"Bearer {target.token}"}
        connection.request("POST", "/mcp", body(load.tool, arguments), HEADERS | named)
        reply = json.loads(connection.getresponse().read())
        if "structuredContent" not in reply.get("result", {}) or reply["result"].get("isError"):
            raise SystemExit(f"{load.title}: {json.dumps(reply)[:400]}")
        found.append(reply["result"]["structuredContent"])
    return sorted(found, key=lambda content: len(json.dumps(content)))[len(found) // 2]


def run(target: Target, load: Load, folder: Path, *, connections: int, seconds: float, first: int) -> Figure:
    """One run of wrk. SystemExit if a reply was not what it should be."""
    bodies = folder / "bodies"
    bodies.write_bytes(b"\n".join(body(load.tool, arguments) for arguments in load.arguments))
    environment = {**os.environ, "BODIES": str(bodies), "START": str(first), "TOOL": load.tool, "TOKEN": target.token}
    before = cpu_ms(target.process)
    command = ["wrk", "-t1", f"-c{connections}", f"-d{seconds:g}s", "-s", HERE / "calls.lua", f"http://{target.address}/mcp"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    found = json.loads(done.stdout.strip().splitlines()[-1])
    if found["bad"]:
        raise SystemExit(f"{target.name}, {load.title}: {found['bad']} of {found['requests']} replies were no results")
    spent = (cpu_ms(target.process) - before) / found["requests"]
    return Figure(found["requests"] / found["seconds"], found["p50_ms"], found["p99_ms"], spent)


def cpu_ms(process: int) -> float:
    """User and system time of the process and all below it, so far."""
    ticks = 0
    for one in {process, *descendants(process)}:
        try:
            fields = Path(f"/proc/{one}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        ticks += int(fields[11]) + int(fields[12])
    return ticks * 1000 / os.sysconf("SC_CLK_TCK")


def compare(targets: Sequence[Target], load: Load, folder: Path, connections: int, seconds: float) -> dict[str, Figure]:
    """Each server's medians, all of them taking turns. What is asked once starts where the run before ended."""
    figures: dict[str, list[Figure]] = {target.name: [] for target in targets}
    first = dict.fromkeys(figures, 0)
    for number in range(ROUNDS + 1):
        for target in targets:
            start = max(first[target.name], load.first if number else 0)
            found = run(target, load, folder, connections=connections, seconds=seconds if number else 2, first=start)
            first[target.name] = start + int(found.per_second * seconds) if load.first else 0
            if number:
                figures[target.name].append(found)
    return {name: medians(rows) for name, rows in figures.items()}


def medians(rows: Sequence[Figure]) -> Figure:
    columns = zip(*((row.per_second, row.p50_ms, row.p99_ms, row.cpu_ms) for row in rows), strict=True)
    return Figure(*map(statistics.median, columns))


@contextmanager
def peers(result: Any, folder: Path) -> Iterator[list[Target]]:
    """The three that govern nothing, answering `result`."""
    content = folder / "result.json"
    content.write_text(json.dumps(result))
    environment = {**os.environ, "BENCH_RESULT": str(content.resolve()), "PYTHONPATH": str(HERE / "peers")}
    python, flask, sdk, fast = PEERS.resolve() / "bin/python", free_port(), free_port(), free_port()
    commands: dict[str, tuple[int, list[Any]]] = {
        "bare Flask": (flask, [python, "-m", "gunicorn", "-w2", "-k", "gevent", "-b", f"127.0.0.1:{flask}", "bare_flask:app"]),
        "SDK": (sdk, [python, "sdk_server.py", str(sdk), "2"]),
        "FastMCP": (fast, [python, "fastmcp_server.py", str(fast), "2"]),
    }
    with ExitStack() as stack:
        targets = []
        for name, (port, command) in commands.items():
            process = subprocess.Popen(command, cwd=HERE / "peers", env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            stack.callback(process.wait, 30)
            stack.callback(process.terminate)
            targets.append(Target(name, f"127.0.0.1:{port}", "none", process.pid))
        for target in targets:
            wait_for(target)
        yield targets


def wait_for(target: Target) -> None:
    end = time.monotonic() + 60
    host, port = target.address.split(":")
    while time.monotonic() < end:
        with socket.socket() as probe:
            if probe.connect_ex((host, int(port))) == 0:
                time.sleep(1)  # its second worker
                return
        time.sleep(0.1)
    raise SystemExit(f"{target.name} does not answer")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def install_peers() -> None:
    requirements = HERE / "peers/requirements.txt"
    if (PEERS / ".ready").exists():
        return
    print(f"installing the peers into {PEERS} …", file=sys.stderr)
    subprocess.run([sys.executable, "-m", "venv", PEERS], check=True)
    subprocess.run([PEERS / "bin/python", "-m", "pip", "install", "-qq", "--disable-pip-version-check", "-r", requirements], check=True)
    (PEERS / ".ready").touch()


def show(title: str, figures: Mapping[str, Figure]) -> None:
    print(f"\n{title}")
    for name, one in figures.items():
        ratio = " ".join(f"{one.per_second / other.per_second:.2f} × {peer}" for peer, other in figures.items() if peer != name)
        print(
            f"  {name:<10} {one.per_second:7.0f}/s  p50 {one.p50_ms:6.2f} ms  p99 {one.p99_ms:6.2f} ms  CPU {one.cpu_ms:5.2f} ms a call"
            f"{'  = ' + ratio if name == 'cmsmcp' else ''}", flush=True,
        )  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.calls", description=__doc__)
    parser.add_argument("--documents", type=int, default=20_000)
    parser.add_argument("--seconds", type=float, default=5)
    parser.add_argument("--only", help="part of a row's title")
    chosen = parser.parse_args()
    if shutil.which("wrk") is None:
        raise SystemExit("bench.calls needs wrk: apt-get install wrk")
    install_peers()
    folder = Path("build/calls")
    folder.mkdir(parents=True, exist_ok=True)
    make_corpus(folder / "site", chosen.documents, 300, 1)
    with serving(2, *WIDE, site=folder / "site") as (address, token, process, _):
        ours = Target("cmsmcp", address, token, process)
        for load in loads(chosen.documents):
            if chosen.only and chosen.only not in load.title:
                continue
            with peers(typical(ours, load), folder) as others:
                for connections in (16, 1) if len(load.arguments) == 1 else (16,):
                    figures = compare([ours, *others], load, folder, connections, chosen.seconds)
                    show(f"{load.title}, connections: {connections}", figures)


if __name__ == "__main__":
    main()
