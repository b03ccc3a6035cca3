"""YAML without guesses: scalars stay text until a declared type converts them, every node knows its file and line.

Reads the parser's events, so that nothing is resolved behind our back, duplicate keys are seen and aliases can be counted.
Bounded: nodes after alias expansion, depth, size. Merge keys (`<<`) are honoured: Foundry honours them, and a merged
`draft: true` must not be lost. The shapes (`nodes`) and the converters (`values`) can be had from here. Must not know what
any key means.
"""

from __future__ import annotations

from typing import Any

import yaml

from cmsmcp.site.yaml.nodes import Mapping, Node, Scalar, Sequence, YamlFault
from cmsmcp.site.yaml.values import boolean, core_value, integer, is_null, map_list, mapping, number, text, text_list

__all__ = [
    "Mapping", "Node", "Scalar", "Sequence", "YamlFault", "load",
    "boolean", "core_value", "integer", "is_null", "map_list", "mapping", "number", "text", "text_list",
]

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_CORE = "tag:yaml.org,2002:"
_SCALAR_TAGS = frozenset({"str", "int", "float", "bool", "null"})
MAX_BYTES = 16 * 1024 * 1024
MAX_FAULTS = 50

# What the parser says, and what we say instead (its own words are no help to a writer of front matter).
_PROBLEMS = (
    ("tab character", "a tab indents this line; YAML wants spaces"),
    ("nesting depth", "brackets are nested too deeply"),
    ("mapping values are not allowed", "a second `: ` stands where a value is wanted; put the value in quotes"),
    ("cannot start any token", "a value starts with a character YAML reserves (@ ` % or a tab); put it in quotes"),
    ("unexpected end of stream", "a quote is opened and never closed"),
    ("could not find expected ':'", "this line is neither `key: value` nor part of the value above"),
    ("expected ',' or ']'", "a list in brackets is not closed"),
    ("expected ',' or '}'", "a map in braces is not closed"),
    ("unknown escape", "a backslash in double quotes starts no known escape; use single quotes"),
    ("block sequence entries are not allowed", "a `- ` item stands where a value is wanted"),
    ("expected '-' indicator", "a list item `- ` is wanted here"),
    ("expected key", "`key: value` is wanted here; check indentation and quotes"),
    ("<document start>", "the file holds more than one YAML document"),
    ("undefined tag handle", "this tag is not known; leave it out"),
)


class _Frame:
    """A collection being read: `key` waits for its value (`merging`: it is `<<`), `height` is the deepest level below it,
    `before` the count of values at its start."""

    __slots__ = ("anchor", "before", "height", "key", "key_line", "merges", "merging", "node")

    def __init__(self, node: Sequence | Mapping, anchor: str | None, before: int) -> None:
        self.node = node
        self.anchor = anchor
        self.before = before
        self.height = 0
        self.key: str | None = None
        self.key_line = 0
        self.merging = False
        self.merges: list[Node] = []


def load(source: str, file: str, *, max_nodes: int = 1000, max_depth: int = 32, first_line: int = 1) -> Node:
    """The one document in `source`; nothing at all is an empty plain Scalar. `first_line` is the file's line where it starts.

    Raises YamlFault: not YAML, several documents, a tag beyond the core ones, a key that is no text, duplicate keys (all of
    them, in `others`), over `max_nodes` values (aliases expanded), deeper than `max_depth`, or over 16 MiB.
    """
    if len(source) > MAX_BYTES:
        raise YamlFault(f"the YAML text is over {MAX_BYTES} characters", file, first_line)
    return _Builder(file, max_nodes, max_depth, first_line).build(source)


