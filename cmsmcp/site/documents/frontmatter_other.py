"""TOML and JSON front matter as the same nodes that YAML gives, bounded alike.

Lines are those of the top-level keys, as far as they can be found.
"""

from __future__ import annotations

import json
import re
import tomllib
from typing import Any

from cmsmcp.site.yaml.loader import Mapping, Node, Scalar, Sequence, YamlFault

MAX_NODES = 1000
MAX_DEPTH = 32
# A dotted key of n parts costs the standard library's parser n² steps.
MAX_DOTS = 200
_KEY = re.compile(r"""[ \t]*[\[{]{0,2}[ \t]*(?:"([^"]*)"|'([^']*)'|([A-Za-z0-9_-]+))[ \t]*[=:.\]]""")
_TOML_LINE = re.compile(r"at line (\d+)")


class _Number(str):
    """A JSON number as written: nothing is lost to a float before a declared type is known."""

    __slots__ = ()


class _Twice(Exception):
    pass


def parse_toml(block: str, path: str, line: int) -> Node:
    """`line` is where `block` starts in the file. Raises YamlFault."""
    for offset, text in enumerate(block.split("\n")):
        if text.count(".") > MAX_DOTS:
            raise YamlFault(f"this line of TOML holds more than {MAX_DOTS} dots", path, line + offset)
    try:
        values = tomllib.loads(block)
    except tomllib.TOMLDecodeError as error:
        said = str(error)
        found = _TOML_LINE.search(said)
        twice = "overwrite" in said or "twice" in said
        message = "a key is given twice; keep one" if twice else "this is not valid TOML"
        raise YamlFault(message, path, line + (int(found.group(1)) - 1 if found else 0)) from None
    except (RecursionError, ValueError):  # ValueError: more digits than Python reads
        raise YamlFault("the TOML holds a value that is nested too deeply or has too many digits", path, line) from None
    return _Converter(path, line, block).root(values)


def parse_json(block: str, path: str, line: int) -> Node:
    """The one JSON object in `block`. Raises YamlFault."""
    start = len(block) - len(block.lstrip())
    node, end = scan_json(block, start, path, line + block.count("\n", 0, start), len(block))
    if block[end:].strip():
        raise YamlFault("the front matter holds more than one JSON value", path, line + block.count("\n", 0, end))
    return node


def scan_json(text: str, start: int, path: str, line: int, limit: int) -> tuple[Node, int]:
    """The JSON object that starts at `start`, in line `line`, and where it ends. Duplicate keys and NaN are refused. Raises YamlFault."""
    source = text[start:start + limit + 1]
    decoder = json.JSONDecoder(object_pairs_hook=_pairs, parse_int=_Number, parse_float=_Number, parse_constant=_constant)
    try:
        values, end = decoder.raw_decode(source)
    except json.JSONDecodeError as error:
        raise YamlFault("this is not valid JSON", path, line + error.lineno - 1) from None
    except _Twice as twice:
        key = str(twice)
        second = [m.start() for m in re.finditer(re.escape(json.dumps(key, ensure_ascii=False)) + r"\s*:", source)][1:2]
        raise YamlFault(f"`{key}` is given twice; keep one", path, line + source.count("\n", 0, (second or [0])[0]), key) from None
    except ValueError:
        raise YamlFault("NaN and Infinity are not JSON", path, line) from None
    except RecursionError:
        raise YamlFault("brackets are nested too deeply", path, line) from None
    return _Converter(path, line, source[:end]).root(values), start + end


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values = dict(pairs)
    if len(values) != len(pairs):
        seen: set[str] = set()
        raise _Twice(next(key for key, _ in pairs if key in seen or seen.add(key)))  # type: ignore[func-returns-value]
    return values


def _constant(name: str) -> Any:
    raise ValueError(name)


class _Converter:
    def __init__(self, path: str, line: int, source: str) -> None:
        self.path = path
        self.line = line
        self.source = source
        self.count = 0

    def root(self, values: Any) -> Node:
        if not isinstance(values, dict):
            return self.node(values, self.line, 1)
        if len(values) > MAX_NODES:
            raise YamlFault(f"the front matter holds more than {MAX_NODES} values", self.path, self.line)
        starts = self.key_starts()
        lines = {key: starts.get(key, self.line) for key in values}
        entries = {self.word(key, lines[key]): self.node(value, lines[key], 2) for key, value in values.items()}
        return Mapping(entries, self.path, self.line, lines)

    def key_starts(self) -> dict[str, int]:
        """The first line that starts with a key, quoted or not, or with a table's name, for each."""
        starts: dict[str, int] = {}
        for offset, text in enumerate(self.source.split("\n")):
            found = _KEY.match(text)
            if found:
                starts.setdefault(found.group(found.lastindex or 0), self.line + offset)
        return starts

    def node(self, value: Any, line: int, depth: int) -> Node:
        self.count += 1
        if self.count > MAX_NODES:
            raise YamlFault(f"the front matter holds more than {MAX_NODES} values", self.path, line)
        if isinstance(value, dict | list) and depth > MAX_DEPTH:
            raise YamlFault(f"values are nested more than {MAX_DEPTH} deep", self.path, line)
        if isinstance(value, dict):
            entries = {self.word(key, line): self.node(item, line, depth + 1) for key, item in value.items()}
            return Mapping(entries, self.path, line, dict.fromkeys(value, line))
        if isinstance(value, list):
            return Sequence([self.node(item, line, depth + 1) for item in value], self.path, line)
        return self.scalar(value, line)

    def word(self, text: str, line: int) -> str:
        """`text`, unless it holds what no file or reply can: NUL, or half a surrogate pair (from a JSON escape)."""
        if "\0" in text or not (text.isascii() or text.encode(errors="ignore").decode() == text):
            raise YamlFault("a text holds a NUL or half a surrogate pair", self.path, line)
        return text

    def scalar(self, value: Any, line: int) -> Scalar:
        if value is None:
            return Scalar("", True, self.path, line)
        if isinstance(value, _Number):
            return Scalar(str(value), True, self.path, line)
        if isinstance(value, str):
            return Scalar(self.word(value, line), False, self.path, line)
        if isinstance(value, bool):
            return Scalar("true" if value else "false", True, self.path, line)
        if isinstance(value, int | float):
            return Scalar(repr(value), True, self.path, line)  # `nan` and `inf` are text by the core schema
        return Scalar(value.isoformat(), True, self.path, line)  # TOML's dates and times
