"""Which files are documents, found without reading them (docs/rules.md, Files).

Links are followed inside the site only. Dot files, editors' leftovers, derived files and dangling links are passed over in silence; a link
that leaves the site, a folder that cannot be read and a name that is no text are errors; `.MD`, a saved version with an odd stamp (which is
left out: it may hold what was never published) and an undeclared language are warnings.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Iterator, Mapping
from pathlib import PurePosixPath
from typing import NamedTuple

from cmsmcp.site.config.languages import looks_like_language
from cmsmcp.site.model import ERROR, WARNING, Diagnostic, SiteConfig
from cmsmcp.site.paths import is_plain, shown
from cmsmcp.site.types.registry import TypeRegistry

MAX_DEPTH = 32
_DERIVED = re.compile(r".*\.(?:version|trash)\.\d{8}T\d{6}Z\.md\Z")
_NEARLY_DERIVED = re.compile(r".*\.(?:version|trash)\.\d{4}-?\d\d-?\d\d[0-9tz:_+-]*\.md\Z", re.IGNORECASE)

Found = list[tuple[str, os.stat_result]]


def find_documents(config: SiteConfig, types: TypeRegistry, check: Callable[[], None] = lambda: None) -> tuple[Found, list[Diagnostic]]:
    """`(path, stat)` of every document, in path order, and what was found wrong on the way. Missing folders are empty.

    `check` is called at every folder; what it raises ends the walk.
    """
    walk = _Walk(config, check)
    folders = set(types.by_folder)
    for folder in sorted(folders):
        walk.section(folder, folders)
    walk.files.sort(key=lambda found: found[0])
    return walk.files, walk.faults


class _Folder(NamedTuple):
    """`place` is absolute, `real` with every link followed; `path` is the site path that documents in it get."""

    place: str
    path: str
    real: str
    depth: int


class _Walk:
    def __init__(self, config: SiteConfig, check: Callable[[], None]) -> None:
        self.config = config
        self.check = check
        self.root = os.path.realpath(config.root)
        self.private = {os.path.realpath(config.root / path) for path in (config.data_dir, f"{config.content_dir}/config")}
        self.files: Found = []
        self.faults: list[Diagnostic] = []

    def section(self, folder: str, sections: set[str]) -> None:
        """Every document below `folder`, except in folders that are sections themselves.

        A folder is entered once, however many links lead to it: where it stands, else by the first link in path order.
        """
        start = os.path.join(self.root, folder)  # noqa: PTH118
        real = os.path.realpath(start)
        if not self.contains(real):
            self.fault(ERROR, "symlink", folder, "the folder is a link that leaves the site")
            return
        entered = {real: folder}
        pending, linked = [_Folder(start, folder, real, 0)], list[_Folder]()
        while pending or linked:
            if not pending:
                linked.sort(key=lambda one: one.path, reverse=True)
                pending.append(linked.pop())
                if not self.is_new(pending[0], entered):
                    pending.clear()
                    continue
            one = pending.pop()
            entered[one.real] = one.path
            self.check()
            for link, below in self.folder(one, sections):
                if link:
                    linked.append(below)
                elif self.is_new(below, entered):
                    pending.append(below)

    def folder(self, one: _Folder, sections: set[str]) -> Iterator[tuple[bool, _Folder]]:
        """Take the documents of a folder; the folders in it, and whether each is a link."""
        for entry in self.entries(one.place, one.path):
            name = entry.name
            if name.startswith(".") or name.endswith("~"):
                continue
            path = f"{one.path}/{name}"
            try:
                link = entry.is_symlink()
                if entry.is_dir():
                    target = self.follow(path, entry.path) if link else f"{one.real}{os.sep}{name}"
                    if target is None or target in self.private or path in sections:
                        continue
                    if self.may_enter(path, name, one.depth + 1):
                        self.language(one.depth == 0, path, name)
                        yield link, _Folder(entry.path, path, target, one.depth + 1)
                elif name[-3:].lower() == ".md":
                    self.file(entry, path, name, link)
            except OSError:
                continue  # it vanished, or is a link that leads nowhere

    def is_new(self, folder: _Folder, entered: Mapping[str, str]) -> bool:
        known = entered.get(folder.real)
        if known is not None and not f"{folder.path}/".startswith(f"{known}/"):  # else a circle, which says nothing new
            self.fault(WARNING, "symlink", folder.path, f"this folder is {known}, by way of links, and is read there; it is left out here")
        return known is None

    def may_enter(self, path: str, name: str, depth: int) -> bool:
        if depth > MAX_DEPTH:
            self.fault(WARNING, "file_name", path, f"folders more than {MAX_DEPTH} deep are left out")
        elif not is_plain(name):
            self.fault(ERROR, "file_name", shown(path), "the folder's name holds control or undecodable characters; rename it")
        else:
            return True
        return False

    def file(self, entry: os.DirEntry[str], path: str, name: str, link: bool) -> None:
        if not is_plain(name):
            self.fault(ERROR, "file_name", shown(path), "the file's name holds control or undecodable characters; rename it")
        elif not name.endswith(".md"):
            self.fault(WARNING, "file_name", path, "only files ending in .md are documents; rename it or leave it out")
        elif _DERIVED.match(name) or name == ".md":
            return
        elif _NEARLY_DERIVED.match(name):
            message = "this looks like a saved version, whose stamp is written 20260306T101112Z; it is left out: rename it, or delete it"
            self.fault(WARNING, "file_name", path, message)
        elif not link or self.follow(path, entry.path) is not None:
            found = entry.stat()
            if stat.S_ISREG(found.st_mode):
                self.files.append((path, found))

    def follow(self, path: str, link: str) -> str | None:
        """Where a link leads, if it may be followed. Hidden, data and configuration files are no content, wherever a link stands."""
        target = os.path.realpath(link)
        if not os.path.exists(target):  # noqa: PTH110
            return None
        if not self.contains(target):
            self.fault(ERROR, "symlink", path, "the link leaves the site folder and is not followed")
            return None
        inner = os.path.relpath(target, self.root).replace(os.sep, "/")
        private = (self.config.data_dir, f"{self.config.content_dir}/config")
        if any(part.startswith(".") for part in PurePosixPath(inner).parts) or any(f"{inner}/".startswith(f"{p}/") for p in private):
            self.fault(ERROR, "symlink", path, "the link leads to hidden, data or configuration files and is not followed")
            return None
        return target

    def contains(self, real: str) -> bool:
        return real == self.root or real.startswith(self.root.rstrip(os.sep) + os.sep)

    def language(self, top: bool, path: str, name: str) -> None:
        locales = self.config.locales
        if top and locales.declared and locales.find(name) is None and looks_like_language(name):
            message = f"the folder looks like a language, but `locales` does not list {name}; its documents count as {locales.default}"
            self.fault(WARNING, "language_folder", path, message)

    def entries(self, place: str, relative: str) -> list[os.DirEntry[str]]:
        try:
            with os.scandir(place) as found:
                return list(found)
        except (FileNotFoundError, NotADirectoryError):
            return []
        except OSError:
            self.fault(ERROR, "unreadable", shown(relative), "the folder cannot be read; check its permissions")
            return []

    def fault(self, severity: str, check: str, path: str, message: str) -> None:
        self.faults.append(Diagnostic(severity, check, path, message))
