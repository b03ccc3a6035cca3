"""From a file to a document: values, identity, languages, URLs, faults (C035, C036, C039)."""

import json
from dataclasses import asdict

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cmsmcp.site.documents.parse import parse_document
from cmsmcp.site.model import SiteConfig
from cmsmcp.site.types.registry import TypeRegistry


def faults(result) -> list[tuple[str, int | None, str]]:
    return [(d.check, d.line, d.message) for d in result.diagnostics if d.severity == "error"]


def test_a_whole_document(site) -> None:
    """docs/rules.md, Front matter, Identity and URLs."""
    site.write({"content/posts/es/guides/hello-world.md": (
        "---\ntitle: Hola\nsummary: Un saludo\ndate: 2026-03-07\ncreated_at: 2026-04-01T06:04:39.416541Z\n"
        "author: ana\nlast_editor: bo\n"
        "tags: [go, cms, go]\ncategories:\ntaxonomies: {audience: [devs]}\n"
        "fields: {hero: Hi, featured: true}\nweight: 3\nlang: xx\n---\n\n# Hi\n"
    )})
    document = site.document("content/posts/es/guides/hello-world.md")
    assert asdict(document) == {
        "path": "content/posts/es/guides/hello-world.md", "id": "es:post:guides/hello-world", "type": "post", "lang": "es",
        "slug": "hello-world", "url": "/es/posts/hello-world/", "key": "post:guides/hello-world", "title": "Hola", "status": "published",
        "publish_at": None, "unpublish_at": None, "layout": "post", "summary": "Un saludo",
        "author": "ana", "owner": "ana", "last_editor": "bo",
        "date": "2026-03-07", "created_at": "2026-04-01T06:04:39.416Z", "updated_at": None,
        "taxonomies": {"tags": ("go", "cms"), "audience": ("devs",)}, "fields": {"hero": "Hi", "featured": True},
        "params": {"weight": 3, "lang": "xx"}, "body": "\n# Hi\n", "body_line": 15,
    }


@pytest.mark.parametrize(("head", "title"), [
    ("title: 2026", "2026"), ("title: true", "true"), ("title: 1.10", "1.10"), ("title: no", "no"), ("title: =", "="),
    ("title: ~", "x"), ("slug: other", "other"), ("title: ''", "x"),
])
def test_titles_are_text_and_default_to_the_slug(site, head: str, title: str) -> None:
    """docs/rules.md, Front matter; C039 e."""
    document = site.page(f"---\n{head}\n---\nb").document
    assert document is not None
    assert document.title == title


@pytest.mark.parametrize(("body", "title"), [
    ("intro\n\n## The `real` *title* ##\n# Second", "The real title"), ("```\n# code\n```\nSetext title\n===\n", "Setext title"),
    ("[Linked](http://x) text\n---\n", "Linked text"), ("no heading", "my page"), ("#hash\n#\n", "my page"), ("~~~\n# a\n", "my page"),
    ("<!--\n# old\n-->\n# New {#id}\n", "New"), ("    # code\n\n## ![Logo](l.png) Home", "Logo Home"), ("- a\n\n      # code\n\n# B", "B"),
    ("two\nlines\n===\n", "two lines"), ("text\n\n" * 400 + "# Deep\n", "Deep"), ("# " + "x" * 600, "x" * 500),
])
def test_without_front_matter_the_first_heading_is_the_title_and_it_is_published(site, body: str, title: str) -> None:
    """docs/rules.md, Odd places."""
    document = site.page(body, "content/pages/my page.md").document
    assert document is not None
    assert (document.title, document.status, document.slug, document.url) == (title, "published", "my page", "/my%20page/")


