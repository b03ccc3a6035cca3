"""Richtext as HTML: nothing in it runs, whatever was written (docs/rules.md, Content types)."""

from __future__ import annotations

import re
import subprocess
import sys
import time
from html.parser import HTMLParser
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from cmsmcp.core.deadline import Deadline
from cmsmcp.protocol.errors import ResultTooLarge, TimedOut
from cmsmcp.site.entries import richtext
from cmsmcp.site.entries.richtext import ATTRIBUTES, MAX_MARKDOWN, RELATION, TAGS, to_html
from cmsmcp.site.markdown.blocks import MAX_NESTING
from tests.worst.markdown import BODIES

VECTORS = [
    "<script>alert(1)</script>", "<SCRIPT SRC=//x.example/a.js></SCRIPT>", "<scr<script>ipt>alert(1)</script>",
    "<script\x00>alert(1)</script>",
    "<img src=x onerror=alert(1)>", "<img/src=x/onerror=alert(1)>", "<svg onload=alert(1)>", "<svg><script>alert(1)</script></svg>",
    "<svg><animate onbegin=alert(1) attributeName=x></svg>", "<math><mtext><table><mglyph><style><img src=x onerror=alert(1)>",
    "<iframe src=javascript:alert(1)></iframe>", "<iframe srcdoc='<script>alert(1)</script>'></iframe>",
    "<object data=javascript:alert(1)>",
    "<embed src=javascript:alert(1)>", "<base href=javascript:alert(1)//>", "<link rel=stylesheet href=javascript:alert(1)>",
    "<meta http-equiv=refresh content='0;url=javascript:alert(1)'>", "<form action=javascript:alert(1)><input type=submit></form>",
    "<button formaction=javascript:alert(1)>x</button>", "<input autofocus onfocus=alert(1)>", "<body onload=alert(1)>",
    "<details open ontoggle=alert(1)>", "<video><source onerror=alert(1)></video>", "<a href=javascript:alert(1)>x</a>",
    "<style>@import 'javascript:alert(1)'</style>", "<div style='background:url(javascript:alert(1))'>x</div>",
    "<!--<img src=--><img src=x onerror=alert(1)>",
    "<noscript><p title='</noscript><img src=x onerror=alert(1)>'>", "<template><script>alert(1)</script></template>",
    "<x onclick=alert(1)>x</x>",
    "[x](javascript:alert(1))", "[x](JaVaScRiPt:alert(1))", "[x](java\tscript:alert(1))", "[x](java&#10;script:alert(1))",
    "[x](&#106;avascript:alert(1))",
    "[x](&#x6A;avascript&colon;alert(1))", "[x]( javascript:alert(1))", "[x](<javascript:alert(1)>)", "[x](\x01javascript:alert(1))",
    "[x](vbscript:msgbox(1))", "[x](data:text/html;base64,PHNjcmlwdD5hbGVydCgxKTwvc2NyaXB0Pg==)",
    "[x](data:text/html,<script>alert(1)</script>)",
    "[x](file:///etc/passwd)", "[x](blob:https://x.example/1)", "[x](javascript&#58;alert(1))", "[x][1]\n\n[1]: javascript:alert(1)",
    "![x](javascript:alert(1))", "![x](data:image/svg+xml;base64,PHN2Zy8+)", "![x](data:image/png;base64,AAAA)", "![x](file:///etc/passwd)",
    '![x](https://x.example/a.png "a\\" onerror=alert(1) b=\\"")', "![x\" onerror=\"alert(1)](a.png)",
    "[x](a.html \"t' onmouseover='alert(1)\")",
    "[x](https://x.example/\"onmouseover=alert(1))", "<javascript:alert(1)>", "<JAVASCRIPT:alert(1)>", "<data:text/html,x>", "<vbscript:x>",
    "```js\" onclick=\"alert(1)\nx\n```", "``` \"><script>alert(1)</script>\nx\n```", "`<script>alert(1)</script>`",
    "    <script>alert(1)</script>",
    "| <script>alert(1)</script> |\n|:-:|\n| <img src=x onerror=alert(1)> |", "> <script>alert(1)</script>",
    "# <img src=x onerror=alert(1)>",
    "&lt;script&gt;alert(1)&lt;/script&gt;", "&#60;script&#62;alert(1)&#60;/script&#62;",
    "[![x](javascript:alert(1))](javascript:alert(1))",
    "![x](media:javascript:alert(1))", "[x](media:images/../../javascript:alert(1))", "[x](media:images/\"onclick=alert(1))",
    "![x](mailto:a@b.example)",
    "<a\u2028href=javascript:alert(1)>x</a>", "<img src=`x`onerror=alert(1)>", "<![CDATA[<script>alert(1)</script>]]>", "<?php alert(1) ?>",
]  # fmt: skip


