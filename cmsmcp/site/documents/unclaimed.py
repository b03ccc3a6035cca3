"""Files below `content/` that look like documents and are none, by folder: no content type has the folder, or the name no `.md`.

Nothing of them is read or served, and no file is named: what is said here is said to everyone.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Callable, Iterator

from cmsmcp.site.config.build import NO_DOCUMENTS
from cmsmcp.site.model import WARNING, Diagnostic, SiteConfig
from cmsmcp.site.paths import is_plain, on_disk
from cmsmcp.site.types.files import NAME, RESERVED_SLUGS, RESERVED_TABLES, SQL_WORDS
from cmsmcp.site.types.registry import TypeRegistry

CHECK = "unclaimed_files"
_OTHER = re.compile(r".*\.(?:mdx|markdown|mdown|mkdn?)\Z", re.IGNORECASE)
MAX_DEPTH = 32


def unclaimed_files(config: SiteConfig, types: TypeRegistry, check: Callable[[], None]) -> Iterator[Diagnostic]:
    """One warning for each folder, and each ending, that goes unserved. `check` is called at every folder."""
    found: Counter[tuple[str, str]] = Counter()
    for folder, names in _folders(config, check):
        kind = types.of_path(f"{folder}/x")
        place = kind.folder if kind else "/".join(folder.split("/")[: config.content_dir.count("/") + 2])
        for name in names:
            if _OTHER.match(name):
                found[place, name[name.rindex(".") :].lower()] += 1
            elif kind is None and name.endswith(".md"):
                found[place, ".md"] += 1
    for (place, ending), count in sorted(found.items()):
        files = f"{count} file{'s' * (count != 1)} ending in {ending} {'are' if count != 1 else 'is'} not served"
        yield Diagnostic(WARNING, CHECK, place, f"{files}: {_way_out(config, types, place, ending)}")


def _way_out(config: SiteConfig, types: TypeRegistry, place: str, ending: str) -> str:
    pages = config.content_dirs["pages"]
    if types.of_path(f"{place}/x"):
        return "only files ending in .md are documents; rename them"
    name = place.rpartition("/")[2]
    renamed = "" if ending == ".md" else ", and rename them to end in .md"
    usable = NAME.match(name) and name not in RESERVED_TABLES | SQL_WORDS | RESERVED_SLUGS
    if place == config.content_dir or place.rpartition("/")[0] != config.content_dir or not usable:
        return f"no content type has this folder; move them below {pages}{renamed}"
    declared = f"{config.content_dir}/types/{name.replace('_', '-')}.yaml with `tableName: {name}`"
    return f"no content type has this folder; write {declared}, or move them below {pages}{renamed}"


def _folders(config: SiteConfig, check: Callable[[], None]) -> Iterator[tuple[str, list[str]]]:
    """Folders below `content/` that could hold documents, with the names of their plain files. Links are not followed."""
    passed = {f"{config.content_dir}/{name}" for name in NO_DOCUMENTS} | {
        folder for name, folder in config.content_dirs.items() if name not in ("pages", "posts")
    }
    pending = [(on_disk(config.root, config.content_dir), 0)]
    while pending:
        check()
        folder, depth = pending.pop()
        try:
            with os.scandir(config.root / folder) as entries:
                shown = [entry for entry in entries if is_plain(entry.name) and not entry.name.startswith((".", "#"))]
        except OSError:
            continue
        yield folder, [entry.name for entry in shown if entry.is_file(follow_symlinks=False)]
        below = [f"{folder}/{entry.name}" for entry in shown if entry.is_dir(follow_symlinks=False)]
        pending += [(path, depth + 1) for path in below if path not in passed and depth < MAX_DEPTH]
