"""Addresses made of folders: `permalinks` with `:path` (docs/rules.md, Identity and URLs). Foundry parses the key and never uses it."""

from __future__ import annotations

from typing import Any

import pytest

from cmsmcp.protocol.errors import InvalidArguments, NotFound
from cmsmcp.site.config.loading import load_config

CONFIG = """name: t
locales: {en: {}, de: {fallback: en}, fr: {fallback: none}}
permalinks: {page_default: /:path/, post_default: /blog/:path/}
"""
FILES = {
    "pages/index.md": ("home", {}), "pages/_index-not.md": ("x", {}),
    "pages/guide/index.md": ("guide", {}), "pages/guide/install.md": ("[up](../) [side](../usage/) [down](more/)\n\n# Go", {}),
    "pages/guide/usage.md": ("[in](/guide/install/#go) [case](/GUIDE/Install/) [en](/en/guide/install/)", {}),
    "pages/api/install.md": ("[gone](../none/) [de](/de/api/install/) [fr](/fr/api/install/) [no](/fr/none/)", {}),
    "pages/api/_index.md": ("api", {}),
    "pages/API/Deep Down/Größe.md": ("deep", {"slug": "Maß stab"}), "pages/only.md": ("only", {}),
    "pages/de/guide/install.md": ("hier", {"slug": "einbau"}), "pages/de/index.md": ("Start", {}), "pages/de/api/index.md": ("Api", {}),
    "pages/fr/autre/install.md": ("ailleurs", {}), "posts/2026/first.md": ("post", {}), "posts/2025/first.md": ("older", {}),
}  # fmt: skip


@pytest.fixture(scope="module")
def site(make_site: Any) -> Any:
    return make_site(FILES, CONFIG)


def test_folders_and_slug_make_the_address_and_ids_stay(site: Any) -> None:
    assert {one.id: one.url for one in site.list().items} == {
        "en:page:index": "/", "en:page:_index-not": "/_index-not/", "en:page:guide/index": "/guide/",
        "en:page:guide/install": "/guide/install/",
        "en:page:guide/usage": "/guide/usage/", "en:page:api/install": "/api/install/", "en:page:api/_index": "/api/",
        "en:page:API/Deep Down/Größe": "/API/Deep%20Down/Ma%C3%9F%20stab/", "en:page:only": "/only/",
        "de:page:guide/install": "/de/guide/einbau/", "de:page:index": "/de/", "de:page:api/index": "/de/api/",
        "fr:page:autre/install": "/fr/autre/install/", "en:post:2026/first": "/blog/2026/first/", "en:post:2025/first": "/blog/2025/first/",
    }  # fmt: skip


def test_equal_slugs_in_different_folders_are_no_fault(site: Any) -> None:
    assert [site.findings(check) for check in ("duplicate_slugs", "duplicate_urls", "duplicate_ids")] == [[], [], []]


def test_one_address_made_twice_is_one(make_site: Any) -> None:
    """True collisions: a page beside the folder it names, two that stand for one folder."""
    site = make_site({"pages/a.md": "1", "pages/a/index.md": "2", "pages/b/index.md": "3", "pages/b/_index.md": "4"}, CONFIG)
    assert [path for path, _ in site.findings("duplicate_urls")] == ["content/pages/a/index.md", "content/pages/b/index.md"]
    assert not any("folders do not count" in message for _, message in site.findings("duplicate_urls"))


def test_without_it_a_collision_says_what_to_set(make_site: Any) -> None:
    site = make_site({
        "pages/a/x.md": "1", "pages/b/x.md": "2", "pages/c/y.md": ("3", {"slug": "z"}), "pages/c/z.md": "4", "pages/en/q.md": "5",
        "pages/q.md": "6",
    })  # fmt: skip
    hint = "folders do not count here: set `permalinks: {page_default: /:path/}`"
    for check in ("duplicate_urls", "duplicate_slugs"):
        found = dict(site.findings(check))
        assert hint in found.pop("content/pages/b/x.md")
        assert found and not any(hint in message for message in found.values())


@pytest.mark.parametrize(
    ("slug", "id_"),
    [
        ("guide/install", "en:page:guide/install"), ("/guide/install/", "en:page:guide/install"), ("api/install", "en:page:api/install"),
        ("guide", "en:page:guide/index"), ("guide/index", "en:page:guide/index"), ("api", "en:page:api/_index"), ("only", "en:page:only"),
        ("usage", "en:page:guide/usage"), ("guide/einbau", "de:page:guide/install"), ("einbau", "de:page:guide/install"),
        ("API/Deep Down/Maß stab", "en:page:API/Deep Down/Größe"), ("2026/first", "en:post:2026/first"),
        ("blog/2026/first", "en:post:2026/first"),
    ],
)
def test_a_slug_may_be_a_path(site: Any, slug: str, id_: str) -> None:
    assert site.get(slug=slug).id == id_


@pytest.mark.parametrize("slug", ["install", "first"])
def test_a_bare_slug_must_be_the_only_one(site: Any, slug: str) -> None:
    with pytest.raises(InvalidArguments, match=r"Several documents fit: en:.*install, en:.*install|Several .*first, en:post:2026/first"):
        site.get(slug=slug)


@pytest.mark.parametrize("slug", ["none/install", "guide/none", "install/guide", "../guide/install"])
def test_a_path_that_leads_nowhere_finds_nothing(site: Any, slug: str) -> None:
    with pytest.raises(NotFound):
        site.get(slug=slug)


