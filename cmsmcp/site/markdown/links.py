"""What a Markdown body refers to and can be referred to by: links, headings, anchors, and its text for the search.

`scan` runs on every document of a site, in linear time whatever the text. Code holds no links. Knows nothing of what exists.
"""

from __future__ import annotations

import re
import unicodedata

from cmsmcp.site.markdown import blocks
from cmsmcp.site.markdown.blocks import Block
from cmsmcp.site.markdown.inline import TITLE, Found, fold_label, has_markup, plain_target, read_html, read_inline
from cmsmcp.site.model import BodyScan, Link

_DEFINITION = re.compile(
    r" {0,3}\[((?>\\.|[^\[\]\\]){1,999}+)\]:\s{0,99}+(?><([^<>\n]{0,2048}+)>|([^\s<]\S{0,2048}+))"
    rf"(?> *+\n? *+{TITLE} *+(?=\n|$)| *+(?=\n|$))\n?",
    re.DOTALL,
)
_HEADING_ID = re.compile(r" *+\{#([^\s{}]{1,128})\} *+$")
_NOT_GITHUB = re.compile(r"[^a-z0-9 _-]+")
_WORD = frozenset({"Mn", "Mc", "Me", "Nd", "Nl", "Pc"})
_LETTERLIKE = (("\u24b6", "\u24e9"), ("\U0001f130", "\U0001f149"), ("\U0001f150", "\U0001f169"), ("\U0001f170", "\U0001f189"))
"""Symbols that Unicode counts as alphabetic: circled, squared and enclosed letters."""
_NOT_FOUNDRY = re.compile(r"[^a-z0-9\s-]+")
_DASHES = re.compile(r"[\s-]+")
_CELL = re.compile(r"(?<!\\)\|")
MAX_TITLE = 500
_BEGINNINGS = (2_000, 32_000)
"""Characters. Most documents have their first heading in the first few lines; one that begins after 32,000 is none."""
_SCRIPT = re.compile(r"\s*<(?:script|style)\b", re.IGNORECASE)


def scan(body: str, first_line: int = 1) -> BodyScan:
    """Read one Markdown body whose first line is `first_line` of its file. Never raises, whatever the text.

    Links: Markdown inline and reference links ("link"), images ("image"), autolinks ("link"), `href`, `src` and `poster` of
    inline and block HTML ("html"); `media:` references are targets like any other. Anchors: each heading's slug as GitHub
    and as Foundry form it, `{#id}`, and every `id` or `name` of a tag. Text: code and headings included, markup stripped.
    """
    read = blocks.read_blocks(body)
    scanner = _Scanner(first_line)
    for index, block in enumerate(read):
        if block.kind == blocks.TEXT and "]:" in block.text:
            read[index] = scanner.take_definitions(block)
    for block in read:
        scanner.read(block)
    return scanner.result()


def first_heading(body: str) -> str:
    """The plain text of the first heading, at most MAX_TITLE characters, for a document that has no title of its own; "" if none."""
    for size in _BEGINNINGS:
        beginning = body if len(body) <= size else body[: body.rfind("\n", 0, size) + 1]
        for block in blocks.read_blocks(beginning):
            if block.kind == blocks.HEADING:
                text, _ = _without_id(block.text)
                text = read_inline(text, {}).text if has_markup(text) else text
                if plain := " ".join(text.split()):
                    return plain[:MAX_TITLE]
        if beginning is body:
            break
    return ""


class Slugs:
    """Heading ids in one document, as GitHub and as Foundry number those that are equal: a second "Install" is `install-1`."""

    def __init__(self) -> None:
        self._github: dict[str, int] = {}
        self._foundry: dict[str, int] = {}

    def of(self, heading: str) -> list[str]:
        github = github_slug(heading)
        plain = github.isascii() and "_" not in github and "--" not in github and github.strip("-") == github and "\n" not in heading
        foundry = github if plain else foundry_slug(heading)
        slugs = (_github_numbered(github, self._github), _foundry_numbered(foundry, self._foundry))
        return [slug for slug in dict.fromkeys(slugs) if slug]


