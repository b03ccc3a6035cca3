"""What an outage of Redis costs those who ask, and how soon it is over: `python -m bench.outage [--rounds 5]`.

A server of two workers with a private Redis, which is frozen (SIGSTOP) for three seconds and goes on. One row for each round: the slowest
of the refusals meanwhile, and the time from the end of the outage until six calls in a row are served. Ends with 1 when a target is missed.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
import time
from collections.abc import Callable
from http.client import HTTPConnection
from pathlib import Path

from bench.server import descendants, serving

FROZEN_SECONDS = 3.0
REFUSED_WITHIN, HEALED_WITHIN = 0.5, 2.0
LIST = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "list_documents", "arguments": {}}})


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.outage", description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    rounds = parser.parse_args().rounds
    missed = False
    with serving(2, "rate_limit: {requests_per_minute: 600000, burst: 100000}") as (address, token, process, _):
        redis = next(one for one in descendants(process) if b"redis-server" in Path(f"/proc/{one}/cmdline").read_bytes())
        for _ in range(rounds):
            wait_for(lambda: all(ask(address, token)[0] == 200 for _ in range(6)))
            os.kill(redis, signal.SIGSTOP)
            end, slowest = time.monotonic() + FROZEN_SECONDS, 0.0
            while time.monotonic() < end:
                status, took = ask(address, token)
                assert status == 503, status
                slowest = max(slowest, took)
            os.kill(redis, signal.SIGCONT)
            began = time.perf_counter()
            wait_for(lambda: all(ask(address, token)[0] == 200 for _ in range(6)))
            healed = time.perf_counter() - began
            missed |= slowest > REFUSED_WITHIN or healed > HEALED_WITHIN
            print(f"slowest refusal {slowest:.3f} s, healed after {healed:.3f} s", flush=True)
    return int(missed)


def ask(address: str, token: str) -> tuple[int, float]:
    """The status, and how long it took."""
    began = time.perf_counter()
    connection = HTTPConnection(address, timeout=30)
    connection.request("POST", "/mcp", LIST, {"Content-Type": "application/json", "Authorization": f"Bearer {token}"})
    status = connection.getresponse().status
    connection.close()
    return status, time.perf_counter() - began


def wait_for(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < end, "it does not heal"


if __name__ == "__main__":
    sys.exit(main())
