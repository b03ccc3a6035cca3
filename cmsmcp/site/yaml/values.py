"""From nodes to plain values: by a declared type, or by the YAML 1.2 core schema where none is declared (docs/rules.md, YAML).

A converter raises YamlFault with the value's kind and what was wanted; `key` names the value in that message.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from typing import Any

from cmsmcp.site.yaml.nodes import Mapping, Node, Scalar, Sequence, YamlFault

_WORDS: dict[str, Any] = {
    "": None, "~": None, "null": None, "Null": None, "NULL": None,
    "true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False,
}
# A declared boolean also takes the words of YAML 1.1: Foundry does, and refusing `off` would help nobody.
_BOOLEANS = {**{word: True for w in ("y", "yes", "on", "true") for word in (w, w.title(), w.upper())},
             **{word: False for w in ("n", "no", "off", "false") for word in (w, w.title(), w.upper())}}
_NUMERIC = frozenset("0123456789+-.")
_INT = re.compile(r"[-+]?[0-9]+\Z")
_BASED = re.compile(r"0o[0-7]+\Z|0x[0-9a-fA-F]+\Z")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?\Z")
_INT64 = 1 << 63
_LONGEST = 400
_LONGEST_SHOWN = 100


def core_value(node: Node) -> Any:
    """`node` as None, bool, int, float, str, list or dict. `no`, `12:30`, `2026-03-06`, `.nan` stay text, as do numbers
    beyond 64 bits: everything here can be written as JSON."""
    if isinstance(node, Scalar):
        return _core_scalar(node)
    if isinstance(node, Mapping):
        return {key: core_value(value) for key, value in node.entries.items()}
    return [core_value(item) for item in node.items]


def is_null(node: Node) -> bool:
    """`key:`, `~` or `null`, not quoted."""
    return isinstance(node, Scalar) and node.plain and node.text in _WORDS and _WORDS[node.text] is None


def text(node: Node, key: str | None = None) -> str:
    """The scalar as the author wrote it (`1.10` stays `1.10`); null is ""."""
    if not isinstance(node, Scalar):
        raise _unwanted(node, "text", key)
    return "" if is_null(node) else node.text


def boolean(node: Node, key: str | None = None) -> bool:
    """true/false, yes/no, on/off, y/n, not quoted."""
    if isinstance(node, Scalar) and node.plain and node.text in _BOOLEANS:
        return _BOOLEANS[node.text]
    raise _unwanted(node, "true or false", key)


def integer(node: Node, key: str | None = None) -> int:
    """A whole number of at most 64 bits, not quoted."""
    value = _core_scalar(node) if isinstance(node, Scalar) else None
    if type(value) is int:
        return value
    raise _unwanted(node, "a whole number", key)


def number(node: Node, key: str | None = None) -> int | float:
    """A finite number, not quoted."""
    value = _core_scalar(node) if isinstance(node, Scalar) else None
    if type(value) is int or type(value) is float:
        return value
    raise _unwanted(node, "a number", key)


Warn = Callable[[Node, str], None]
"""Takes a node and one line on how it should be written."""


def text_list(node: Node, key: str, warn: Warn) -> list[str]:
    """A list of scalars; null is []. A single text is a list of one, with a warning. Blank items are dropped."""
    if isinstance(node, Mapping):
        raise _unwanted(node, 'a list of texts, such as ["one", "two"],', key)
    if isinstance(node, Sequence):
        return [item for item in (text(entry, key) for entry in node.items) if item.strip()]
    single = text(node, key)
    if not single.strip():
        return []
    warn(node, f"`{key}` is a single text and is taken as a list of one; write {_as_list(single)}")
    return [single]


def map_list(node: Node, key: str, warn: Warn) -> list[Node]:
    """The items of a list of maps, whatever they are; null is []. A single map is a list of one, with a warning."""
    if is_null(node):
        return []
    if isinstance(node, Sequence):
        return node.items
    if not isinstance(node, Mapping):
        raise _unwanted(node, "a list of maps, each beginning with `- `,", key)
    warn(node, f"`{key}` is a single map and is taken as a list of one; begin it with `- `")
    return [node]


def mapping(node: Node, key: str | None = None) -> dict[str, Node]:
    """A map; null is {}."""
    if is_null(node):
        return {}
    if not isinstance(node, Mapping):
        raise _unwanted(node, "a map", key)
    return node.entries


def kind_of(node: Node) -> str:
    """What the author wrote, in words: "a list", "the text "solo"", "the number 3", "nothing"."""
    if isinstance(node, Sequence):
        return "a list"
    if isinstance(node, Mapping):
        return "a map"
    value = _core_scalar(node)
    if value is None:
        return "nothing"
    short = value_text if (value_text := node.text).isprintable() and len(value_text) <= 40 else ""
    word = {bool: "", int: "the number ", float: "the number "}.get(type(value))
    if word is not None:
        return f"{word}{short}" if short else "a number"
    return f'the text "{short}"' if short else "a text"


def _core_scalar(node: Scalar) -> Any:
    source = node.text
    if not node.plain:
        return source
    if source in _WORDS:
        return _WORDS[source]
    if source[0] not in _NUMERIC or len(source) > _LONGEST:
        return source
    if _INT.match(source):
        return _in_range(int(source), source)
    if _BASED.match(source):
        return _in_range(int(source, 0), source)
    if _FLOAT.match(source):
        value = float(source)
        return value if math.isfinite(value) else source
    return source


def _in_range(value: int, source: str) -> int | str:
    return value if -_INT64 <= value < _INT64 else source


def _unwanted(node: Node, wanted: str, key: str | None) -> YamlFault:
    name = f"`{key}` is" if key else "this is"
    return YamlFault(f"{name} {kind_of(node)}, but {wanted} is wanted", node.file, node.line, key)


def _as_list(single: str) -> str:
    """How a list is spelled in YAML, TOML and JSON alike. A text with commas may have been meant as several."""
    if len(single) > _LONGEST_SHOWN:
        return '["…"], with the text between the quotes'
    several = [part.strip() for part in single.split(",") if part.strip()]
    one = json.dumps([single.strip()], ensure_ascii=False)
    return one if len(several) < 2 else f"{json.dumps(several, ensure_ascii=False)}, or {one} if it is one"
