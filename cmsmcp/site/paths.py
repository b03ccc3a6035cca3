"""Containment: which files belong to the site. Everything this room reads goes through here.

A symbolic link is followed as long as what it names lies inside the site folder. Knows nothing of what the files mean.
Faults name paths relative to the site, never absolute ones.
"""

from __future__ import annotations

import os
import re
import stat
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath

OUTSIDE = "outside"
ABSENT = "absent"
TOO_LARGE = "too_large"
UNREADABLE = "unreadable"

_CHUNK = 1 << 20
_UNSHOWABLE = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


class PathFault(Exception):
    """A file that cannot be read. `reason` is "outside", "absent", "too_large" or "unreadable"; `message` is one line for people."""

    def __init__(self, message: str, reason: str) -> None:
        super().__init__(message)
        self.message = message
        self.reason = reason


def inside(root: Path | str, path: Path | str) -> bool:
    """Whether `path`, with every symbolic link followed, is `root` or lies below it. It need not exist."""
    try:
        base, target = os.path.realpath(root), os.path.realpath(path)
    except (OSError, ValueError):
        return False
    return target == base or target.startswith(base.rstrip(os.sep) + os.sep)


def safe_relative(root: Path | str, path: Path | str) -> str:
    """`path` (absolute, or relative to `root`) as a site path with forward slashes; links are followed for the check only.

    Raises PathFault("outside") for `..`, for another absolute place and for links that leave the site.
    """
    spelled = os.path.abspath(root)  # noqa: PTH100 - links in the root's own path are not followed here
    absolute = os.path.normpath(os.path.join(spelled, path))  # noqa: PTH118 - an absolute `path` wins
    for base in (spelled, os.path.realpath(root)):
        prefix = base.rstrip(os.sep) + os.sep
        if absolute.startswith(prefix):
            relative = absolute[len(prefix):].replace(os.sep, "/")
            if not inside(root, absolute):
                raise PathFault(f"{shown(relative)} is a link that leaves the site folder", OUTSIDE)
            return relative
    raise PathFault("the path is outside the site folder", OUTSIDE)


def composed(name: str) -> str:
    """A name in the one normal form (NFC) in which ids, slugs, terms and paths go out and are compared."""
    return name if name.isascii() else unicodedata.normalize("NFC", name)


def on_disk(root: Path | str, relative: str) -> str:
    """A site path as the disk spells it: names that macOS or an archive wrote decomposed are found by their composed form, and the
    other way round. Unchanged where nothing of that name is there."""
    if relative.isascii() or os.path.lexists(os.path.join(root, relative)):  # noqa: PTH118
        return relative
    place = ""
    for part in relative.split("/"):
        spelled = f"{place}{part}"
        if not part.isascii() and not os.path.lexists(os.path.join(root, spelled)):  # noqa: PTH118
            spelled = f"{place}{_spelled(os.path.join(root, place), part)}"  # noqa: PTH118
        place = f"{spelled}/"
    return place[:-1]


def _spelled(folder: str, name: str) -> str:
    wanted = composed(name)
    try:
        with os.scandir(folder) as entries:
            return min((entry.name for entry in entries if composed(entry.name) == wanted), default=name)
    except (OSError, ValueError):
        return name


def read_bounded(root: Path | str, relative: str, limit: int) -> bytes:
    """The bytes of a regular file of the site, at most `limit` of them.

    Raises PathFault: "outside" (absolute, `..`, NUL, a link that leaves the site), "absent" (also a dangling link),
    "too_large", "unreadable" (a folder, a device, no permission).
    """
    with _opened(root, relative) as (handle, size, name):
        if size > limit:
            raise PathFault(f"{name} is {size} bytes; the limit is {limit}", TOO_LARGE)
        return _read(handle, size, name, limit)


def read_head(root: Path | str, relative: str, count: int) -> bytes:
    """How a regular file of the site begins: its first `count` bytes, or all there are. Raises as `read_bounded`, but for the limit."""
    with _opened(root, relative) as (handle, _, _):
        return os.read(handle, count)


@contextmanager
def _opened(root: Path | str, relative: str) -> Iterator[tuple[int, int, str]]:
    """(descriptor, size in bytes, name to show) of a regular file of the site."""
    name = shown(relative)
    parts = PurePosixPath(relative).parts
    if not parts or relative.startswith("/") or ".." in parts or "\0" in relative:
        raise PathFault(f"{name} is not a path inside the site folder", OUTSIDE)
    base = os.path.realpath(root)
    target = os.path.realpath(os.path.join(base, relative))  # noqa: PTH118
    if not target.startswith(base.rstrip(os.sep) + os.sep):
        raise PathFault(f"{name} is a link that leaves the site folder", OUTSIDE)
    try:
        # O_NONBLOCK: a FIFO must not hold the reader; O_NOFOLLOW: `target` was resolved, a link here was put in since.
        handle = os.open(target, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOFOLLOW)
    except (FileNotFoundError, NotADirectoryError):
        raise PathFault(f"{name} does not exist", ABSENT) from None
    except (OSError, ValueError):
        raise PathFault(f"{name} cannot be opened: check its permissions", UNREADABLE) from None
    try:
        found = os.fstat(handle)
        if not stat.S_ISREG(found.st_mode):
            raise PathFault(f"{name} is not a regular file", UNREADABLE)
        yield handle, found.st_size, name
    except OSError:
        raise PathFault(f"{name} cannot be read", UNREADABLE) from None
    finally:
        os.close(handle)


def is_plain(name: str) -> bool:
    """Whether a name holds no control characters, line separators, direction overrides or undecodable bytes."""
    return _UNSHOWABLE.search(name) is None


def shown(path: str) -> str:
    """`path` for a message, with whatever is not plain escaped, so that a name cannot forge a line."""
    return _UNSHOWABLE.sub(lambda found: found[0].encode("unicode_escape").decode(), path)


def _read(handle: int, size: int, name: str, limit: int) -> bytes:
    data = os.read(handle, size + 1)
    if len(data) == size:
        return data
    parts = [data]
    size = len(data)
    while size <= limit and (more := os.read(handle, _CHUNK)):  # it grew, or came in pieces
        parts.append(more)
        size += len(more)
    if size > limit:
        raise PathFault(f"{name} is over {limit} bytes", TOO_LARGE)
    return b"".join(parts)