@pytest.mark.parametrize(("head", "terms", "line", "way_out"), [
    ("---\ntags: security\n---\n", {"tags": ("security",)}, 2, '`tags` is a single text and is taken as a list of one; write ["security"]'),
    ("---\ntags: 2024\n---\n", {"tags": ("2024",)}, 2, '["2024"]'),
    ("---\ncategories: 'a \"b\"'\n---\n", {"categories": ('a "b"',)}, 2, '"a \\"b\\""'),
    ("---\ntitle: T\ntags: go, cms\n---\n", {"tags": ("go, cms",)}, 3, 'write ["go", "cms"], or ["go, cms"] if it is one'),
    ("---\ntaxonomies:\n  audience: families\n---\n", {"audience": ("families",)}, 3, '`taxonomies.audience`'),
    ("+++\ntags = 'security'\n+++\n", {"tags": ("security",)}, 2, '["security"]'),
    ('{"tags": "security"}\n', {"tags": ("security",)}, 1, '["security"]'),
    (f"---\ntags: {'x' * 200}\n---\n", {"tags": ("x" * 200,)}, 2, "between the quotes"),
])
def test_a_single_text_where_a_list_is_wanted_is_a_list_of_one_with_a_warning(site, head, terms, line, way_out) -> None:
    """docs/rules.md, Front matter: 333 of 2,401 files of one public site write `tags: security`."""
    result = site.page(head + "b")
    assert result.document is not None
    assert dict(result.document.taxonomies) == terms
    [fault] = result.diagnostics
    assert (fault.severity, fault.check, fault.line, way_out in fault.message) == ("warning", "field_type", line, True)


@pytest.mark.parametrize("head", ["tags:", "tags: ''", "tags: ' '", "tags: []"])
def test_no_text_is_an_empty_list_without_a_word(site, head: str) -> None:
    result = site.page(f"---\n{head}\n---\nb")
    assert (result.document.taxonomies, result.diagnostics) == ({}, ())


@pytest.mark.parametrize(("head", "check", "line", "word"), [
    ("title: [a, b]", "field_type", 2, "`title` is a list"), ("tags: {a: b}", "field_type", 2, '["one", "two"]'),
    ("slug: {x: 1}", "field_type", 2, "`slug`"),
    ("a: 1\nfields: [x]", "field_type", 3, "`fields`"), ("taxonomies:\n  x: {y: z}", "field_type", 3, "`taxonomies.x`"),
    ("categories: [[a]]", "field_type", 2, "`categories`"), ("summary: {a: b}", "field_type", 2, "`summary`"),
    ("a: 1\ndate: 2024-02-30", "date", 3, "`date`"), ("date: soon", "date", 2, "soon"), ("created_at: [1]", "date", 2, "`created_at`"),
    ("updated_at: 12:30", "date", 2, "`updated_at`"), ("title: a\ntitle: b", "duplicate_key", 3, "`title`"),
    ("title: T\n\ttags: [x]", "front_matter", 3, "tab"), ("x: !!python/object/apply:os.getcwd []", "front_matter", 2, "tag"),
    ("slug: a/b", "slug", 2, "`slug`"), ("slug: ..", "slug", 2, "`slug`"),
    ("slug: 'a\\b'", "slug", 2, "`slug`"), ('slug: "a\\tb"', "slug", 2, "`slug`"),
    (f"slug: {'a' * 256}", "slug", 2, "255"),
])
def test_a_bad_value_is_an_error_with_line_and_key_and_the_document_is_not_served(
    site, head: str, check: str, line: int, word: str,
) -> None:
    """docs/rules.md, Odd places; C036 k6, C039."""
    result = site.page(f"---\n{head}\n---\nb")
    assert result.document is None
    [(found_check, found_line, message)] = faults(result)
    assert (found_check, found_line, word in message) == (check, line, True), message
    assert all(d.path == "content/pages/x.md" for d in result.diagnostics)


def test_every_duplicate_key_of_a_document_is_reported(site) -> None:
    """C035: a page with `draft` given twice is not public."""
    result = site.page("---\ntitle: First\ndraft: true\ntags: [a]\ntitle: Second\ntags: [b]\ndraft: false\n---\nx")
    assert result.document is None
    assert [(line, message.split("`")[1]) for _, line, message in faults(result)] == [(5, "title"), (6, "tags"), (7, "draft")]


