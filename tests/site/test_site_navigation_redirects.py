"""Menus, redirects and the one spelling of URLs (docs/rules.md, Menus and redirects, Identity and URLs; C048)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cmsmcp.site.data.navigation import load_menus
from cmsmcp.site.data.redirects import load_redirects
from cmsmcp.site.urls import encode_segment, normal_path, normal_url


@pytest.mark.parametrize(("url", "wanted"), [
    ("/", "/"), ("about", "/about/"), ("/about", "/about/"), ("rss.xml", "/rss.xml"), ("/a/v1.2", "/a/v1.2"),
    ("https://x.org/a", "https://x.org/a"),
    ("//x.org", "//x.org"), ("mailto:a@b.c", "mailto:a@b.c"),
    ("/about#team", "/about/#team"), ("about?x=1#y", "/about/?x=1#y"), ("#x", "/#x"),
    ("café", "/caf%C3%A9/"), ("/cafe\u0301/", "/caf%C3%A9/"), ("/caf%c3%a9", "/caf%C3%A9/"), ("/a b", "/a%20b/"), ("/100%", "/100%25/"),
    ("/a//b/../c/./", "/a/c/"), ("/../..", "/"), ("a\\b", "/a/b/"), ("/a%2Fb", "/a%2Fb/"), ("/%ff", "/%FF/"), ("", "/"),
])
def test_urls_have_one_spelling(url: str, wanted: str) -> None:
    assert normal_url(url) == wanted


@given(st.text(max_size=40))
def test_spelling_a_path_again_changes_nothing(path: str) -> None:
    once = normal_path(path)
    assert normal_path(once) == once
    assert once.isascii()
    assert once.startswith("/")


slugs = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="/\\"), min_size=1, max_size=20)


@given(slugs.filter(lambda text: text not in (".", "..")))
def test_a_slugs_segment_is_the_spelling_of_its_path(slug: str) -> None:
    assert normal_path(f"/{encode_segment(slug)}/").rstrip("/") == f"/{encode_segment(slug)}"


def test_menus_come_from_site_yaml_else_from_the_data_file(make_site) -> None:
    """docs/rules.md, Menus and redirects: with any menu in site.yaml, the file is not read."""
    data = {"data/navigation.yaml": "main:\n  - {name: File, url: file}\n"}
    assert load_menus(make_site(data).config) == ({"main": [{"name": "File", "url": "/file/"}]}, [])
    menus, faults = load_menus(make_site(data, "menus: {foot: [{name: Own, url: /own}]}\n").config)
    assert menus == {"foot": [{"name": "Own", "url": "/own/"}]}
    assert faults == []
    assert load_menus(make_site({"data/navigation.yaml": ""}).config) == ({}, [])


def test_a_single_entry_where_a_list_is_wanted_is_a_list_of_one_with_a_warning(make_site) -> None:
    """docs/rules.md, Front matter: the same slip as `tags: security`."""
    home, rule = "{name: Home, url: /}", "{from: /a/, to: /b/}"
    site = make_site({
        "data/navigation.yaml": f"main: {home}\nfoot:\n  - name: Up\n    url: /up/\n    items: {home}\n",
        "data/redirects.yaml": f"redirects: {rule}\n",
    })
    menus, faults = load_menus(site.config)
    home_entry = {"name": "Home", "url": "/"}
    assert menus == {"main": [home_entry], "foot": [{"name": "Up", "url": "/up/", "items": [home_entry]}]}
    assert [(one.severity, one.line, "begin it with `- `" in one.message) for one in faults] == [("warning", 1, True), ("warning", 5, True)]
    rules, faults = load_redirects(site.config)
    assert [(one.source, one.target) for one in rules] == [("/a/", "/b/")]
    assert [(one.severity, one.line) for one in faults] == [("warning", 1)]


def test_entries_without_name_or_url_are_left_out_with_their_line(make_site) -> None:
    source = (
        "main:\n  - {name: A}\n  - {url: /b}\n  - {name: C, url: /c, items: [{name: D, url: d}, x]}\n  - [a]\n"
        "  - {name: [x], url: y}\nside: text\n"
    )
    menus, faults = load_menus(make_site({"data/navigation.yaml": source}).config)
    assert menus == {"main": [{"name": "C", "url": "/c/", "items": [{"name": "D", "url": "/d/"}]}], "side": []}
    assert [(f.path, f.line) for f in faults] == [("data/navigation.yaml", line) for line in (2, 3, 4, 5, 6, 7)]


def test_circles_and_depth_are_bounded(make_site) -> None:
    """C048: a menu whose entry holds itself is answered, with a diagnostic."""
    circle = "main: &m\n  - {name: X, url: x, items: *m}\n"
    menus, faults = load_menus(make_site({"data/navigation.yaml": circle}).config)
    assert menus == {}
    assert [(f.severity, f.line) for f in faults] == [("error", 2)]
    deep = "main: " + "[{name: X, url: x, items: " * 12 + "[]" + "}]" * 12
    menus, faults = load_menus(make_site({"data/navigation.yaml": deep}).config)
    assert str(menus).count("'X'") == 3  # as deep as Plank's navigation field and get_navigation go
    assert [f.severity for f in faults] == ["warning"]


@pytest.mark.parametrize("content", [b"main: [", b"\xff", b"a: 1\na: 2\n", b"- a"])
def test_a_bad_navigation_file_is_an_error_and_no_menu(make_site, content: bytes) -> None:
    menus, faults = load_menus(make_site({"data/navigation.yaml": content}).config)
    assert menus == {}
    assert [(f.severity, f.path) for f in faults] == [("error", "data/navigation.yaml")]


@pytest.mark.parametrize("wrap", ["redirects:\n{}", "{}"])
def test_redirects_in_both_forms(make_site, wrap: str) -> None:
    """docs/rules.md, Menus and redirects: from, to, status (301 default), enabled (default true), preserve_query, note."""
    rules = "- {from: old, to: new}\n- {from: /b, to: https://x.org/y, status: 302, enabled: false, preserve_query: true, note: n}\n"
    found, faults = load_redirects(make_site({"data/redirects.yaml": wrap.format(rules)}).config)
    assert faults == []
    assert [(r.source, r.target, r.status, r.enabled, r.preserve_query, r.note) for r in found] == [
        ("/b/", "https://x.org/y", 302, False, True, "n"), ("/old/", "/new/", 301, True, False, ""),
    ]


@pytest.mark.parametrize("rule", [
    "{to: /a}", "{from: /a}", "{from: /a, to: /b, status: 200}", "{from: /a, to: a/}",
    "{from: /a?x=1, to: /b}", "{from: https://x/a, to: /b}",
    "{from: /a, to: ftp://x/y}", "{from: /a, to: //x/y}", "{from: /a, to: 'javascript:alert(1)'}", "{from: /a, to: /b, enabled: 1}", "[x]",
    "text",
    "{from: /good, to: /b}", "{from: [a], to: /b}",
])
def test_a_rule_that_cannot_stand_is_an_error_and_the_others_do(make_site, rule: str) -> None:
    found, faults = load_redirects(make_site({"data/redirects.yaml": f"- {{from: /good, to: /x}}\n- {rule}\n"}).config)
    assert [r.source for r in found] == ["/good/"]
    assert [(f.severity, f.path, f.line) for f in faults] == [("error", "data/redirects.yaml", 2)]


def test_a_loop_is_one_warning(make_site) -> None:
    rules = "- {from: a, to: b}\n- {from: b, to: c}\n- {from: c, to: b}\n- {from: d, to: e}\n- {from: e, to: d, enabled: false}\n"
    faults = load_redirects(make_site({"data/redirects.yaml": rules}).config)[1]
    assert [(f.severity, f.line) for f in faults] == [("warning", 2)]


def test_the_admin_data_is_never_read(site) -> None:
    """docs/rules.md, Odd places: only navigation and redirects."""
    site.write({"data/admin/sessions.yaml": "token: secret\n", "data/other.yaml": "x: y\n"})
    config = site.config
    assert "secret" not in str((load_menus(config), load_redirects(config), config))
