"""Search: what is found, in which order, and that nothing typed is an error (F13, C050, C052, C053)."""

from __future__ import annotations

import base64
import math
import shutil
import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cmsmcp.core.ports import Visibility
from cmsmcp.protocol.errors import InvalidArguments, Unavailable
from cmsmcp.site.definitions import load_definitions
from cmsmcp.site.index.indexer import Indexer
from cmsmcp.site.search.engine import SEARCH_NAME
from cmsmcp.site.search.searching import _Search

LITERALS = (
    "Runs on Debian 12.5 servers. Write to @helpdesk today. C++ and C# notes. The path docs/setup.md. Please don't panic. "
    "50% off. AND OR NOT are words."
)
FILES = {
    "pages/a.md": ("Crème brûlée au café, on the menu.", {"title": "A"}),
    "pages/b.md": ("A\u030angstro\u0308m is a unit.", {"title": "B"}),
    "pages/c.md": ("İstanbul rehberi", {"title": "C"}),
    "pages/d.md": ("Straße und Łódź", {"title": "D"}),
    "pages/e.md": ("Volunteers and teams", {"title": "E"}),
    "pages/f.md": ("Learning there.", {"title": "University life"}),
    "pages/g.md": ("Stars are there.", {"title": "Universe facts"}),
    "pages/h.md": ("Archiving the archived", {"title": "H"}),
    "pages/literals.md": (LITERALS, {"title": "Literals"}),
    "pages/sharp.md": ("The letter C on its own.", {"title": "Letter"}),
    "pages/ja/kensaku.md": ("全文検索の方法について", {"title": "検索"}),
    "pages/zh/sousuo.md": ("我们提供中文搜索功能", {"title": "中文"}),
    "pages/ko/hakgyo.md": ("우리는 학교에 갔다", {"title": "학교"}),
    "pages/backup.md": ("plain words " * 15, {"title": "Backup"}),
    "pages/long.md": ("backup " * 200, {"title": "Operations handbook"}),
    "pages/tagged.md": ("nothing here", {"title": "Tagged", "tags": "[backup]"}),
    "pages/other.md": ("how to", {"title": "Backup and restore"}),
    "pages/de/backup.md": ("viele Wörter", {"title": "Backup"}),
    "pages/draft.md": ("vistest backup", {"title": "Secret", "draft": "true"}),
    **{f"pages/tie-{n}.md": ("tie", {"title": f"Equal {n % 4}"}) for n in range(10)},
    **{f"pages/same-{n:02}.md": ("drawn", {"title": f"Same {n * 7 % 40:02}"}) for n in range(40)},
    "pages/lens.md": ("A short text.", {"title": "Lens"}),
    "pages/lenses.md": ("lens " * 50, {"title": "Lens lens lens", "tags": "[lens]", "summary": "Lens, lens."}),
    "pages/road.md": ("Ο οδός είναι εδώ", {"title": "Road"}),
}
CONFIG = "name: t\ndefault_lang: en\nlocales: [en, de, ja, zh, ko]\n"


@pytest.fixture(scope="module")
def site(make_site: Any) -> Any:
    return make_site(FILES, CONFIG)


@pytest.mark.parametrize(
    ("query", "slug"),
    [
        ("creme brulee", "a"), ("CRÈME", "a"), ("cafe\u0301", "a"), ("angstrom", "b"), ("ångström", "b"), ("istanbul", "c"),
        ("İSTANBUL", "c"), ("strasse", "d"), ("STRASSE", "d"), ("lodz", "d"), ("volunteer", "e"), ("volunteers", "e"),
        ("archive", "h"), ("archived", "h"), ("archiving", "h"), ("ΟΔΌΣ", "road"), ("οδοσ", "road"), ('"brulee au cafe"', "a"),
    ],
)  # fmt: skip
def test_accents_case_normal_form_and_endings_do_not_matter(site: Any, query: str, slug: str) -> None:
    """C052."""
    assert site.slugs(query) == [slug]


def test_the_exact_word_ranks_above_its_relatives(site: Any) -> None:
    """C052: university and universe may share a stem."""
    assert site.slugs("university")[0] == "f"
    assert site.slugs("universe")[0] == "g"


@pytest.mark.parametrize("query", ["12.5", "@helpdesk", "C++", "C#", "docs/setup.md", "don't", "don’t", "50%", "NOT", "--panic"])
def test_literal_terms_find_their_page(site: Any, query: str) -> None:
    """C050."""
    assert site.slugs(query) == ["literals"]


