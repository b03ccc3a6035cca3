"""Go templates as text: what a file defines, refers to and calls, and where its actions do not add up.

Pure. It knows the grammar of text/template's actions (pkg.go.dev/text/template), not what a theme must contain.
It is a reader, not a parser: it checks balance, names and delimiters, never types.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

MAX_FAULTS = 20

BUILTINS = frozenset({
    "and", "call", "eq", "ge", "gt", "html", "index", "js", "le", "len", "lt", "ne", "not", "or", "print", "printf", "println",
    "slice", "urlquery",
})
FOUNDRY = frozenset({"safeHTML", "field", "data", "pluginSlot"})
FUNCTIONS = BUILTINS | FOUNDRY
CONSTANTS = frozenset({"true", "false", "nil"})
BRANCHES = frozenset({"if", "with", "range"})
KEYWORDS = BRANCHES | {"block", "define", "template", "else", "end", "break", "continue"}

_ITEM = re.compile(
    r"""
    (?P<space>\s+)
  | (?P<string>"(?:[^"\\\n]|\\.)*"|`[^`]*`)
  | (?P<char>'(?:[^'\\\n]|\\.)*')
  | (?P<field>\.[^\W\d]\w*)
  | (?P<number>[+-]?\.?\d[\w.]*(?:(?<=[eEpP])[+-]\d+)?i?)
  | (?P<variable>\$\w*)
  | (?P<name>[^\W\d]\w*)
  | (?P<bracket>[()])
  | (?P<mark>:=|[=|,.])
    """,
    re.VERBOSE,
)
_SLIP = re.compile(
    r"(?<!\{)\{\s*(?:\.(?!\.)|\$\w*[ .|}]|(?:if|end|else|range|with|template|block|define|pluginSlot|safeHTML)\b)[^{}\n]*\}\}"
)
_COMMENT_END = re.compile(r"\*/(?:\s-)?\}\}")
_CLOSE = re.compile(r"\s-\}\}|\}\}")


@dataclass(frozen=True, slots=True)
class Reference:
    """A `{{ template "name" }}` (or any other name that is looked up) and its line."""

    name: str
    line: int


@dataclass(frozen=True, slots=True)
class TemplateScan:
    """`faults` are (line, message) in the order of the file, at most MAX_FAULTS. `slots` are the arguments of pluginSlot.

    `slips` are lines with an action that opens with one brace: Go prints it as text, and the author cannot have meant that.
    """

    defines: frozenset[str]
    references: tuple[Reference, ...]
    slots: frozenset[str]
    faults: tuple[tuple[int, str], ...]
    slips: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class _Token:
    kind: str
    text: str
    line: int

    @property
    def value(self) -> str:
        return self.text[1:-1]


@dataclass(slots=True)
class _Frame:
    word: str
    line: int
    otherwise: bool = False


@dataclass(slots=True)
class _Reader:
    stack: list[_Frame] = field(default_factory=list)
    defines: set[str] = field(default_factory=set)
    references: list[Reference] = field(default_factory=list)
    slots: set[str] = field(default_factory=set)
    faults: list[tuple[int, str]] = field(default_factory=list)

    def fault(self, line: int, message: str) -> None:
        if len(self.faults) < MAX_FAULTS:
            self.faults.append((line, message))

    def action(self, line: int, tokens: list[_Token]) -> None:
        self.operands(tokens)
        head = tokens[0] if tokens else None
        if head is None:
            self.fault(line, "this action is empty: put a value between {{ and }}, or take it out")
        elif head.kind == "name" and head.text in KEYWORDS:
            self.statement(head, tokens[1:])

    def operands(self, tokens: list[_Token]) -> None:
        """Brackets balance, functions exist; keywords stand only in front."""
        depth = 0
        for position, token in enumerate(tokens):
            depth += {"(": 1, ")": -1}.get(token.text, 0) if token.kind == "bracket" else 0
            if depth < 0:
                break
            if token.kind == "name":
                self.word(token, tokens, position)
        if depth:
            self.fault(tokens[0].line, "brackets do not balance in this action")

    def word(self, token: _Token, tokens: list[_Token], position: int) -> None:
        chained = position == 1 and tokens[0].text == "else" and token.text in BRANCHES
        if token.text in KEYWORDS:
            if position and not chained:
                self.fault(token.line, f"{token.text!r} is a keyword and cannot be a value")
        elif token.text not in FUNCTIONS and token.text not in CONSTANTS:
            self.fault(token.line, f"function {token.text!r} does not exist; themes have {', '.join(sorted(FOUNDRY))} and Go's own")
        following = tokens[position + 1] if position + 1 < len(tokens) else None
        if token.text == "pluginSlot" and following is not None and following.kind == "string":
            self.slots.add(following.value)

    def statement(self, head: _Token, rest: list[_Token]) -> None:
        word = head.text
        if word in BRANCHES:
            self.needs_value(head, rest)
            self.stack.append(_Frame(word, head.line))
        elif word in ("define", "block", "template"):
            self.named(head, rest)
        elif word == "else":
            self.alternative(head, rest)
        elif word == "end":
            if rest:
                self.fault(head.line, "{{ end }} takes nothing after it")
            if not self.stack:
                self.fault(head.line, "{{ end }} closes nothing")
            else:
                self.stack.pop()
        elif not any(frame.word == "range" for frame in self.stack):
            self.fault(head.line, f"{{{{ {word} }}}} stands outside any range")

    def needs_value(self, head: _Token, rest: list[_Token]) -> None:
        if not rest:
            self.fault(head.line, f"{{{{ {head.text} }}}} needs a value")

    def named(self, head: _Token, rest: list[_Token]) -> None:
        word = head.text
        name = rest[0].value.strip() if rest and rest[0].kind == "string" else ""
        if not name:
            self.fault(head.line, f"{{{{ {word} }}}} needs a quoted name")
        elif word == "template":
            self.references.append(Reference(name, head.line))
        else:
            self.defines.add(name)
        if word == "block":
            self.needs_value(head, rest[1:])
        if word == "define" and self.stack:
            outer = self.stack[-1]
            self.fault(head.line, f"{{{{ define }}}} stands inside the {outer.word} of line {outer.line}; it belongs at the top")
        if word != "template":
            self.stack.append(_Frame(word, head.line))

    def alternative(self, head: _Token, rest: list[_Token]) -> None:
        frame = self.stack[-1] if self.stack else None
        if frame is None or frame.word not in BRANCHES:
            self.fault(head.line, "{{ else }} stands outside if, with and range")
            return
        if frame.otherwise:
            self.fault(head.line, f"a second {{{{ else }}}} for the {frame.word} of line {frame.line}")
        if not rest:
            frame.otherwise = True
        elif rest[0].text != frame.word or frame.word == "range":
            self.fault(head.line, f"{{{{ else {rest[0].text} }}}} does not fit the {frame.word} of line {frame.line}")
        else:
            self.needs_value(rest[0], rest[1:])


def scan(text: str) -> TemplateScan:
    """What the template in `text` defines, refers to and gets wrong."""
    reader = _Reader()
    readable = True
    for line, tokens, message in _actions(text):
        if message:
            readable = False
            reader.fault(line, message)
        else:
            reader.action(line, tokens)
    # After an action that could not be read, a missing {{ end }} may well be part of it.
    for frame in reader.stack[:MAX_FAULTS] if readable else ():
        reader.fault(frame.line, f"the {{{{ {frame.word} }}}} of this line has no {{{{ end }}}}")
    slips = [text.count("\n", 0, match.start()) + 1 for match, _ in zip(_SLIP.finditer(text), range(MAX_FAULTS), strict=False)]
    return TemplateScan(
        frozenset(reader.defines), tuple(reader.references), frozenset(reader.slots), tuple(sorted(reader.faults)), tuple(slips)
    )


def _actions(text: str) -> Iterator[tuple[int, list[_Token], str]]:
    """(line, tokens, "") for each action, (line, [], fault) for each that cannot be read. Comments yield nothing."""
    position, line, counted = 0, 1, 0
    while (start := text.find("{{", position)) >= 0:
        line += text.count("\n", counted, start)
        counted = start
        inside = start + 2
        if text[inside : inside + 1] == "-" and text[inside + 1 : inside + 2].isspace():
            inside += 2
        if text.startswith("/*", inside):
            end = text.find("*/", inside + 2)
            closing = _COMMENT_END.match(text, end) if end >= 0 else None
            if closing is None:
                yield line, [], "this comment has no */}} (no space may stand between */ and }})"
            position = closing.end() if closing else _after_close(text, inside)
            continue
        tokens, position, message = _tokens(text, inside, line)
        yield line, tokens, message


def _after_close(text: str, position: int) -> int:
    end = text.find("}}", position)
    return len(text) if end < 0 else end + 2


def _tokens(text: str, position: int, line: int) -> tuple[list[_Token], int, str]:
    """The tokens up to the closing delimiter, the place after it, and a message if there is none."""
    tokens: list[_Token] = []
    first = line
    while position < len(text):
        closing = _CLOSE.match(text, position)
        if closing is not None:
            return tokens, closing.end(), ""
        item = _ITEM.match(text, position)
        if item is None:
            what = "a quote is not closed" if text[position] in "\"'`" else f"{text[position]!r} cannot stand here"
            return [], _after_close(text, position), f"{what} (in the action that begins on line {first})"
        kind = str(item.lastgroup)
        if kind != "space":
            tokens.append(_Token(kind, item.group(), line))
        line += item.group().count("\n")
        position = item.end()
    return [], position, "this {{ has no }}"
