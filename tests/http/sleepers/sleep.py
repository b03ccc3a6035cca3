"""Sleeps."""

import time

from marshmallow import Schema, fields

from cmsmcp.core.capability import Blocks, Call, tool


class Input(Schema):
    seconds = fields.Float(load_default=0.0, metadata={"description": "How long."})


@tool(scope="read:content", audit="tests.sleep", blocks=True, input=Input, task="optional", timeout=60.0)
def sleep(arguments, call: Call):
    """Sleep, and look now and then whether to go on."""
    end = time.monotonic() + arguments["seconds"]
    while time.monotonic() < end:
        call.deadline.check()
        time.sleep(0.02)
    return Blocks([{"type": "text", "text": "slept"}])
