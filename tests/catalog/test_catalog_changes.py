"""What an edit is told as: topics of what readers see differently, and of nothing else (docs/rules.md, Changes)."""

from __future__ import annotations

import queue
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cmsmcp.core.ports import Visibility
from cmsmcp.core.sharing import EVERYTHING, Change
from cmsmcp.protocol.errors import CallError
from cmsmcp.site.catalog.reader import REBUILD_MARK
from cmsmcp.site.catalog.writer import KEPT_CHANGES
from cmsmcp.site.index import changes
from cmsmcp.site.index.changes import MOST_TOPICS, NOTHING, merged
from cmsmcp.site.index.following import Following
from cmsmcp.site.index.surroundings import Surroundings, of_the_index, watched_folders
from cmsmcp.site.open import open_site

DRAFT = {"draft": "true"}
RECIPE = "name: Recipe\nslug: recipe\nkind: collection\ntableName: recipes\nfields: [{name: title, type: string}]\n"
TWO_LANGUAGES = "name: t\nlocales: [en, de]\n"


class Followed:
    """A site, and what is told of it at each step; what was before the first is told already."""

    def __init__(self, site: Any) -> None:
        self.site = site
        self._surroundings = Surroundings()
        assert self.step().topics == {EVERYTHING}

    def step(self, paths: set[str] | None = None) -> Change:
        self.site.build()
        indexer = self.site.indexer
        beside = self._surroundings.look(indexer.definitions, indexer.catalog.meta("menus", ""), paths)
        return merged(indexer.changes.take(), beside)

    def after(self, path: str, text: str | tuple[str, dict[str, str]]) -> Change:
        body, keys = (text, {}) if isinstance(text, str) else text
        front = "".join(f"{key}: {value}\n" for key, value in keys.items())
        self.site.write(path, f"---\n{front}---\n{body}\n" if path.startswith("content/pages") else body)
        return self.step({path})

    def without(self, path: str) -> Change:
        (self.site.root / path).unlink()
        return self.step({path})


@pytest.fixture
def follow(make_site: Callable[..., Any]) -> Callable[..., Followed]:
    return lambda *given: Followed(make_site(*given))


def page(*slugs: str) -> set[str]:
    return {"content/page", *(f"content/page/{slug}" for slug in slugs)}


def test_a_document_is_told_by_type_and_slug(follow: Callable[..., Followed]) -> None:
    site = follow({"pages/a.md": "one", "pages/b.md": "other"})
    assert site.step() == NOTHING
    assert site.after("content/pages/a.md", "two").topics == page("a")
    assert site.after("content/pages/c.md", "new").topics == page("c")
    assert site.without("content/pages/b.md").topics == page("b")
    assert site.after("content/pages/a.md", ("two", {"slug": "z"})).topics == page("a", "z")
    assert site.step().lists == frozenset()


def test_a_document_that_was_written_without_a_difference_is_no_change(follow: Callable[..., Followed]) -> None:
    site = follow({"pages/a.md": ("same", {})})
    (site.site.root / "content/pages/a.md").touch()
    assert site.step() == NOTHING


def test_of_a_draft_nothing_is_told(follow: Callable[..., Followed]) -> None:
    """Neither its slug nor that there is one of its type; the slug it had in the open is told once."""
    site = follow({"pages/a.md": "x", "pages/secret.md": ("x", DRAFT)})
    assert site.after("content/pages/secret.md", ("y", DRAFT)) == NOTHING
    assert site.after("content/pages/more.md", ("y", {"workflow": "in_review"})) == NOTHING
    assert site.without("content/pages/more.md") == NOTHING
    assert site.after("content/pages/a.md", ("x", {**DRAFT, "slug": "hidden"})).topics == page("a")
    assert site.after("content/pages/secret.md", "y").topics == page("secret")


def test_a_date_that_comes_is_told(follow: Callable[..., Followed]) -> None:
    """docs/rules.md, Status: what has been scheduled is public, and withdrawn, by time alone."""
    dates = {"scheduled_publish_at": "2026-06-01T00:00:00Z", "scheduled_unpublish_at": "2026-06-03T00:00:00Z"}
    site = follow({"pages/soon.md": ("x", dates)})
    day = 86_400_000
    assert site.after("content/pages/soon.md", ("y", dates)) == NOTHING
    told = []
    for _ in range(8):
        site.site.now += day
        told.append(site.step().topics)
    assert [bool(topics) for topics in told].count(True) == 2
    assert set().union(*told) == page("soon")


def test_a_twin_that_comes_to_be_served_is_told(follow: Callable[..., Followed]) -> None:
    """docs/rules.md, Odd places: the first of equal URLs is served, and only that one; a draft displaces nothing."""
    site = follow({"pages/a.md": ("first", {"slug": "same"}), "pages/b.md": ("second", {"slug": "same"})})
    assert site.after("content/pages/b.md", ("hidden", {"slug": "same"})) == NOTHING
    assert site.after("content/pages/a.md", ("first", {"slug": "other"})).topics == page("same", "other")
    assert site.after("content/pages/a.md", ("first", {**DRAFT, "slug": "same"})).topics == page("other")
    assert site.after("content/pages/a.md", ("second", {**DRAFT, "slug": "same"})) == NOTHING
    assert site.after("content/pages/a.md", ("first", {"slug": "same"})).topics == page("same")