def test_odd_keys_and_empty_values_are_usable(site) -> None:
    """C036 k1, k5, k8."""
    document = site.page(
        "---\ntitle:\ntags:\nauthor: ~\n1: one\n2024-01-01: day\n~: nothing\non: x\n\"__proto__\": x\n\"\": z\n---\nb"
    ).document
    assert document is not None
    assert (document.title, document.author, document.taxonomies) == ("x", "", {})
    assert list(document.params) == ["1", "2024-01-01", "~", "on", "__proto__", ""]
    json.dumps(asdict(document), sort_keys=True, allow_nan=False)


def test_undeclared_values_are_core_values(site) -> None:
    """docs/rules.md, Odd places."""
    document = site.page("---\nfields: {a: no, b: 12:30, c: 2026-03-06, d: .nan, e: 1}\nx: yes\n---\nb").document
    assert document is not None
    assert document.fields == {"a": "no", "b": "12:30", "c": "2026-03-06", "d": ".nan", "e": 1}
    assert document.params == {"x": "yes"}


def test_a_zoneless_time_is_utc_with_a_warning(site) -> None:
    """docs/rules.md, Odd places."""
    result = site.page("---\ndate: 2026-03-06T10:00:00\nupdated_at: 2026-03-06T10:00:00+02:00\n---\nb")
    assert result.document is not None
    assert (result.document.date, result.document.updated_at) == ("2026-03-06T10:00:00.000Z", "2026-03-06T08:00:00.000Z")
    assert [(d.severity, d.line) for d in result.diagnostics] == [("warning", 2)]


def test_owner_is_the_author_else_the_parameter(site) -> None:
    for head, owner in (("author: a\nowner: b", "a"), ("owner: b", "b"), ("x: 1", "")):
        document = site.page(f"---\n{head}\n---\n").document
        assert document is not None
        assert document.owner == owner


def test_slugs_are_composed_and_urls_encoded(site) -> None:
    """docs/rules.md, Odd places."""
    document = site.page("---\nslug: cafe\u0301 100%\n---\nb").document
    assert document is not None
    assert document.slug == "café 100%"
    assert site.page("---\nslug: \u0645\u06cc\u200c\u0631\u0648\u0645\n---\n").document is not None  # a non-joiner is part of Persian words
    assert site.page('---\nslug: "a\\u202Eb"\n---\n').document is None
    assert document.url == "/caf%C3%A9%20100%25/"


@pytest.mark.parametrize(("path", "lang", "id_", "url"), [
    ("content/pages/index.md", "en", "en:page:index", "/"),
    ("content/pages/docs/intro.md", "en", "en:page:docs/intro", "/intro/"),
    ("content/pages/en/about.md", "en", "en:page:about", "/about/"),
    ("content/pages/es/index.md", "es", "es:page:index", "/es/"),
    ("content/posts/pt_BR/a.md", "pt-br", "pt-br:post:a", "/pt-br/posts/a/"),
    ("content/posts/faq/x.md", "en", "en:post:faq/x", "/posts/x/"),
    ("content/posts/ES/x/y.md", "es", "es:post:x/y", "/es/posts/y/"),
    ("content/pages/es.md", "en", "en:page:es", "/es/"),
])
def test_language_id_and_url_without_locales(site, path: str, lang: str, id_: str, url: str) -> None:
    """docs/rules.md, Identity and URLs, Languages."""
    site.write({path: "x"})
    document = site.document(path)
    assert (document.lang, document.id, document.url) == (lang, id_, url)


@pytest.mark.parametrize(("path", "lang", "url"), [
    ("content/pages/de_at/a.md", "de-AT", "/de-at/a/"), ("content/pages/EN-gb/a.md", "en-GB", "/a/"),
    ("content/pages/fr/a.md", "en-GB", "/a/"), ("content/pages/a.md", "en-GB", "/a/"), ("content/pages/no/a.md", "no", "/no/a/"),
])
def test_with_locales_exactly_those_folders_are_languages(make_site, path: str, lang: str, url: str) -> None:
    """docs/rules.md, Languages; C045."""
    site = make_site({path: "x"}, "default_lang: en_gb\nlocales: {en-GB: {}, de: {}, de-AT: {fallback: de}, no: {}}\n")
    document = site.document(path)
    assert (document.lang, document.url) == (lang, url)


