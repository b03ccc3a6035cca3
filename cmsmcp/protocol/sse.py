"""Server-sent events (WHATWG HTML §9.2): one message as one event, on one line where the message is one. Pure."""

from __future__ import annotations

EVENT_STREAM = "text/event-stream"
COMMENT = b":\n\n"
"""Says nothing; it keeps what lies between awake, and fails to be written once the reader has gone."""


def event(message: bytes, id: str = "") -> bytes:
    """`id` is what a client gives as `Last-Event-ID` when it comes back; blank: none. An empty message is an event without data."""
    named = b"id: %b\n" % id.encode("ascii") if id else b""
    return named + b"event: message\n" + b"".join(b"data: %b\n" % line for line in message.splitlines() or [b""]) + b"\n"


def retry(milliseconds: int) -> bytes:
    """How long a client waits before it comes back."""
    return b"retry: %d\n\n" % milliseconds