def test_drafts_edited_together_are_not_told_however_many(follow: Callable[..., Followed], monkeypatch: pytest.MonkeyPatch) -> None:
    """Where too many documents change for each to be told, everything is; of drafts that would be a word."""
    monkeypatch.setattr(changes, "_MOST_DOCUMENTS", 10)
    site = follow({"pages/a.md": "x", **{f"pages/d{number}.md": ("x", DRAFT) for number in range(20)}})
    for number in range(20):
        site.site.write(f"content/pages/d{number}.md", f"---\ndraft: true\n---\n{number}\n")
    assert site.step() == NOTHING
    for number in range(20):
        site.site.write(f"content/pages/d{number}.md", "now in the open\n")
    assert site.step().topics == {EVERYTHING}


def test_a_document_changes_with_its_translations(follow: Callable[..., Followed]) -> None:
    """It names their URLs; their words are their own."""
    site = follow({"pages/en/a.md": ("x", {"slug": "about"})}, TWO_LANGUAGES)
    assert site.after("content/pages/de/a.md", ("x", {**DRAFT, "slug": "ueber"})) == NOTHING
    assert site.after("content/pages/de/a.md", ("x", {"slug": "ueber"})).topics == page("about", "ueber")
    assert site.after("content/pages/de/a.md", ("y", {"slug": "ueber"})).topics == page("ueber")


def test_a_type_that_comes_or_goes_changes_the_list_of_resources(follow: Callable[..., Followed]) -> None:
    site = follow({"pages/a.md": "x"})
    added = Change(frozenset({"resources"}), frozenset({"types", "types/recipe"}))
    assert site.after("content/types/recipe.yaml", RECIPE) == added
    assert site.after("content/types/recipe.yaml", RECIPE.replace("Recipe", "Dish")) == added
    assert site.without("content/types/recipe.yaml") == added


def test_themes_and_plugins_are_told_by_name(follow: Callable[..., Followed]) -> None:
    site = follow({"pages/a.md": "x"})
    for kind, file in (("themes", "theme.yaml"), ("plugins", "plugin.yaml")):
        topics = frozenset({kind, f"{kind}/extra"})
        assert site.after(f"{kind}/extra/{file}", "name: extra\n") == Change(frozenset({"resources"}), topics)
        assert site.after(f"{kind}/extra/{file}", "name: extra\nversion: 2\n") == Change(frozenset(), topics)
    topics = {"config", "themes", "themes/extra", "plugins", "plugins/extra"}
    assert site.after("content/config/site.yaml", "name: test\ntheme: extra\nplugins: {enabled: [extra]}\n").topics == topics


def test_docs_files_are_told_by_path_but_what_is_not_served_is_not(follow: Callable[..., Followed]) -> None:
    site = follow({"pages/a.md": ("x", DRAFT)})
    assert site.after("docs/guide/start.md", "# Start").topics == {"docs/guide/start.md"}
    assert site.after("docs/guide/start.md", "# Start here").topics == {"docs/guide/start.md"}
    assert site.after("docs/.notes.md", "mine") == site.after("docs/picture.png", "") == NOTHING
    (site.site.root / "docs/linked").symlink_to("../content/pages")
    assert site.step() == NOTHING
    assert site.without("docs/guide/start.md").topics == {"docs/guide/start.md"}


def test_configuration_and_menus_are_one_topic(follow: Callable[..., Followed]) -> None:
    site = follow({"pages/a.md": "x"})
    assert site.after("content/config/site.yaml", "name: test\ntitle: New\n").topics == {"config"}
    assert site.after("data/navigation.yaml", "main: [{title: A, url: /a/}]\n").topics <= {"config"}


def test_too_many_topics_are_everything(follow: Callable[..., Followed]) -> None:
    site = follow({f"pages/p{number}.md": "x" for number in range(MOST_TOPICS + 1)})
    for number in range(MOST_TOPICS + 1):
        site.site.write(f"content/pages/p{number}.md", "y")
    assert site.step().topics == {EVERYTHING}
    long = frozenset(f"docs/{number}/{'x' * 900}.md" for number in range(50))
    assert merged(Change(topics=long)).topics == {EVERYTHING}


def test_files_beside_the_index_have_nothing_built(follow: Callable[..., Followed]) -> None:
    config = follow({"pages/a.md": "x"}).site.indexer.definitions.config
    assert of_the_index(config, ["docs/a.md", "themes/t/x.css", "plugins/p/main.go"]) == frozenset()
    assert of_the_index(config, ["docs/a.md", "content/pages/a.md", "elsewhere"]) == {"content/pages/a.md", "elsewhere"}
    assert set(watched_folders(config)) == {"content", "data", "themes", "plugins", "docs"}


