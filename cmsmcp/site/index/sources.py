"""The content files there are now, and what tells a changed one from an unchanged one."""

from __future__ import annotations

import stat
from collections.abc import Callable
from pathlib import Path

from cmsmcp.site.catalog.entry import FileState
from cmsmcp.site.definitions import Definitions
from cmsmcp.site.documents.files import find_documents
from cmsmcp.site.documents.unclaimed import unclaimed_files
from cmsmcp.site.model import Diagnostic


def find_sources(definitions: Definitions, check: Callable[[], None]) -> tuple[dict[str, FileState], list[Diagnostic]]:
    """Path → state of every file that is a document of the site, in path order, and what is wrong with the folders.

    `check` is called at every folder; what it raises ends the walk.
    """
    found, faults = find_documents(definitions.config, definitions.types, check)
    faults += unclaimed_files(definitions.config, definitions.types, check)
    return {path: FileState(one.st_size, one.st_mtime_ns, one.st_ino) for path, one in found}, faults


def state_of(root: Path, path: str) -> FileState | None:
    """None if it is no plain file (any more). Links are not followed here: whether they may be is for `find_documents` to say."""
    try:
        found = (root / path).lstat()
    except (OSError, ValueError):
        return None
    return FileState(found.st_size, found.st_mtime_ns, found.st_ino) if stat.S_ISREG(found.st_mode) else None
