"""The two versions of a catalog: tags, counts and notices of readers follow the public one (docs/rules.md, Unpublished documents)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from cmsmcp.core.ports import STATUSES, Visibility
from cmsmcp.site.definitions import load_definitions
from cmsmcp.site.entries.store import TypedEntries

ALL = Visibility(frozenset(STATUSES))
DAY = 86_400_000
SOON = "scheduled_publish_at: 2026-05-29T20:26:40Z"
OVER = "scheduled_unpublish_at: 2020-01-01"


def versions(site: Any) -> tuple[str, str]:
    site.reader.forget_meta()
    store = TypedEntries(site.state, site.reader, load_definitions(site.root), clock=lambda: site.now)
    return store.version(Visibility()), store.version(ALL)


def edited(site: Any, path: str, text: str | None) -> tuple[bool, bool]:
    """Which versions are other ones: (public, whole)."""
    before = versions(site)
    if text is None:
        (site.root / path).unlink()
    else:
        site.write(path, text)
    site.build()
    return tuple(one != other for one, other in zip(before, versions(site), strict=True))


def test_the_edit_of_a_draft_changes_the_whole_version_alone(make_site: Callable[..., Any]) -> None:
    site = make_site({"pages/live.md": "x"})
    for text in ("draft: true", "draft: true\ntitle: Other", "workflow: in_review", "archived: true", OVER, SOON, "broken: [", None):
        path = "content/pages/hidden.md"
        assert edited(site, path, None if text is None else f"---\n{text}\n---\n")[0] is False, text
    assert edited(site, "content/pages/twin.md", "---\ndraft: true\nslug: live\n---\n") == (False, True)
    assert edited(site, "content/pages/live.md", "y") == (True, True)


def test_the_public_version_follows_from_what_is_public_alone(make_site: Callable[..., Any]) -> None:
    """So two hosts, an index begun anew, and a site that never had the draft, agree on it."""
    live = {"pages/live.md": ("x", {"title": "T"}), "posts/en/p.md": "y"}
    hidden = {"pages/d.md": ("x", {"draft": "true"}), "pages/o.md": ("x", {"scheduled_unpublish_at": "2020-01-01"}),
              "pages/s.md": ("x", {"scheduled_publish_at": "2099-01-01", "slug": "live"})}  # fmt: skip
    one, other = make_site(live), make_site({**hidden, **live})
    assert versions(one)[0] == versions(other)[0]
    one.write("content/pages/live.md", "other words")
    one.build()
    assert versions(one)[0] != versions(other)[0]
    one.write("content/pages/live.md", (other.root / "content/pages/live.md").read_text())
    one.build()
    assert versions(one)[0] == versions(other)[0]


def test_a_date_that_comes_changes_it_at_once_and_once_more_when_it_is_settled(make_site: Callable[..., Any]) -> None:
    site = make_site({"pages/soon.md": ("x", {"scheduled_publish_at": "2026-05-29T20:26:40Z"}), "pages/a.md": "x"})
    seen = [versions(site)[0]]
    site.now += DAY
    seen.append(versions(site)[0])
    assert site.indexer.keep_time() and not site.indexer.keep_time()
    seen.append(versions(site)[0])
    assert len(set(seen)) == 3
    site.now += DAY
    assert versions(site)[0] == seen[-1]


def test_the_date_of_a_draft_changes_nothing_for_readers(make_site: Callable[..., Any]) -> None:
    site = make_site({"pages/d.md": ("x", {"draft": "true", "scheduled_publish_at": "2026-05-29T20:26:40Z"}), "pages/a.md": "x"})
    before = versions(site)
    site.now += DAY
    assert versions(site)[0] == before[0]
    site.indexer.keep_time()
    assert versions(site)[0] == before[0]
