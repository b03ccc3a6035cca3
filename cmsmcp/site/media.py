"""The media files of a site and the two ways to refer to one: `media:<collection>/<path>` and the URL `/<collection>/<path>`.

Collections are folders below `content/` (docs/rules.md, Files); names, sizes and references only, no contents. Knows nothing of documents.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from urllib.parse import unquote

from cmsmcp.core.deadline import Deadline
from cmsmcp.site.model import SiteConfig
from cmsmcp.site.paths import composed
from cmsmcp.site.urls import encode_segment
from cmsmcp.site.walk import walk

COLLECTIONS = ("images", "videos", "audio", "documents", "uploads", "assets")
SCHEME = "media:"
MAX_FILES = 100_000
_ALIASES = {"video": "videos"}
SIDECAR = ".meta.yaml"
_DERIVED = re.compile(r"\.(version|trash)\.\d{8}T\d{6}Z(?:\.[^/]*)?\Z")
# Anything in running text, a template or a style sheet that could be a reference.
_MENTION = re.compile(
    r"media:\s{0,3}/?([a-z]{1,16}/[^\s\"'<>()\[\]{}|`]{1,512})|/((?:images|videos|audio|documents|uploads|assets)/[^\s\"'<>()\[\]{}|`]{1,512})"
)
_TRAILING = ".,;:!*_"


@dataclass(frozen=True, slots=True)
class MediaFile:
    """`key` is `<collection>/<path>`, composed (NFC); `path` is relative to the site; `size` in bytes, `modified` in ns since 1970.

    `sidecar`: what says more about it (size and time), if anything does.
    """

    key: str
    path: str
    size: int
    modified: int = 0
    sidecar: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class MediaLibrary:
    """`files` by key. `derived` counts versions and trash by kind, `escapes` are links that leave the site, `alike` are paths of files
    whose key another file has already."""

    files: Mapping[str, MediaFile]
    derived: Mapping[str, int] = field(default_factory=dict)
    escapes: tuple[str, ...] = ()
    truncated: bool = False
    alike: tuple[str, ...] = ()

    def find(self, key: str) -> MediaFile | None:
        """The file that a reference means; percent escapes may be part of the name or an encoding of it."""
        return next((self.files[name] for name in spellings(key) if name in self.files), None)

    def counts(self) -> dict[str, int]:
        """Files per collection, every collection named."""
        found = dict.fromkeys(COLLECTIONS, 0)
        for key in self.files:
            found[key.partition("/")[0]] += 1
        return found


def read_media(config: SiteConfig, deadline: Deadline) -> MediaLibrary:
    """Walk every collection. Sidecars (`.meta.yaml`) and derived files are no media of their own."""
    files: dict[str, MediaFile] = {}
    derived = {"version": 0, "trash": 0}
    escapes: list[str] = []
    alike: list[str] = []
    truncated = False
    for collection in COLLECTIONS:
        folder = config.content_dirs.get(collection, f"{config.content_dir}/{collection}")
        found = walk(config.root, folder, deadline, MAX_FILES)
        sidecars = {file.path: (file.size, file.modified) for file in found.files if file.path.endswith(SIDECAR)}
        escapes.extend(found.escapes)
        truncated |= found.truncated
        for file in found.files:
            if kind := _DERIVED.search(file.path):
                derived[kind.group(1)] += 1
            elif not file.path.endswith(SIDECAR):
                key = composed(f"{collection}/{file.path[len(found.folder) + 1 :]}")
                if key in files:
                    alike.append(file.path)
                    continue
                files[key] = MediaFile(key, file.path, file.size, file.modified, sidecars.get(file.path + SIDECAR))
    return MediaLibrary(files, derived, tuple(escapes), truncated, tuple(alike))


def spellings(key: str) -> tuple[str, ...]:
    """The keys that a file may have to which `key` refers, the likeliest first."""
    return tuple(dict.fromkeys((composed(key), composed(unquote(key)))))


def reference_key(target: str) -> str | None:
    """The key that `media:<collection>/<path>` names, query and fragment stripped; None when it names nothing that could exist."""
    collection, _, path = _bare(target.removeprefix(SCHEME)).strip().replace("\\", "/").lstrip("/").partition("/")
    collection = _ALIASES.get(collection.strip(), collection.strip())
    return _key(collection, path.strip()) if collection in COLLECTIONS else None


def url_key(url: str) -> str | None:
    """The key that the URL path `/<collection>/<path>` names; None for any other URL."""
    collection, _, path = _bare(url).lstrip("/").partition("/")
    return _key(collection, path) if url.startswith("/") and collection in COLLECTIONS else None


def media_url(key: str) -> str:
    """The URL path at which the site has the file `key`."""
    return "/" + "/".join(map(encode_segment, key.split("/")))


def mentions(text: str) -> Iterable[str]:
    """Keys that `text`, of whatever kind, may refer to: generous, so that nothing in use is called an orphan."""
    for named, url in _MENTION.findall(text):
        key = reference_key(SCHEME + named) if named else url_key("/" + url)
        if key:
            yield key
            if key[-1] in _TRAILING:
                yield key.rstrip(_TRAILING)


def _bare(target: str) -> str:
    return target.partition("#")[0].partition("?")[0]


def _key(collection: str, path: str) -> str | None:
    clean = posixpath.normpath(path) if path else ""
    if not clean or clean in (".", "..") or clean.startswith(("../", "/")) or "\0" in clean:
        return None
    return f"{collection}/{clean}"

