"""Go source as facts: imports, uses of them, methods, strings. Parsed with tree-sitter, so that broken code still tells.

Knows the grammar of Go, not which use is dangerous: that is `gorules`.
"""

from __future__ import annotations

import re
import time
from dataclasses import dataclass
from functools import cache

import tree_sitter_go
from tree_sitter import Language, Node, Parser, Query, QueryCursor

# One row for each fact. Asking a node for its parent costs its depth, so that every relation is spelled out here instead.
_IMPORT, _CALL, _CALL_THROUGH, _CALL_IN_BRACKETS, _BARE_CALL, _NAME, _TYPE, _METHOD, _TEXT, _RAW_TEXT, _LOCAL, _SCOPE = range(12)
_QUERY = """
(import_spec) @node
(call_expression function: (selector_expression operand: (identifier)) @node arguments: (argument_list) @arguments)
(call_expression function: (selector_expression operand: (selector_expression operand: (identifier)) @node field: (_) @then)
  arguments: (argument_list) @arguments)
(call_expression function: (parenthesized_expression (selector_expression operand: (identifier)) @node)
  arguments: (argument_list) @arguments)
(call_expression function: (identifier) @node arguments: (argument_list) @arguments)
(selector_expression operand: (identifier)) @node
(qualified_type) @node
(method_declaration name: (field_identifier) @node)
(interpreted_string_literal) @node
(raw_string_literal) @node
[(parameter_declaration name: (identifier) @node)
 (short_var_declaration left: (expression_list (identifier) @node))
 (range_clause left: (expression_list (identifier) @node))
 (var_spec name: (identifier) @node)] @declaration
[(block) (function_declaration) (method_declaration) (func_literal) (if_statement) (for_statement) (expression_switch_statement)
 (type_switch_statement) (expression_case) (default_case) (type_case) (communication_case)] @node
"""
_CALLS = (_CALL, _CALL_THROUGH, _CALL_IN_BRACKETS)
MAX_NESTING = 500
MAX_DEPTH = 2_000
MAX_SECONDS = 2.0
_PIECE = 1 << 16
MAX_SHADOWS = 200
_BRACKET = re.compile(rb"[(\[{]|[)\]}]")
_TEXTS = ("interpreted_string_literal", "raw_string_literal")
_MAJOR = re.compile(r"v\d+\Z")


@dataclass(frozen=True, slots=True)
class Import:
    """`alias` is the name in this file: the declared one, else the last part of the path; "." and "_" as written."""

    path: str
    alias: str
    line: int


@dataclass(frozen=True, slots=True)
class Use:
    """`package` is the import path; `name` what is taken from it (`DefaultClient.Get` when a call goes through it).

    `called` is False for a name alone. `texts` are the string literals among the first two arguments of a call.
    """

    package: str
    name: str
    line: int
    called: bool
    texts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class GoFile:
    """`methods` and `strings` are (text, line). `broken_line` is the first line the parser could not make sense of, or None."""

    imports: tuple[Import, ...]
    uses: tuple[Use, ...]
    methods: tuple[tuple[str, int], ...]
    strings: tuple[tuple[str, int], ...]
    broken_line: int | None


@cache
def _language() -> Language:
    return Language(tree_sitter_go.language())


@cache
def _query() -> Query:
    return Query(_language(), _QUERY)


def read_go(source: bytes, seconds: float = MAX_SECONDS) -> GoFile:
    """The facts of one file; what cannot be parsed is passed over. Raises Unreadable: nested too deeply, or slower than `seconds`."""
    if _bracket_depth(source) > MAX_NESTING:
        raise Unreadable("brackets are nested too deeply")
    root = _parse(source, seconds)
    if _is_deep(root):
        raise Unreadable("expressions are nested too deeply")
    return _Facts(source, root).file(root)


class Unreadable(Exception):
    """Source that nobody writes by hand, and that would cost too much to look into. `message` says why."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


def _parse(source: bytes, seconds: float) -> Node:
    end = time.monotonic() + seconds

    def late(_offset: int, _broken: bool) -> bool:
        return time.monotonic() > end

    try:
        return Parser(_language()).parse(lambda at, _point: source[at : at + _PIECE], progress_callback=late).root_node
    except ValueError:
        raise Unreadable(f"parsing took longer than {seconds:g} s") from None


def _bracket_depth(source: bytes) -> int:
    depth = deepest = 0
    for match in _BRACKET.finditer(source):
        depth = depth + 1 if match.group() in b"([{" else max(0, depth - 1)
        deepest = max(deepest, depth)
    return deepest


def _is_deep(root: Node) -> bool:
    """Chains such as `a.b.c` nest without a bracket; a query's cost explodes beyond some ten thousand levels."""
    cursor, depth = root.walk(), 0
    while True:
        if cursor.goto_first_child():
            depth += 1
            if depth > MAX_DEPTH:
                return True
            continue
        while not cursor.goto_next_sibling():
            if not cursor.goto_parent():
                return False
            depth -= 1


