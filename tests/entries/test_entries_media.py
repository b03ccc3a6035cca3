"""Media of entries: references become objects where the site has the file, as it is now (docs/rules.md, Content types)."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cmsmcp.core.ports import Visibility
from cmsmcp.site.images import MAX_HEADER, image_size

SHOWS = """\
name: Shows
tableName: shows
fields:
  - {name: title, type: string}
  - {name: slug, type: uid}
  - {name: cover, type: media}
  - {name: shots, type: media-gallery}
  - {name: rows, type: array, arrayFields: [{name: picture, type: media}]}
  - {name: next, type: relation, relatedSlug: show}
"""


def png(width: int, height: int) -> bytes:
    return b"\x89PNG\r\n\x1a\n" + struct.pack(">I4sII", 13, b"IHDR", width, height) + b"\x08\x06\0\0\0"


def gif(width: int, height: int) -> bytes:
    return b"GIF89a" + struct.pack("<HH", width, height) + b"\0\0\0"


def jpeg(width: int, height: int, before: int = 0, marker: int = 0xC2) -> bytes:
    """`before` bytes of a preview come first."""
    preview = b"\xff\xe1" + struct.pack(">H", before + 2) + b"\xff" * before if before else b""
    tables = b"\xff\xc4\x00\x04\x00\x01"  # looks like a frame and is none
    return b"\xff\xd8" + preview + tables + b"\xff" + bytes([0xFF, marker]) + struct.pack(">HBHH", 17, 8, height, width)


def webp(kind: bytes, payload: bytes) -> bytes:
    return b"RIFF\0\0\0\0WEBP" + kind + b"\0\0\0\0" + payload + b"\0" * 20


SIZES = [
    (png(640, 480), (640, 480)), (gif(3, 4), (3, 4)), (jpeg(800, 600), (800, 600)), (jpeg(800, 600, 65_000, 0xC0), (800, 600)),
    (webp(b"VP8X", b"\0\0\0\0" + (1279).to_bytes(3, "little") + (719).to_bytes(3, "little")), (1280, 720)),
    (webp(b"VP8L", b"\x2f" + (99 | 49 << 14).to_bytes(4, "little")), (100, 50)),
    (webp(b"VP8 ", b"\0\0\0\x9d\x01\x2a" + struct.pack("<HH", 320, 200)), (320, 200)),
    (b'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 320 200"/>', (320, 200)),
    (b'<?xml version="1.0"?><!-- <svg width="1" height="1"> --><svg width="12.6px" height=\'7\' viewBox="0 0 1 1">', (13, 7)),
    (b'\xef\xbb\xbf<svg:svg viewBox="0,0,4,5" width="100%" height="100%">', (4, 5)),
    (b'<svg data-x="width=\'9\' >" viewBox=" 0 0  6 7 ">', (6, 7)),
]  # fmt: skip
NONE = [
    b"", b"\x89PNG\r\n\x1a\n", png(0, 5), png(2_000_000, 5), gif(1, 0), b"GIF89a\1", b"\xff\xd8", b"\xff\xd8\xff\xd9", jpeg(1, 1)[:-3],
    b"\xff\xd8\xff\xe1\0\0" * 50, b"RIFF\0\0\0\0WAVEfmt " + b"\0" * 30, webp(b"VP8L", b"\0\0\0\0\0"), b"<svg>",
    b'<svg width="5em" height="2em">',
    b'<svg viewBox="0 0 1">', b'<svg viewBox="a b c d">', b"<html><body>svg", b'<svg width="1" height="' + b"9" * 5000 + b'">',
    b"<!-- <svg",
]  # fmt: skip


@pytest.mark.parametrize(("head", "size"), SIZES)
def test_the_size_of_an_image_stands_in_its_first_bytes(head: bytes, size: tuple[int, int]) -> None:
    assert image_size(head) == size
    assert image_size(head + b"\xff" * 100) == size


@pytest.mark.parametrize("head", NONE)
def test_what_says_no_size_has_none(head: bytes) -> None:
    assert image_size(head) is None


@given(st.sampled_from([head for head, _ in SIZES]), st.binary(max_size=200), st.integers(0, 60))
def test_no_bytes_break_the_reading_of_sizes(head: bytes, more: bytes, kept: int) -> None:
    size = image_size(head[:kept] + more)
    assert size is None or min(size) >= 1


def test_a_header_without_end_is_given_up() -> None:
    assert image_size(b"\xff\xd8" + (b"\xff\xe1\xff\xff" + b"\0" * 65533) * 5 + jpeg(1, 1)[2:]) is None
    assert image_size(b"<svg " + b"a='' " * (MAX_HEADER // 5)) is None


@pytest.fixture(scope="module")
def site(make_site: Any) -> Any:
    found = make_site({"show": SHOWS}, {
        "shows/a.md": {"title": "A", "fields": {
            "cover": "media:images/a b.png", "shots": ["/images/a%20b.png", "images/gone.png", "media:videos/x.mp4", "plain text"],
            "rows": [{"picture": "media:images/café.svg"}], "next": "b",
        }},
        "shows/b.md": {"title": "B", "fields": {"cover": "media:images/café.svg"}},
    })  # fmt: skip
    put(found, "images/a b.png", png(10, 20), "alt: An image\ncaption: |\n  Below\nwidth: 1\nheight: 1\n")
    put(found, "images/café.svg", b"<svg/>", "alt: ''\nfigcaption: F\ncaption: C\nwidth: 30\nheight: 40\n")
    put(found, "videos/x.mp4", b"\0" * 40)
    found.build()
    return found


def put(site: Any, path: str, content: bytes, sidecar: str | None = None) -> None:
    target: Path = site.root / "content" / path
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(content)
    if sidecar is not None:
        target.with_name(target.name + ".meta.yaml").write_text(sidecar, encoding="utf-8")


IMAGE = {"url": "/images/a%20b.png", "alt": "An image", "figcaption": "Below\n", "width": 10, "height": 20}


def test_a_reference_to_a_file_of_the_site_is_an_object(site: Any) -> None:
    """However it is spelled; the file says its size before its sidecar does; what leads to no file stays as it is written."""
    values = site.get("show", "a").values
    assert values["cover"] == {"id": "media:images/a b.png", **IMAGE}
    assert list(values["cover"]) == ["id", "url", "alt", "figcaption", "width", "height"]
    video = {"id": "media:videos/x.mp4", "url": "/videos/x.mp4", "alt": None, "figcaption": None, "width": None, "height": None}
    assert values["shots"] == [{"id": "/images/a%20b.png", **IMAGE}, "images/gone.png", video, "plain text"]
    drawing = {"url": "/images/caf%C3%A9.svg", "alt": "", "figcaption": "F", "width": 30, "height": 40}
    assert values["rows"] == [{"picture": {"id": "media:images/café.svg", **drawing}}]
    assert site.get("show", "a", populate=("next",)).values["next"]["cover"] == {"id": "media:images/café.svg", **drawing}


def test_media_are_asked_for_once_a_level(site: Any, statements: list[str]) -> None:
    site.list("show")
    assert len([sql for sql in statements if "FROM media" in sql]) == 1


def test_a_changed_file_changes_the_entry_and_its_edition(site: Any) -> None:
    before = site.store.version(Visibility())
    put(site, "images/new.png", png(1, 2))
    site.build()
    assert site.store.version(Visibility()) != before
    site.put("shows/c.md", {"title": "C", "fields": {"cover": "media:images/new.png"}})
    site.build()
    assert site.get("show", "c").values["cover"]["width"] == 1
    put(site, "images/new.png", png(333, 2), "alt: Seen\n")
    site.build()
    seen = site.get("show", "c").values["cover"]
    assert (seen["width"], seen["alt"]) == (333, "Seen")
    (site.root / "content/images/new.png").unlink()
    site.build()
    assert site.get("show", "c").values["cover"] == "media:images/new.png"


@pytest.mark.parametrize(("sidecar", "word"), [
    ("alt: [a]\n", "alt"), ("- a\n", "map"), ("width: wide\n", "width"), ("alt: x\nalt: y\n", "twice"), ("alt: " + "x" * 10_001, "10000"),
    ("alt: [\n", ""), ("a: " + "x" * 70_000, "limit"),
])  # fmt: skip
def test_a_sidecar_that_cannot_be_read_is_a_warning(site: Any, sidecar: str, word: str) -> None:
    """Until it is mended; the file is still known."""
    put(site, "images/odd.png", png(7, 8), sidecar)
    site.build()
    found = site.reader.rows("SELECT severity, message FROM diagnostics WHERE path LIKE '%odd.png.meta.yaml' AND \"check\" = 'media'")
    assert [(severity, word in message) for severity, message in found] == [("warning", True)]
    put(site, "images/other.txt", sidecar[:9].encode())
    site.build()
    assert site.reader.row("SELECT count(*) FROM diagnostics WHERE \"check\" = 'media'") == (1,)
    put(site, "images/odd.png", png(7, 8), "alt: mended\n")
    site.build()
    assert site.reader.row("SELECT count(*) FROM diagnostics WHERE \"check\" = 'media'") == (0,)


def test_a_link_that_leaves_the_site_is_no_media_file(site: Any, tmp_path: Path) -> None:
    (tmp_path / "secret.png").write_bytes(png(5, 5))
    (site.root / "content/images/leak.png").symlink_to(tmp_path / "secret.png")
    site.put("shows/leak.md", {"title": "L", "fields": {"cover": "media:images/leak.png"}})
    site.build()
    assert site.get("show", "leak").values["cover"] == "media:images/leak.png"
