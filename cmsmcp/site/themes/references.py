"""Remote URLs in a theme's files, comments and XML namespaces left aside (docs/rules.md, Odd places).

Pure: text in, URLs with their lines out. Comments are blanked rather than cut, so that places keep their lines.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

KINDS = {".html": "html", ".css": "css", ".js": "js"}

# Every branch consumes what it has looked at, closed or not (hence the possessive quantifiers): the cost stays linear. An
# unclosed quote runs to the end of its line, so that at worst a URL in a comment counts as used.
_QUOTED = r"\"(?:[^\"\\\n]|\\.)*+\"?|'(?:[^'\\\n]|\\.)*+'?"
_JS = re.compile(
    rf"""
    (?P<comment>//[^\n]*|/\*.*?(?:\*/|\Z))
  | {_QUOTED}
  | `(?:[^`\\]|\\.)*+`?
  | (?:[=(,:;!&|?{{}}\[+~^*%<>-]|\breturn\b)\s*+/(?![*/])(?:[^/\\\n\[]|\\.|\[(?:[^\]\\\n]|\\.)*+\]?)*+/?
    """,
    re.VERBOSE | re.DOTALL,
)
_CSS = re.compile(rf"(?P<comment>/\*.*?(?:\*/|\Z))|{_QUOTED}|url\([^)'\"\n]*+\)?", re.DOTALL)
_TEMPLATE_COMMENT = re.compile(r"\{\{(?:-\s)?/\*.*?(?:\*/(?:\s-)?\}\}|\Z)", re.DOTALL)
_MARKUP = re.compile(
    r"(?P<comment><!--.*?(?:-->|\Z)|<!doctype[^<>]*>)"
    r"|<(?P<tag>script|style)\b[^<>]*>(?P<inner>.*?)(?:</(?P=tag)\s*>|\Z)",
    re.DOTALL | re.IGNORECASE,
)
_TAIL = r"(?:\{\{[^{}\n]*\}\}|\\/|[^\s\"'()<>`\\])++"
_REMOTE = re.compile(rf"(?:https?|wss?):(?://|\\/\\/){_TAIL}|(?<=[\"'`(=])//(?=[\w-]+\.[\w.-]*[a-z]){_TAIL}", re.IGNORECASE)
_NAMESPACE_ATTRIBUTE = re.compile(r"(?:xmlns(?::[\w-]+)?\s*=\s*|@namespace\s+(?:[\w-]+\s+)?(?:url\(\s*)?)(?:[\"']|%2[27])?$", re.IGNORECASE)
_NAMESPACE = re.compile(
    r"http://www\.w3\.org/(?:2000/svg|1999/xhtml|1999/xlink|1998/math/mathml|xml/1998/namespace|2000/xmlns/?)(?=$|%2[27]|[;,.}])",
    re.IGNORECASE,
)


def remote_urls(text: str, kind: str) -> list[tuple[str, int]]:
    """(URL as written, line) of the remote URLs in a file of `kind` ("html", "css", "js"), each URL once, at its first line.

    URLs without a scheme (`//host/path`) count where they stand in quotes, brackets or an attribute.
    """
    found: dict[str, int] = {}
    line, counted = 1, 0
    for start, url in _matches(_without_comments(text, kind)):
        line += text.count("\n", counted, start)
        counted = start
        found.setdefault(url, line)
    return list(found.items())


def _matches(text: str) -> Iterator[tuple[int, str]]:
    for match in _REMOTE.finditer(text):
        before = text[max(0, match.start() - 80) : match.start()]
        url = match.group().replace("\\/", "/").rstrip(".,;")
        if not _NAMESPACE.match(url) and not _NAMESPACE_ATTRIBUTE.search(before):
            yield match.start(), url


def _without_comments(text: str, kind: str) -> str:
    if kind == "html":
        return _MARKUP.sub(_markup, _TEMPLATE_COMMENT.sub(_blank, text))
    return (_CSS if kind == "css" else _JS).sub(_code, text)


def _markup(match: re.Match[str]) -> str:
    if match["comment"] is not None:
        return _blank(match)
    inner = (_CSS if match["tag"].lower() == "style" else _JS).sub(_code, match["inner"])
    start, end = match.span("inner")
    whole, offset = match.group(), match.start()
    return whole[: start - offset] + inner + whole[end - offset :]


def _code(match: re.Match[str]) -> str:
    return match.group() if match["comment"] is None else _blank(match)


def _blank(match: re.Match[str]) -> str:
    return re.sub(r"[^\n]", " ", match.group())
