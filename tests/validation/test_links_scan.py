"""What a body refers to, and how its headings can be referred to (docs/rules.md, Odd places)."""

import time
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from cmsmcp.site.markdown.links import Slugs, first_heading, foundry_slug, github_slug, scan

REFERENCE = MarkdownIt("commonmark").enable("table")
REFERENCE.normalizeLink = lambda url: url
REFERENCE.validateLink = lambda url: True


def found(body):
    return [(link.kind, link.target, link.line) for link in scan(body).links]


def targets(body):
    return [link.target for link in scan(body).links]


@pytest.mark.parametrize(
    ("body", "links"),
    [
        ("See [a](/a/).", [("link", "/a/", 1)]),
        ('x\n[a](/a/ "title") and [b](</b c/> \'t\')', [("link", "/a/", 2), ("link", "/b c/", 2)]),
        ('![alt](media:images/a.png "t")', [("image", "media:images/a.png", 1)]),
        ("[![alt](/i.png)](/page/)", [("image", "/i.png", 1), ("link", "/page/", 1)]),
        ("<https://example.com/x> <me@example.com>", [("link", "https://example.com/x", 1), ("link", "mailto:me@example.com", 1)]),
        ("[a][ref]\n[ref][]\n[Ref]\n\n[REF]: /r/ 'T'", [("link", "/r/", 1), ("link", "/r/", 2), ("link", "/r/", 3)]),
        ("a <a class=x href=\"/h/\">b</a> <img src='/i.png'>", [("html", "/h/", 1), ("html", "/i.png", 1)]),
        ('<video poster="/p.png">\n<source src="media:videos/v.mp4">', [("html", "/p.png", 1), ("html", "media:videos/v.mp4", 2)]),
        ("| [a](/a/) | b |\n|---|---|\n| c | [d](/d/) |", [("link", "/a/", 1), ("link", "/d/", 3)]),
        ("> - [a](/a/)\n>\n>   [b](/b/)", [("link", "/a/", 1), ("link", "/b/", 3)]),
        ("## [a](/a/)\n\nT [b](/b/)\n===", [("link", "/a/", 1), ("link", "/b/", 3)]),
        ("[a](/a_(b)/) [c](/x\\)y/) [q](/?a=1&amp;b=2#f)", [("link", "/a_(b)/", 1), ("link", "/x)y/", 1), ("link", "/?a=1&b=2#f", 1)]),
    ],
)
def test_every_form_of_link_is_found_with_its_line(body, links):
    assert found(body) == links


def test_lines_count_from_the_first_line_of_the_body():
    assert [link.line for link in scan("a\n\n[b](/b/)", first_line=7).links] == [9]


@pytest.mark.parametrize(
    "body",
    [
        "```\n[a](/a/)\n```",
        "~~~~ md\n[a](/a/)\n~~~\n[a](/a/)\n~~~~",
        "- x\n\n  ```\n  [a](/a/)\n  ```",
        "    [a](/a/)",
        "`[a](/a/)` ``[a](/a/)` ``",
        "`<a href='/x/'>`",
        "<!-- [a](/a/) <a href='/a/'> -->",
        "x <!-- [a](/a/) --> y",
        "<script>\nvar a = \"<a href='/a/'>\";\n</script>",
        r"\[a](/a/)",
        "[a] (/a/)",
        "[a](/a b/)",
        "[a][unknown]",
        "[^1]: /footnote",
    ],
)
def test_code_comments_and_what_only_looks_like_a_link_hold_none(body):
    assert targets(body) == []


def test_an_unclosed_fence_ends_with_the_list_item_it_stands_in():
    assert targets("- ```\n  code\n\n[a](/a/)") == ["/a/"]


def test_anchors_are_slugs_as_github_and_foundry_form_them_and_explicit_ids():
    body = "# What's new — v2?\n## Install\n## Install\n## Über `x_y`\n## Named {#chosen}\n<a id=\"here\"></a> <a name='there'>x</a>"
    anchors = scan(body).anchors
    assert set(anchors) >= {"whats-new--v2", "whats-new-v2", "install", "install-1", "über-x_y", "ber-xy", "chosen", "here", "there"}
    assert scan(body).headings == ("What's new — v2?", "Install", "Install", "Über x_y", "Named")


def test_slugs_keep_combining_marks_and_drop_emoji():
    assert github_slug("हिन्दी लिपि 🚀") == "हिन्दी-लिपि-"
    assert foundry_slug("A -- B") == "a-b"


@pytest.mark.parametrize(
    ("headings", "wanted"),
    [
        (["Header", "Header 1", "Header"], ["header", "header-1", "header-2"]),
        (["Header", "Header", "Header 1", "Header"], ["header", "header-1", "header-1-1", "header-2"]),
        (["a 2", "a", "a", "a", "a 1"], ["a-2", "a", "a-1", "a-3", "a-1-1"]),
        (["x", "X", "`x`", "*x*"], ["x", "x-1", "x-2", "x-3"]),
        (["🎉", "🎉", "🎉 go", "go :tada:"], ["-1", "-go", "go-tada"]),
        (["1", "1", "1-1"], ["1", "1-1", "1-1-1"]),
    ],
)
def test_equal_headings_are_numbered_as_github_does(headings, wanted):
    """GitHub's own order of counting, as its published slugger has it: a number that another heading bears is passed over."""
    anchors = scan("\n\n".join(f"# {one}" for one in headings)).anchors
    slugs = [slug for one in headings for slug in [github_slug(one)]]
    assert len(slugs) == len(headings)
    assert set(wanted) <= set(anchors)
    ours = Slugs()
    assert [found[0] for one in headings if (found := ours.of(one.strip("`*")))] == wanted


