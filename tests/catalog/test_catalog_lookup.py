"""One document by slug, URL or id, in the nearest locale (F15, C045, C049)."""

from __future__ import annotations

from typing import Any

import pytest

from cmsmcp.core.ports import STATUSES, Visibility
from cmsmcp.protocol.errors import CallError, InvalidArguments, NotFound

CONFIG = """name: t
base_url: https://example.org
default_lang: en-GB
locales:
  en-GB: {}
  de: {fallback: en-GB}
  de-AT: {fallback: de}
  fr: {fallback: none}
  "no": {fallback: en-GB}
"""


@pytest.fixture(scope="module")
def site(make_site: Any) -> Any:
    return make_site(
        {
            "pages/guide.md": ("English body", {"slug": "guide", "tags": "[x]"}),
            "pages/de/guide.md": ("Deutscher Text", {"slug": "leitfaden", "tags": "[]"}),
            "pages/only-en.md": ("only", {}),
            "pages/both.md": ("a page", {"slug": "both"}),
            "posts/both.md": ("a post", {"slug": "both"}),
            "pages/fr/seul.md": ("un", {"slug": "seul"}),
            "pages/de/seul.md": ("eins", {"slug": "seul"}),
            "pages/cafe.md": ("one", {"slug": "coffee"}),
            "pages/fr/cafe.md": ("un", {"slug": "bistrot"}),
            "pages/menu.md": ("one", {"slug": "menu"}),
            "pages/fr/menu.md": ("un", {"slug": "carte", "draft": "true"}),
            "pages/hidden.md": ("secret", {"draft": "true"}),
            "pages/deep/down/leaf.md": ("leaf", {"slug": "leaf"}),
            "pages/twice-a.md": ("1", {"slug": "cafe"}),
            "pages/twice-b.md": ("2", {"slug": "café"}),
        },
        CONFIG,
    )


@pytest.mark.parametrize("lang", ["en-GB", "de", "de-AT", "no", "DE", "de_at"])
def test_a_fallback_serves_and_says_so(site: Any, lang: str) -> None:
    """C045: the reply states the locale really served."""
    document = site.get(slug="only-en", lang=lang)
    assert (document.slug, document.lang) == ("only-en", "en-GB")
    assert document.locale.lower() == lang.replace("_", "-").lower()


def test_no_fallback_is_not_found(site: Any) -> None:
    with pytest.raises(NotFound, match=r"'only-en'.*there in en-GB"):
        site.get(slug="only-en", lang="fr")


def test_a_translation_under_another_slug_is_named_where_no_fallback_leads(site: Any) -> None:
    """Only one that the caller may see."""
    with pytest.raises(NotFound, match=r"Its fr translation is 'bistrot', id 'fr:page:cafe'"):
        site.get(slug="coffee", lang="fr")
    with pytest.raises(NotFound, match=r"It is there in en-GB\."):
        site.get(slug="menu", lang="fr")
    assert site.get(slug="coffee", lang="de").lang == "en-GB"


@pytest.mark.parametrize("lang", ["de-CH", "xx", "", "*", "../en-GB"])
def test_an_unknown_locale_is_an_error(site: Any, lang: str) -> None:
    """C045: never the default in silence."""
    with pytest.raises(InvalidArguments) as refusal:
        site.get(slug="only-en", lang=lang)
    assert refusal.value.data == {"argument": "lang"}


def test_a_slug_is_found_through_the_chain_and_served_in_the_nearest_locale(site: Any) -> None:
    assert site.get(slug="guide", lang="de").slug == "leitfaden"
    assert site.get(slug="leitfaden", lang="de-AT").lang == "de"
    assert site.get(slug="guide", lang="de").taxonomies.get("tags", []) == []
    assert site.get(slug="guide").lang == "en-GB"
    with pytest.raises(NotFound):
        site.get(slug="leitfaden", lang="en-GB")


def test_list_in_a_language_holds_each_page_once(site: Any) -> None:
    """C045."""
    slugs = [one.slug for one in site.list(lang="de").items]
    assert sorted(slugs) == ["leitfaden", "seul"]


def test_translations_share_the_path_below_the_language_folder(site: Any) -> None:
    """docs/rules.md, Odd places."""
    assert site.get(slug="guide").translations == [{"lang": "de", "id": "de:page:guide", "url": "/de/leitfaden/"}]
    assert site.get(slug="only-en").translations == []


def test_a_slug_prefers_pages_and_names_what_remains(site: Any) -> None:
    """F15."""
    assert site.get(slug="both").type == "page"
    assert site.get(slug="both", type="post").type == "post"
    with pytest.raises(InvalidArguments) as refusal:
        site.get(slug="seul")
    assert "de:page:seul" in refusal.value.message
    assert "fr:page:seul" in refusal.value.message


