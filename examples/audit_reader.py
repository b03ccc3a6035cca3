"""Follow the audit of a site with plain redis-py, as a dashboard would (docs/audit.md is the contract).

    REDIS_URL=redis://dashboard:PASSWORD@host:6379/0 python examples/audit_reader.py "$(cmsmcp audit key --site my-site)" [FROM_ID]

One JSON line for each call that ended or was refused, and for each that never told its end. FROM_ID is the last id you have seen, or
0 for everything that is still there; without it only what happens from now on.
"""

import json
import os
import sys
import time

import redis

LOST_AFTER = 120  # seconds; longer than any call may take


def follow(client, stream, last="$"):
    """Yield (id, record, intent or None): outcomes and refusals as they come, and intents that stayed without an outcome."""
    if last == "$":  # an id of our own, or what is written between two reads would be missed
        newest = client.xrevrange(stream, count=1)
        last = newest[0][0] if newest else "0"
    waiting = {}
    while True:
        for _, records in client.xread({stream: last}, count=500, block=1000):
            for last, record in records:  # noqa: B020, PLW2901 - the next read goes on behind it
                if record["phase"] == "intent":
                    waiting[record["event"]] = (last, record)
                else:
                    yield last, record, waiting.pop(record["event"], (None, None))[1]
        oldest = (time.time() - LOST_AFTER) * 1000
        for event, (at, intent) in list(waiting.items()):
            if int(at.split("-")[0]) < oldest:
                yield at, {**waiting.pop(event)[1], "phase": "lost"}, intent


def main():
    client = redis.Redis.from_url(os.environ["REDIS_URL"], protocol=2, decode_responses=True, socket_timeout=5)
    for at, record, intent in follow(client, *sys.argv[1:3]):
        asked = {"arguments": intent["arguments"]} if intent and "arguments" in intent else {}
        print(json.dumps({"id": at, **record, **asked}), flush=True)


if __name__ == "__main__":
    main()
