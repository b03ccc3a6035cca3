"""Notices of edits come by the name that a path has on the site, whatever links stand beside it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from queue import Queue

import pytest

from cmsmcp.site.index.watcher import watch_site

FOLDERS = ("content", "docs")


@pytest.fixture
def watching(tmp_path: Path) -> Iterator[tuple[Path, Queue[frozenset[str] | None], Callable[[], None]]]:
    """A site, what is told of it once it is watched in a thread of its own, and what begins that."""
    for path in ("content/pages/x.md", "docs/guide/y.md", "other/z.md", ".git/index"):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text("before")
    told: Queue[frozenset[str] | None] = Queue()
    stop = threading.Event()

    def watch() -> None:
        for changes in watch_site(tmp_path, lambda: FOLDERS, stop):
            if changes != frozenset():
                told.put(changes)

    thread = threading.Thread(target=watch, daemon=True)
    yield tmp_path, told, thread.start
    stop.set()
    thread.join(60)


@pytest.mark.parametrize(
    ("link", "target", "edited", "wanted"),
    [
        ("docs/site", "..", "content/pages/x.md", "content/pages/x.md"), ("docs/site", "..", "docs/guide/y.md", "docs/guide/y.md"),
        ("content/pages/up", "../..", "content/pages/x.md", "content/pages/x.md"),
        ("docs/pages", "../content/pages", "content/pages/x.md", "content/pages/x.md"),
        ("content/pages/guide", "../../docs/guide", "docs/guide/y.md", "content/pages/guide/y.md"),
        ("content/pages/guide", "../../docs/guide", "docs/guide/y.md", "docs/guide/y.md"),
        ("content/pages/other", "../../other", "other/z.md", "content/pages/other/z.md"),
    ],
)
def test_a_link_onto_a_watched_folder_hides_no_edit(watching, link: str, target: str, edited: str, wanted: str) -> None:
    """Every edit came 5 s late, by the walk at intervals: the system told of it by the link's name alone."""
    root, told, start = watching
    (root / link).symlink_to(target)
    start()
    assert told.get(timeout=60) is None
    (root / edited).write_text("after")
    seen: set[str] = set()
    while wanted not in seen:
        seen |= told.get(timeout=60) or set()
    assert not any(path.startswith((".git", "other")) for path in seen)


def test_a_link_that_comes_while_it_is_watched_begins_the_watching_anew(watching) -> None:
    root, told, start = watching
    start()
    assert told.get(timeout=60) is None
    (root / "docs/site").symlink_to("..")
    assert any(told.get(timeout=60) is None for _ in range(20))
    (root / "content/pages/x.md").write_text("after")
    seen: set[str] = set()
    while "content/pages/x.md" not in seen:
        seen |= told.get(timeout=60) or set()
