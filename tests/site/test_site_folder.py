"""What is derived from a folder is kept until the folder changes, however the change is hidden (docs/rules.md, Files)."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from cmsmcp.core.deadline import Deadline
from cmsmcp.site.folder import Folder, Kept, scan


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "themes/plain").mkdir(parents=True)
    (tmp_path / "themes/plain/base.html").write_text("one")
    return tmp_path


def scanned(root: Path) -> Folder:
    return scan(root, "themes/plain", frozenset(), Deadline(5))


def test_what_was_derived_is_kept_while_nothing_changes(root: Path) -> None:
    kept = Kept()
    assert [kept.get("kind", scanned(root), lambda value=value: value) for value in ("first", "second")] == ["first", "first"]


@pytest.mark.parametrize("way", ["in place", "replaced"])
def test_other_bytes_of_the_same_size_and_time_are_noticed(root: Path, way: str) -> None:
    """A checkout or a copy may put the time back: what the system itself notes (ctime, inode) cannot be."""
    file, kept = root / "themes/plain/base.html", Kept()
    before = file.stat()
    assert kept.get("kind", scanned(root), file.read_text) == "one"
    target = file if way == "in place" else file.with_suffix(".new")
    for _ in range(1_000):  # until the system's clock, which may tick as slowly as every 10 ms, has gone on
        target.write_text("two")
        os.utime(target, ns=(before.st_atime_ns, before.st_mtime_ns))
        if target.stat().st_ctime_ns != before.st_ctime_ns:
            break
    target.replace(file)
    assert (file.stat().st_size, file.stat().st_mtime_ns) == (before.st_size, before.st_mtime_ns)
    assert kept.get("kind", scanned(root), file.read_text) == "two"


def test_a_file_a_folder_and_a_link_more_are_noticed(root: Path) -> None:
    signatures = [scanned(root).signature]
    for change in (
        (root / "themes/plain/partials").mkdir,
        lambda: (root / "themes/plain/partials/head.html").write_text("x"),
        lambda: (root / "themes/plain/out").symlink_to("/"),
        lambda: (root / "themes/plain/base.html").chmod(0o600),
    ):
        change()
        signatures.append(scanned(root).signature)
    assert len(set(signatures)) == 5
