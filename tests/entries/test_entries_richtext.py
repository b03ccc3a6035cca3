"""Richtext as HTML: nothing in it runs, whatever was written (docs/rules.md, Content types)."""

from __future__ import annotations

import re
import subprocess
import sys
from html.parser import HTMLParser
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from cmsmcp.core.deadline import Deadline
from cmsmcp.protocol.errors import ResultTooLarge, TimedOut
from cmsmcp.site.entries import richtext
from cmsmcp.site.entries.richtext import ATTRIBUTES, MAX_MARKDOWN, RELATION, TAGS, to_html

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
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))


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


def test_rendering_ends_with_its_deadline() -> None:
    with pytest.raises(TimedOut):
        to_html("![" * 100_000, Deadline(0.3))
    with pytest.raises(TimedOut):
        to_html("a", Deadline(0))


def test_a_text_over_the_limit_is_refused() -> None:
    with pytest.raises(ResultTooLarge, match="Markdown"):
        to_html("é" * (MAX_MARKDOWN // 2 + 1), Deadline(5))


def test_a_text_is_rendered_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever asks, and however long they may still wait."""
    to_html("once and only *once*", Deadline(5))
    monkeypatch.setattr(richtext, "_renderer", None)
    assert to_html("once and only *once*", Deadline(9)) == "<p>once and only <em>once</em></p>\n"


def test_deep_nesting_breaks_nothing() -> None:
    for markdown in ("*" * 3000 + "a" + "*" * 3000, ">" * 3000 + "a", "- " * 3000 + "a", "[" * 3000 + "a" + "](b)" * 3000):
        check(html_of(markdown))


def test_the_libraries_are_loaded_with_the_first_text() -> None:
    """Not before: the first reply on stdio comes before anything heavy."""
    names: Any = ("markdown_it", "nh3")
    code = f"import sys, cmsmcp.site.entries.store; print([name for name in {names!r} if name in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"