@pytest.mark.parametrize(
    ("query", "slug"),
    [
        ("検索", "kensaku"), ("全文検索", "kensaku"), ("方法", "kensaku"), ("搜索功能", "sousuo"), ("搜", "sousuo"), ("能", "sousuo"),
        ("학교", "hakgyo"),
    ],
)  # fmt: skip
def test_scripts_without_blanks_are_searched_by_pairs(site: Any, query: str, slug: str) -> None:
    assert site.slugs(query) == [slug]


def test_a_page_whose_title_is_the_query_comes_first(site: Any) -> None:
    """C053."""
    assert site.slugs("backup", lang="en")[:2] == ["backup", "other"]
    assert set(site.slugs("backup", lang="en")[2:]) == {"long", "tagged"}
    assert site.get(id=site.search("BACKUP", lang="de").items[0].document.id).lang == "de"
    assert site.slugs("lens") == ["lens", "lenses"]


def test_minus_excludes_and_quotes_keep_words_together(site: Any) -> None:
    assert "long" not in site.slugs("backup -handbook")
    assert site.slugs('backup -"restore"', lang="en")[0] == "backup"
    assert site.slugs('"au menu"') == []
    assert site.slugs("-backup") == []


NOTHING = [
    '"', '""', "*", "***", "()", "((((", "-", "--", "\\", "[", "%", "_", "^", "~", "\t", "   ", "", "\u202e\u200b", ".", "\ud800",
    "a" * 100_000,
]  # fmt: skip


@pytest.mark.parametrize("query", NOTHING)
def test_a_query_without_words_finds_nothing(site: Any, query: str) -> None:
    """C050: blank is empty, never the whole site."""
    page = site.search(query)
    assert (list(page.items), page.total, page.next_cursor) == ([], 0, None)


@pytest.mark.parametrize("query", ["'; DROP TABLE docs;--", "(a+)+$", '{"$gt":""}', "NEAR(", 'title:"', "foo AND", "a\u0000b", "か.?"])
def test_engine_syntax_is_text(site: Any, query: str) -> None:
    """C050."""
    assert site.search(query).total < len(FILES)


def test_long_queries_are_bounded(site: Any) -> None:
    """C050: 20,000 words within a second of work."""
    began = time.process_time()
    site.search(" ".join(map(str, range(20_000))))
    assert time.process_time() - began < 1


SCRAPS = ['"', "-", "(", "backup", "tie", "検", "+", "*", "~1", ":", "é"]


@settings(max_examples=150, deadline=None)
@given(query=st.text(max_size=60) | st.lists(st.sampled_from(SCRAPS)).map("".join))
def test_no_query_is_an_error(site: Any, query: str) -> None:
    """C050, as a property."""
    page = site.search(query)
    scores = [hit.score for hit in page.items]
    assert scores == sorted(scores, reverse=True)
    assert all(math.isfinite(score) for score in scores)
    assert all(hit.document.status == "published" for hit in page.items)


def test_ties_keep_their_order_and_a_walk_finds_each_once(site: Any) -> None:
    """C053: ten pages of equal text, by title, then id."""
    expected = sorted((f"Equal {n % 4}", f"en:page:tie-{n}") for n in range(10))
    whole = [(hit.document.title, hit.document.id) for hit in site.search("tie").items]
    assert whole == expected
    walked, cursor = [], None
    while True:
        page = site.search("tie", limit=3, cursor=cursor)
        assert page.total == 10
        walked += [(hit.document.title, hit.document.id) for hit in page.items]
        cursor = page.next_cursor
        if cursor is None:
            break
    assert walked == expected


def test_more_ties_than_are_looked_at_first_keep_their_order(site: Any) -> None:
    """C053: the engine's own order of ties is not the one shown."""
    titles = [f"Same {n:02}" for n in range(40)]
    assert [hit.document.title for hit in site.search("drawn", limit=3).items] == titles[:3]
    walked, cursor = [], None
    while len(walked) < 40:
        page = site.search("drawn", limit=3, cursor=cursor)
        walked += [hit.document.title for hit in page.items]
        cursor = page.next_cursor
    assert (walked, cursor) == (titles, None)


