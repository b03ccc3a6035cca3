"""Asks the client's user for a name, and reports progress on the way."""

import time

from cmsmcp.core.capability import Blocks, Call, tool
from cmsmcp.core.dialogue import Elicit

NAME = {"type": "object", "properties": {"name": {"type": "string", "title": "Name"}}, "required": ["name"]}


@tool(scope="read:content", audit="tests.greet", talks=True, blocks=True)
def greet_by_name(arguments, call: Call):
    """Greet the user by name, after asking for it."""
    call.dialogue.progress(1, 3)
    answer = call.dialogue.ask({"name": Elicit("Who is there?", NAME)})["name"]
    call.dialogue.progress(2, 3)
    if answer["action"] != "accept":
        return Blocks([{"type": "text", "text": "Nobody told me a name."}])
    call.dialogue.progress(3, 3)
    time.sleep(0.05)  # the TypeScript client that reads progress and reply at once has forgotten whose progress it was
    return Blocks([{"type": "text", "text": f"Good day, {answer['content']['name']}."}])
