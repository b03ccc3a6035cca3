"""Computes and never pauses."""

import time

from marshmallow import Schema, fields

from cmsmcp.core.capability import Blocks, Call, tool


class Input(Schema):
    seconds = fields.Float(load_default=0.0, metadata={"description": "How long."})


@tool(scope="read:content", audit="tests.compute", blocks=True, input=Input, timeout=60.0)
def compute(arguments, call: Call):
    """Compute without a pause, and look now and then whether to go on."""
    end = time.monotonic() + arguments["seconds"]
    while time.monotonic() < end:
        call.deadline.check()
        sum(range(10_000))
    return Blocks([{"type": "text", "text": "computed"}])
