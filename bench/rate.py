"""Whether the rate limit admits what it says, to the unit, over real HTTP and several workers.

`python -m bench.rate --workers 4` starts a server of its own (a private Redis, the site of `cmsmcp init`), asks as fast as it can over many
connections of one token, and counts what was admitted in the first minute: burst + rate, and not one more. Prints one JSON object
and ends with 1 when the figure is another.
"""

from __future__ import annotations

import argparse
import http.client
import json
import sys
import threading
import time
from collections import Counter
from dataclasses import dataclass, field

from bench.server import held_by, serving, spread

PING = b'{"jsonrpc":"2.0","id":1,"method":"ping"}'


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
    limit = f"rate_limit: {{requests_per_minute: {options.per_minute}, burst: {options.burst}}}"
    with serving(options.workers, limit) as (address, token, process, _):
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
