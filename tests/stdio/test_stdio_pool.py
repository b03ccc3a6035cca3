"""Streams carried beside calls, without a process around them."""

from __future__ import annotations

from typing import Any

from cmsmcp.core.out import Stream
from cmsmcp.transports.stdio.pool import Pool


class Cancelling:
    """A writer during whose first line the client's cancel is read."""

    def __init__(self, stream: Stream) -> None:
        self.lines: list[Any] = []
        self._stream = stream

    def write(self, body: Any) -> None:
        self.lines.append(body)
        self._stream.close()


class Going:
    requested = False


def test_nothing_follows_a_cancel_that_came_while_notices_were_written() -> None:
    """ST-08: they were taken together."""
    stream = Stream(lambda: None, request="L1")
    stream.put("a", b"1")
    stream.put("b", b"2")
    writer = Cancelling(stream)
    pool = Pool(writer, Going())  # type: ignore[arg-type]
    pool._carried = 1
    pool._carry(stream)
    assert writer.lines == [b"1"]
