"""Files that look like documents and are none do not vanish without a word (docs/rules.md, Files)."""

from __future__ import annotations

from typing import Any

import pytest

CHECK = "unclaimed_files"


def found(site: Any) -> dict[str, str]:
    rows = site.diagnostics(CHECK)
    assert len({(path, message) for path, _, message in rows}) == len(rows)
    return {path: message for path, _, message in rows}


def test_a_folder_without_a_type_is_counted_and_told_what_to_write(make_site: Any) -> None:
    site = make_site({"docs/a.md": "x", "docs/deep/b.md": "x", "docs/deep/c.md": "x", "pages/p.md": "x"})
    assert found(site) == {
        "content/docs": "3 files ending in .md are not served: no content type has this folder; "
        "write content/types/docs.yaml with `tableName: docs`, or move them below content/pages",
    }
    site.write("content/types/docs.yaml", "tableName: docs\n")
    site.build()
    assert found(site) == {}
    assert sorted(one.slug for one in site.list().items) == ["a", "b", "c", "p"]


@pytest.mark.parametrize("name", ["my-docs", "Docs", "select", "search", "über"])
def test_a_folder_that_can_be_no_table_is_to_be_moved(make_site: Any, name: str) -> None:
    [(path, message)] = found(make_site({f"{name}/a.md": "x"})).items()
    assert path == f"content/{name}" and message.endswith("no content type has this folder; move them below content/pages")
    assert message.startswith("1 file ending in .md is not served: ")


def test_files_at_the_top_and_files_of_other_endings_are_told_too(make_site: Any) -> None:
    site = make_site({"root.md": "x", "pages/a.mdx": "x", "pages/deep/b.MDX": "x", "posts/c.markdown": "x", "notes/d.mdx": "x"})
    assert found(site) == {
        "content": "1 file ending in .md is not served: no content type has this folder; move them below content/pages",
        "content/pages": "2 files ending in .mdx are not served: only files ending in .md are documents; rename them",
        "content/posts": "1 file ending in .markdown is not served: only files ending in .md are documents; rename them",
        "content/notes": "1 file ending in .mdx is not served: no content type has this folder; write content/types/notes.yaml with "
        "`tableName: notes`, or move them below content/pages, and rename them to end in .md",
    }


def test_what_is_no_content_is_not_counted(make_site: Any) -> None:
    site = make_site({
        "documents/a.md": "x", "assets/b.mdx": "x", "types/README.md": "x", "config/notes.md": "x", "archetypes/post.md": "x",
        ".drafts/c.md": "x", "pages/.d.mdx": "x", "notes/e.txt": "x", "pages/f.md": "x",
    })  # fmt: skip
    assert found(site) == {}


def test_nothing_but_folders_is_named(make_site: Any) -> None:
    """Findings are read by those who may not see drafts."""
    site = make_site({"docs/secret-launch/plan.md": ("x", {"draft": "true"}), "pages/secret-launch/plan.mdx": ("x", {"draft": "true"})})
    assert set(found(site)) == {"content/docs", "content/pages"}
    assert not any("secret" in message or "plan" in message for message in found(site).values())
