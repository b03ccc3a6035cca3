"""Hangs up before it replies."""

import time

from marshmallow import Schema, fields

from cmsmcp.core.capability import Blocks, Call, tool


class Input(Schema):
    seconds = fields.Float(load_default=0.0, metadata={"description": "How long it works after that."})


@tool(scope="read:content", audit="tests.come_back", talks=True, blocks=True, input=Input)
def come_back(arguments, call: Call):
    """Hang up, work, and reply."""
    call.dialogue.hang_up(50)
    time.sleep(arguments["seconds"])
    return Blocks([{"type": "text", "text": "worth the way"}])
