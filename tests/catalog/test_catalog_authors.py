"""Authors by slug, and the name of what can be read: both without a server (docs/api.md)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from cmsmcp.core.deadline import Deadline
from cmsmcp.core.ports import STATUSES, Visibility
from cmsmcp.protocol.errors import NotFound
from cmsmcp.site.definitions import load_definitions
from cmsmcp.site.entries.store import TypedEntries

EVERYTHING = Visibility(frozenset(STATUSES))


@pytest.fixture(scope="module")
def site(make_site: Any) -> Any:
    return make_site({
        "posts/one.md": ("x", {"author": "Ada Okafor"}),
        "posts/two.md": ("x", {"author": "ada  okafor"}),
        "posts/three.md": ("x", {"author": "Ada Okafor"}),
        "pages/four.md": ("x", {"author": "Ada Okafor"}),
        "posts/hidden.md": ("x", {"author": "Ada Okafor", "draft": "true"}),
        "posts/secret.md": ("x", {"author": "Nobody Yet", "draft": "true"}),
        "posts/nameless.md": ("x", {}),
        "posts/accent.md": ("x", {"author": "Zoé Ā"}),
    })


def author(site: Any, slug: str, visibility: Visibility | None = None) -> Any:
    return site.content.get_author(slug, visibility=visibility or Visibility(), deadline=Deadline(10))


def test_an_author_is_all_spellings_of_one_slug(site: Any) -> None:
    assert author(site, "ada-okafor") == {"slug": "ada-okafor", "name": "Ada Okafor", "entries": 4, "types": {"page": 1, "post": 3}}
    assert author(site, "zoe\u0301-ā")["name"] == "Zoé Ā"


def test_an_author_of_hidden_documents_looks_like_none(site: Any) -> None:
    """docs/rules.md, Unpublished documents."""
    for slug in ("nobody-yet", "no-such-author", "", "Ada Okafor", "-"):
        with pytest.raises(NotFound):
            author(site, slug)
    assert author(site, "nobody-yet", EVERYTHING)["entries"] == 1
    assert author(site, "ada-okafor", EVERYTHING)["entries"] == 5


def test_a_walk_that_finds_nothing_new_makes_no_new_edition(make_site: Any, tmp_path: Path) -> None:
    """Tags of answers stay good until something is written (docs/api.md, Headers)."""
    built = make_site({"posts/one.md": ("x", {})})
    store = TypedEntries(built.state, built.reader, load_definitions(built.root), clock=lambda: built.now)
    versions = [store.version(Visibility())]
    assert not built.build()
    versions.append(store.version(Visibility()))
    built.write("content/posts/two.md", "---\ntitle: Two\n---\n")
    assert built.build()
    versions.append(store.version(Visibility()))
    assert versions[0] == versions[1] != versions[2]
