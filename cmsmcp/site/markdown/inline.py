"""Inline Markdown read for what it refers to: links, images, autolinks and tags, and the text without its markup.

CommonMark's inline rules where they decide whether something is a link (code spans, escapes, brackets, destinations, raw HTML).
Every pattern is possessive or bounded, and brackets are kept on a stack, so that no text takes more than linear time.
"""

from __future__ import annotations

import html
import re
import string
from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass, field

MAX_TARGET = 2048

# One character class, because the regex engine then skips plain prose at memory speed.
_SPECIAL = re.compile(r"[\\`<\[\]*_~&]")
_RUN = {mark: re.compile(re.escape(mark) + "+") for mark in "`*_~"}
_ENTITY = re.compile(r"&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")
_AUTOLINK = re.compile(
    r"<(?:([A-Za-z][A-Za-z0-9+.-]{1,31}:[^\s<>\x00-\x1f]{0,2048}+)|([\w.!#$%&'*+/=?^`{|}~-]{1,64}+@[A-Za-z0-9.-]{1,255}+))>"
)
_NAME = r"[A-Za-z_:][\w.:-]*+"
_VALUE = r"""(?>"[^"]*+"|'[^']*+'|[^\s"'=<>`]++)"""
_TAG = re.compile(rf"<(?>/[A-Za-z][A-Za-z0-9-]*+\s*+|[A-Za-z][A-Za-z0-9-]*+(?>\s++{_NAME}(?>\s*+=\s*+{_VALUE})?)*+\s*+/?+)>")
_ATTRIBUTE = re.compile(rf"""\s({_NAME})\s*+=\s*+(?>"([^"]*+)"|'([^']*+)'|([^\s"'=<>`]++))""")
_ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")
# CommonMark §6.3 and §4.7. Parentheses in a destination may nest twice.
_NEST = r"\((?>\\.|[^\s()\\]|\((?>\\.|[^\s()\\]){0,512}+\)){0,1024}+\)"
TITLE = r"""(?>"(?>\\.|[^"\\]){0,1024}+"|'(?>\\.|[^'\\]){0,1024}+'|\((?>\\.|[^()\\]){0,1024}+\))"""
_TARGET = rf"(?><((?>\\.|[^<>\n\\]){{0,2048}}+)>|((?>(?>\\.|[^\s()\\<]|{_NEST})(?>\\.|[^\s()\\]|{_NEST}){{0,2048}}+)?))"
_DESTINATION = re.compile(rf"\(\s*+{_TARGET}(?>\s++{TITLE})?+\s*+\)", re.DOTALL)
_LABEL = re.compile(r"\[((?>\\.|[^\[\]\\]){0,999}+)\]", re.DOTALL)
_PUNCTUATION = frozenset(string.punctuation)
_LINK_ATTRIBUTES = frozenset({"href", "src", "poster"})


@dataclass(slots=True)
class Found:
    """What inline text held: `links` as (target, kind, line within the text), `anchors` of tags, `text` without markup."""

    links: list[tuple[str, str, int]] = field(default_factory=list)
    anchors: list[str] = field(default_factory=list)
    text: str = ""


def has_markup(text: str) -> bool:
    """Whether `read_inline` could find anything at all: most lines of prose hold no special character."""
    return _SPECIAL.search(text) is not None


def read_inline(text: str, definitions: Mapping[str, str]) -> Found:
    """Read a paragraph, heading or table cell. `definitions` maps folded labels to targets."""
    return _Reader(text, definitions).read()


def read_html(text: str, tags_only: bool = False) -> Found:
    """Read a block of raw HTML: its tags and its text, comments left out. `tags_only` stops after the first tag (scripts)."""
    found, parts, position, line, counted = Found(), [], 0, 0, 0
    while (start := text.find("<", position)) >= 0:
        parts.append(text[position:start])
        line += text.count("\n", counted, start)
        counted = start
        if text.startswith("<!--", start):
            end = text.find("-->", start)
            position = len(text) if end < 0 else end + 3
        elif tag := _TAG.match(text, start):
            read_tag(tag.group(), line, found)
            position = tag.end()
            if tags_only:
                return found
        else:
            parts.append("<")
            position = start + 1
    parts.append(text[position:])
    found.text = html.unescape("".join(parts))
    return found


def read_tag(tag: str, line: int, found: Found) -> None:
    for name, double, single, bare in _ATTRIBUTE.findall(tag):
        value = html.unescape(double or single or bare).strip()
        if not value or len(value) > MAX_TARGET:
            continue
        if name.lower() in _LINK_ATTRIBUTES:
            found.links.append((value, "html", line))
        elif name.lower() in ("id", "name"):
            found.anchors.append(value)


def fold_label(text: str) -> str:
    return " ".join(text.split()).casefold()


def plain_target(text: str) -> str:
    if "\\" in text:
        text = _ESCAPE.sub(r"\1", text)
    return html.unescape(text) if "&" in text else text


