"""Cursors of `/api`: nobody reads them, nobody makes them, and one cursor is one text (docs/api.md, Parameters)."""

from __future__ import annotations

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cmsmcp.identity.cursors import MAX_TEXT, PURPOSE, CursorSeal
from cmsmcp.identity.keys import Keyring

OLD, NEW = b"o" * 32, b"n" * 32


def seal(*secrets: bytes) -> CursorSeal:
    return CursorSeal(Keyring(secrets or (OLD,), PURPOSE))


@given(st.text(st.characters(codec="ascii"), max_size=300))
def test_any_process_with_the_key_opens_what_was_sealed_always_the_same_way(cursor: str) -> None:
    text = seal().seal(cursor)
    assert seal().open(text) == cursor and seal().seal(cursor) == text
    assert text.replace("-", "").replace("_", "").replace(".", "").isalnum()


def test_the_old_key_opens_after_a_rotation_and_another_never() -> None:
    text = seal(OLD).seal("cursor")
    assert seal(NEW, OLD).open(text) == "cursor" and seal(NEW).open(text) is None
    assert CursorSeal(Keyring([OLD], "sessions")).open(text) is None
    assert seal(NEW, OLD).key_id != seal(OLD).key_id
    assert CursorSeal().open(text) is None


def test_nothing_of_it_can_be_read() -> None:
    key_id, _, sealed = seal().seal("hunter2" * 20).partition(".")
    assert b"hunter2" not in base64.urlsafe_b64decode(sealed + "==") and key_id == seal().key_id


@given(st.integers(0, 10_000), st.sampled_from("Aa_-.=é"))
def test_a_changed_sign_is_noticed(place: int, sign: str) -> None:
    text = seal().seal("W1TPiHGkq0dbIi9ldmVudHMvIl0")
    place %= len(text)
    changed = text[:place] + sign + text[place + 1 :]
    assert (seal().open(changed) is None) == (changed != text)


KEY_ID = seal().key_id


@pytest.mark.parametrize("text", ["", ".", "x", "a.b", "." * MAX_TEXT, "a" * (MAX_TEXT + 1), f"{KEY_ID}.", f"{KEY_ID}.\udcff"])
def test_what_was_not_sealed_is_not_opened(text: str) -> None:
    assert seal().open(text) is None


@given(st.binary(max_size=60))
def test_bytes_of_anyone_are_not_opened(sealed: bytes) -> None:
    assert seal().open(f"{seal().key_id}.{base64.urlsafe_b64encode(sealed).decode().rstrip('=')}") is None
