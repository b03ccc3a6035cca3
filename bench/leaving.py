"""How soon the permit of a client that hangs up is free: `python -m bench.leaving [--rounds 20]`.

A server of one worker for each kind (gevent, gthread), with a private Redis; its tools are those of `tests/http/sleepers`, told to work
for 50 s. One row for each kind of worker and tool: from the close of the socket until Redis knows no permit any more, looked for a
thousand times a second. Ends with 1 when one was held for longer than the target.
"""

from __future__ import annotations

import argparse
import json
import os
import socket
import statistics
import sys
import time
from pathlib import Path

import redis

from bench.server import serving
from cmsmcp.processes.private_redis import find_running
from cmsmcp.state.redis.keys import Keys

TOOLS = Path(__file__).parents[1] / "tests/http"
SECONDS = 50.0
WITHIN = 0.5


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.leaving", description=__doc__)
    parser.add_argument("--rounds", type=int, default=20)
    rounds = parser.parse_args().rounds
    os.environ |= {"CMSMCP_CAPABILITIES": "sleepers", "PYTHONPATH": str(TOOLS)}
    missed = False
    for kind in ("gevent", "gthread"):
        with serving(1, "rate_limit: {requests_per_minute: 600000, burst: 100000}", options=("--worker-class", kind)) as server:
            address, token, _, folder = server
            url = find_running(next(Path(folder, "state").iterdir()))
            store = redis.Redis.from_url(url or "")
            permits = Keys(_name_of(folder)).permits
            for tool in ("sleep", "compute"):
                took = sorted(left_after(store, permits, address, request(address, token, tool)) for _ in range(rounds))
                missed |= took[-1] > WITHIN
                print(f"{kind:8} {tool:8} {statistics.median(took):.3f} s median, {took[-1]:.3f} s at worst of {rounds}", flush=True)
    return int(missed)


def left_after(store: redis.Redis, permits: str, address: str, sent: bytes) -> float:
    host, _, port = address.rpartition(":")
    with socket.create_connection((host, int(port))) as peer:
        peer.sendall(sent)
        while not store.zcard(permits):
            time.sleep(0.001)
    began = time.perf_counter()
    while store.zcard(permits):
        time.sleep(0.001)
    return time.perf_counter() - began


def request(address: str, token: str, tool: str) -> bytes:
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": tool, "arguments": {"seconds": SECONDS}}})
    lines = [
        "POST /mcp HTTP/1.1", f"Host: {address}", "Content-Type: application/json", f"Authorization: Bearer {token}",
        f"Content-Length: {len(body)}", "", body,
    ]  # fmt: skip
    return "\r\n".join(lines).encode()


def _name_of(folder: Path) -> str:
    config = (folder / "site/content/config/site.yaml").read_text()
    return next((line.partition(":")[2].strip() for line in config.splitlines() if line.startswith("name:")), "foundry")


if __name__ == "__main__":
    sys.exit(main())