class _Reader:
    """One pass over the tokens. `_openers` holds, per open bracket, (is image, offset after it, index in `_out`, line)."""

    def __init__(self, text: str, definitions: Mapping[str, str]) -> None:
        self._source = text
        self._definitions = definitions
        self._found = Found()
        self._out: list[str] = []
        self._openers: list[tuple[bool, int, int, int]] = []
        # Openers below this depth stand around a link already read; a link holds no link (CommonMark §6.3), an image may.
        self._barred = 0
        self._line = 0
        self._counted = 0
        self._runs: dict[int, list[int]] | None = None
        self._comment_ends = True

    def read(self) -> Found:
        text, out, position, search = self._source, self._out, 0, _SPECIAL.search
        while special := search(text, position):
            start = special.start()
            out.append(text[position:start])
            position = self._take(text[start], start)
        out.append(text[position:])
        self._found.text = "".join(out)
        return self._found

    def _take(self, mark: str, start: int) -> int:
        """Deal with one special character (or run of it) and say where to go on."""
        if mark == "[":
            return self._open_bracket(start)
        if mark == "]":
            return self._close_bracket(start)
        if mark == "<":
            return self._angle(start)
        if mark == "\\":
            return self._escape(start)
        if mark == "&":
            entity = _ENTITY.match(self._source, start)
            self._out.append(html.unescape(entity.group()) if entity else "&")
            return entity.end() if entity else start + 1
        run = _RUN[mark].match(self._source, start)
        end = run.end() if run else start + 1
        if mark == "`":
            return self._code_span(end - start, end)
        if self._is_literal(mark, start, end):
            self._out.append(self._source[start:end])
        return end

    def _escape(self, start: int) -> int:
        following = self._source[start + 1 : start + 2]
        if following in _PUNCTUATION and following:
            self._out.append(following)
            return start + 2
        self._out.append("\\")
        return start + 1

    def _open_bracket(self, start: int) -> int:
        is_image = bool(self._out) and self._out[-1].endswith("!")
        if is_image:
            self._out[-1] = self._out[-1][:-1]
        self._openers.append((is_image, start + 1, len(self._out), self._line_at(start)))
        self._out.append("![" if is_image else "[")
        return start + 1

    def _is_literal(self, mark: str, start: int, end: int) -> bool:
        """Runs that are no emphasis: between two spaces, or inside a word; a single tilde."""
        before = self._source[start - 1] if start else " "
        after = self._source[end] if end < len(self._source) else " "
        between = (before.isspace() and after.isspace()) or (before.isalnum() and after.isalnum())
        return between or (mark == "~" and end - start != 2)

    def _line_at(self, position: int) -> int:
        self._line += self._source.count("\n", self._counted, position)
        self._counted = position
        return self._line

    def _code_span(self, length: int, end: int) -> int:
        if self._runs is None:
            self._runs = {}
            for run in _RUN["`"].finditer(self._source):
                self._runs.setdefault(run.end() - run.start(), []).append(run.start())
        starts = self._runs.get(length, [])
        index = bisect_left(starts, end)
        if index == len(starts):
            self._out.append("`" * length)
            return end
        self._out.append(self._source[end : starts[index]])
        return starts[index] + length

    def _angle(self, start: int) -> int:
        text = self._source
        if auto := _AUTOLINK.match(text, start):
            target = auto.group(1) or "mailto:" + auto.group(2)
            self._found.links.append((target, "link", self._line_at(start)))
            self._out.append(auto.group(1) or auto.group(2))
            return auto.end()
        if tag := _TAG.match(text, start):
            read_tag(tag.group(), self._line_at(start), self._found)
            return tag.end()
        if self._comment_ends and text.startswith("<!--", start):
            end = text.find("-->", start + 2)
            if end >= 0:
                return end + 3
            self._comment_ends = False
        self._out.append("<")
        return start + 1

    def _close_bracket(self, start: int) -> int:
        if not self._openers:
            self._out.append("]")
            return start + 1
        is_image, inner, index, line = self._openers.pop()
        barred = len(self._openers) < self._barred and not is_image
        self._barred = min(self._barred, len(self._openers))
        target, end = (None, start + 1) if barred else self._target(inner, start)
        if target is None:
            self._out.append("]")
            return start + 1
        if not is_image:
            self._barred = len(self._openers)
        self._out[index] = ""
        if target and len(target) <= MAX_TARGET:
            self._found.links.append((target, "image" if is_image else "link", line))
        return end

    def _target(self, inner: int, start: int) -> tuple[str | None, int]:
        """What the bracket closing at `start` points to, and where its syntax ends; None when it is no link."""
        following = self._source[start + 1 : start + 2]
        if following == "(" and (found := _DESTINATION.match(self._source, start + 1)):
            return plain_target(found.group(1) or found.group(2) or "").strip(), found.end()
        if not self._definitions:
            return None, start + 1
        end, label = start + 1, ""
        if following == "[" and (reference := _LABEL.match(self._source, start + 1)):
            end, label = reference.end(), reference.group(1)
            if label.strip():
                return self._definitions.get(fold_label(label)), end
        if start - inner > 999:
            return None, start + 1
        return self._definitions.get(fold_label(self._source[inner:start])), end
