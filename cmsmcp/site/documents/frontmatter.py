"""Front matter and body of a document, in every form Foundry knows (docs/rules.md, Front matter, Odd places).

`---` or `---yaml` … `---` or `...`; `+++` … `+++` and `---toml` … `---`; `;;;` … `;;;` and `---json` … `---`; a bare `{…}`.
A BOM is stripped, CR LF and CR read as LF, leading blank lines skipped. A closing delimiter stands at the line's start, trailing blanks
allowed. `...` closes YAML because in YAML it can be nothing else. Whatever looks like front matter and cannot be read is an error, so
that a `draft: true` in it is never lost. Must not know what any key means.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from cmsmcp.site.documents.frontmatter_other import parse_json, parse_toml, scan_json
from cmsmcp.site.model import ERROR, Diagnostic
from cmsmcp.site.yaml.loader import Mapping, Node, YamlFault, is_null, load
from cmsmcp.site.yaml.values import kind_of

MAX_DOCUMENT_BYTES = 10 * 1024 * 1024
MAX_BLOCK = 256 * 1024

_CLOSERS = {mark: re.compile(rf"^(?:{re.escape(mark)})[ \t]*(?:\n|\Z)", re.MULTILINE) for mark in ("---", "+++", ";;;")}
_YAML_CLOSER = re.compile(r"^(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.MULTILINE)
_OPENERS = {
    "---": ("yaml", _YAML_CLOSER), "---yaml": ("yaml", _YAML_CLOSER),
    "+++": ("toml", _CLOSERS["+++"]), "---toml": ("toml", _CLOSERS["---"]),
    ";;;": ("json", _CLOSERS[";;;"]), "---json": ("json", _CLOSERS["---"]),
}
_MARKS = ("---", "+++", ";;;")
_BARE_JSON = re.compile(r"\{[ \t]*(?:\n|\Z|\"|\})")
# A line of the marks, miscounted, spaced out, typeset as longer dashes or with a word after them, above the first `key:`, `key =` or
# `{` is front matter by intent, even though Markdown would draw a line there.
_ALMOST = re.compile(r"(?:(?:[-\u2010-\u2015\u2212][ \t]*){2,}|(?:\+[ \t]*){2,}|(?:;[ \t]*){2,})(?:#.*|\w{0,20})")
_FIRST_KEY = re.compile(r"(?:[ \t]*(?:#.*)?\n){0,20}[ \t]*(?:[\"']?[\w.-]{1,64}[\"']?[ \t]*(?::(?=\s|\Z)|=)|\{|\"[^\"\n]{1,64}\"[ \t]*:)")
_INVISIBLE = re.compile(r"[^\x21-\x7e]+")

_UNSEEN = re.compile("[\u00ad\u200b-\u200f\u2060\ufeff]+")


class Split(NamedTuple):
    """`node` is None when there is no front matter; `body_line` is where the body starts in the file, from 1.

    Any diagnostic is an error and means: do not serve this file.
    """

    node: Mapping | None
    body: str
    body_line: int
    diagnostics: tuple[Diagnostic, ...] = ()


def split(raw: bytes, path: str) -> Split:
    """Front matter and body of the file `path` (for diagnostics only)."""
    try:
        text = _decode(raw, path)
        start, line = _first_text(text)
        if start is None:
            raise YamlFault("the file is empty; write a document or delete it", path, 1)
        return _split(text, start, line, path)
    except YamlFault as fault:
        return Split(None, "", 1, tuple(Diagnostic(ERROR, _check(each), path, each.message, each.line) for each in fault.all))


def _decode(raw: bytes, path: str) -> str:
    if len(raw) > MAX_DOCUMENT_BYTES:
        raise YamlFault(f"the document is {len(raw)} bytes; the limit is {MAX_DOCUMENT_BYTES}", path, 1)
    try:
        text = raw.decode()
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise YamlFault("the file is not UTF-8 text; save it as UTF-8", path, line) from None
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    if "\0" in text:
        raise YamlFault("the file holds a NUL character; remove it", path, text.count("\n", 0, text.index("\0")) + 1)
    return text.lstrip("\ufeff")


def _first_text(text: str) -> tuple[int | None, int]:
    """Offset and line of the first line that is not blank."""
    blank = len(text) - len(text.lstrip())
    start = text.rfind("\n", 0, blank) + 1
    return (start if blank < len(text) else None), text.count("\n", 0, start) + 1


def _split(text: str, start: int, line: int, path: str) -> Split:
    end = text.find("\n", start)
    first = text[start:] if end < 0 else text[start:end]
    opener = first.rstrip()
    if opener in _OPENERS:
        return _delimited(text, len(text) if end < 0 else end + 1, line, path, opener)
    if _BARE_JSON.match(text, start):
        return _bare(text, start, line, path)
    if any(mark in opener for mark in _MARKS) and _INVISIBLE.sub("", opener).lower() in _OPENERS:
        raise YamlFault("the opening delimiter must stand alone at the start of its line, in lower case", path, line)
    if end >= 0 and len(opener) <= 200 and _ALMOST.fullmatch(_UNSEEN.sub("", opener).strip()) and _FIRST_KEY.match(text, end + 1):
        raise YamlFault("front matter opens with exactly --- (or +++, or ;;;) on a line of its own; this line is another", path, line)
    return Split(None, text[start:], line)


def _delimited(text: str, start: int, line: int, path: str, opener: str) -> Split:
    form, closer = _OPENERS[opener]
    closing = closer.search(text, start)
    if closing is None:
        ending = opener[:3]
        raise YamlFault(f"the front matter opened with {opener} is never closed; end it with a line {ending}", path, line)
    block = text[start:closing.start()]
    if len(block) > MAX_BLOCK:
        raise YamlFault(f"the front matter is over {MAX_BLOCK} characters", path, line)
    node: Node
    if form == "yaml":
        node = load(block, path, first_line=line + 1)
    elif not block.strip():
        node = Mapping({}, path, line)
    else:
        node = (parse_toml if form == "toml" else parse_json)(block, path, line + 1)
    return Split(_mapping(node, block), text[closing.end():], line + 1 + block.count("\n") + 1)


def _bare(text: str, start: int, line: int, path: str) -> Split:
    node, end = scan_json(text, start, path, line, MAX_BLOCK)
    rest = text.find("\n", end)
    rest = len(text) if rest < 0 else rest
    if text[end:rest].strip():
        raise YamlFault("text follows the closing brace of the front matter on its line", path, line + text.count("\n", start, end))
    return Split(_mapping(node, ""), text[rest + 1:], line + text.count("\n", start, rest) + 1)


def _mapping(node: Node, block: str) -> Mapping:
    if isinstance(node, Mapping):
        return node
    if is_null(node) and not getattr(node, "text", ""):
        return Mapping({}, node.file, node.line)
    raise YamlFault(f"the front matter is {kind_of(node)}, but `key: value` lines are wanted", node.file, node.line)


def _check(fault: YamlFault) -> str:
    return "duplicate_key" if fault.key and "given twice" in fault.message else "front_matter"
