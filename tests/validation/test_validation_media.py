"""References to media: `media:<collection>/<path>` and `/<collection>/<path>` (docs/rules.md, Validation)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cmsmcp.core.deadline import Deadline
from cmsmcp.site.config.loading import load_config
from cmsmcp.site.media import mentions, read_media, reference_key, url_key


@pytest.mark.parametrize(
    ("target", "key"),
    [
        ("media:images/a.png", "images/a.png"),
        ("media:/images/a/b.png?w=1#x", "images/a/b.png"),
        ("media:video/v.mp4", "videos/v.mp4"),
        (r"media:images\a.png", "images/a.png"),
        ("media:images/./a.png", "images/a.png"),
        ("media:images", None),
        ("media:images/", None),
        ("media:pictures/a.png", None),
        ("media:images/../config/site.yaml", None),
        ("media:", None),
        ("media:images/a\0.png", None),
    ],
)
def test_a_reference_names_a_file_of_a_known_collection(target, key):
    assert reference_key(target) == key


@pytest.mark.parametrize(("url", "key"), [("/images/a.png?x", "images/a.png"), ("images/a.png", None), ("/posts/a/", None)])
def test_a_url_names_one_too(url, key):
    assert url_key(url) == key


def test_mentions_are_found_in_any_text():
    text = 'url(/images/a.png) "media:videos/v.mp4" (see /documents/b.pdf). src=/audio/c.mp3> https://x.example/uploads/d.zip'
    assert {"images/a.png", "videos/v.mp4", "documents/b.pdf", "audio/c.mp3", "uploads/d.zip"} <= set(mentions(text))


@given(st.text(alphabet="media:/images.png?#%\\ \0é") | st.text())
def test_no_text_raises(text):
    for key in [reference_key(text), reference_key(f"media:images/{text}"), url_key(text), url_key(f"/images/{text}"), *mentions(text)]:
        assert key is None or ".." not in key.split("/")


def test_names_are_found_encoded_composed_and_as_they_are(folder):
    folder.write("content/images/Ge\u0308nf 100%.png", "x")
    folder.write("content/images/a%20b.png", "x")
    library = read_media(load_config(folder.root), Deadline(5))
    assert library.find("images/G\u00e4nf 100%.png") is None
    assert library.find("images/G\u00ebnf 100%.png")
    assert library.find("images/G%C3%ABnf%20100%25.png")
    assert library.find("images/a%20b.png")


def test_sidecars_versions_and_trash_are_no_media_of_their_own(folder):
    for name in ("a.png", "a.png.meta.yaml", "a.version.20260306T101112Z.png", "b.trash.20260306T101112Z.png.meta.yaml", ".a.png.swp"):
        folder.write(f"content/images/{name}", "x")
    library = read_media(load_config(folder.root), Deadline(5))
    assert list(library.files) == ["images/a.png"]
    assert library.derived == {"version": 1, "trash": 1}
    assert library.counts()["images"] == 1


def test_collections_may_be_configured_elsewhere(folder):
    folder.write("content/config/site.yaml", "content:\n  images_dir: pictures\n")
    folder.write("content/pictures/a.png", "x")
    library = read_media(load_config(folder.root), Deadline(5))
    assert library.find("images/a.png").path == "content/pictures/a.png"
