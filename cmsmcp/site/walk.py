"""The files below a folder of the site, links followed inside the site only (docs/rules.md, Files). Nothing is read.

Knows sizes and times, not meanings. Dot files, editors' leftovers and names that are no text are passed over in silence.
"""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from cmsmcp.core.deadline import Deadline
from cmsmcp.site.paths import inside, on_disk

MAX_DEPTH = 32


@dataclass(frozen=True, slots=True)
class FoundFile:
    """`path` is relative to the site, `size` in bytes, `modified` in nanoseconds since 1970."""

    path: str
    size: int
    modified: int


@dataclass(frozen=True, slots=True)
class Walk:
    """`folder` as the disk spells it; `files` sorted by path; `escapes` are links that leave the site; `truncated`: there were more than
    `limit` files."""

    folder: str
    files: tuple[FoundFile, ...]
    escapes: tuple[str, ...]
    truncated: bool


def walk(root: Path, relative: str, deadline: Deadline, limit: int) -> Walk:
    """Every regular file below the site path `relative`. A missing folder is an empty one; files that vanish are left out."""
    files: list[FoundFile] = []
    escapes: list[str] = []
    relative = on_disk(root, relative)
    if not inside(root, root / relative):
        return Walk(relative, (), (relative,), False)
    pending, seen = [(relative, 0)], {os.path.realpath(root / relative)}
    while pending and len(files) <= limit:
        deadline.check()
        folder, depth = pending.pop()
        for entry in _entries(root / folder):
            path = f"{folder}/{entry.name}"
            try:
                if entry.is_symlink() and not _may_follow(root, entry, seen, escapes, path):
                    continue
                found = entry.stat()
            except OSError:
                continue
            if stat.S_ISREG(found.st_mode):
                files.append(FoundFile(path, found.st_size, found.st_mtime_ns))
            elif stat.S_ISDIR(found.st_mode) and depth < MAX_DEPTH:
                pending.append((path, depth + 1))
    files.sort(key=lambda file: file.path)
    return Walk(relative, tuple(files[:limit]), tuple(sorted(escapes)), len(files) > limit)


def is_hidden(name: str) -> bool:
    """Dot files, backups and lock files of editors, names that cannot be shown."""
    return name.startswith((".", "#")) or name.endswith("~") or not name.isprintable()


def iso_time(seconds: float) -> str:
    """Seconds since 1970 as ISO 8601 in UTC with milliseconds and `Z`."""
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return [entry for entry in entries if not is_hidden(entry.name)]
    except OSError:
        return []


def _may_follow(root: Path, entry: os.DirEntry[str], seen: set[str], escapes: list[str], path: str) -> bool:
    """A link is followed inside the site; a folder is entered once, so that a circle of links ends."""
    if not inside(root, entry.path):
        escapes.append(path)
        return False
    target = os.path.realpath(entry.path)
    if entry.is_dir():
        if target in seen:
            return False
        seen.add(target)
    return True