SCHEME = re.compile(r"([a-z][a-z0-9+.-]*):")


class _Reading(HTMLParser):
    """What a browser would make of it: tags with their attributes."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.depth = self.deepest = 0
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self.depth += tag not in ("br", "hr", "img")
        self.deepest = max(self.deepest, self.depth)

    def handle_endtag(self, tag: str) -> None:
        self.depth -= 1

    def handle_data(self, data: str) -> None:
        self.text += data


def check(html: str) -> None:
    """Nothing but what is allowed, and no URL that runs."""
    for tag, attributes in _Reading(html).tags:
        assert tag in TAGS, (tag, html)
        for name, value in attributes.items():
            assert name in ATTRIBUTES.get(tag, set()) | ({"rel"} if tag == "a" else set()), (tag, name, html)
            assert not name.startswith("on")
            if name in ("href", "src"):
                bare = "".join(sign for sign in value or "" if sign > " ").lower()
                scheme = SCHEME.match(bare)
                assert (scheme[1] if scheme else "") in ({"", "http", "https"} if tag == "img" else {"", "http", "https", "mailto",
                "tel"}), (value, html)
            if tag == "a" and "href" in attributes:
                assert attributes["rel"] == RELATION
            if name == "class":
                assert value is not None and value.startswith("language-")


def html_of(markdown: str) -> str:
    return to_html(markdown, Deadline(20))


@pytest.mark.parametrize("markdown", VECTORS)
def test_nothing_that_was_written_runs(markdown: str) -> None:
    assert len(VECTORS) >= 40
    html = html_of(markdown)
    check(html)
    lowered = html.lower()
    assert "<script" not in lowered and "<img src=\"x\"" not in lowered


SCRAPS = st.sampled_from([
    "<script>", "</script>", "<img src=x onerror=alert(1)>", "javascript:", "java\tscript:", "data:text/html,", "[x](", ")", "![", "](",
    "<", ">",
    "\"", "'", "onclick=", "&#106;", "&colon;", "`", "```", "\n", "|", "|-|", "~~", "**", "_", "\\", "media:images/", "http://", "\0", " ",
    "x", "&",
])  # fmt: skip


@settings(max_examples=400, deadline=None)
@given(st.lists(SCRAPS | st.text(max_size=6), max_size=25).map("".join))
@example("[x](javascript&#x3A;alert(1))")
def test_whatever_is_written_holds_no_script(markdown: str) -> None:
    check(html_of(markdown))


@pytest.mark.parametrize(("markdown", "html"), [
    ("", ""), ("a *b* **c**", "<p>a <em>b</em> <strong>c</strong></p>\n"), ("~~a~~", "<p><s>a</s></p>\n"), ("a <b>b</b>",
    "<p>a &lt;b&gt;b&lt;/b&gt;</p>\n"),
    ("[a](/b/ \"c\")", f'<p><a href="/b/" title="c" rel="{RELATION}">a</a></p>\n'),
    ("![a](media:images/a%20b.png)", '<p><img src="/images/a%20b.png" alt="a"></p>\n'),
    ("[a](media:documents/f.pdf)", f'<p><a href="/documents/f.pdf" rel="{RELATION}">a</a></p>\n'),
    ("|a|b|\n|:-|-|\n|c|d|",
    '<table>\n<thead>\n<tr>\n<th align="left">a</th>\n<th>b</th>\n</tr>\n</thead>\n<tbody>\n<tr>\n<td align="left">c</td>\n'
     "<td>d</td>\n</tr>\n</tbody>\n</table>\n"),
    ("3. a", '<ol start="3">\n<li>a</li>\n</ol>\n'), ("```py\nx < y\n```", '<pre><code class="language-py">x &lt; y\n</code></pre>\n'),
])  # fmt: skip
def test_what_markdown_means_stays(markdown: str, html: str) -> None:
    assert html_of(markdown) == html


@pytest.mark.parametrize(("markdown", "html"), [
    ("<div>*a*</div>", "<p>&lt;div&gt;<em>a</em>&lt;/div&gt;</p>\n"), ("<!-- a -->\n\nb", "<p>&lt;!-- a --&gt;</p>\n<p>b</p>\n"),
    ("[a](<b> c", "<p>[a](&lt;b&gt; c</p>\n"), ("[a](<b c>)", f'<p><a href="b%20c" rel="{RELATION}">a</a></p>\n'),
    ("`<b>` <b", "<p><code>&lt;b&gt;</code> &lt;b</p>\n"), ("    <b>", "<pre><code>&lt;b&gt;\n</code></pre>\n"),
    ("<http://a.example/?b&c>", f'<p><a href="http://a.example/?b&amp;c" rel="{RELATION}">http://a.example/?b&amp;c</a></p>\n'),
    ("[a](/b<c>)", f'<p><a href="/b%3Cc%3E" rel="{RELATION}">a</a></p>\n'), ("~a~ ~~b~~", "<p>~a~ <s>b</s></p>\n"),
    ("[a](http://[::1]/%)", f'<p><a href="http://[::1]/%25" rel="{RELATION}">a</a></p>\n'),
    ("|a|\n|-|", "<table>\n<thead>\n<tr>\n<th>a</th>\n</tr>\n</thead>\n</table>\n"),
    ("AT&T &amp; a &lt; b", "<p>AT&amp;T &amp; a &lt; b</p>\n"),
])  # fmt: skip
def test_raw_html_is_text_and_all_else_is_what_it_was(markdown: str, html: str) -> None:
    """docs/rules.md, Content types. Spelled as the CommonMark reference renderer does, whatever the renderer here."""
    assert html_of(markdown) == html


def test_signs_that_are_no_text_are_shown_as_such() -> None:
    """CommonMark 0.31 §2.3 (NUL), and the code points that Unicode keeps for a program's own use, which this one does use."""
    link = f'<a href="%EF%BF%BDd" rel="{RELATION}">c</a>'
    assert html_of("a\0b \ufdd0 \ufdd1 &#xFDD1; [c](\ufdd0d)") == f"<p>a\ufffdb \ufffd \ufffd \ufffd {link}</p>\n"


