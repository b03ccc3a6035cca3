"""Richtext as HTML that a page may show as it is: Markdown rendered, raw HTML in it shown as text, the outcome held to an allow-list.

Each step takes time in proportion to the text, whatever was written: the libraries are native, and nothing in them yields. They are
loaded with the first text. Knows no fields.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache, lru_cache
from html import escape, unescape
from urllib.parse import unquote

from cmsmcp.core.deadline import Deadline
from cmsmcp.protocol.errors import ResultTooLarge
from cmsmcp.site.markdown.blocks import MAX_NESTING
from cmsmcp.site.media import SCHEME, media_url, reference_key

MAX_MARKDOWN = 1 << 20
"""Bytes of one text."""
COST = 8
"""Of rendering a byte, in bytes read: 32 KiB take a server some 20 ms."""
_KEPT = 256
_KEPT_LENGTH = 32 * 1024

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

# Two of the code points that Unicode keeps for a program's own use; in a text they count as none (U+FFFD).
_GUARD, _AND = "\ufdd0", "\ufdd1"
_GUARD_IN_URL = "%EF%B7%90"
_AUTOLINK = r"[A-Za-z][A-Za-z0-9+.\-]{1,31}:[^<> \x00-\x1f\x7f]*+>|[A-Za-z0-9.!#$%&'*+/=?^_`{|}~\-]++@[A-Za-z0-9.\-]++>"
_RAW_HTML = re.compile(rf"<(?=[A-Za-z/!?])(?!{_AUTOLINK})")
# In what the renderer writes, a tag that is none of the text: there `<` and `>` are escaped, in attributes too.
_NESTING = re.compile(r"<(/?)(?:blockquote|ul|ol(?: start=\"\d+\")?|em|strong|del|(li))>")
_STRAY_PERCENT = re.compile(r"%(?![0-9A-Fa-f]{2})")
_ADDRESS = re.compile(r"\A(https?://)%5B([0-9A-Fa-f:.]+)%5D", re.IGNORECASE)
_REFERENCE = re.compile(r'(<(?:a href|img src)=")([^"]*)')
_SPELLINGS = (
    ("<del>", "<s>"), ("</del>", "</s>"), ("<sub>", "~"), ("</sub>", "~"),
    ("<table><thead><tr>", "<table>\n<thead>\n<tr>\n"), ("</th><th", "</th>\n<th"),
    ("</th></tr></thead><tbody>", "</th>\n</tr>\n</thead>\n<tbody>"), ("<tr><td", "<tr>\n<td"), ("</td><td", "</td>\n<td"),
    ("</td></tr>", "</td>\n</tr>"), ("</tbody></table>", "</tbody>\n</table>"), ("<tbody>\n</tbody>\n", ""),
    *((f'<{cell} style="text-align: {side}">', f'<{cell} align="{side}">')
      for cell in ("td", "th") for side in ("left", "right", "center")),
)  # fmt: skip


def to_html(markdown: str, deadline: Deadline) -> str:
    """Sanitised HTML. ResultTooLarge over MAX_MARKDOWN, TimedOut past the deadline."""
    if not markdown:
        return ""
    deadline.check()
    deadline.spend(COST * len(markdown))
    if len(markdown) <= _KEPT_LENGTH:
        return _kept(markdown)
    size = len(markdown.encode("utf-8", "replace"))
    if size > MAX_MARKDOWN:
        raise ResultTooLarge(size, MAX_MARKDOWN, "Only shorter richtext is rendered as HTML; ask for it as Markdown.")
    return _rendered(markdown)


def _rendered(markdown: str) -> str:
    """The same for the same text, whoever asks."""
    html = _nested(_renderer()(_RAW_HTML.sub(f"<{_GUARD}", _own(markdown))))
    html = _REFERENCE.sub(_refer, html).replace(_GUARD, "")
    for written, wanted in _SPELLINGS:
        html = html.replace(written, wanted)
    return _sanitised(html)


def _own(markdown: str) -> str:
    """Without what this module marks places with and without NUL (CommonMark 0.31 §2.3), and with an end to its last line."""
    text = markdown.replace("\0", "\ufffd").replace(_GUARD, "\ufffd")
    return text if text.endswith("\n") else f"{text}\n"


def _nested(html: str) -> str:
    """Without the tags of whatever is nested more than MAX_NESTING deep; its text stays. Sanitising takes the square of the depth."""
    depth = 0

    def kept(tag: re.Match[str]) -> str:
        nonlocal depth
        closes, item = tag.groups()
        depth += 0 if item else -1 if closes else 1
        return tag[0] if depth + (1 if closes and not item else 0) <= MAX_NESTING else ""

    return _NESTING.sub(kept, html)


def _refer(found: re.Match[str]) -> str:
    """References to media become URLs, and URLs are spelled as one expects them."""
    url = found[2].replace(_GUARD_IN_URL, "")
    if url.startswith(SCHEME):
        key = reference_key(unescape(url))
        url = escape(media_url(unquote(key))) if key else ""
    return found[1] + _ADDRESS.sub(r"\1[\2]", _STRAY_PERCENT.sub("%25", url))


def _sanitised(html: str) -> str:
    import nh3

    marked = html.replace(_AND, "\ufffd").replace("&amp;", _AND)  # a text of many `&` would take the square of their number
    cleaned = nh3.clean(
        marked, tags=set(TAGS), attributes={tag: set(names) for tag, names in ATTRIBUTES.items()}, url_schemes=set(SCHEMES),
        link_rel=RELATION, attribute_filter=_attribute, strip_comments=True,
    )  # fmt: skip
    return cleaned.replace(_AND, "&amp;")


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
def _renderer() -> Callable[[str], str]:
    from pyromark import Markdown, Options

    # Only two tildes strike through; one is a subscript here, which `_SPELLINGS` writes as it was.
    return Markdown(options=Options.ENABLE_TABLES | Options.ENABLE_STRIKETHROUGH | Options.ENABLE_SUBSCRIPT).html