class _Builder:
    def __init__(self, file: str, max_nodes: int, max_depth: int, first_line: int) -> None:
        self.file = file
        self.max_nodes = max_nodes
        self.max_depth = max_depth
        self.first_line = first_line
        self.count = 0
        self.stack: list[_Frame] = []
        self.root: Node | None = None
        self.anchors: dict[str, tuple[Node, int, int] | None] = {}
        self.faults: list[YamlFault] = []

    def build(self, source: str) -> Node:
        try:
            for event in yaml.parse(source, Loader=_LOADER):
                self.take(event)
        except yaml.YAMLError as error:
            raise self.explain(error, source) from None
        except RecursionError:
            raise self.fault("brackets are nested too deeply", self.first_line) from None
        if self.faults:
            first, *others = self.faults
            first.others = tuple(others)
            raise first
        return self.root if self.root is not None else Scalar("", True, self.file, self.first_line)

    def take(self, event: Any) -> None:
        kind = type(event)
        if kind is yaml.ScalarEvent:
            line = event.start_mark.line + self.first_line
            if "\0" in event.value:
                raise self.fault("a text holds a NUL character", line)
            plain, tag = not event.style, None
            if event.tag:
                tag = self.core_tag(event.tag, _SCALAR_TAGS, line)
                plain = tag not in ("str", None)
            node = Scalar(event.value, plain, self.file, line, tag)
            if event.anchor:
                self.anchors[event.anchor] = (node, 1, 0)
            self.place(node, line, 1, 0)
        elif kind is yaml.MappingStartEvent:
            self.open(Mapping({}, self.file, event.start_mark.line + self.first_line), event, "map")
        elif kind is yaml.SequenceStartEvent:
            self.open(Sequence([], self.file, event.start_mark.line + self.first_line), event, "seq")
        elif kind in (yaml.MappingEndEvent, yaml.SequenceEndEvent):
            self.close()
        elif kind is yaml.AliasEvent:
            self.alias(event.anchor, event.start_mark.line + self.first_line)
        elif kind is yaml.DocumentStartEvent and self.root is not None:
            raise self.fault("the file holds more than one YAML document", event.start_mark.line + self.first_line)

    def place(self, node: Node, line: int, size: int, height: int) -> None:
        """Put `node` where the text puts it; a mapping takes a key, then its value."""
        stack = self.stack
        if not stack:
            self.root = node
            self.grow(size, line)
            return
        frame = stack[-1]
        parent = frame.node
        if type(parent) is Sequence:
            parent.items.append(node)
        elif frame.key is None:
            if type(node) is not Scalar:
                raise self.fault("a key must be plain text, not a list or a map", line)
            frame.key, frame.key_line = node.text, line
            frame.merging = node.plain and node.text == "<<"
            return
        else:
            self.enter(frame, node)
        self.grow(size, line)
        if height >= frame.height:
            frame.height = height + 1
            if len(stack) + height > self.max_depth:
                raise self.fault(f"values are nested more than {self.max_depth} deep", line)

    def enter(self, frame: _Frame, node: Node) -> None:
        key, parent = frame.key, frame.node
        frame.key = None
        if frame.merging:
            frame.merges.append(node)
            return
        assert key is not None and type(parent) is Mapping
        if key in parent.entries:
            if len(self.faults) < MAX_FAULTS:
                first = parent.key_lines[key]
                self.faults.append(self.fault(f"`{key}` is given twice (first in line {first}); keep one", frame.key_line, key))
            return
        parent.entries[key] = node
        parent.key_lines[key] = frame.key_line

    def open(self, node: Sequence | Mapping, event: Any, tag: str) -> None:
        if event.tag:
            self.core_tag(event.tag, frozenset({tag}), node.line)
        if len(self.stack) >= self.max_depth:
            raise self.fault(f"values are nested more than {self.max_depth} deep", node.line)
        if event.anchor:
            self.anchors[event.anchor] = None  # not complete: an alias to it now would be a cycle
        self.grow(0, node.line)
        self.stack.append(_Frame(node, event.anchor, self.count))

    def close(self) -> None:
        frame = self.stack.pop()
        if frame.merges:
            self.merge(frame)
        if frame.anchor:
            self.anchors[frame.anchor] = (frame.node, self.count - frame.before + 1, frame.height)
        self.place(frame.node, frame.node.line, 1, frame.height)

    def merge(self, frame: _Frame) -> None:
        """`<<: *defaults`: entries that the mapping itself does not give, the first merged mapping first."""
        target = frame.node
        assert type(target) is Mapping
        for source in frame.merges:
            for item in source.items if type(source) is Sequence else [source]:
                if type(item) is not Mapping:
                    raise self.fault("`<<` merges maps only; name one or a list of them", source.line, "<<")
                for key, node in item.entries.items():
                    if key not in target.entries:
                        target.entries[key] = node
                        target.key_lines[key] = item.key_lines[key]

    def alias(self, name: str, line: int) -> None:
        known = self.anchors.get(name)
        if known is None:
            problem = "refers to the value it stands in" if name in self.anchors else "has no anchor above it"
            raise self.fault(f"the alias *{name} {problem}", line)
        node, size, height = known
        self.place(node, line, size, height)

    def grow(self, size: int, line: int) -> None:
        self.count += size
        if self.count > self.max_nodes:
            raise self.fault(f"the YAML holds more than {self.max_nodes} values (aliases counted each time they are used)", line)

    def core_tag(self, tag: str, allowed: frozenset[str], line: int) -> str | None:
        if tag == "!":
            return None
        name = tag.removeprefix(_CORE)
        if name == tag or name not in allowed:
            raise self.fault(f"the tag {_shown_tag(tag)} is not allowed here; leave it out", line)
        return name

    def fault(self, message: str, line: int, key: str | None = None) -> YamlFault:
        return YamlFault(message, self.file, line, key)

    def explain(self, error: yaml.YAMLError, source: str) -> YamlFault:
        mark = getattr(error, "problem_mark", None)
        if mark is None:  # a character YAML does not allow; the reader counts it in characters or bytes
            before = source[: getattr(error, "position", 0) or 0]
            return self.fault("a control character stands in the text; remove it", before.count("\n") + self.first_line)
        problem = str(getattr(error, "problem", ""))
        said = next((ours for theirs, ours in _PROBLEMS if theirs in problem), "this is not valid YAML")
        lines = source.split("\n")
        if mark.line < len(lines) and lines[mark.line].lstrip(" ").startswith("\t"):
            said = _PROBLEMS[0][1]
        line = min(mark.line, max(0, len(lines) - (1 if lines[-1] else 2)))
        return self.fault(said, line + self.first_line)


def _shown_tag(tag: str) -> str:
    short = "!!" + tag.removeprefix(_CORE) if tag.startswith(_CORE) else tag
    return short[:60] if short.isprintable() else "here"
