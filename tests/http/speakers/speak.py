"""Speaks at once, and goes on working for a while."""

import time

from marshmallow import Schema, fields

from cmsmcp.core.capability import Blocks, Call, tool


class Input(Schema):
    seconds = fields.Float(load_default=0.0, metadata={"description": "How long it works."})


@tool(scope="read:content", audit="tests.speak", talks=True, blocks=True, input=Input)
def speak(arguments, call: Call):
    """Say that it has begun, work, and reply."""
    call.dialogue.progress(1, 2, "begun")
    end = time.monotonic() + arguments["seconds"]
    while time.monotonic() < end:
        call.deadline.check()
        time.sleep(0.02)
    call.dialogue.progress(2, 2, "done")
    return Blocks([{"type": "text", "text": "spoken"}])
