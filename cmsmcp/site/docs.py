"""The project's own documentation: text files under `docs/`, and the API definition among them (F17, F18, F30).

Paths are taken as they are, one component after the other: nothing is decoded, and a path that is not plainly below `docs/`
is one that does not exist. Must not know how results are sent; a file over MAX_BYTES is never loaded.
"""

from __future__ import annotations

import html
import json
import os
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, TypedDict

from cmsmcp.core.deadline import Deadline
from cmsmcp.protocol.errors import CallError, NotFound, ResultTooLarge, TimedOut
from cmsmcp.site.markdown.links import first_heading
from cmsmcp.site.model import SiteConfig
from cmsmcp.site.paths import TOO_LARGE, PathFault, composed, inside, on_disk, read_bounded, read_head
from cmsmcp.site.walk import FoundFile, is_hidden, iso_time, walk
from cmsmcp.site.yaml import loader

FOLDER = "docs"
MAX_BYTES = 4 * 1024 * 1024
MAX_FILES = 5_000
API_FILES = ("api.yaml", "api.yml", "api.json")
MAX_API_NODES = 100_000
_HEAD_BYTES = 32 * 1024
_SUGGESTION_SECONDS = 0.5

MIME_TYPES = {
    ".md": "text/markdown",
    ".mdx": "text/markdown",
    ".markdown": "text/markdown",
    ".txt": "text/plain",
    ".rst": "text/x-rst",
    ".yaml": "application/yaml",
    ".yml": "application/yaml",
    ".json": "application/json",
    ".html": "text/html",
    ".htm": "text/html",
    ".css": "text/css",
    ".csv": "text/csv",
}
_FRONT_TITLE = re.compile(r"^title:[ \t]+(.{1,300}?)[ \t]*$", re.MULTILINE)
_HTML_TITLE = re.compile(r"<title[^<>]{0,200}>([^<]{1,300})</title>", re.IGNORECASE)
_HTML_HEADING = re.compile(r"<h1[^<>]{0,200}>([^<]{1,300})</h1>", re.IGNORECASE)
_FRONT_MATTER = re.compile(r"\A---[ \t]*\n(.*?)^---[ \t]*$", re.MULTILINE | re.DOTALL)


class DocsEntry(TypedDict):
    """`path` is relative to `docs/`, `size` in bytes."""

    path: str
    title: str
    size: int
    mime_type: str
    updated_at: str


class DocsText(DocsEntry):
    text: str


class ApiDefinition(TypedDict):
    """`path` is relative to the site; `format` is "openapi", "swagger" or "unknown", `version` that of the format (e.g. "3.1.0")."""

    path: str
    format: str
    version: str | None
    title: str | None
    definition: dict[str, Any]


class DocsFolder:
    """Adapter of `core.ports.Docs`. Content and data are no documentation, wherever they lie and whatever link leads to them:
    they have scopes of their own, and drafts among them. `sections` are the folders of the content types.
    """

    def __init__(self, config: SiteConfig, sections: Iterable[str] = ()) -> None:
        self._root = config.root
        self._others = tuple(dict.fromkeys((config.data_dir, config.content_dir, *config.content_dirs.values(), *sections)))
        self._titles: dict[str, tuple[int, int, str]] = {}
        self._api: tuple[tuple[str, int, int], ApiDefinition] | None = None

    def list_files(self, deadline: Deadline) -> Sequence[DocsEntry]:
        """Text files by extension, sorted by path. At most MAX_FILES."""
        found = self.served_files(deadline)
        titles: dict[str, tuple[int, int, str]] = {}
        entries = []
        for file in found:
            deadline.check()
            known = self._titles.get(file.path)
            if known is None or known[:2] != (file.size, file.modified):
                known = (file.size, file.modified, self._title(file.path, _head(self._root, file.path)))
            titles[file.path] = known
            entries.append(_entry(file, known[2]))
        self._titles = titles
        return entries

    def served_files(self, deadline: Deadline) -> list[FoundFile]:
        """As they lie there, unread."""
        private = self._private()
        found = {composed(file.path): file for file in reversed(walk(self._root, FOLDER, deadline, MAX_FILES).files)}
        return [file for _, file in sorted(found.items()) if self._is_served(file.path, private)]

    def read_file(self, path: str) -> DocsText:
        """The whole text. Outside, hidden, private, binary or absent: NotFound. Over MAX_BYTES: ResultTooLarge."""
        relative = on_disk(self._root, f"{FOLDER}/{path}")
        parts = path.split("/")
        plain = len(path) <= 1000 and "\\" not in path and not any(part in ("", "..") or is_hidden(part) for part in parts)
        if not plain or not self._is_served(relative, self._private()):
            raise self._absent(path)
        try:
            data = read_bounded(self._root, relative, MAX_BYTES)
            found = (self._root / relative).stat()
        except PathFault as fault:
            if fault.reason == TOO_LARGE:
                raise ResultTooLarge(_size(self._root / relative), MAX_BYTES, "Read a smaller file.") from None
            raise self._absent(path) from None
        except (OSError, ValueError):
            raise self._absent(path) from None
        if b"\0" in data:
            raise self._absent(path)
        text = data.decode("utf-8-sig", "replace")
        entry = _entry(FoundFile(relative, len(data), found.st_mtime_ns), self._title(relative, text[:_HEAD_BYTES]))
        return {**entry, "text": text}

    def api_definition(self) -> ApiDefinition:
        """The parsed definition: YAML 1.2 core values, so that a response key `200` is text. Malformed: CallError with file and line."""
        relative = next((f"{FOLDER}/{name}" for name in API_FILES if (self._root / FOLDER / name).is_file()), None)
        if relative is None or not self._is_served(relative, self._private()):
            raise NotFound("API definition", "", hint="The site can have one as docs/api.yaml, docs/api.yml or docs/api.json.")
        try:
            found = (self._root / relative).stat()
            state = (relative, found.st_size, found.st_mtime_ns)
            if self._api is None or self._api[0] != state:
                self._api = (state, _describe(relative, _definition(self._root, relative)))
        except PathFault as fault:
            raise _unreadable(relative, fault.message.replace(f"{relative} ", "it ", 1)) from None
        except OSError:
            raise _unreadable(relative, "the file cannot be opened") from None
        return self._api[1]

    def _private(self) -> tuple[str, ...]:
        """Looked up at every call: a folder may become a link."""
        return tuple(os.path.realpath(self._root / name) for name in self._others)

    def _is_served(self, relative: str, private: tuple[str, ...]) -> bool:
        """A text file by its name, whose target is neither below a `private` folder nor hidden."""
        if Path(relative).suffix.lower() not in MIME_TYPES:
            return False
        try:
            absolute = self._root / relative
            if not inside(self._root, absolute):
                return False
            target = os.path.realpath(absolute)
        except (OSError, ValueError):
            return False
        below = Path(os.path.relpath(target, os.path.realpath(self._root)))
        hidden = any(part.startswith(".") for part in below.parts)
        return not hidden and not any(target == place or target.startswith(place + os.sep) for place in private)

    def _absent(self, path: str) -> NotFound:
        return NotFound("documentation file", path[:200], known=self._names(), hint="Without path, the files are listed.")

    def _names(self) -> list[str]:
        """For suggestions: what a list has shown, else what a short walk finds."""
        paths = list(self._titles)
        if not paths:
            try:
                paths = [file.path for file in self.served_files(Deadline(_SUGGESTION_SECONDS))]
            except TimedOut:
                return []
        return [composed(path.removeprefix(f"{FOLDER}/")) for path in paths]

    def _title(self, relative: str, head: str) -> str:
        return title_of(Path(relative).suffix.lower(), head) or Path(relative).name


