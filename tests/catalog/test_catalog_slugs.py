"""Slugs for completion, and what a language lacks: of visible documents alone (C-03; docs/rules.md, Languages, Status)."""

from __future__ import annotations

from typing import Any

import pytest

from cmsmcp.core.deadline import Deadline
from cmsmcp.core.ports import STATUSES, Visibility
from cmsmcp.protocol.errors import InvalidArguments

CONFIG = "name: t\ndefault_lang: en\nlocales:\n  en: {}\n  de: {fallback: en}\n  fr: {}\n"
EVERYTHING = Visibility(frozenset(STATUSES))


@pytest.fixture(scope="module")
def site(make_site: Any) -> Any:
    return make_site(
        {
            "pages/news.md": ("x", {"slug": "news"}),
            "pages/de/news.md": ("x", {"slug": "neues"}),
            "pages/old-news.md": ("x", {"slug": "old-News"}),
            "pages/newsletter.md": ("x", {"draft": "true"}),
            "pages/news-later.md": ("x", {"scheduled_publish_at": "2099-01-01T00:00:00Z"}),
            "posts/news.md": ("x", {"slug": "news"}),
            "posts/news-of-may.md": ("x", {}),
            "posts/de/may.md": ("x", {"slug": "news-of-may", "draft": "true"}),
            "posts/de/only.md": ("x", {"slug": "nur-deutsch"}),
            "posts/same.md": ("x", {"slug": "same"}),
            "posts/de/other-name.md": ("x", {"slug": "same"}),
            "posts/fr/élan.md": ("x", {"slug": "élan"}),
            "posts/percent.md": ("x", {"slug": "100%-of_it"}),
        },
        CONFIG,
    )


def slugs(site: Any, typed: str, visibility: Visibility | None = None, limit: int = 100, **given: Any) -> list[str]:
    asked = {"type": None, "lang": None, **given}
    return list(site.content.find_slugs(typed, **asked, visibility=visibility or Visibility(), limit=limit, deadline=Deadline(10)))


def gap(site: Any, source: str, target: str, visibility: Visibility | None = None, limit: int = 100, **given: Any) -> list[str]:
    page = site.content.find_untranslated(
        source, target, **{"type": None, **given}, visibility=visibility or Visibility(), limit=limit, deadline=Deadline(10)
    )
    assert page.total >= len(page.items) and page.next_cursor is None
    return [one.id for one in page.items]


def test_slugs_that_begin_with_the_text_come_first_and_drafts_never(site: Any) -> None:
    """C-03."""
    assert slugs(site, "news") == ["news", "news-of-may", "old-News"]
    assert slugs(site, "news", EVERYTHING) == ["news", "news-later", "news-of-may", "newsletter", "old-News"]
    assert slugs(site, "newsl") == [] and slugs(site, "news-l") == []


def test_slugs_are_cut_to_a_type_a_language_and_a_number(site: Any) -> None:
    assert slugs(site, "n", type="post") == ["news", "news-of-may", "nur-deutsch", "élan"]
    assert slugs(site, "n", lang="de") == ["neues", "nur-deutsch"]
    assert slugs(site, "", type="page", lang="de") == ["neues"]
    assert slugs(site, "", limit=2) == slugs(site, "")[:2]


@pytest.mark.parametrize(("typed", "found"), [("é", ["élan"]), ("e\u0301", ["élan"]), ("NEWS", ["news", "news-of-may", "old-News"])])
def test_accents_and_case_do_not_matter(site: Any, typed: str, found: list[str]) -> None:
    assert slugs(site, typed) == found


@pytest.mark.parametrize("typed", ["%", "_", "'", '"', "\\", "\0", "100%-"])
def test_no_sign_means_anything_but_itself(site: Any, typed: str) -> None:
    assert all(typed in slug for slug in slugs(site, typed))
    assert slugs(site, "100%-") == ["100%-of_it"]


def test_an_unknown_type_or_language_is_refused(site: Any) -> None:
    for given in ({"type": "nope"}, {"lang": "xx"}):
        with pytest.raises(InvalidArguments):
            slugs(site, "", **given)
    for source, target in (("en", "xx"), ("xx", "en")):
        with pytest.raises(InvalidArguments):
            gap(site, source, target)


def test_a_gap_is_what_has_neither_the_file_nor_the_slug_in_the_other_language(site: Any) -> None:
    """docs/rules.md, Odd places: a translation has the same path below its language folder, else the same slug."""
    assert gap(site, "en", "de") == ["en:page:old-news", "en:post:percent", "en:post:news-of-may", "en:post:news"]
    assert gap(site, "de", "en") == ["de:post:only"]
    assert gap(site, "en", "de", type="page") == ["en:page:old-news"]


def test_a_draft_is_no_translation_and_no_gap(site: Any) -> None:
    """docs/rules.md, Unpublished documents: a hidden document looks like an absent one."""
    assert "en:post:news-of-may" not in gap(site, "en", "de", EVERYTHING)
    assert {"en:page:newsletter", "en:page:news-later"} <= set(gap(site, "en", "de", EVERYTHING))


def test_a_long_gap_says_how_long_it_is(site: Any) -> None:
    page = site.content.find_untranslated("en", "fr", type=None, visibility=Visibility(), limit=2, deadline=Deadline(10))
    assert len(page.items) == 2 and page.total == 6