@settings(max_examples=30, deadline=None)
@given(limit=st.integers(1, 12), query=st.sampled_from(["backup tie", "the", "tie -equal", "a c b"]))
def test_any_walk_equals_the_whole(site: Any, limit: int, query: str) -> None:
    whole = [hit.document.id for hit in site.search(query, limit=100).items]
    walked: list[str] = []
    cursor = None
    for _ in range(len(whole) + 1):
        page = site.search(query, limit=limit, cursor=cursor)
        walked += [hit.document.id for hit in page.items]
        cursor = page.next_cursor
        if cursor is None:
            break
    assert walked == whole
    assert page.total == len(whole)


def test_a_cursor_serves_its_own_query_only(site: Any) -> None:
    """F13: a bad cursor is an invalid argument."""
    cursor = site.search("tie", limit=3).next_cursor
    assert cursor is not None
    for query, given_ in (("tie tie", {}), ("tie", {"lang": "en"}), ("tie", {"type": "page"})):
        with pytest.raises(InvalidArguments) as refusal:
            site.search(query, cursor=cursor, **given_)
        assert refusal.value.data == {"argument": "cursor"}


def test_drafts_are_found_by_those_who_may_see_them_alone(site: Any) -> None:
    """C044, F14: same words, other visibility, exact totals."""
    assert site.search("vistest").total == 0
    assert site.search("vistest", Visibility(frozenset({"draft"}))).total == 1


def _hide(site: Any, *slugs: str) -> None:
    """In the catalog alone: the search index is a moment behind it."""
    for slug in slugs:
        site.indexer.catalog._connection.execute("UPDATE documents SET status = 'draft' WHERE slug = ?", (slug,))


def test_what_was_just_hidden_shows_neither_in_hits_nor_in_the_cursor(make_site: Any) -> None:
    """docs/rules.md, Status: nothing of a hidden document leaves, its title in a cursor included."""
    own = make_site({f"pages/p{n}.md": ("tie", {"title": f"Title{n}"}) for n in range(6)})
    _hide(own, "p0", "p1", "p4")
    walked, cursor = [], None
    for _ in range(6):
        page = own.search("tie", limit=1, cursor=cursor)
        walked += [hit.document.slug for hit in page.items]
        cursor = page.next_cursor
        if cursor is None:
            break
        position = base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4))[9:].decode()
        assert f"Title{walked[-1][1]}" in position
    assert walked == ["p2", "p3", "p5"]
    assert [hit.document.slug for hit in own.search("tie", limit=6).items] == walked


def test_what_is_hidden_while_a_search_runs_is_left_out(make_site: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    own = make_site({f"pages/p{n}.md": ("tie", {}) for n in range(3)})
    original = _Search.hits

    def hiding(self: _Search, page: Any) -> Any:
        _hide(own, "p1")
        return original(self, page)

    monkeypatch.setattr(_Search, "hits", hiding)
    assert own.slugs("tie") == ["p0", "p2"]


def test_filters_hold_in_totals(site: Any) -> None:
    assert site.search("backup").total == site.search("backup", lang="en").total + 1
    assert site.search("backup", type="post").total == 0


@pytest.mark.parametrize("given_", [{"type": "nope"}, {"lang": "xx"}, {"lang": ""}])
def test_an_unknown_type_or_language_is_named_with_what_exists(site: Any, given_: dict[str, str]) -> None:
    with pytest.raises(InvalidArguments) as refusal:
        site.search("backup", **given_)
    assert ("page" if "type" in given_ else "de") in refusal.value.message


def test_a_walk_ends_at_the_depth_that_is_documented(site: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """`MAX_HITS`: totals stay exact."""
    monkeypatch.setattr("cmsmcp.site.search.searching.MAX_HITS", 7)
    first = site.search("tie", limit=5)
    second = site.search("tie", limit=5, cursor=first.next_cursor)
    assert (len(first.items), len(second.items), second.next_cursor, second.total) == (5, 2, None, 10)


def test_a_document_is_found_by_its_slug(site: Any) -> None:
    """docs/rules.md, Search: the slug counts."""
    assert site.slugs("tie-3") == ["tie-3"]


def test_a_search_index_that_is_lost_is_asked_for_and_refilled(make_site: Any) -> None:
    own = make_site({"pages/a.md": "word"})
    own.indexer.close()
    shutil.rmtree(own.state / SEARCH_NAME)
    with pytest.raises(Unavailable):
        own.search("word")
    own.indexer = Indexer(own.state, lambda: load_definitions(own.root))
    own.build()
    assert own.slugs("word") == ["a"]
