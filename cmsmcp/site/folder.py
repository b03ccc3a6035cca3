"""One folder of a theme or a plugin: its files, the links that leave the site, and a signature that changes when they do.

Knows nothing of what the files mean. Nothing is read, so a scan is cheap enough to run at every call; what is derived from
the files is kept by `Kept` for as long as the signature stays.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from threading import Lock
from typing import TypeVar

from cmsmcp.core.deadline import Deadline
from cmsmcp.site.paths import composed, inside, on_disk

T = TypeVar("T")

MAX_FILES = 5_000
MAX_DEPTH = 24


@dataclass(frozen=True, slots=True)
class Folder:
    """`path` and everything in `files` and `escapes` are site paths, sorted. `truncated`: there was more than MAX_FILES or MAX_DEPTH.

    Links are followed inside the site, each folder once. `escapes` are those that leave it; they are not among `files`.
    """

    path: str
    files: tuple[str, ...]
    escapes: tuple[str, ...]
    truncated: bool
    signature: bytes

    @property
    def outside(self) -> bool:
        return self.path in self.escapes

    def within(self, relative: str) -> str:
        """The site path of something in this folder."""
        return f"{self.path}/{relative}"


def names_in(root: Path, relative: str) -> list[str]:
    """Sorted names, composed, of the folders in `relative`, links to folders too: no dot folders, no names that cannot be shown.

    A folder that is a link out of the site is among them, so that a report can say so; `scan` reads nothing of it.
    """
    return sorted(set(map(composed, raw_names_in(root, relative))))


def raw_names_in(root: Path, relative: str) -> list[str]:
    """The same as the disk spells them."""
    base = root / on_disk(root, relative)
    if not inside(root, base):
        return []
    try:
        with os.scandir(base) as entries:
            return sorted(entry.name for entry in entries if entry.name.isprintable() and entry.name[0] != "." and entry.is_dir())
    except OSError:
        return []


def scan(root: Path, relative: str, skip: frozenset[str], deadline: Deadline) -> Folder:
    """The folder at the site path `relative`; folders named in `skip` are passed over, at any depth.

    When it is itself a link out of the site it has no files, and `escapes` holds its own path.
    """
    relative = on_disk(root, relative)
    if not inside(root, root / relative):
        return Folder(relative, (), (relative,), False, b"outside")
    base = os.path.realpath(root / relative)
    walked = {base}
    digest = blake2b(digest_size=16)
    files: list[str] = []
    escapes: list[str] = []
    truncated = False
    pending = [(base, relative, 0)]
    while pending:
        deadline.check()
        place, shown, depth = pending.pop()
        for entry in _entries(place):
            name = f"{shown}/{entry.name}"
            kind, found = _kind(root, entry)
            digest.update(f"{name}\0{kind}\0{found}\n".encode("utf-8", "surrogateescape"))
            if kind == "linked folder" and (target := os.path.realpath(entry.path)) not in walked and not _is_below(target, base):
                walked.add(target)
                kind = "folder"
            if kind == "folder" and entry.name not in skip:
                truncated |= depth >= MAX_DEPTH
                if depth < MAX_DEPTH:
                    pending.append((entry.path, name, depth + 1))
            elif kind == "file" and name.isprintable():
                files.append(name)
            elif kind == "escape":
                escapes.append(name)
        if len(files) + len(escapes) > MAX_FILES:
            truncated = True
            break
    return Folder(relative, tuple(sorted(files)[:MAX_FILES]), tuple(sorted(escapes)[:MAX_FILES]), truncated, digest.digest())


def _entries(place: str) -> Iterator[os.DirEntry[str]]:
    try:
        with os.scandir(place) as entries:
            yield from sorted(entries, key=lambda entry: entry.name)
    except OSError:  # it vanished, or may not be opened: reading a file of it says so
        return


def _kind(root: Path, entry: os.DirEntry[str]) -> tuple[str, str]:
    """("file", "folder", "linked folder", "escape" or "other", what makes it differ from an earlier state of itself)."""
    try:
        if entry.is_symlink():
            if not inside(root, entry.path):
                return "escape", ""
            found = entry.stat()
            if stat.S_ISDIR(found.st_mode):
                return "linked folder", os.path.realpath(entry.path)
            return ("file" if stat.S_ISREG(found.st_mode) else "other"), _state(found)
        found = entry.stat(follow_symlinks=False)
    except OSError:
        return "other", ""
    if stat.S_ISDIR(found.st_mode):
        return "folder", ""
    return ("file" if stat.S_ISREG(found.st_mode) else "other"), _state(found)


def _is_below(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder + os.sep)


def _state(found: os.stat_result) -> str:
    return f"{found.st_size} {found.st_mtime_ns} {found.st_ctime_ns} {found.st_ino} {found.st_mode}"


class Kept:
    """What was derived from folders, one value for each key, dropped when the folder's signature changes. Holds `limit` values.

    The values are shared between callers: nobody may change them.
    """

    def __init__(self, limit: int = 256) -> None:
        self._limit = limit
        self._values: dict[tuple[str, str], tuple[bytes, object]] = {}
        self._lock = Lock()

    def get(self, kind: str, folder: Folder, build: Callable[[], T]) -> T:
        key = (kind, folder.path)
        held = self._values.get(key)
        if held is not None and held[0] == folder.signature:
            return held[1]  # type: ignore[return-value]
        value = build()
        with self._lock:
            self._values.pop(key, None)
            self._values[key] = (folder.signature, value)
            while len(self._values) > self._limit:
                del self._values[next(iter(self._values))]
        return value
