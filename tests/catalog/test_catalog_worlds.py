"""Two search indexes: what is public is found, weighed and counted as if nothing else were there (docs/rules.md, Search; Unpublished
documents)."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from tantivy import Index

from cmsmcp.core.ports import STATUSES, Visibility
from cmsmcp.site.definitions import load_definitions
from cmsmcp.site.index.indexer import Indexer
from cmsmcp.site.search.engine import HIDDEN, PUBLIC, SEARCH_NAME

ALL = Visibility(frozenset(STATUSES))
DAY = 86_400_000
DRAFT = {"draft": "true"}
PEOPLE = {
    "types/person.yaml": "name: People\ntableName: people\nfields:\n  - {name: title, type: string}\n  - {name: slug, type: uid}\n"
    "  - {name: mentor, type: relation, relatedSlug: person}\n"
}


def found(site: Any, query: str, visibility: Visibility | None = None) -> list[tuple[str, float]]:
    return [(hit.document.slug, hit.score) for hit in site.search(query, visibility, limit=100).items]


def count(state: Path, name: str) -> int:
    return Index.open(str(state / SEARCH_NAME / name)).searcher().num_docs


def test_scores_and_order_know_nothing_of_hidden_documents(make_site: Callable[..., Any]) -> None:
    """BM25 weighs a word by how many documents of an index have it: drafts counted, so that their words could be asked for."""
    dice = random.Random(7)
    words = ["alpha", "beta", "gamma", "delta", "epsilon"]
    live = {f"pages/p{n}.md": (" ".join(dice.choices(words, k=12)), {"title": f"T{n}"}) for n in range(30)}
    hidden = {f"pages/h{n}.md": (f"{words[n % 2]} " * 30, DRAFT) for n in range(40)}
    plain, haunted = make_site(live), make_site({**live, **hidden})
    for query in ("alpha", "alpha beta", "beta gamma delta", '"alpha beta"', "gamma -alpha", "zeta alpha"):
        assert found(plain, query) == found(haunted, query)
        assert plain.search(query).total == haunted.search(query).total


def test_everything_is_merged_by_score_relative_to_the_best_of_its_kind(make_site: Callable[..., Any]) -> None:
    site = make_site({
        "pages/best.md": ("word word word", {"title": "word"}), "pages/weak.md": ("a word " + "and more " * 50, {}),
        "pages/draft-best.md": ("word word", {**DRAFT, "title": "word"}), "pages/draft-weak.md": ("a word " + "and more " * 50, DRAFT),
    })  # fmt: skip
    slugs = [slug for slug, _ in found(site, "word", ALL)]
    scores = [score for _, score in found(site, "word", ALL)]
    assert (set(slugs[:2]), set(slugs[2:])) == ({"best", "draft-best"}, {"weak", "draft-weak"})
    assert scores[:2] == [1.0, 1.0] and scores == sorted(scores, reverse=True)
    assert [slug for slug, _ in found(site, "word")] == ["best", "weak"]
    assert {slug for slug, _ in found(site, "word", Visibility(frozenset({"draft"})))} == {"draft-best", "draft-weak"}


def test_ones_own_hidden_documents_come_after_the_public_ones_and_know_nothing_of_others(make_site: Callable[..., Any]) -> None:
    """`documents.read.own`."""
    own = Visibility(frozenset(STATUSES), owner="ann")
    files: Mapping[str, Any] = {
        "pages/live.md": ("some alpha " * 40, {}),
        "pages/mine.md": ("alpha alpha alpha beta", {**DRAFT, "author": "Ann", "title": "alpha"}),
        "pages/less.md": ("beta alpha", {**DRAFT, "author": "Ann"}),
    }  # fmt: skip
    others = {f"pages/o{n}.md": ("alpha beta " * (n + 1), {**DRAFT, "author": "Bob"}) for n in range(30)}
    alone, among = make_site(files), make_site({**files, **others})
    for query in ("alpha", "alpha beta", "beta"):
        assert found(alone, query, own) == found(among, query, own)
    assert [slug for slug, _ in found(alone, "alpha", own)] == ["live", "mine", "less"]
    page = among.search("alpha", own, limit=1)
    walked = [hit.document.slug for hit in page.items]
    while page.next_cursor:
        page = among.search("alpha", own, limit=1, cursor=page.next_cursor)
        walked += [hit.document.slug for hit in page.items]
    assert walked == ["live", "mine", "less"]


def test_a_document_moves_when_its_date_comes(make_site: Callable[..., Any]) -> None:
    site = make_site({
        "pages/soon.md": ("word", {"scheduled_publish_at": "2026-05-29T00:00:00Z"}),
        "pages/late.md": ("word", {"scheduled_unpublish_at": "2026-05-29T00:00:00Z"}), "pages/a.md": "other",
    })  # fmt: skip
    assert (count(site.state, PUBLIC), count(site.state, HIDDEN), site.slugs("word")) == (2, 1, ["late"])
    site.now += DAY
    assert site.keep_time() and not site.keep_time()
    assert (count(site.state, PUBLIC), count(site.state, HIDDEN), site.slugs("word")) == (2, 1, ["soon"])
    assert {slug for slug, _ in found(site, "word", ALL)} == {"soon", "late"}
    site.now -= DAY
    assert site.keep_time()
    assert site.slugs("word") == ["late"]


@pytest.mark.parametrize("where", ["before the commit", "after the commit"])
def test_a_crash_leaves_no_draft_in_the_index_of_what_is_public(
    make_site: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, where: str
) -> None:  # fmt: skip
    site = make_site({"pages/a.md": "word", "pages/b.md": ("word", DRAFT)})
    site.write("content/pages/a.md", "---\ndraft: true\n---\nword\n")
    site.write("content/pages/b.md", "word\n")

    def crash(*_: Any) -> None:
        raise OSError("disk full")

    with monkeypatch.context() as broken:
        broken.setattr(
            "cmsmcp.site.search.writing.SearchWriter.commit" if where == "before the commit"
            else "cmsmcp.site.catalog.writer.Catalog.clear_unsearched", crash,
        )  # fmt: skip
        with pytest.raises(OSError):
            site.build()
    site.indexer.close()
    site.write("content/pages/b.md", "---\ndraft: true\n---\nword\n")
    site.indexer = Indexer(site.state, lambda: load_definitions(site.root), clock=lambda: site.now)
    site.build()
    assert (count(site.state, PUBLIC), count(site.state, HIDDEN)) == (0, 2)
    assert (found(site, "word"), len(found(site, "word", ALL))) == ([], 2)


def test_the_edit_of_a_draft_leaves_the_public_index_alone(make_site: Callable[..., Any]) -> None:
    site = make_site({"pages/a.md": "word", "pages/b.md": ("word", DRAFT)})
    folder = site.state / SEARCH_NAME / PUBLIC
    before = {path.name: path.stat().st_mtime_ns for path in folder.iterdir() if not path.name.endswith(".lock")}
    for text in ("edited", "again"):
        site.write("content/pages/b.md", f"---\ndraft: true\n---\n{text}\n")
        site.build()
    assert {path.name: path.stat().st_mtime_ns for path in folder.iterdir() if not path.name.endswith(".lock")} == before
    assert found(site, "again", ALL) == [("b", 1.0)]


def test_no_entry_is_found_by_the_slug_of_what_it_leads_to(make_site: Callable[..., Any]) -> None:
    """What a relation names may be hidden, and is then shown nowhere."""
    site = make_site({
        **PEOPLE, "people/ghost.md": ("x", {**DRAFT, "title": "Ghost"}),
        "people/seen.md": ("x", {"title": "Seen", "fields": "{mentor: ghost}"}),
    })  # fmt: skip
    assert (found(site, "ghost"), found(site, "seen")) == ([], [("seen", 1.0)])
