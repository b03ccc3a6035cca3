"""Lists and navigation: filters, visibility at every hour, keyset paging (F14, F16, C044)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cmsmcp.core.deadline import Deadline
from cmsmcp.core.ports import STATUSES, Visibility
from cmsmcp.protocol.cursor import encode_cursor
from cmsmcp.protocol.errors import InvalidArguments, TimedOut
from cmsmcp.site.documents.status import status_at

ALL = Visibility(frozenset(STATUSES))
HIDDEN = {
    "v1": {"draft": "true"}, "v2": {"draft": '"true"'}, "v3": {"status": "Draft"}, "v4": {"status": '" draft "'},
    "v5": {"publish_date": "2999-01-01"}, "v6": {"expiry_date": "2001-01-01"}, "v7": {"published": '"no"'}, "v8": {"published": "0"},
    "v9": {"status": "in-review"},
}  # fmt: skip


@pytest.fixture(scope="module")
def vis(make_site: Any) -> Any:
    """C044: one public page among nine that other systems would hide too, all in the menu and in one taxonomy term."""
    files: dict[str, Any] = {f"pages/{slug}.md": ("VISTEST", {"tags": "[vis]", **keys}) for slug, keys in HIDDEN.items()}
    files["pages/ok.md"] = ("VISTEST", {"status": "published", "tags": "[vis]"})
    menu = "".join(f"    - {{name: {slug}, url: /{slug}/}}\n" for slug in [*HIDDEN, "ok"])
    return make_site(
        files,
        f"name: t\nmenus:\n  main:\n{menu}    - {{name: out, url: 'https://example.org/v1/'}}\n")


def test_a_reader_sees_the_public_page_alone_on_every_surface(vis: Any) -> None:
    for page in (vis.list(), vis.list(taxonomy={"tags": "vis"}), vis.list(type="page")):
        assert ([one.slug for one in page.items], page.total) == (["ok"], 1)
    assert (vis.slugs("VISTEST"), vis.search("VISTEST").total) == (["ok"], 1)
    navigation = vis.navigation()
    assert [entry["name"] for entry in navigation["menus"]["main"]] == ["ok", "out"]
    assert [page["title"] for page in navigation["pages"]] == ["ok"]
    assert navigation["truncated"] is False


def test_those_who_may_see_all_see_each_with_its_status(vis: Any) -> None:
    page = vis.list(ALL)
    assert page.total == 10
    assert {one.slug: one.status for one in page.items}["v5"] == "scheduled"
    assert {one.slug: one.status for one in page.items}["v9"] == "in_review"
    assert vis.search("VISTEST", ALL).total == 10


def test_an_owner_sees_the_own_unpublished_documents_and_all_published_ones(make_site: Any) -> None:
    """`documents.read.own`: author, else owner, whatever the case."""
    site = make_site({
        "pages/ann.md": ("word", {"draft": "true", "author": "Ann"}),
        "pages/anna.md": ("word", {"draft": "true", "author": "Bob", "owner": "Ann"}),
        "pages/owned.md": ("word", {"draft": "true", "owner": "ANN"}),
        "pages/bob.md": ("word", {"author": "Bob"}),
    })
    own = Visibility(frozenset(STATUSES), owner="ann")
    assert [one.slug for one in site.list(own).items] == ["ann", "bob", "owned"]
    assert sorted(site.slugs("word", visibility=own)) == ["ann", "bob", "owned"]
    assert [one.slug for one in site.list(Visibility(frozenset({"draft"}), owner="ann")).items] == ["ann", "owned"]


def test_the_hour_publishes_and_hides_without_an_index_run(make_site: Any) -> None:
    site = make_site({
        "pages/soon.md": ("word", {"scheduled_publish_at": "2026-05-28T21:00:00Z"}),
        "pages/late.md": ("word", {"scheduled_unpublish_at": "2026-05-28T21:00:00Z"}),
    })
    def seen() -> tuple[Any, ...]:
        return [one.slug for one in site.list().items], site.list().total, site.slugs("word"), site.search("word").total

    assert seen() == (["late"], 1, ["late"], 1)
    site.now += 3_600_000
    assert seen() == (["soon"], 1, [], 0)  # search takes it in when the writer has moved it, a quarter of a second later
    site.keep_time()
    assert seen() == (["soon"], 1, ["soon"], 1)


@dataclass(frozen=True)
class _Timed:
    status: str
    publish_at: int | None
    unpublish_at: int | None


_BOUNDS = (None, "2026-05-01T00:00:00Z", "2026-05-28T20:26:40Z", "2026-06-15T00:00:00Z")
_MS = dict(zip(_BOUNDS, (None, 1_777_593_600_000, 1_780_000_000_000, 1_781_481_600_000), strict=True))


@pytest.fixture(scope="module")
def timed(make_site: Any) -> Any:
    """Every workflow with every pair of bounds."""
    files = {}
    for workflow in STATUSES:
        for begin in _BOUNDS:
            for end in _BOUNDS:
                keys = {"workflow": workflow, "scheduled_publish_at": begin, "scheduled_unpublish_at": end}
                name = f"{workflow}_{_BOUNDS.index(begin)}_{_BOUNDS.index(end)}"
                files[f"pages/{name}.md"] = ("timedword", {key: value for key, value in keys.items() if value})
    return make_site(files)


@settings(max_examples=40, deadline=None)
@given(
    now=st.sampled_from([0, 1_777_593_600_000, 1_779_999_999_999, 1_780_000_000_000, 1_780_000_000_001, 1_781_481_600_000, 2**41]),
    statuses=st.sets(st.sampled_from(STATUSES), min_size=1),
    moved=st.booleans(),
)
def test_list_and_search_agree_with_the_rule_of_the_clock(timed: Any, now: int, statuses: set[str], moved: bool) -> None:
    """`visibility` says in SQL and in the indexes what `status_at` says in Python (docs/rules.md, Status).

    Until the writer has moved a document whose date has come, a search finds too few at most, and never a hidden one."""
    timed.now = now
    if moved:
        timed.keep_time()
    expected = set()
    for one in timed.list(ALL, limit=200).items:
        workflow, begin, end = one.slug.rsplit("_", 2)
        status = status_at(_Timed(workflow, _MS[_BOUNDS[int(begin)]], _MS[_BOUNDS[int(end)]]), now)
        assert one.status == status
        if status in statuses:
            expected.add(one.slug)
    wanted = Visibility(frozenset(statuses))
    page = timed.list(wanted, limit=200)
    assert ({one.slug for one in page.items}, page.total) == (expected, len(expected))
    hits = timed.search("timedword", wanted, limit=100)
    found = {hit.document.slug for hit in hits.items}
    assert (len(found), found | expected) == (hits.total, expected)
    if moved or wanted != Visibility():
        assert found == expected


@pytest.fixture(scope="module")
def many(make_site: Any) -> Any:
    return make_site(
        {
            **{f"pages/p{n:02}.md": ("body", {"tags": ("[even]", "[odd]")[n % 2], "date": f"2026-01-{n + 1:02}"}) for n in range(20)},
            **{f"posts/de/p{n:02}.md": ("Text", {"taxonomies": "{series: [a b]}"}) for n in range(5)},
        },
        "name: t\ndefault_lang: en\nlocales: [en, de]\n",
    )


@settings(max_examples=25, deadline=None)
@given(limit=st.integers(1, 30))
def test_a_walk_of_any_step_lists_everything_once_by_url(many: Any, limit: int) -> None:
    walked: list[str] = []
    cursor = None
    while True:
        page = many.list(limit=limit, cursor=cursor)
        assert page.total == 25
        assert all(one.body == "" for one in page.items)
        walked += [one.url for one in page.items]
        cursor = page.next_cursor
        if cursor is None:
            break
    assert walked == sorted(set(walked))
    assert len(walked) == 25


def test_a_write_between_two_pages_neither_repeats_nor_skips(make_site: Any) -> None:
    site = make_site({f"pages/p{n}.md": ("x", {}) for n in range(6)})
    first = site.list(limit=3)
    site.write("content/pages/a-new.md", "---\ntitle: t\n---\n")
    (site.root / "content/pages/p1.md").unlink()
    site.build()
    second = site.list(limit=9, cursor=first.next_cursor)
    assert [one.slug for one in second.items] == ["p3", "p4", "p5"]


def test_filters_combine(many: Any) -> None:
    """F14."""
    assert many.list(type="post").total == 5
    assert many.list(lang="DE").total == 5
    assert many.list(lang="de", type="page").total == 0
    assert many.list(taxonomy={"tags": "even"}).total == 10
    assert many.list(taxonomy={"tags": "even", "series": "a b"}).total == 0
    assert many.list(taxonomy={"series": "a b"}).total == 5
    assert [one.slug for one in many.list(updated_after="2026-01-19").items] == ["p18", "p19"]
    assert [one.slug for one in many.list(updated_before="2026-01-02").items] == ["p00"]
    assert many.list(updated_after="2026-01-03T00:00:00+01:00", updated_before="2026-01-04").total == 1


@pytest.mark.parametrize("written", ["2026-1-19", "2026-01-19 00:00", "2026-01-19t00:00:00z", "2026-01-19 01:00 +01:00", " 2026-01-19 "])
def test_bounds_are_written_as_authors_write_dates(many: Any, written: str) -> None:
    """docs/rules.md, Odd places: one grammar of dates, in front matter and in arguments."""
    assert [one.slug for one in many.list(updated_after=written).items] == ["p18", "p19"]


@pytest.mark.parametrize(
    ("given_", "argument"),
    [
        ({"type": "nope"}, "type"), ({"lang": "fr"}, "lang"), ({"lang": ""}, "lang"), ({"updated_after": "yesterday"}, "updated_after"),
        ({"updated_before": "9999999999"}, "updated_before"),
        ({"updated_after": "20260306"}, "updated_after"), ({"updated_after": "2026-W10-5"}, "updated_after"),
        ({"updated_before": "2026-02-30"}, "updated_before"), ({"updated_before": ""}, "updated_before"),
        ({"cursor": "abc"}, "cursor"), ({"cursor": ""}, "cursor"),
    ],
)  # fmt: skip
def test_what_does_not_exist_or_read_is_refused_by_name(many: Any, given_: dict[str, str], argument: str) -> None:
    with pytest.raises(InvalidArguments) as refusal:
        many.list(**given_)
    assert refusal.value.data == {"argument": argument}


def test_a_cursor_serves_its_own_list_only(many: Any) -> None:
    cursor = many.list(limit=3).next_cursor
    assert many.list(limit=5, cursor=cursor).items[0].slug == "p03"
    for other in ({"type": "page"}, {"lang": "en"}, {"taxonomy": {"tags": "odd"}}, {"visibility": ALL}):
        with pytest.raises(InvalidArguments):
            many.list(cursor=cursor, **other)


@pytest.mark.parametrize("forged", [[], ["/a/"], [1, 2], [None, {}], [["/a/"], "id"], ["/a/", "b", "c"], [10**400, "id"]])
def test_a_forged_cursor_is_refused_by_name(many: Any, forged: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever knows the checksum (it is no secret) makes no error of ours."""
    with monkeypatch.context() as forging:
        for room in ("content.port", "search.searching"):
            forging.setattr(f"cmsmcp.site.{room}.encode_cursor", lambda question, position: encode_cursor(question, forged))
        listed, searched = many.list(limit=3).next_cursor, many.search("body", limit=3).next_cursor
    for ask in (lambda: many.list(cursor=listed), lambda: many.search("body", cursor=searched)):
        with pytest.raises(InvalidArguments) as refusal:
            ask()
        assert refusal.value.data == {"argument": "cursor"}