def test_the_default_language_is_never_prefixed(make_site) -> None:
    """docs/rules.md, Odd places: whatever its spelling."""
    site = make_site({"content/pages/a.md": "x", "content/pages/en-us/b.md": "x"}, "default_lang: en_US\n")
    assert [site.document(f"content/pages/{p}.md").url for p in ("a", "en-us/b")] == ["/a/", "/b/"]
    assert site.document("content/pages/en-us/b.md").id == "en_US:page:b"


def test_translations_share_a_key_whatever_their_slugs(site) -> None:
    """docs/rules.md, Odd places."""
    site.write({"content/pages/guide.md": "---\nslug: guide\n---\n", "content/pages/de/guide.md": "---\nslug: leitfaden\n---\n"})
    assert {site.document(f"content/pages/{p}guide.md").key for p in ("", "de/")} == {"page:guide"}


def test_schema_defaults_fill_what_a_document_leaves_out(make_site) -> None:
    """docs/rules.md, Front matter."""
    config = "fields: {schemas: {page: {fields: [{name: hero, type: text, default: Hi}, {name: n, type: number}]}}}\n"
    site = make_site({"content/pages/a.md": "---\nfields: {n: 2}\n---\n"}, config)
    assert site.document("content/pages/a.md").fields == {"hero": "Hi", "n": 2}


def test_one_bad_file_takes_nothing_else_down(site) -> None:
    """C039: good pages listed, each bad file named by relative path."""
    bad = {
        "a-colon": b"---\ntitle: Foo: bar\n---\nx\n", "b-tab": b"---\ntitle: T\n\ttags: [x]\n---\nx\n",
        "c-quote": b'---\ntitle: "open\n---\nx\n',
        "d-date": b"---\ndate: 2024-02-30\n---\nx\n", "g-deep": b"---\nx: " + b"[" * 3000 + b"]" * 3000 + b"\n---\nx",
        "h-latin1": b"---\ntitle: Caf\xe9\n---\nx\n", "i-nul": b"---\ntitle: N\0L\n---\nx\n", "m-huge": b"a" * (11 << 20),
    }
    fine = {
        "e-equals": b"---\ntitle: =\n---\nx\n", "f-digits": b"---\nn: " + b"9" * 5000 + b"\n---\nx\n", "good": b"---\ntitle: G\n---\nx\n",
    }
    site.write({f"content/pages/{name}.md": raw for name, raw in {**bad, **fine}.items()})
    results = {path: site.parse(path) for path in site.found()}
    served = {path for path, result in results.items() if result.document}
    assert served == {f"content/pages/{name}.md" for name in fine}
    for name in bad:
        result = results[f"content/pages/{name}.md"]
        assert result.diagnostics
        assert all(d.severity == "error" and str(site.root) not in d.message for d in result.diagnostics)


KEYS = "title slug draft date tags fields taxonomies status workflow scheduled_publish_at x Draft"
VALUES = "|a|true|no|1|2026-01-01|2026-01-01T10:00|[a, b]|{a: [b]}|'q'|[[a]]|é/..|*a|&a b"
heads = st.lists(st.tuples(st.sampled_from(KEYS.split()), st.sampled_from(VALUES.split("|"))), max_size=6)


@settings(max_examples=150)
@given(heads)
def test_any_front_matter_gives_a_document_or_an_error(definitions: tuple[SiteConfig, TypeRegistry], head: list[tuple[str, str]]) -> None:
    source = "---\n" + "".join(f"{key}: {value}\n" for key, value in head) + "---\nbody"
    result = parse_document("content/pages/x.md", source.encode(), *definitions)
    if result.document is None:
        assert any(d.severity == "error" for d in result.diagnostics)
    else:
        json.dumps(asdict(result.document), sort_keys=True, allow_nan=False).encode()
    for fault in result.diagnostics:
        assert fault.path == "content/pages/x.md"
        assert 1 <= (fault.line or 0) <= len(head) + 2
