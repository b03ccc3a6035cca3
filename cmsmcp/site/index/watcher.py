"""Says when files of the site change, within a fraction of a second. Knows paths, not what they mean.

The system's notices where they work, else a walk at intervals. Not for a process under gevent: the wait would never return.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

SETTLE_MS = 40
"""A burst of changes is one: it ends when nothing has happened for so long."""
_AT_MOST_MS = 400
_TICK_MS = 250
POLL_SECONDS = 0.5
MAX_LINKS = 200
"""To folders of the site, within those that are watched. Edits behind further ones are seen by the walk at intervals."""

Changes = frozenset[str] | None
"""Site paths that changed; None: something may have, look at everything; an empty set: nothing, a moment has passed."""


def watch_site(root: Path, folders: Callable[[], Sequence[str]], stop: threading.Event) -> Iterator[Changes]:
    """Yields until `stop`. `folders` (site paths) are asked for anew at every turn: one that appears is watched from then on.

    Yields None first whenever the watching begins anew, because what happened before it is unknown.
    """
    while not stop.is_set():
        watched = _existing(root, folders())
        if not watched:
            yield None
            stop.wait(POLL_SECONDS)
            continue
        try:
            yield from _notices(root, watched, folders, stop)
        except OSError:
            # No more watches to be had, or a file system without notices.
            yield from _polled(stop)


def _notices(root: Path, watched: dict[str, int], folders: Callable[[], Sequence[str]], stop: threading.Event) -> Iterator[Changes]:
    from watchfiles import watch

    base = os.path.realpath(root)
    links = _links(base, watched)
    started = False
    changes = watch(
        *(Path(base, folder) for folder in watched), watch_filter=None, debounce=_AT_MOST_MS, step=SETTLE_MS, stop_event=stop,
        rust_timeout=_TICK_MS, yield_on_timeout=True, raise_interrupt=False, ignore_permission_denied=True,
    )  # fmt: skip
    for batch in changes:
        if not started:
            started = True
            yield None
        paths = {path for _, path in batch}
        yield frozenset(name for path in paths for name in _names(base, path, links) if _is_below_any(name, watched))
        if _existing(root, folders()) != watched or any(map(os.path.islink, paths)):
            return


def _polled(stop: threading.Event) -> Iterator[Changes]:
    while not stop.is_set():
        began = time.monotonic()
        yield None
        # Whatever a walk costs, most of the time is left to others.
        stop.wait(max(POLL_SECONDS, 4 * (time.monotonic() - began)))


def _existing(root: Path, folders: Sequence[str]) -> dict[str, int]:
    """Those that exist, with their inodes: a folder that was replaced must be watched anew."""
    found = {}
    for folder in folders:
        try:
            found[folder] = (root / folder).stat().st_ino
        except OSError:
            continue
    return found


def _links(base: str, folders: Iterable[str]) -> list[tuple[str, str]]:
    """(where it leads, where it stands) of every link in these folders to a folder of the site, as site paths; "." is the site's own.

    The system tells of a folder by one of its names, whichever it heard last: a link onto a watched folder takes its notices away.
    """
    found: list[tuple[str, str]] = []
    pending = [os.path.join(base, folder) for folder in folders]  # noqa: PTH118
    while pending and len(found) < MAX_LINKS:
        try:
            with os.scandir(pending.pop()) as entries:
                inside = [entry for entry in entries if entry.is_dir()]
        except OSError:
            continue
        links = [entry.path for entry in inside if entry.is_symlink()]
        pending += [entry.path for entry in inside if not entry.is_symlink()]
        targets = [(_relative(base, os.path.realpath(path)), _relative(base, path)) for path in links]
        found += [(target, path) for target, path in targets if target != ".." and not target.startswith("../")]
    return found


def _names(base: str, path: str, links: Iterable[tuple[str, str]]) -> Iterator[str]:
    """A path as it was told, as it stands without links, and by each link that leads to it."""
    yield _relative(base, path)
    folder, name = os.path.split(path)
    real = _relative(base, os.path.join(os.path.realpath(folder), name))  # noqa: PTH118
    yield real
    for target, link in links:
        if target == ".":
            yield f"{link}/{real}"
        elif _is_below_any(real, (target,)):
            yield f"{link}{real[len(target) :]}"


def _is_below_any(path: str, folders: Iterable[str]) -> bool:
    return any(path == folder or path.startswith(f"{folder}/") for folder in folders)


def _relative(base: str, path: str) -> str:
    return os.path.relpath(path, base).replace(os.sep, "/")