@settings(max_examples=40, deadline=None)
@given(seen=st.integers(0, 2**53 - 1), score=st.floats(allow_nan=False, allow_infinity=False), title=st.text(max_size=9))
def test_any_position_of_the_right_shape_is_answered(many: Any, seen: int, score: float, title: str) -> None:
    with pytest.MonkeyPatch.context() as forging:
        forged_position = [seen, score, title, "en:page:x"]
        forging.setattr("cmsmcp.site.search.searching.encode_cursor", lambda question, position: encode_cursor(question, forged_position))
        forged = many.search("body", limit=3).next_cursor
    assert many.search("body", limit=3, cursor=forged).total == 20


def test_a_question_ends_with_its_deadline(many: Any) -> None:
    """The progress handler, and the check before it (C030)."""
    with pytest.raises(TimedOut):  # else it would never end
        many.reader.rows("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n", (), Deadline(0.5))
    assert many.list().total == 25


def test_the_page_index_stops_at_500(make_site: Any) -> None:
    """F16."""
    site = make_site({f"pages/p{n:03}.md": "x" for n in range(501)} | {"posts/q.md": "x"})
    navigation = site.navigation()
    assert (len(navigation["pages"]), navigation["truncated"]) == (500, True)
    assert navigation["pages"][0] == {"id": "en:page:p000", "title": "p000", "url": "/p000/", "lang": "en", "type": "page"}