@settings(max_examples=200, deadline=None)
@given(st.lists(st.sampled_from(
    ["<b>", "</b>", "<div>", "<i x=1>", "<!-- c -->", "<?p?>", "<!D x>", "<a@b.c>", " ", "\n", "](", "]: ", "[x"]
), max_size=12).map("".join))  # fmt: skip
def test_no_tag_that_was_written_is_lost(markdown: str) -> None:
    """It would be invisible: each name of a tag is still to be read, in the text or in a URL."""
    html = html_of(markdown)
    check(html)
    assert html.count("div&gt;") + html.count("div%3E") == markdown.count("<div>")


def test_a_text_is_rendered_only_while_there_is_time() -> None:
    for markdown in ("a", "a " * 100_000):
        with pytest.raises(TimedOut):
            to_html(markdown, Deadline(0))


HARDEST = ["table", "aligned table", "emphasis that never closes", "nested emphasis", "nested quotes", "numbered lists in lists",
           "ampersands", "nested tags", "table of many columns", "a long definition used often"]  # fmt: skip


@pytest.mark.parametrize("name", HARDEST)
def test_a_text_of_the_largest_size_is_soon_rendered(name: str) -> None:
    """The cases that took 5 to 60 s, in seconds of this process. All of `BODIES` at this size are in `tests/system`."""
    markdown = BODIES[name](1_000_000)
    began = time.process_time()
    html_of(markdown)
    assert time.process_time() - began <= 3


@pytest.mark.parametrize("name", BODIES)
def test_a_text_that_is_hard_to_read_is_rendered_safe_and_flat(name: str) -> None:
    html = html_of(BODIES[name](4_000))
    check(html)
    assert _Reading(html).deepest <= 2 * MAX_NESTING + 8


def test_a_text_over_the_limit_is_refused() -> None:
    with pytest.raises(ResultTooLarge, match="Markdown"):
        to_html("é" * (MAX_MARKDOWN // 2 + 1), Deadline(5))


def test_a_text_is_rendered_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever asks, and however long they may still wait."""
    to_html("once and only *once*", Deadline(5))
    monkeypatch.setattr(richtext, "_renderer", None)
    assert to_html("once and only *once*", Deadline(9)) == "<p>once and only <em>once</em></p>\n"


@pytest.mark.parametrize("markdown", [
    "> " * 40 + "a", "- " * 40 + "a", "".join(f"{'  ' * depth}- a\n" for depth in range(100)), "*a " * 40 + "a* " * 40,
])  # fmt: skip
def test_what_lies_too_deep_stays_as_text(markdown: str) -> None:
    """Without the tags of its own: sanitising takes the square of the depth."""
    read = _Reading(html_of(markdown))
    assert MAX_NESTING <= read.deepest <= 2 * MAX_NESTING + 2
    assert read.text.count("a") == markdown.count("a")


def test_deep_nesting_breaks_nothing() -> None:
    for markdown in ("*" * 3000 + "a" + "*" * 3000, ">" * 3000 + "a", "- " * 3000 + "a", "[" * 3000 + "a" + "](b)" * 3000):
        check(html_of(markdown))


def test_the_libraries_are_loaded_with_the_first_text() -> None:
    """Not before: the first reply on stdio comes before anything heavy."""
    names: Any = ("pyromark", "nh3")
    code = f"import sys, cmsmcp.site.entries.store; print([name for name in {names!r} if name in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"
