"""What YAML, TOML and JSON front matter become: nodes whose scalars are still text, each with its file and line. Shapes only."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(slots=True)
class Scalar:
    """`plain` is False when the author quoted the text (then `"no"` can only be text). `tag` is an explicit core tag ("int"), if any."""

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
    """`entries` in the author's order; `key_lines` says where each key stands. Keys are text, whatever they look like."""

    entries: dict[str, Node]
    file: str
    line: int
    key_lines: dict[str, int] = field(default_factory=dict)


Node = Scalar | Sequence | Mapping


class YamlFault(Exception):
    """What is wrong, in one line, and where. `others` are further faults found in the same text (every duplicate key)."""

    def __init__(self, message: str, file: str, line: int, key: str | None = None) -> None:
        super().__init__(f"{file}:{line}: {message}")
        self.message = message
        self.file = file
        self.line = line
        self.key = key
        self.others: tuple[YamlFault, ...] = ()

    @property
    def all(self) -> tuple[YamlFault, ...]:
        return (self, *self.others)