class _Facts:
    """The rows of the query by kind. Texts are cut from the source: a node would ask the parser's reader for every one."""

    def __init__(self, source: bytes, root: Node) -> None:
        self.source = source
        self.rows: dict[int, list[dict[str, Node]]] = {kind: [] for kind in range(_SCOPE + 1)}
        for kind, captured in QueryCursor(_query()).matches(root):
            self.rows[kind].append({name: nodes[0] for name, nodes in captured.items()})
        self.imports = tuple(self.import_of(one["node"]) for one in self.rows[_IMPORT])
        self.named = {one.alias: one.path for one in self.imports if one.alias not in (".", "_")}

    def file(self, root: Node) -> GoFile:
        in_imports = {one["node"].end_byte for one in self.rows[_IMPORT]}
        texts = [one["node"] for one in self.rows[_TEXT] + self.rows[_RAW_TEXT] if one["node"].end_byte not in in_imports]
        return GoFile(
            self.imports,
            tuple(sorted([*self.uses(), *self.bare_uses()], key=lambda use: use.line)),
            tuple((self.text(one["node"]), _line(one["node"])) for one in self.rows[_METHOD]),
            tuple(sorted(((self.unquoted(node), _line(node)) for node in texts), key=lambda one: one[1])),
            _broken_line(root),
        )

    def import_of(self, node: Node) -> Import:
        path = self.unquoted(node.child_by_field_name("path"))
        name = node.child_by_field_name("name")
        return Import(path, self.text(name) if name is not None else _package_name(path), _line(node))

    def uses(self) -> list[Use]:
        shadows = self.shadows()
        found: dict[int, Use] = {}
        for kind in (*_CALLS, _NAME, _TYPE):
            for one in self.rows[kind]:
                node = one["node"]
                alias, place = self.text(node.named_child(0)), node.start_byte
                if alias not in self.named or place in found or any(start <= place < end for start, end in shadows.get(alias, ())):
                    continue
                name = ".".join([self.text(node.named_child(1)), *([self.text(one["then"])] if "then" in one else [])])
                called = kind in _CALLS
                texts = self.arguments(one["arguments"]) if called else ()
                found[place] = Use(self.named[alias], name, _line(node), called, texts)
        return list(found.values())

    def bare_uses(self) -> list[Use]:
        """Calls without a package, in a file that imports packages with a dot."""
        dotted = [one.path for one in self.imports if one.alias == "."]
        calls = [(one["node"], self.arguments(one["arguments"])) for one in (self.rows[_BARE_CALL] if dotted else ())]
        return [Use(path, self.text(node), _line(node), True, texts) for path in dotted for node, texts in calls]

    def arguments(self, node: Node) -> tuple[str, ...]:
        first = [node.named_child(at) for at in range(min(2, node.named_child_count))]
        return tuple(self.unquoted(one) for one in first if one is not None and one.type in _TEXTS)

    def shadows(self) -> dict[str, list[tuple[int, int]]]:
        """Byte ranges in which a local variable hides the import of the same name. Outside functions Go forbids that."""
        hiding = [(name, one["declaration"].end_byte) for one in self.rows[_LOCAL] if (name := self.text(one["node"])) in self.named]
        found: dict[str, list[tuple[int, int]]] = {}
        scopes = [one["node"].byte_range for one in self.rows[_SCOPE]] if hiding else []
        for name, declared in hiding[:MAX_SHADOWS]:
            around = [end for start, end in scopes if start < declared <= end]
            if around:
                found.setdefault(name, []).append((declared, min(around)))
        return found

    def text(self, node: Node | None) -> str:
        return self.source[node.start_byte : node.end_byte].decode("utf-8", "replace") if node is not None else ""

    def unquoted(self, node: Node | None) -> str:
        return self.text(node)[1:-1]


def _package_name(path: str) -> str:
    parts = path.rstrip("/").split("/")
    return parts[-2] if len(parts) > 1 and _MAJOR.match(parts[-1]) else parts[-1]


def _broken_line(root: Node) -> int | None:
    node = root
    while node.has_error and not node.is_error and not node.is_missing:
        below = next((child for child in node.children if child.has_error or child.is_missing), None)
        if below is None:
            break
        node = below
    return _line(node) if root.has_error else None


def _line(node: Node) -> int:
    return node.start_point[0] + 1