def title_of(suffix: str, head: str) -> str:
    """The title that a file gives itself at its start, or ""."""
    if suffix in (".html", ".htm"):
        found = _HTML_TITLE.search(head) or _HTML_HEADING.search(head)
        return " ".join(html.unescape(found.group(1)).split()) if found else ""
    if suffix not in (".md", ".mdx", ".markdown"):
        return ""
    head = head.replace("\r\n", "\n")
    front = _FRONT_MATTER.match(head)
    if front and (title := _FRONT_TITLE.search(front.group(1))):
        return title.group(1).strip("\"'")
    return first_heading(head[front.end() :] if front else head)


def _entry(file: FoundFile, title: str) -> DocsEntry:
    path = composed(file.path.removeprefix(f"{FOLDER}/"))
    mime_type = MIME_TYPES[Path(path).suffix.lower()]
    return {"path": path, "title": title, "size": file.size, "mime_type": mime_type, "updated_at": iso_time(file.modified / 1e9)}


def _head(root: Path, relative: str) -> str:
    try:
        return read_head(root, relative, _HEAD_BYTES).decode("utf-8-sig", "replace")
    except PathFault:
        return ""


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return MAX_BYTES + 1


def _unreadable(path: str, reason: str, line: int | None = None) -> CallError:
    """`data` says where, for reports that keep places apart: `path`, `line`, `reason`."""
    place = path if line is None else f"{path}, line {line}"
    return CallError(f"The API definition cannot be read: {place}: {reason}.", data={"path": path, "line": line, "reason": reason})


def _definition(root: Path, relative: str) -> dict[str, Any]:
    try:
        source = read_bounded(root, relative, MAX_BYTES).decode("utf-8-sig")
        if relative.endswith(".json"):  # not as YAML, which refuses the tabs that JSON allows
            definition = json.loads(source, parse_constant=str)
        else:
            definition = loader.core_value(loader.load(source, relative, max_nodes=MAX_API_NODES, max_depth=64))
    except UnicodeDecodeError:
        raise _unreadable(relative, "the file is not UTF-8 text") from None
    except loader.YamlFault as fault:
        raise _unreadable(fault.file, fault.message, fault.line) from None
    except json.JSONDecodeError as error:
        raise _unreadable(relative, "this is not valid JSON", error.lineno) from None
    except (RecursionError, ValueError):
        raise _unreadable(relative, "it is nested too deeply or holds an absurd number") from None
    if not isinstance(definition, dict):
        raise _unreadable(relative, "a map is wanted", 1)
    return definition


def _describe(relative: str, definition: dict[str, Any]) -> ApiDefinition:
    kind = next((key for key in ("openapi", "swagger") if key in definition), None)
    info = definition.get("info")
    title = info.get("title") if isinstance(info, dict) else None
    return {
        "path": relative,
        "format": kind or "unknown",
        "version": str(definition[kind]) if kind else None,
        "title": title if isinstance(title, str) else None,
        "definition": definition,
    }
