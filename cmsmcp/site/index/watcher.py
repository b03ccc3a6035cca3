"""Says when files of the site change, within a fraction of a second. Knows paths, not what they mean.

The system's notices where they work, else a walk at intervals. Not for a process under gevent: the wait would never return.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

SETTLE_MS = 40
"""A burst of changes is one: it ends when nothing has happened for so long."""
_AT_MOST_MS = 400
_TICK_MS = 250
POLL_SECONDS = 0.5

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
    started = False
    changes = watch(
        *(Path(base, folder) for folder in watched), watch_filter=None, debounce=_AT_MOST_MS, step=SETTLE_MS, stop_event=stop,
        rust_timeout=_TICK_MS, yield_on_timeout=True, raise_interrupt=False, ignore_permission_denied=True,
    )  # fmt: skip
    for batch in changes:
        if not started:
            started = True
            yield None
        yield frozenset(_relative(base, path) for _, path in batch)
        if _existing(root, folders()) != watched:
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


def _relative(base: str, path: str) -> str:
    return os.path.relpath(path, base).replace(os.sep, "/")