def test_keys_must_agree(site: Any) -> None:
    """F15: none is an error, several must name the same document."""
    with pytest.raises(InvalidArguments):
        site.get()
    with pytest.raises(InvalidArguments):
        site.get(slug="guide", id="en-GB:page:only-en")
    with pytest.raises(InvalidArguments, match="id and url and slug name different documents"):
        site.get(slug="guide", url="/leaf/", id="en-GB:page:only-en")
    with pytest.raises(NotFound, match="/nowhere/"):
        site.get(slug="guide", url="/nowhere/", id="en-GB:page:only-en")
    with pytest.raises(NotFound, match="of type page"):
        site.get(slug="guide", type="post")
    assert site.get(slug="guide", url="/guide/", id="en-GB:page:guide", type="page").body.strip() == "English body"
    with pytest.raises(NotFound):
        site.get(id="en-GB:page:guide", lang="fr")


@pytest.mark.parametrize("url", ["/leaf/", "/leaf", "leaf", "https://example.org/leaf/", "/leaf/?a=1#b", "//leaf".removeprefix("/")])
def test_urls_are_taken_in_every_spelling(site: Any, url: str) -> None:
    assert site.get(url=url).id == "en-GB:page:deep/down/leaf"


@pytest.mark.parametrize(
    ("url", "wanted"),
    [
        ("/visit/", "visit"), ("/handbook/visit/", "visit"), ("https://host.example/handbook/visit", "visit"), ("visit", "visit"),
        ("HTTP://host.example:80/handbook/visit/#x", "visit"), ("https://host.example/handbook/", "index"), ("/", "index"),
        # one whose own address looks like the path of the site
        ("/handbook/", "handbook"), ("https://host.example/handbook/handbook/", "handbook"), ("/handbook/handbook/", "handbook"),
        ("https://host.example/visit/", None), ("https://host.example/", None), ("https://host.example:8443/handbook/visit/", None),
        ("https://host.example/handbooks/visit/", None), ("https://[::1/handbook/", None), ("https://host.example:x/handbook/visit/", None),
    ],
)
def test_a_site_below_a_path_of_its_host_is_found_there_and_nowhere_else(handbook: Any, url: str, wanted: str | None) -> None:
    """docs/rules.md, Identity and URLs. Documents keep the addresses that lists give."""
    if wanted is None:
        with pytest.raises(NotFound):
            handbook.get(url=url)
    else:
        assert handbook.get(url=url).slug == wanted


@pytest.fixture(scope="module")
def handbook(make_site: Any) -> Any:
    pages = {f"pages/{name}.md": name for name in ("index", "visit", "handbook")}
    return make_site(pages, "name: t\nbase_url: https://host.example/handbook\n")


def test_letters_count_in_look_ups_but_normal_forms_do_not(site: Any) -> None:
    """docs/rules.md, Odd places: café ≠ cafe."""
    assert site.get(slug="cafe").body.strip() == "1"
    assert site.get(slug="cafe\u0301").body.strip() == "2"
    assert site.get(url="/caf%C3%A9/").body.strip() == site.get(url="/café/").body.strip() == "2"


def _refusal(site: Any, name: str, **keys: Any) -> tuple[Any, ...]:
    with pytest.raises(CallError) as refusal:
        site.get(**keys)
    return type(refusal.value), refusal.value.message.replace(name, "S"), refusal.value.data


@pytest.mark.parametrize("lang", [None, "de", "en-GB"])
def test_hidden_and_absent_look_alike(site: Any, lang: str | None) -> None:
    """C049."""
    for hidden, absent in (("hidden", "absent"), ("/hidden/", "/absent/"), ("en-GB:page:hidden", "en-GB:page:absent")):
        key = "url" if "/" in hidden else "id" if ":" in hidden else "slug"
        assert _refusal(site, hidden, **{key: hidden}, lang=lang) == _refusal(site, absent, **{key: absent}, lang=lang)
    both = _refusal(site, "hidden", slug="hidden", id="en-GB:page:guide")
    assert both == _refusal(site, "absent", slug="absent", id="en-GB:page:guide")
    assert site.get(Visibility(frozenset(STATUSES)), slug="hidden").status == "draft"


TYPES = [("recipes", "recipe"), ("Recipe", "recipe"), ("cookbook", "recipe"), ("pages", "page"), ("zzz", "")]


@pytest.mark.parametrize(("asked", "told"), TYPES)
def test_an_unknown_type_suggests_the_nearest_slug(make_site: Any, asked: str, told: str) -> None:
    """A table's name leads to its type: `cookbook` is where the recipes lie."""
    made = make_site({"types/recipe.yaml": "name: Recipes\nslug: recipe\ntableName: cookbook\nfields:\n  - {name: title, type: string}\n"})
    with pytest.raises(InvalidArguments) as refusal:
        made.list(type=asked)
    assert (f"Did you mean '{told}'?" in refusal.value.message) if told else ("Did you mean" not in refusal.value.message)
    assert "page, post, recipe" in refusal.value.message
