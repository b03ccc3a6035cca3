"""Containment: what belongs to the site (docs/rules.md, Files)."""

import os
from pathlib import Path

import pytest

from cmsmcp.site.paths import PathFault, inside, read_bounded, read_head, safe_relative, shown


@pytest.fixture
def root(tmp_path: Path) -> Path:
    site = tmp_path / "site"
    (site / "content").mkdir(parents=True)
    (site / "content" / "a.md").write_text("inside")
    (tmp_path / "site-other").mkdir()
    (tmp_path / "site-other" / "secret.md").write_text("outside")
    return site


def fault(root: Path, relative: str, limit: int = 100) -> PathFault:
    with pytest.raises(PathFault) as caught:
        read_bounded(root, relative, limit)
    assert str(root) not in caught.value.message
    assert "\n" not in caught.value.message
    return caught.value


def test_a_file_of_the_site_is_read(root: Path) -> None:
    assert read_bounded(root, "content/a.md", 6) == b"inside"


def test_a_file_over_the_limit_is_refused_with_both_numbers(root: Path) -> None:
    found = fault(root, "content/a.md", 5)
    assert found.reason == "too_large"
    assert "6 bytes" in found.message
    assert "5" in found.message


@pytest.mark.parametrize("path", ["../site-other/secret.md", "/etc/hostname", "content/../../site-other/secret.md", "a\0b", "", "."])
def test_a_path_that_leaves_the_site_is_refused(root: Path, path: str) -> None:
    """F30: `..`, absolute."""
    assert fault(root, path).reason in ("outside", "unreadable")


def test_a_link_inside_the_site_is_followed(root: Path) -> None:
    (root / "link.md").symlink_to("content/a.md")
    assert read_bounded(root, "link.md", 100) == b"inside"


@pytest.mark.parametrize("target", ["../site-other/secret.md", "/etc/hostname"])
def test_a_link_that_leaves_the_site_is_refused(root: Path, target: str) -> None:
    (root / "link.md").symlink_to(target)
    assert fault(root, "link.md").reason == "outside"


def test_a_linked_folder_that_leaves_the_site_is_refused(root: Path) -> None:
    (root / "content" / "ext").symlink_to("../../site-other")
    assert fault(root, "content/ext/secret.md").reason == "outside"
    assert not inside(root, root / "content" / "ext" / "secret.md")


def test_a_sibling_with_the_same_prefix_is_outside(root: Path) -> None:
    assert not inside(root, root.parent / "site-other")
    assert inside(root, root)


@pytest.mark.parametrize(("make", "reason"), [
    (lambda p: None, "absent"),
    (lambda p: p.symlink_to("nowhere.md"), "absent"),
    (lambda p: p.symlink_to(p.name), "unreadable"),
    (lambda p: p.mkdir(), "unreadable"),
    (os.mkfifo, "unreadable"),
])
def test_what_is_no_regular_file_is_a_fault_and_never_blocks(root: Path, make, reason: str) -> None:
    """C040: dangling links and vanished files."""
    make(root / "odd.md")
    assert fault(root, "odd.md").reason == reason


def test_how_a_file_begins_is_read_by_the_same_rules(root: Path) -> None:
    assert [read_head(root, "content/a.md", count) for count in (0, 2, 6, 100)] == [b"", b"in", b"inside", b"inside"]
    (root / "link.md").symlink_to("../site-other/secret.md")
    os.mkfifo(root / "pipe.md")
    for path, reason in (("link.md", "outside"), ("../site-other/secret.md", "outside"), ("pipe.md", "unreadable"), ("no.md", "absent")):
        with pytest.raises(PathFault) as caught:
            read_head(root, path, 10)
        assert caught.value.reason == reason


def test_a_site_reached_through_a_link_still_contains_its_files(root: Path) -> None:
    alias = root.parent / "alias"
    alias.symlink_to("site")
    assert read_bounded(alias, "content/a.md", 100) == b"inside"
    assert safe_relative(alias, alias / "content" / "a.md") == "content/a.md"
    assert safe_relative(alias, root / "content" / "a.md") == "content/a.md"


def test_safe_relative_refuses_what_leaves(root: Path) -> None:
    assert safe_relative(root, "content/./a.md") == "content/a.md"
    (root / "out").symlink_to("../site-other")
    for path in ("../site-other", "/etc", root / "out", root / "out" / "secret.md"):
        with pytest.raises(PathFault):
            safe_relative(root, path)


def test_a_name_cannot_forge_a_line() -> None:
    assert shown("a\nb\udcff\u202e.md") == "a\\nb\\udcff\\u202e.md"
    assert shown("caf\u00e9 \u00a0\u200c.md") == "caf\u00e9 \u00a0\u200c.md"
