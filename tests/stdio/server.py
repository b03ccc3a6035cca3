"""A stdio server with capabilities that misbehave on purpose; the tests start it as a client starts a real one."""

from __future__ import annotations

import logging
import os
import sys
import time
import warnings
from functools import cache

from cmsmcp.core.announced import Offer
from cmsmcp.core.ports import Caller
from cmsmcp.core.service import Service
from cmsmcp.governance.policy import Policy
from cmsmcp.governance.scopes import READ_SCOPES
from cmsmcp.state.memory.admission import MemoryAdmission
from cmsmcp.transports.stdio import claim_streams, serve


class Kept:
    """An audit sink that keeps records in memory."""

    def __init__(self) -> None:
        self.records: list[object] = []

    def append(self, record: object) -> None:
        self.records.append(record)


def capabilities():
    from marshmallow import Schema, fields

    from cmsmcp.core.capability import resource, tool

    class Input(Schema):
        text = fields.String(load_default="")
        seconds = fields.Float(load_default=0)

    class Output(Schema):
        text = fields.String(required=True)

    def declare(**more):
        return tool(scope="read:content", audit="test", input=Input, output=Output, **more)

    @declare()
    def echo(arguments, call):
        """Says it again."""
        return arguments

    @declare()
    def slow(arguments, call):
        """Works for some seconds, and stops when told to."""
        end = time.monotonic() + arguments["seconds"]
        while time.monotonic() < end:
            call.deadline.check()
            time.sleep(0.01)
        return arguments

    @declare(timeout=0.5)
    def stubborn(arguments, call):
        """Ignores its deadline."""
        time.sleep(arguments["seconds"])
        return arguments

    @declare()
    def noisy(arguments, call):
        """Writes everywhere it should not."""
        print("printed")
        os.write(1, b"written to descriptor 1\n")
        sys.stdout.write("and to sys.stdout\n")
        warnings.warn("a warning", stacklevel=1)
        logging.getLogger("noisy").error("a log line")
        return arguments

    @declare()
    def broken(arguments, call):
        """Fails."""
        raise RuntimeError("boom")

    @resource("test://big", scope="read:content", audit="test", output=Output)
    def big(variables, call):
        """Larger than its limit."""
        return {"text": "x" * 300_000}

    return echo, slow, stubborn, noisy, broken, big


def main() -> int:
    incoming, outgoing = claim_streams()
    logging.basicConfig(stream=sys.stderr, level=logging.DEBUG)
    print("a banner")
    policy = Policy(enabled=True, audit=True, scopes=READ_SCOPES, max_concurrency=int(os.environ.get("TEST_CAP", "16")))
    admission = MemoryAdmission(policy, Kept())

    @cache
    def registry():
        from cmsmcp.core.registry import Registry

        return Registry(capabilities())

    offers = (Offer("echo", "tool", "read:content"), Offer("big", "resource", "read:content"))
    service = Service(
        policy, registry, lambda: None, lambda: admission, "1.2.3", site_name="fixture", offers=lambda: offers,  # type: ignore[arg-type, return-value]
    )  # fmt: skip
    return serve(service, Caller("local", READ_SCOPES), incoming, outgoing)


if __name__ == "__main__":
    sys.exit(main())