@pytest.mark.parametrize(
    ("heading", "slug"),
    [
        ("What's new — v2?", "whats-new--v2"), ("a  b", "a--b"), ("a - b", "a---b"), ("snake_case‿tie", "snake_case‿tie"),
        ("x² ½ ①", "x--"), ("Ⅷ Ⓐ 🄰", "ⅷ-ⓐ-🄰"), ("٣ ३ 3", "٣-३-3"), ("İstanbul", "i̇stanbul"), ("C++ & C#", "c--c"), ("a\tb", "ab"),
        ("हिन्दी लिपि 🚀", "हिन्दी-लिपि-"), ("🚀 Launch", "-launch"), ("日本語の見出し。", "日本語の見出し"),
        ("a\u200bb", "ab"), ("50% (half)", "50-half"),
        ("/api/v1 → GET", "apiv1--get"), ("1.2.3", "123"), ("it's “quoted”", "its-quoted"), ("\u00a0x", "x"), ("—", ""),
    ],
)
def test_a_heading_becomes_what_github_makes_of_it(heading, slug):
    """Letters, marks, decimal digits, connectors and dashes stay; each blank is a dash; nothing is trimmed or joined."""
    assert github_slug(heading) == slug


def test_blanks_and_lines_of_a_heading_count_one_by_one():
    anchors = scan("# a  b\n\ntwo\nlines\n===\n\n# Named twice {#chosen}\n").anchors
    assert set(anchors) >= {"a--b", "a-b", "twolines", "two-lines", "chosen", "named-twice"}


def test_text_is_plain_and_keeps_code_and_literal_marks():
    body = "# *Title*\n\nA **bold** [link](/x) ![alt](/i) &amp; 2 * 3, snake_case, `a_*b*`.\n\n"
    body += "```\ncode here\n```\n\n| a | b |\n|--|--|\n| c | d |"
    assert scan(body).text == "Title\nA bold link alt & 2 * 3, snake_case, a_*b*.\ncode here\na b\nc d"


def test_html_text_is_kept_and_scripts_are_not():
    assert scan("<div>\n<b>Bold</b> &lt;tag\n</div>\n\n<script>\nlet hidden = 1\n</script>\n").text == "Bold <tag"


def test_targets_are_bounded():
    assert targets(f"[a](/{'x' * 5000})") == []
    assert targets(f'<a href="/{"x" * 5000}">') == []


FRAGMENTS = st.sampled_from(
    ["[", "]", "(", ")", "a", "b c", "[t](/u)", "![t](/i)", "[t](</u v>)", '[t](/u "ti")', "`", "``", "```\n", "~~~\n", "\n", "\n\n", "> ",
     "- ", "1. ", "2. ", "    ", "  ", "# ", '<a href="/x">', "</a>", "<http://e.org/>", "*", "_", "\\", "[r]", "[t][r]", "---\n", "===\n",
     "<div>\n", "</div>\n", "<!-- ", "-->", "&amp;", "!", "<b>", "<script>\n", "</script>\n", "\t"]
)  # fmt: skip


@settings(max_examples=300, deadline=None, derandomize=True)
@given(st.lists(FRAGMENTS, max_size=14).map("".join))
def test_links_are_those_of_a_full_commonmark_parser(body):
    body = f"[r]: /ref\n\n{body}"
    expected: Counter = Counter()

    def collect(tokens):
        for token in tokens:
            if token.type in ("link_open", "image"):
                expected[token.attrs.get("href", token.attrs.get("src"))] += 1
            collect(token.children or ())

    collect(REFERENCE.parse(body))
    del expected[""]
    assert Counter(link.target for link in scan(body).links if link.kind != "html") == expected


@settings(max_examples=300, deadline=None)
@given(st.text(max_size=400) | st.text(alphabet="[]()<>`*_~\\!#-|:\"'&;{}=/ \n\tab1.", max_size=400))
def test_no_text_raises(body):
    result = scan(body)
    assert all(1 <= link.line <= body.count("\n") + 1 for link in result.links)


HOSTILE = [
    "[", "]", "<", "(", "`", "![", "[](", "[a](<b", '<a b="', "<a b='", "<!--", "&", "*", "> ", "- ", "|", "[a]: b\n", "[a][",
    "`a``b```", " ", "\t", "<a:", "{#a}", "=\n", "[[a](b)", '[a](b "', "[a](b (", "[a]((", "<div>\n", "<?", "]:", "* *\n",
]  # fmt: skip


@pytest.mark.parametrize("prefix", ["", "| a |\n|-|\n", "[x](", '<a b="'])
def test_hostile_text_takes_linear_time(prefix):
    """100 KB of each took 0.02–0.7 s when written; anything quadratic takes minutes."""
    begin = time.process_time()
    for pattern in HOSTILE:
        scan(prefix + pattern * (20_000 // len(pattern)))
    assert time.process_time() - begin < 10


HEADED = ["# A", "## B *c*", "text", "", "===", "---", "```", "> # q", "- x", "    # code", "<!-- #", "-->", "#"]


@given(st.lists(st.sampled_from(HEADED)).map("\n".join))
def test_the_first_heading_is_the_first_of_all_headings(body):
    """One reader of headings: a title never differs from what the search and the fragments know."""
    assert first_heading(body) == next(iter(scan(body).headings), "")
