"""Documents of one address: who of them is served, to whom, at which moment (docs/rules.md, Odd places; Unpublished documents)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from cmsmcp.core.ports import STATUSES, Visibility
from cmsmcp.protocol.errors import NotFound
from tests.catalog.conftest import NOON

ALL = Visibility(frozenset(STATUSES))
DRAFTS = Visibility(frozenset({"draft"}))
DAY = 86_400_000
LIVE = ("live", {"slug": "same"})
HIDING = {
    "draft": {"draft": "true"}, "in_review": {"workflow": "in_review"}, "archived": {"archived": "true"},
    "scheduled": {"scheduled_publish_at": "2099-01-01T00:00:00Z"}, "over": {"scheduled_unpublish_at": "2020-01-01T00:00:00Z"},
}  # fmt: skip


def body(site: Any, visibility: Visibility | None = None, **given: str) -> str:
    return site.get(visibility, **(given or {"slug": "same"})).body.strip()


@pytest.mark.parametrize("keys", HIDING.values(), ids=HIDING)
@pytest.mark.parametrize("path", ["pages/a.md", "pages/en/live.md"], ids=["by URL", "by id"])
def test_a_hidden_document_displaces_nothing(make_site: Callable[..., Any], keys: dict[str, str], path: str) -> None:
    """A draft with the slug, or the path, of a published page took it down, and nothing that a reader can ask told why."""
    site = make_site({path: ("hidden", {**keys, "slug": "same"}), "pages/live.md": LIVE})
    assert (body(site), body(site, url="/same/"), body(site, id="en:page:live")) == ("live",) * 3
    assert [one.path for one in site.list().items] == ["content/pages/live.md"]
    assert (site.search("live").total, site.search("hidden").total) == (1, 0)
    assert site.findings("duplicate_urls", Visibility()) == site.findings("duplicate_ids", Visibility()) == []
    assert site.findings("duplicate_urls") == [
        (f"content/{path}", "same URL /same/ as content/pages/live.md, which is served; give one of them another slug")
    ]


def test_a_published_twin_of_a_published_document_is_reported_to_readers_of_reports(make_site: Callable[..., Any]) -> None:
    site = make_site({"pages/a.md": LIVE, "pages/b.md": LIVE, "pages/draft.md": ("x", {**HIDING["draft"], "slug": "same"})})
    assert body(site) == "live"
    assert [path for path, _ in site.findings("duplicate_urls", Visibility())] == ["content/pages/b.md"]
    assert [path for path, _ in site.findings("duplicate_urls")] == ["content/pages/b.md", "content/pages/draft.md"]


def test_who_may_see_hidden_twins_gets_the_published_one_first_then_the_first_by_path(make_site: Callable[..., Any]) -> None:
    draft = {**HIDING["draft"], "slug": "same"}
    site = make_site({"pages/b.md": ("second", draft), "pages/a.md": ("first", draft), "pages/z.md": LIVE})
    assert (body(site, DRAFTS), body(site, ALL), body(site)) == ("first", "live", "live")
    assert [(one.path, site.list(see).total) for see in (DRAFTS, ALL) for one in site.list(see).items] == [
        ("content/pages/a.md", 1), ("content/pages/z.md", 1)
    ]  # fmt: skip
    site.write("content/pages/a.md", "---\narchived: true\nslug: same\n---\nfirst\n")
    site.build()
    assert body(site, DRAFTS) == "second"


def test_what_another_person_hides_displaces_nothing_of_ones_own(make_site: Callable[..., Any]) -> None:
    """`documents.read.own`."""
    own = Visibility(frozenset(STATUSES), owner="Ann")
    draft = {**HIDING["draft"], "slug": "same"}
    site = make_site({"pages/a.md": ("bob's", {**draft, "author": "Bob"}), "pages/b.md": ("ann's", {**draft, "author": "Ann"})})
    assert (body(site, own), body(site, ALL)) == ("ann's", "bob's")


@pytest.mark.parametrize("settled", [True, False], ids=["settled", "before the writer looked"])
def test_twins_are_decided_among_those_published_at_that_moment(make_site: Callable[..., Any], settled: bool) -> None:
    """The catalog decides at the moment of the question, whether the writer has taken in that a date has come or not."""
    begin, end = NOON + DAY, NOON + 3 * DAY
    dates = {"scheduled_publish_at": "2026-05-29T20:26:40Z", "scheduled_unpublish_at": "2026-05-31T20:26:40Z", "slug": "same"}
    site = make_site({"pages/a.md": ("for two days", dates), "pages/b.md": LIVE})
    seen = []
    for moment in (NOON, begin - 1, begin, end - 1, end, end + DAY):
        site.now = moment
        if settled:
            site.keep_time()
        seen.append((body(site), site.list().total, len(site.findings("duplicate_urls", Visibility()))))
    while_two, else_one = ("for two days", 1, 1), ("live", 1, 0)
    assert seen == [else_one, else_one, while_two, while_two, else_one, else_one]


def test_of_three_each_gives_way_to_those_before_it(make_site: Callable[..., Any]) -> None:
    site = make_site({f"pages/{name}.md": (name, {"slug": "same"}) for name in "abc"})
    for gone, left in (("a", "b"), ("b", "c")):
        (site.root / f"content/pages/{gone}.md").unlink()
        site.build()
        assert (body(site), site.search(left).total, site.list().total) == (left, 1, 1)
    (site.root / "content/pages/c.md").unlink()
    site.build()
    with pytest.raises(NotFound):
        body(site)
