"""Markdown that is hard to read: one body for each way in which a parser, a renderer or a sanitiser can take more than linear time.

`BODIES` has a builder by name; each makes a body of about the bytes asked for.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import count, takewhile

Builder = Callable[[int], str]


def fill(unit: str, head: str = "", tail: str = "") -> Builder:
    """`unit` over and over, up to the size; `head` before and `tail` behind are on top."""
    return lambda size: head + unit * (size // len(unit.encode())) + tail


def pairs(left: str, right: str) -> Builder:
    """As many of `left` as of `right` behind them."""
    return lambda size: left * (size // len((left + right).encode())) + "a" + right * (size // len((left + right).encode()))


def growing(piece: Callable[[int], str]) -> Builder:
    """piece(1), piece(2), … until the size is reached."""

    def build(size: int) -> str:
        left = size

        def fits(text: str) -> bool:
            nonlocal left
            left -= len(text.encode())
            return left >= 0

        return "".join(takewhile(fits, map(piece, count(1))))

    return build


def numbered(form: str) -> Builder:
    return growing(form.format)


def wide_table(size: int) -> str:
    """A head of many columns, and many rows that lack them: each missing cell would be made."""
    columns = size // 8
    return "|a" * columns + "|\n" + "|-" * columns + "|\n" + "|\n" * (size // 4)


BODIES: dict[str, Builder] = {
    # tables
    "table": fill("|c|d|\n", "|a|b|\n|-|-|\n"),
    "table of one column": fill("|\n", "|a|\n|-|\n"),
    "table of many columns": wide_table,
    "table without a body": lambda size: "|a" * (size // 4) + "|\n" + "|-" * (size // 4) + "|\n",
    "aligned table": fill("|c|d|e|\n", "|a|b|c|\n|:-|:-:|-:|\n"),
    "pipes": fill("|"),
    "escaped pipes": fill("\\|"),
    "rows of pipes": fill("|" * 1000 + "\n"),
    "delimiter row alone": fill("-|", "a|b\n"),
    "colons under a line": fill(":", "a\n"),
    "code in cells": fill("|`a|b`|\n", "|a|b|\n|-|-|\n"),
    # emphasis
    "emphasis that never closes": fill("*a_b "),
    "stars": fill("*"),
    "underscores": fill("_"),
    "mixed runs": fill("*_~"),
    "runs that only open": fill("*a "),
    "runs that only close": fill("a** "),
    "nested emphasis": pairs("*a ", "a* "),
    "nested emphasis of two kinds": pairs("*a **b ", "b** a* "),
    "triple runs": fill("***a"),
    "long runs": fill("*" * 50 + " a "),
    "underscores in words": fill("_a"),
    "strikethrough": fill("~~a~"),
    "strikethrough that only opens": fill("~~a "),
    "tildes": fill("~"),
    "subscripts": fill("~a~"),
    # quotes and lists
    "nested quotes": fill(">"),
    "nested lists": fill("- "),
    "quotes in lists": fill("> - "),
    "numbered lists in lists": fill("1. "),
    "deeper quotes in each line": growing(lambda depth: ">" * depth + "a\n"),
    "deeper lists in each line": growing(lambda depth: "  " * depth + "- a\n"),
    "deep quotes again and again": fill("> " * 100 + "a\n\n"),
    "deep quotes that continue lazily": fill("> " * 100 + "a\nb\n\n"),
    "lazy lines": fill("> a\nb\n"),
    "loose list": fill("- a\n\n"),
    "list with paragraphs": fill("*   a\n\n    b\n"),
    "numbered list": numbered("{}. a\n"),
    "lists of one item": fill("- a\n+ b\n"),
    "empty items": fill("-\n"),
    "tasks": fill("- [ ] a\n"),
    # links and images
    "opening brackets": fill("["),
    "closing brackets": fill("]"),
    "bracket pairs": fill("[]"),
    "nested brackets": pairs("[", "]"),
    "links that never close": fill("[a]("),
    "nested links": pairs("[", "](b)"),
    "links": fill("[a](b)"),
    "links with titles": fill('[a](b "c")\n'),
    "titles that never close": fill('[a](b "'),
    "parentheses in a destination": fill("(", "[a]("),
    "balanced parentheses in a destination": lambda size: "[a](" + "(" * (size // 2) + ")" * (size // 2) + ")",
    "angle destinations that never close": fill("[a](<b"),
    "references without a definition": fill("[a][b]"),
    "long labels": fill("[" + "a" * 999 + "]"),
    "definitions": numbered("[{}]: /a\n"),
    "definitions of one label": fill("[a]: b\n"),
    "a long definition used often": lambda size: "[a]: /" + "x" * (size // 2) + "\n\n" + "[a] " * (size // 8),
    "definition that never ends": fill("[", "[a]: "),
    "definitions in deep quotes": lambda size: ">" * (size // 8) + "\n" + "[a]: b\n" * (size // 8),
    "footnotes": fill("[^a]: b\n"),
    "footnote references": fill("[^a] "),
    "images that never close": fill("![a]("),
    "nested images": pairs("![", "](b)"),
    "exclamation marks": fill("!"),
    "images of media": fill("![a](media:images/a.png)\n"),
    "links with stray percents": fill("[a](%%%)"),
    # autolinks and raw HTML
    "autolinks": fill("<http://a>"),
    "autolinks that never close": fill("<a:"),
    "addresses": fill("<a@b.c>"),
    "addresses that never close": fill("<a@"),
    "less-than signs": fill("<"),
    "open tags": fill("<div>"),
    "closing tags": fill("</div>"),
    "nested tags": pairs("<div>", "</div>"),
    "tag of many attributes": fill("x ", "<a "),
    "attributes that never close": fill('<a x="'),
    "comments that never close": fill("<!--"),
    "comment of dashes": fill("-", "<!-- "),
    "CDATA that never closes": fill("<![CDATA["),
    "instructions that never close": fill("<?"),
    "declarations that never close": fill("<!A"),
    "HTML blocks": fill("<p>\n\n"),
    "closing scripts": fill("</script"),
    # code
    "backticks": growing(lambda length: "`" * length + " "),
    "backticks that never close": fill("`a"),
    "fences": fill("```\n"),
    "fence that never closes": fill("a\n", "```\n"),
    "fences of tildes": fill("~~~\n"),
    "fences with info": fill("``` a b\nc\n```\n"),
    "indented code": fill("    a\n\n"),
    "deep indentation": growing(lambda depth: " " * depth + "a\n"),
    # lines, headings, signs
    "short lines": fill("a\n"),
    "one long line": fill("a "),
    "one long word": fill("a"),
    "blank lines": fill("\n"),
    "spaces": fill(" ", tail="a"),
    "tabs": fill("\t", tail="a"),
    "carriage returns": fill("\r"),
    "line separators": fill("\u2028"),
    "hard breaks": fill("a\\\n"),
    "trailing spaces": fill("a   \n"),
    "rules": fill("***\n"),
    "headings": fill("# a\n"),
    "hashes": fill("#"),
    "hashes apart": fill("# "),
    "heading that closes long": fill("#", "# a "),
    "setext headings": fill("a\n=\n"),
    "line under lines": fill("-\n=\n"),
    "numbered headings": numbered("# Header {}\n"),
    "backslashes": fill("\\"),
    "escapes": fill("\\*"),
    "ampersands": fill("&"),
    "entities": fill("&amp;"),
    "numeric entities": fill("&#1"),
    "long entities": fill("&CounterClockwiseContourIntegral;"),
    "NUL": fill("\0"),
    "what Unicode keeps for programs": fill("\ufdd0\ufdd1"),
    "accents": fill("é*"),
    "combining marks": fill("a\u0301"),
    "marks on one letter": fill("\u0301", "a"),
    "joiners": fill("\u200d"),
    "right to left": fill("\u202e\u05d0 "),
    "ideographs": fill("漢字"),
    "emoji": fill("👩\u200d🚀"),
}
