"""The first heading of a Markdown body, for the title of a document that has no front matter."""

from __future__ import annotations

import re

_ATX = re.compile(r" {0,3}#{1,6}(?=[ \t]|\Z)")
_UNDERLINE = re.compile(r" {0,3}(?:=+|-+)[ \t]*\Z")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_LINK = re.compile(r"!?\[([^\[\]]*)\]\([^()]*\)")
_MARKS = re.compile(r"(?<!\\)[*_`]+")
MAX_LINES = 2_000
MAX_TITLE = 500


def first_heading(body: str) -> str:
    """Its plain text, at most 500 characters; "" if the first 2,000 lines hold none. Headings in fenced code do not count."""
    fence, before = "", ""
    for line in body.split("\n", MAX_LINES)[:MAX_LINES]:
        marker = _FENCE.match(line)
        if fence:
            if marker and marker.group(1).startswith(fence) and not line.strip(" `~\t"):
                fence = ""
            continue
        if marker:
            fence, before = marker.group(1), ""
            continue
        found = _ATX.match(line)
        heading = _content(line[found.end():]) if found else before if before and _UNDERLINE.match(line) else None
        if heading and (title := _plain(heading)):
            return title
        before = line if line.strip() and not line.startswith(("    ", "\t", ">", "- ", "* ", "+ ")) and not found else ""
    return ""


def _content(rest: str) -> str:
    """What follows the opening marks, without closing ones (`## Title ##`)."""
    rest = rest.strip()
    bare = rest.rstrip("#")
    return bare.rstrip() if not bare or bare[-1] in " \t" else rest


def _plain(heading: str) -> str:
    return " ".join(_MARKS.sub("", _LINK.sub(r"\1", heading[: 4 * MAX_TITLE])).split())[:MAX_TITLE]