def test_a_hidden_menu_entry_takes_what_is_below_it(make_site: Any) -> None:
    site = make_site({
        "pages/open.md": "x", "pages/shut.md": ("x", {"draft": "true"}),
        "../data/navigation.yaml": "main:\n- {name: Shut, url: /shut, items: [{name: Open, url: /open}]}\n"
        "- {name: Open, url: open, items: [{name: Shut, url: '/shut?a#b'}]}\n",
    })
    assert site.navigation()["menus"] == {"main": [{"name": "Open", "url": "/open/"}]}


@pytest.mark.parametrize(
    "url",
    [
        "/secret/", "secret", "https://own.example/secret/", "HTTPS://own.example/secret/", "https://OWN.example/secret",
        "http://own.example/secret/?a=1#b", "//own.example/secret/", "https://own.example:443/secret/", "/moved/", "/tags/hushed/",
    ],
)  # fmt: skip
def test_a_menu_shows_no_way_to_a_draft_however_it_is_spelled(make_site: Any, url: str) -> None:
    """C044: by the site's own address in any spelling, by a redirect, by a term that only drafts carry."""
    config = "name: test\nbase_url: https://own.example\n"
    site = make_site({"pages/secret.md": ("hush", {"draft": "true", "tags": "[hushed]"}), "pages/open.md": "open"}, config)
    site.write("data/navigation.yaml", f"main:\n  - {{name: open, url: /open/}}\n  - {{name: hidden, url: '{url}'}}\n")
    site.write("data/redirects.yaml", "redirects:\n  - {from: /moved/, to: /again/}\n  - {from: /again/, to: /secret/}\n")
    site.build()
    assert [entry["name"] for entry in site.navigation()["menus"]["main"]] == ["open"]
    site.write("content/pages/secret.md", "---\ntags: [hushed]\n---\nnot any more\n")
    site.build()
    assert [entry["name"] for entry in site.navigation()["menus"]["main"]] == ["open", "hidden"]


@pytest.mark.parametrize("url", ["/secret/", "/handbook/secret/", "https://own.example/handbook/secret/", "/handbook/moved/", "/moved/"])
def test_nor_does_a_menu_of_a_site_below_a_path_of_its_host(make_site: Any, url: str) -> None:
    """C044; docs/rules.md, Identity and URLs."""
    config = "name: test\nbase_url: https://own.example/handbook\n"
    site = make_site({"pages/secret.md": ("hush", {"draft": "true"}), "pages/open.md": "open"}, config)
    site.write("data/navigation.yaml", f"main:\n  - {{name: open, url: /handbook/open/}}\n  - {{name: hidden, url: '{url}'}}\n")
    site.write("data/redirects.yaml", "redirects:\n  - {from: /moved/, to: /handbook/secret/}\n")
    site.build()
    assert [entry["name"] for entry in site.navigation()["menus"]["main"]] == ["open"]
