"""The audit as it is read back: entries in the order they were written, wherever they are kept.

Knows what a reader needs of any store. Must not know files or Redis.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Protocol


@dataclass(frozen=True, slots=True)
class Entry:
    """One record with its `time` (ISO 8601, UTC, milliseconds), and the `id` its store gave it, if it gives any.

    `position` means something to its store alone: where to go on reading.
    """

    position: Any
    record: Mapping[str, str]


class Trail(Protocol):
    """Raises Unavailable, or OSError where it is a file, when it cannot be read."""

    def latest(self, count: int) -> Sequence[Entry]:
        """The last `count`, oldest first."""
        ...

    def since(self, start_ms: int) -> Iterator[Entry]:
        """All from that moment on, oldest first, in bounded memory."""
        ...

    def end(self) -> Any:
        """The position behind the last entry."""
        ...

    def after(self, position: Any) -> Sequence[Entry]:
        """What has been written behind a position, oldest first; at most some hundreds at a time."""
        ...


def moment(milliseconds: int) -> str:
    """ISO 8601 in UTC, as records carry it."""
    return datetime.fromtimestamp(milliseconds / 1000, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
