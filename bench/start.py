"""How soon a stdio server answers after its process begins: `python -m bench.start [SITE]`.

One line: median, best and worst of 15 starts until the reply to `initialize`, and a bare interpreter's whole life beside them.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

ROUNDS = 15
PARAMS = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}
INITIALIZE = json.dumps({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": PARAMS}).encode() + b"\n"


def first_reply(site: Path) -> float:
    command = [Path(sys.executable).with_name("cmsmcp"), "mcp", "serve", "--transport", "stdio", "--site", site]
    began = time.perf_counter()
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as server:
        assert server.stdin and server.stdout
        server.stdin.write(INITIALIZE)
        server.stdin.flush()
        assert b'"result"' in server.stdout.readline()
        took = time.perf_counter() - began
        server.stdin.close()
    return took


def bare() -> float:
    began = time.perf_counter()
    subprocess.run([sys.executable, "-c", "pass"], check=True)
    return time.perf_counter() - began


def times(measure: Callable[[], float]) -> list[float]:
    return sorted(measure() for _ in range(ROUNDS))


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.start", description=__doc__)
    parser.add_argument("site", type=Path, nargs="?", default=Path("examples/site"))
    site = parser.parse_args().site
    replies, lives = times(lambda: first_reply(site)), times(bare)
    median, life = statistics.median(replies), statistics.median(lives)
    print(f"first reply: {median:.3f} s median, {replies[0]:.3f} at best, {replies[-1]:.3f} at worst of {ROUNDS};", end=" ")
    print(f"bare interpreter {life:.3f} s, {median / life:.1f} times")


if __name__ == "__main__":
    main()