SLUGS = ("a", "b")
KEYS = st.sampled_from(({}, {}, DRAFT, {"workflow": "scheduled"}, {"scheduled_publish_at": "2026-05-30T00:00:00Z"}))
EDIT = st.tuples(st.sampled_from(("en/a", "de/a", "en/b", "de/b")), st.one_of(st.none(), st.tuples(KEYS, st.sampled_from(SLUGS))))


def public_view(site: Any) -> tuple[dict[str, Any], set[str]]:
    """What the readers of each topic see, and the slugs in the open."""
    documents = site.list(Visibility()).items
    seen: dict[str, Any] = {"content/page": documents}
    for slug in SLUGS:
        try:
            seen[f"content/page/{slug}"] = site.get(slug=slug, type="page")
        except CallError as refused:
            seen[f"content/page/{slug}"] = type(refused)
    return seen, {one.slug for one in documents}


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.lists(EDIT, min_size=1, max_size=3), min_size=1, max_size=6))
def test_whatever_is_edited_readers_are_told_what_differs_and_no_draft_is_named(
    follow: Callable[..., Followed], steps: list[list[tuple[str, Any]]]
) -> None:
    """Against the difference of two readings of the public site."""
    followed = follow({}, TWO_LANGUAGES)
    site = followed.site
    seen, slugs = public_view(site)
    for number, edits in enumerate(steps):
        for name, edit in edits:
            path = site.root / f"content/pages/{name}.md"
            if edit is None:
                path.unlink(missing_ok=True)
            else:
                keys, slug = edit
                front = "".join(f"{key}: {value}\n" for key, value in {**keys, "slug": slug}.items())
                site.write(f"content/pages/{name}.md", f"---\n{front}---\n")
        site.now += number * 40_000_000
        told = followed.step().topics
        before, (seen, now_slugs) = seen, public_view(site)
        assert {topic for topic in seen if seen[topic] != before[topic]} <= told
        assert told <= page(*slugs, *now_slugs)
        assert seen != before or not told
        slugs = now_slugs


@pytest.fixture
def told(tmp_path: Path) -> Iterator[tuple[Path, queue.Queue[Change]]]:
    """A site that is watched, and what is told of it."""
    root = tmp_path / "site"
    for path, text in {"content/config/site.yaml": "name: t\n", "content/pages/a.md": "x", "docs/a.md": "x"}.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    changes: queue.Queue[Change] = queue.Queue()
    with closing(open_site(root, tmp_path / "state")) as opened:
        opened.start(changes.put)
        assert changes.get(timeout=60).topics == {EVERYTHING}
        yield root, changes


def test_a_watched_site_tells_of_each_kind_of_file(told: tuple[Path, queue.Queue[Change]]) -> None:
    root, changes = told

    def write(path: str, text: str) -> Change:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
        return changes.get(timeout=60)

    assert write("content/pages/a.md", "y").topics == page("a")
    assert write("docs/a.md", "longer").topics == {"docs/a.md"}
    assert write("content/types/recipe.yaml", RECIPE).topics == {"types", "types/recipe"}
    assert write("content/config/site.yaml", "name: t\ntitle: T\n").topics == {"config"}
    assert write("themes/new/theme.yaml", "name: new\n").topics == {"themes", "themes/new"}
    (root / "content/pages/b.md").write_text("---\ndraft: true\n---\n")
    assert write("content/pages/c.md", "z").topics == page("c")
    assert changes.empty()


def test_a_process_beside_the_writer_is_told_the_same(told: tuple[Path, queue.Queue[Change]], tmp_path: Path) -> None:
    """By the catalog: two stdio servers of one site share no Redis."""
    root, _ = told
    heard: queue.Queue[Change] = queue.Queue()
    with closing(open_site(root, tmp_path / "state")) as beside:
        beside.start(heard.put, follow=True)
        assert heard.get(timeout=60).topics == {EVERYTHING}
        (root / "content/pages/a.md").write_text("z")
        (root / "content/pages/b.md").write_text("z")
        topics: frozenset[str] = frozenset()
        while topics != page("a", "b"):
            topics |= heard.get(timeout=60).topics
            assert EVERYTHING not in topics


def test_one_that_fell_behind_is_told_that_anything_may_be_different(make_site: Callable[..., Any]) -> None:
    site = make_site({})
    following = Following(site.reader)
    assert following.take().topics == {EVERYTHING}
    assert following.take() == NOTHING
    for number in range(KEPT_CHANGES + 1):
        site.indexer.catalog.note_change(f'{{"lists": [], "topics": ["docs/{number}"]}}')
    assert following.take().topics == {EVERYTHING}
    site.indexer.catalog.note_change('{"lists": [], "topics": ["docs/x"]}')
    assert following.take().topics == {"docs/x"}
    (site.state / REBUILD_MARK).touch()
    site.build()
    assert following.take().topics == {EVERYTHING}
