"""What the catalog is to say of media files: sizes of images, and what their sidecars (`<file>.meta.yaml`) add.

Reads only the beginning of a file, and only of one that is new or different. Knows no documents.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from cmsmcp.core.deadline import Deadline
from cmsmcp.protocol.errors import TimedOut
from cmsmcp.site.catalog.media import MediaChanges, MediaRow
from cmsmcp.site.images import MAX_HEADER, MAX_SIDE, Size, image_size
from cmsmcp.site.media import SIDECAR, MediaFile, read_media
from cmsmcp.site.model import SiteConfig
from cmsmcp.site.paths import PathFault, read_bounded, read_head
from cmsmcp.site.yaml.loader import Node, YamlFault, integer, is_null, load, mapping, text

_SECONDS = 60.0
_MAX_SIDECAR = 64 * 1024
_MAX_TEXT = 10_000
_IMAGES = (".png", ".jpg", ".jpeg", ".gif", ".webp", ".svg")
_CAPTIONS = ("figcaption", "caption")


def look_at_media(config: SiteConfig, before: Mapping[str, str], check: Callable[[], None]) -> MediaChanges:
    """What differs from `before`, states by key. `check` is called at every file that is read; what it raises ends the look.

    Where the folders take too long to walk, what is known of them stays.
    """
    try:
        files = read_media(config, Deadline(_SECONDS)).files
    except TimedOut:
        return MediaChanges()
    rows = []
    for key, file in files.items():
        state = _state(file)
        if before.get(key) != state:
            check()
            rows.append(_row(config.root, file, state))
    return MediaChanges(tuple(rows), tuple(key for key in before if key not in files))


def _state(file: MediaFile) -> str:
    return "-".join(map(str, (file.size, file.modified, *(file.sidecar or ()))))


def _row(root: Path, file: MediaFile, state: str) -> MediaRow:
    width, height = _size(root, file.path) or (None, None)
    plain = MediaRow(file.key, state, None, None, width, height)
    if file.sidecar is None:
        return plain
    path = file.path + SIDECAR
    try:
        alt, caption, told = _told(root, path)
    except PathFault as fault:
        return plain._replace(fault=fault.message, fault_path=path)
    except UnicodeDecodeError:
        return plain._replace(fault="the file is not UTF-8; save it as UTF-8", fault_path=path)
    except YamlFault as fault:
        return plain._replace(fault=fault.message, fault_path=path, fault_line=fault.line)
    if width is None and told is not None:
        width, height = told
    return plain._replace(alt=alt, figcaption=caption, width=width, height=height)


def _size(root: Path, path: str) -> Size | None:
    if not path.lower().endswith(_IMAGES):
        return None
    try:
        return image_size(read_head(root, path, MAX_HEADER))
    except PathFault:
        return None


def _told(root: Path, path: str) -> tuple[str | None, str | None, Size | None]:
    """Alternative text, caption and size, as the sidecar has them."""
    source = read_bounded(root, path, _MAX_SIDECAR).decode("utf-8-sig").replace("\r\n", "\n")
    entries = {key: node for key, node in mapping(load(source, path)).items() if not is_null(node)}
    sides = [integer(entries[name], name) for name in ("width", "height") if name in entries]
    size = (sides[0], sides[1]) if len(sides) == 2 and all(1 <= side <= MAX_SIDE for side in sides) else None
    return _text(entries, "alt"), next((_text(entries, name) for name in _CAPTIONS if name in entries), None), size


def _text(entries: Mapping[str, Node], name: str) -> str | None:
    if name not in entries:
        return None
    found = text(entries[name], name)
    if len(found) > _MAX_TEXT:
        node = entries[name]
        raise YamlFault(f"`{name}` is {len(found)} characters long; {_MAX_TEXT} is the most", node.file, node.line, name)
    return found
