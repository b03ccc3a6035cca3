"""YAML without guesses: scalars stay text until a declared type converts them, every node knows its file and line.

Stub of the shapes; the loader follows.
"""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(slots=True)
class Scalar:
    """`plain` is False when the author quoted the text (then `"no"` can only be text). `tag` is an explicit tag, if any."""

    text: str
    plain: bool
    file: str
    line: int
    tag: str | None = None


@dataclass(slots=True)
class Sequence:
    items: list[Node]
    file: str
    line: int


@dataclass(slots=True)
class Mapping:
    """`entries` in the author's order; `key_lines` says where each key stands."""

    entries: dict[str, Node]
    file: str
    line: int
    key_lines: dict[str, int] = field(default_factory=dict)


Node = Scalar | Sequence | Mapping