def github_slug(heading: str) -> str:
    """Lower case, spaces as dashes; letters, marks, decimal digits, connectors and dashes stay, all else goes (Ruby's `\\p{Word}`)."""
    text = heading.lower()
    if text.isascii():
        return _NOT_GITHUB.sub("", text).replace(" ", "-")
    return "".join(c for c in text if c in " -" or _is_word(c)).replace(" ", "-")


def _is_word(sign: str) -> bool:
    # Letters need no look at their category, which costs three times as much.
    return sign.isalpha() or unicodedata.category(sign) in _WORD or any(first <= sign <= last for first, last in _LETTERLIKE)


def foundry_slug(heading: str) -> str:
    return _DASHES.sub("-", _NOT_FOUNDRY.sub("", heading.strip().lower())).strip("-")


def _github_numbered(slug: str, seen: dict[str, int]) -> str:
    """GitHub's loop: a number that another heading has already is passed over."""
    numbered = slug
    while numbered in seen:
        seen[slug] += 1
        numbered = f"{slug}-{seen[slug]}"
    seen[numbered] = 0
    return numbered


def _foundry_numbered(slug: str, seen: dict[str, int]) -> str:
    if not slug:
        return ""
    count = seen.get(slug, -1) + 1
    seen[slug] = count
    return f"{slug}-{count}" if count else slug


def _without_id(heading: str) -> tuple[str, str | None]:
    """A heading's text without the id that it gives itself at its end (`{#id}`), and that id."""
    if heading.endswith("}") and (explicit := _HEADING_ID.search(heading[-160:])):
        return heading[: heading.rindex("{#")].rstrip(), explicit.group(1)
    return heading, None


class _Scanner:
    def __init__(self, first_line: int) -> None:
        self._first_line = first_line
        self._definitions: dict[str, str] = {}
        self._links: list[Link] = []
        self._headings: list[str] = []
        self._anchors: dict[str, None] = {}
        self._slugs = Slugs()
        self._text: list[str] = []

    def result(self) -> BodyScan:
        return BodyScan(tuple(self._links), tuple(self._headings), tuple(self._anchors), "\n".join(self._text))

    def take_definitions(self, block: Block) -> Block:
        """Cut the link reference definitions off the start of a paragraph. The first of a name wins; footnotes are text."""
        position = 0
        while (found := _DEFINITION.match(block.text, position)) and not found.group(1).startswith("^"):
            target = found.group(2) if found.group(2) is not None else found.group(3)
            if found.group(1).strip():
                self._definitions.setdefault(fold_label(found.group(1)), plain_target(target))
            position = found.end()
        return Block(block.kind, block.line + block.text.count("\n", 0, position), block.text[position:])

    def read(self, block: Block) -> None:
        if block.kind == blocks.CODE:
            self._text.append(block.text)
        elif block.kind == blocks.HTML:
            self._add_text(self._keep(read_html(block.text, bool(_SCRIPT.match(block.text))), block.line))
        elif block.kind == blocks.HEADING:
            self._read_heading(block)
        elif block.kind == blocks.ROW:
            cells = _CELL.split(block.text.strip("|"))
            self._add_text(" ".join(self._inline(cell, block.line) for cell in cells))
        else:
            self._add_text(self._inline(block.text, block.line))

    def _read_heading(self, block: Block) -> None:
        text, explicit = _without_id(block.text)
        if explicit is not None:
            self._anchors[explicit] = None
        found = self._inline(text, block.line)
        plain = " ".join(found.split())
        if plain:
            self._headings.append(plain)
            self._text.append(plain)
            self._anchors.update(dict.fromkeys(self._slugs.of(found)))

    def _inline(self, text: str, line: int) -> str:
        return self._keep(read_inline(text, self._definitions), line) if has_markup(text) else text

    def _keep(self, found: Found, line: int) -> str:
        base = self._first_line + line
        self._links.extend(Link(target, kind, base + offset) for target, kind, offset in found.links)
        self._anchors.update(dict.fromkeys(found.anchors))
        return found.text

    def _add_text(self, text: str) -> None:
        if "\n" in text or "  " in text:
            text = " ".join(text.split())
        if text and not text.isspace():
            self._text.append(text)
