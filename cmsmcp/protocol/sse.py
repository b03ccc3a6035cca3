"""Server-sent events (WHATWG HTML §9.2): one message as one event, on one line where the message is one. Pure."""

from __future__ import annotations

EVENT_STREAM = "text/event-stream"


def event(message: bytes) -> bytes:
    return b"event: message\n" + b"".join(b"data: %b\n" % line for line in message.splitlines()) + b"\n"
