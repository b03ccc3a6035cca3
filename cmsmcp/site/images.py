"""Width and height of an image, as its first bytes say: PNG, JPEG, GIF, WebP and SVG. Pure; nothing is decoded, nothing else is read.

What is no such image, or is cut before it says its size, has none.
"""

from __future__ import annotations

import re
from collections.abc import Callable

MAX_HEADER = 256 * 1024
"""Bytes that are looked at. Cameras put previews before the size of a JPEG; a larger one than this is rare."""
MAX_SIDE = 1_000_000

Size = tuple[int, int]

_SVG_BYTES = 16 * 1024
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_SVG = re.compile(r"<(?:[A-Za-z_]{1,40}:)?svg\b((?:[^<>\"']|\"[^\"<]*\"|'[^'<]*')*)")
_ATTRIBUTE = re.compile(r"(?:^|\s)(width|height|viewBox)\s*=\s*(?:\"([^\"]*)\"|'([^']*)')")
_LENGTH = re.compile(r"\s*([0-9]{1,9}(?:\.[0-9]{1,9})?)(?:px)?\s*\Z")
_SEPARATOR = re.compile(r"[\s,]+")
# Start-of-frame markers: all but those of Huffman tables, of JPEG extensions and of arithmetic coding.
_FRAMES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
_ALONE = frozenset(range(0xD0, 0xD9)) | {0x01}


def image_size(head: bytes) -> Size | None:
    """(width, height) in pixels; `head` is the beginning of the file, of which MAX_HEADER bytes are enough."""
    head = head[:MAX_HEADER]
    read = next((read for signature, read in _READERS if head.startswith(signature)), _svg)
    size = read(head)
    return size if size is not None and all(1 <= side <= MAX_SIDE for side in size) else None


def _png(head: bytes) -> Size | None:
    if len(head) < 24 or head[12:16] != b"IHDR":
        return None
    return int.from_bytes(head[16:20], "big"), int.from_bytes(head[20:24], "big")


def _gif(head: bytes) -> Size | None:
    return (int.from_bytes(head[6:8], "little"), int.from_bytes(head[8:10], "little")) if len(head) >= 10 else None


def _jpeg(head: bytes) -> Size | None:
    """Segment by segment, each of which says its length, up to the one that says the size."""
    position = 2
    while position + 4 <= len(head) and head[position] == 0xFF:
        marker = head[position + 1]
        if marker == 0xFF or marker in _ALONE:
            position += 1 if marker == 0xFF else 2
            continue
        if marker in _FRAMES:
            height, width = head[position + 5 : position + 7], head[position + 7 : position + 9]
            return (int.from_bytes(width, "big"), int.from_bytes(height, "big")) if len(width) == 2 else None
        position += 2 + max(2, int.from_bytes(head[position + 2 : position + 4], "big"))
    return None


def _webp(head: bytes) -> Size | None:
    kind = head[12:16]
    if head[8:12] != b"WEBP" or len(head) < 30:
        return None
    if kind == b"VP8X":
        return int.from_bytes(head[24:27], "little") + 1, int.from_bytes(head[27:30], "little") + 1
    if kind == b"VP8L" and head[20] == 0x2F:
        bits = int.from_bytes(head[21:25], "little")
        return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    if kind == b"VP8 " and head[23:26] == b"\x9d\x01\x2a":
        return int.from_bytes(head[26:28], "little") & 0x3FFF, int.from_bytes(head[28:30], "little") & 0x3FFF
    return None


def _svg(head: bytes) -> Size | None:
    """Of the outermost element: `width` and `height` in pixels, else those of `viewBox`."""
    text = _COMMENT.sub("", head[:_SVG_BYTES].decode("utf-8", "replace"))
    element = _SVG.search(text)
    if element is None:
        return None
    given = {name: double or single for name, double, single in _ATTRIBUTE.findall(element[1])}
    lengths = [_LENGTH.match(given.get(name, "")) for name in ("width", "height")]
    if all(lengths):
        return _whole([length[1] for length in lengths if length])
    box = [part for part in _SEPARATOR.split(given.get("viewBox", "").strip()) if part]
    sides = [_LENGTH.match(part) for part in box[2:]]
    return _whole([side[1] for side in sides if side]) if len(box) == 4 and all(sides) else None


def _whole(sides: list[str]) -> Size:
    return round(float(sides[0])), round(float(sides[1]))


_READERS: tuple[tuple[bytes, Callable[[bytes], Size | None]], ...] = (
    (b"\x89PNG\r\n\x1a\n", _png), (b"GIF87a", _gif), (b"GIF89a", _gif), (b"\xff\xd8", _jpeg), (b"RIFF", _webp),
)  # fmt: skip