@pytest.mark.parametrize(
    ("url", "id_"),
    [
        ("/guide/install", "en:page:guide/install"), ("/en/guide/install/", "en:page:guide/install"),
        ("/GUIDE/INSTALL/", "en:page:guide/install"),
        ("/de/guide/einbau/", "de:page:guide/install"), ("/de/api/install/", "en:page:api/install"), ("/en/", "en:page:index"),
        ("/api/", "en:page:api/_index"), ("/de/", "de:page:index"),
    ],
)
def test_an_address_is_found_as_generators_answer_at_it(site: Any, url: str, id_: str) -> None:
    assert site.get(url=url).id == id_


@pytest.mark.parametrize("url", ["/fr/api/install/", "/install/", "/es/guide/install/", "/guide/install/x/"])
def test_no_other_address_is(site: Any, url: str) -> None:
    with pytest.raises(NotFound):
        site.get(url=url)


def test_translations_match_by_path_alone(site: Any) -> None:
    assert [one["id"] for one in site.get(id="en:page:guide/install").translations] == ["de:page:guide/install"]
    assert list(site.get(id="en:page:api/install").translations) == []
    assert site.get(slug="guide/install", lang="de").id == "de:page:guide/install"
    assert site.get(slug="api/install", lang="de").id == "en:page:api/install"


def test_a_gap_is_one_by_path_alone(site: Any) -> None:
    from cmsmcp.core.deadline import Deadline
    from cmsmcp.core.ports import Visibility

    found = site.content.find_untranslated("en", "fr", type="page", visibility=Visibility(), limit=50, deadline=Deadline(10))
    assert {"en:page:guide/install", "en:page:api/install"} <= {one.id for one in found.items}


def test_links_are_followed_as_a_browser_follows_them_from_the_address(site: Any) -> None:
    assert [(path, "more/" in message) for path, message in site.findings("broken_relative_links")] == [
        ("content/pages/api/install.md", False), ("content/pages/guide/install.md", True),
    ]  # fmt: skip
    broken = site.findings("broken_internal_links")
    assert [("is not translated" in message, "/fr/none/" in message) for _, message in broken] == [(True, False), (False, True)]
    assert "`locales: {fr: {fallback: en}}`" in broken[0][1]
    assert site.findings("broken_fragments") == []


def test_a_type_of_ones_own_has_a_pattern_too(make_site: Any) -> None:
    config = "permalinks:\n  recipe_default: /food/:path/\n  recipe_i18n: /:lang/essen/:path/\n"
    site = make_site({
        "types/recipe.yaml": "name: Recipes\ntableName: recipes\nfields:\n  - {name: title, type: string}\n",
        "recipes/soup/pea.md": ("x", {"title": "Pea"}), "recipes/de/soup/pea.md": ("x", {"title": "Erbse"}), "pages/soup/pea.md": "x",
    }, config)  # fmt: skip
    assert {one.id: one.url for one in site.list().items} == {
        "en:recipe:soup/pea": "/food/soup/pea/", "de:recipe:soup/pea": "/de/essen/soup/pea/", "en:page:soup/pea": "/pea/",
    }  # fmt: skip
    assert site.get(slug="soup/pea").id == "en:recipe:soup/pea"


def test_the_addresses_follow_the_configuration(make_site: Any) -> None:
    site = make_site({"pages/a/x.md": "1"})
    assert [one.url for one in site.list().items] == ["/x/"]
    site.write("content/config/site.yaml", "permalinks: {page_default: /:path/}\n")
    site.build()
    assert [one.url for one in site.list().items] == ["/a/x/"]


FOUNDRYS = "permalinks: {page_default: /:slug/, page_i18n: /:lang/:slug/, post_default: /posts/:slug/, post_i18n: /:lang/posts/:slug/}\n"


def test_the_patterns_of_foundry_change_nothing(make_site: Any) -> None:
    site = make_site({"pages/a/x.md": "1", "posts/b/y.md": "2"}, FOUNDRYS)
    assert [one.url for one in site.list().items] == ["/posts/y/", "/x/"]
    assert load_config(site.root).diagnostics == ()


def test_the_languages_follow_where_only_the_default_pattern_was_changed(make_site: Any) -> None:
    site = make_site({"pages/de/a/x.md": "1"}, FOUNDRYS.replace("page_default: /:slug/", "page_default: /:path/"))
    assert [one.url for one in site.list().items] == ["/de/a/x/"]


@pytest.mark.parametrize(
    ("patterns", "severity", "words"),
    [
        ("page_default: /:paht/", "error", "Did you mean :path?"), ("page_default: /:year/:path/", "error", "leave :year out"),
        ("page_default: /:slug/:path/", "error", "leave :slug out"), ("page_default: ':path/'", "error", "must start with a slash"),
        ("page_default: '/:path.html'", "error", "stands alone between slashes"), ("page_default: /:path/:path/", "error", "twice"),
        ("page_default: /../:path/", "error", "no part of an address"), ("page_default: '/a?b/:path/'", "error", "no part of an address"),
        ("page_default: [a]", "error", "`permalinks.page_default` is a list"), ("page_i18n: /:lang/:path/", "error", "needs a _default"),
        ("post_default: /:year/:slug/", "warning", "changes nothing, as in Foundry"),
        ("pages: /:path/", "warning", "`permalinks.pages` is unknown"),
        ("post_default: /news/:slug/", "warning", "only patterns with :path count"),
    ],
)
def test_a_pattern_that_cannot_be_meant_is_named_with_the_way_out(make_site: Any, patterns: str, severity: str, words: str) -> None:
    site = make_site({"pages/a/x.md": "1"}, f"name: t\npermalinks: {{{patterns}}}\n")
    [found] = load_config(site.root).diagnostics
    assert (found.severity, found.line, words in found.message) == (severity, 2, True), found.message
    assert [one.url for one in site.list().items] == ["/x/"]
