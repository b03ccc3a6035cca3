"""Front matter and body in every form (docs/rules.md, Front matter, Odd places; C031, C036, C039)."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cmsmcp.site.documents.frontmatter import MAX_BLOCK, MAX_DOCUMENT_BYTES, split
from cmsmcp.site.markdown.links import first_heading
from cmsmcp.site.yaml.loader import core_value


def good(raw: bytes) -> tuple[dict | None, str, int]:
    parts = split(raw, "a.md")
    assert not parts.diagnostics
    return (None if parts.node is None else core_value(parts.node)), parts.body, parts.body_line


def bad(raw: bytes) -> tuple[str, int | None]:
    parts = split(raw, "a.md")
    assert parts.diagnostics
    assert all(d.severity == "error" and d.path == "a.md" and "\n" not in d.message for d in parts.diagnostics)
    assert parts.node is None
    assert parts.body == ""
    return parts.diagnostics[0].message, parts.diagnostics[0].line


@pytest.mark.parametrize(("raw", "values", "body", "line"), [
    (b"\xef\xbb\xbf---\ntitle: T\n---\nBody\n", {"title": "T"}, "Body\n", 4),
    (b"---\r\ntitle: T\r\n---\r\nBody\r\n", {"title": "T"}, "Body\n", 4),
    (b"---\rtitle: T\r---\rBody", {"title": "T"}, "Body", 4),
    (b"---\ntitle: T\n---", {"title": "T"}, "", 4),
    (b"---\n---\nBody only\n", {}, "Body only\n", 3),
    (b"---\n# nothing yet\n---\nB", {}, "B", 4),
    (b"---  \ntitle: T\n---\t\nBody\n", {"title": "T"}, "Body\n", 4),
    (b"---\ntitle: T\n...\nBody\n", {"title": "T"}, "Body\n", 4),
    (b"\n \n---\ntitle: T\n---\nBody\n", {"title": "T"}, "Body\n", 6),
    (b"---yaml\ntitle: T\n---\nBody", {"title": "T"}, "Body", 4),
    (b"---\na: |\n  x\n  ---\n  y\n---\nB", {"a": "x\n---\ny\n"}, "B", 7),
    (b'+++\ntitle = "T"\nd = 2026-03-06\nn = 1.5\n+++\nBody', {"title": "T", "d": "2026-03-06", "n": 1.5}, "Body", 6),
    (b'---toml\na = [1, true]\n---\nBody', {"a": [1, True]}, "Body", 4),
    (b"+++\n+++\nBody", {}, "Body", 3),
    (b';;;\n{"a": {"b": null}}\n;;;\nBody', {"a": {"b": None}}, "Body", 4),
    (b'---json\n{"a": 1}\n---\nBody', {"a": 1}, "Body", 4),
    (b'{"title":"T"}\nBody\n', {"title": "T"}, "Body\n", 2),
    (b'{\n  "title": "T",\n  "x": {}\n}\nBody', {"title": "T", "x": {}}, "Body", 5),
    (b"# No front matter\n", None, "# No front matter\n", 1),
    (b"\n\nText", None, "Text", 3),
    (b"{% include x %}\nText", None, "{% include x %}\nText", 1),
    (b"{not json}\nText", None, "{not json}\nText", 1),
    (b"-----\nText", None, "-----\nText", 1),
])
def test_every_form_gives_values_body_and_the_bodys_line(raw: bytes, values: dict | None, body: str, line: int) -> None:
    """C031; docs/rules.md, Front matter."""
    assert good(raw) == (values, body, line)


@pytest.mark.parametrize(("raw", "word", "line"), [
    (b"---\ntitle: T\ndraft: true\nBody", "never closed", 1),
    (b"---\ntitle: T\n ---\nBody", "never closed", 1),
    (b"---\ntitle: T\n----\nBody", "never closed", 1),
    (b"---", "never closed", 1), (b"--- \n", "never closed", 1), (b"text\n\xff", "UTF-8", 2),
    (b"", "empty", 1), (b"\xef\xbb\xbf", "empty", 1), (b" \n\n", "empty", 1),
    (b"a\nb\0c", "NUL", 2), (b'---\na: "\\0"\n---\n', "NUL", 2),
    (b"---\nnull\n---\nb", "nothing", 2), (b"---\n- a\n- b\n---\nb", "a list", 2), (b"---\njust text\n---\nb", "just text", 2),
    (b"---\na: 1\nb: [\n---\nb", "", 3),
    (b" ---\ndraft: true\n---\nb", "alone at the start", 1), (b"--- yaml\ndraft: true\n---\nb", "alone", 1),
    (b"---YAML\ndraft: true\n---\nb", "lower case", 1), ("\u200b---\ndraft: true\n---\n".encode(), "alone", 1),
    (b'{"a": 1}\nb'.replace(b"1", b"NaN"), "NaN", 1), (b'{\n"a": 1,\n"a": 2}\nb', "`a` is given twice", 3),
    (b'{"a": 1} trailing\nb', "follows", 1), (b'{"draft": true\nb', "JSON", 2), (b'{"a": "\\ud800"}\nb', "surrogate", 1),
    (b'{"a": "\\u0000"}\nb', "NUL", 1), (b'{"a":' + b"[" * 5000 + b"]" * 5000 + b"}\nb", "deep", 1),
    (b'{"a":' + b"[" * 40 + b"]" * 40 + b"}\nb", "32 deep", 1),
    (b"+++\na = 1\na = 2\n+++\n", "twice", 3), (b"+++\na = \n+++\n", "TOML", 2),
    (b"+++\nx=" + b"[" * 5000 + b"]" * 5000 + b"\n+++\n", "deep", 2),
    (b"+++\nok = 1\nn = " + b"9" * 5000 + b"\n+++\n", "digits", 2), (b"+++\na" + b".a" * 900 + b" = 1\n+++\n", "dots", 2),
    (b"---json\n[1]\n---\nb", "list", 2),
])
def test_what_cannot_be_read_is_an_error_and_no_body(raw: bytes, word: str, line: int) -> None:
    """docs/rules.md, Odd places; C036 k2–k4, C039 g–i. No header leaks into a body."""
    message, at = bad(raw)
    assert (word in message, at) == (True, line), (message, at)


def test_sizes_are_bounded() -> None:
    """docs/rules.md, Odd places; C039 m."""
    assert good(b"a" * MAX_DOCUMENT_BYTES)[0] is None
    assert "limit" in bad(b"a" * (MAX_DOCUMENT_BYTES + 1))[0]
    assert "over" in bad(b"---\na: " + b"x" * MAX_BLOCK + b"\n---\nb")[0]
    assert "1000 values" in bad(b'{"a": [' + b"1," * 1000 + b"1]}\nb")[0]
    assert "1000 values" in bad(b"---\na: [" + b"1," * 1000 + b"1]\n---\nb")[0]


@pytest.mark.parametrize("raw", [
    b"+++\n" + b"".join(b"k%d = 1\n" % i for i in range(25_000)) + b"+++\n", b"{\n" + b'"a": 1,\n' * 30_000 + b"}\n",
    b"---\n" + b"a: &a [x]\n" * 20_000 + b"---\n", b"---\n" + b"[" * 200_000 + b"\n---\n", b"---" + b" " * 5_000_000 + b"x\n---",
    b"# a" + b" " * 5_000_000 + b"b", b"\n" * 5_000_000 + b"---\n", b"---\n" * 1_000_000,
])
def test_hostile_shapes_are_read_in_linear_time(raw: bytes) -> None:
    """Every input has a bound: the measure is CPU time, and a quadratic scan of these takes minutes."""
    before = time.process_time()
    first_heading(split(raw, "a.md").body)
    assert time.process_time() - before < 3


def test_toml_and_json_values_know_their_line() -> None:
    node = split(b'\n+++\na = 1\n\n"b c" = 2\n[d]\ne = 3\n+++\n', "a.md").node
    assert node is not None
    assert node.key_lines == {"a": 3, "b c": 5, "d": 6}
    assert node.entries["b c"].line == 5


@given(st.sampled_from([b"---", b"---yaml", b"+++", b";;;", b"---json", b"---toml", b"{", b'{"'])
       .flatmap(lambda mark: st.binary(max_size=80).map(lambda rest: mark + rest)) | st.binary(max_size=80))
def test_any_bytes_split_or_are_an_error(raw: bytes) -> None:
    parts = split(raw, "a.md")
    if parts.diagnostics:
        assert (parts.node, parts.body) == (None, "")
    else:
        assert raw.decode().replace("\r\n", "\n").replace("\r", "\n").endswith(parts.body)
    for fault in parts.diagnostics:
        assert 1 <= (fault.line or 0) <= raw.count(b"\n") + raw.count(b"\r") + raw.count(b"\xe2\x80") + raw.count(b"\x85") + 1


@given(
    st.dictionaries(st.text("abcxyz", min_size=1), st.sampled_from(["1", "no", "[a]", "'x'"]), max_size=5),
    st.text("ab \n#*", max_size=40),
)
def test_values_and_body_survive_line_endings_and_a_bom(pairs: dict[str, str], body: str) -> None:
    """C031: all shapes parse to the same."""
    source = "---\n" + "".join(f"{key}: {value}\n" for key, value in pairs.items()) + "---\n" + body
    plain = good(source.encode())
    assert good(b"\xef\xbb\xbf" + source.replace("\n", "\r\n").encode()) == plain
    assert plain[1] == body
    assert source.split("\n")[plain[2] - 1:] == (body.split("\n"))


@pytest.mark.parametrize("opener", [
    "----", "-----", "--", "-- -", "- - -", "---x", "---yml", "--- yaml", "--- # page", "\u2014\u2014\u2014", "\u2013--", "\u200b----",
    "++++", "++", "+++x", ";;;;", "; ; ;", " ----",
])
@pytest.mark.parametrize("below", [
    "title: T\ndraft: true\n", "\n# of mine\ndraft: true\n", "draft = true\n", '{"draft": true}\n', '"draft": true\n',
])
def test_an_opening_line_that_is_almost_right_loses_no_draft(opener: str, below: str) -> None:
    """docs/rules.md, Front matter: such a page was served, with `draft: true` as its text."""
    found = split(f"{opener}\n{below}{opener}\nBody".encode(), "a.md")
    assert [(one.severity, one.line) for one in found.diagnostics] == [("error", 1)]


@pytest.mark.parametrize("text", [
    "----\n\nSome words: a line above them.\n", "-----\n# Title\n\nText", "----\n", "- a\n- b: c\n", "-- Ann\nsaid it: so\n",
])
def test_a_line_above_words_is_a_line(text: str) -> None:
    assert split(text.encode(), "a.md").diagnostics == ()
