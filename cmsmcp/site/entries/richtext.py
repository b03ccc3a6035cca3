"""Richtext as HTML that a page may show as it is: Markdown rendered, raw HTML in it shown as text, the outcome held to an allow-list.

The libraries are loaded with the first text. Knows no fields.
"""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from cmsmcp.core.deadline import Deadline
from cmsmcp.protocol.errors import ResultTooLarge
from cmsmcp.site.media import SCHEME, media_url, reference_key

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

MAX_MARKDOWN = 1 << 20
"""Bytes of one text."""
_KEPT = 256
_KEPT_LENGTH = 32 * 1024
_PAUSE_SECONDS = 0.02
"""At the latest so often the deadline is looked at, and others get their turn: rendering is one long computation."""

TAGS = frozenset(
    {"a", "blockquote", "br", "code", "del", "em", "h1", "h2", "h3", "h4", "h5", "h6", "hr", "img", "li", "ol", "p", "pre", "s", "strong",
     "table", "tbody", "td", "th", "thead", "tr", "ul"}
)  # fmt: skip
ATTRIBUTES = {
    "a": {"href", "title"}, "code": {"class"}, "img": {"alt", "src", "title"}, "ol": {"start"}, "td": {"align"}, "th": {"align"},
}  # fmt: skip
SCHEMES = frozenset({"http", "https", "mailto", "tel"})
RELATION = "noopener noreferrer"
_SCHEME = re.compile(r"[\s\x00-\x1f]*([a-zA-Z][a-zA-Z0-9+.\-]*):")
_VALUES = {("code", "class"): re.compile(r"language-[\w+#.\-]{1,40}\Z"), ("ol", "start"): re.compile(r"\d{1,9}\Z")}
_ALIGNED = re.compile(r"text-align:(left|right|center)\Z")


def to_html(markdown: str, deadline: Deadline) -> str:
    """Sanitised HTML. ResultTooLarge over MAX_MARKDOWN, TimedOut past the deadline."""
    if not markdown:
        return ""
    if len(markdown) <= _KEPT_LENGTH:
        deadline.check()
        return _kept(markdown, _Pace(deadline))
    size = len(markdown.encode("utf-8", "replace"))
    if size > MAX_MARKDOWN:
        raise ResultTooLarge(size, MAX_MARKDOWN, "Only shorter richtext is rendered as HTML; ask for it as Markdown.")
    return _rendered(markdown, _Pace(deadline))


class _Pace:
    """Equal to any other, so that it is no part of what a text is remembered by."""

    def __init__(self, deadline: Deadline) -> None:
        self._deadline = deadline
        self._next = 0.0

    def step(self) -> None:
        now = time.monotonic()
        if now >= self._next:
            self._next = now + _PAUSE_SECONDS
            self._deadline.check()
            time.sleep(0)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Pace)

    def __hash__(self) -> int:
        return 0


def _rendered(markdown: str, pace: _Pace) -> str:
    """The same for the same text, whoever asks."""
    import nh3

    html = _renderer().render(markdown, {"pace": pace})
    pace.step()
    return nh3.clean(
        html, tags=set(TAGS), attributes={tag: set(names) for tag, names in ATTRIBUTES.items()}, url_schemes=set(SCHEMES),
        link_rel=RELATION, attribute_filter=_attribute, strip_comments=True,
    )  # fmt: skip


_kept = lru_cache(maxsize=_KEPT)(_rendered)


def _attribute(tag: str, name: str, value: str) -> str | None:
    """The value to send; None for none. Images come over HTTP or from the site itself."""
    wanted = _VALUES.get((tag, name))
    if wanted is not None and not wanted.match(value):
        return None
    if (tag, name) == ("img", "src"):
        scheme = _SCHEME.match(value)
        return value if scheme is None or scheme[1].lower() in ("http", "https") else None
    return value


@cache
def _renderer() -> MarkdownIt:
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
    parser.block.ruler.before("code", "pace", lambda state, *_: state.env["pace"].step() or False)
    parser.inline.ruler.before("text", "pace", lambda state, *_: state.env["pace"].step() or False)
    parser.core.ruler.push("site", lambda state: _fit(state.tokens))
    return parser


def _fit(tokens: Sequence[Token]) -> None:
    """References to media become URLs; the side a column is set to, an attribute instead of a style."""
    for token in tokens:
        for name in ("href", "src"):
            value: Any = token.attrs.get(name)
            if isinstance(value, str) and value.startswith(SCHEME):
                key = reference_key(value)
                token.attrs[name] = media_url(unquote(key)) if key else ""
        aligned = _ALIGNED.match(str(token.attrs.pop("style", "")))
        if aligned:
            token.attrs["align"] = aligned[1]
        _fit(token.children or ())
