"""What a client carries for us (E-04, docs/rules.md): only this site made it, for this caller, until then."""

from __future__ import annotations

import base64
import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cmsmcp.core.ports import Caller
from cmsmcp.identity.keys import Keyring
from cmsmcp.identity.sealer import MAX_BYTES, PURPOSE, KeySealer, private_sealer
from cmsmcp.protocol.errors import ResultTooLarge

OLD, NEW = b"o" * 32, b"n" * 32
ANN, BOB = Caller("ann", frozenset()), Caller("bob", frozenset())


def sealer(*secrets: bytes, now: float = 1_000.0) -> KeySealer:
    return KeySealer(Keyring(secrets or (OLD,), PURPOSE), lambda: now)


@given(st.binary(max_size=200), st.text(max_size=20))
def test_its_caller_gets_back_what_was_sealed_from_any_process(content: bytes, client: str) -> None:
    """E-07."""
    caller = Caller(client, frozenset())
    text = sealer().seal(content, caller, 60)
    assert text.isascii() and text.isprintable() and " " not in text and sealer(now=1_059.0).open(text, caller) == content


def test_nobody_else_gets_it_nor_later_nor_with_another_key() -> None:
    text = sealer().seal(b"secret", ANN, 60)
    assert sealer().open(text, ANN) == b"secret"
    assert sealer().open(text, BOB) is None
    assert sealer(now=1_060.0).open(text, ANN) is None
    assert sealer(NEW).open(text, ANN) is None
    assert KeySealer(Keyring([OLD], "sessions"), lambda: 1_000.0).open(text, ANN) is None


def test_a_key_that_was_rotated_away_from_still_opens() -> None:
    text = sealer(OLD).seal(b"x", ANN, 60)
    assert sealer(NEW, OLD).open(text, ANN) == b"x" and sealer(OLD).open(sealer(NEW, OLD).seal(b"x", ANN, 60), ANN) is None


def test_it_cannot_be_read_and_no_two_are_alike() -> None:
    """It may hold what a user answered."""
    first, second = (sealer().seal(b"the user's answer", ANN, 60) for _ in range(2))
    raw = base64.urlsafe_b64decode(first.rsplit(".", 1)[1] + "==")
    assert first != second and b"answer" not in raw and b"ann" not in raw


def test_a_change_of_any_character_opens_nothing() -> None:
    """E-04."""
    text = sealer().seal(b"content", ANN, 60)
    for at, was in enumerate(text):
        for other in {"A", "B", "a", ".", "=", "-", "é", ""} - {was}:
            assert sealer().open(text[:at] + other + text[at + 1 :], ANN) is None, (at, other)
    for other in (text + "A", text + "=", " " + text, text + "\n", text[: len(text) // 2], text.replace("s1.", "s2."), text * 2):
        assert sealer().open(other, ANN) is None


@given(st.text(max_size=300) | st.text("s1.-_AZaz09=", max_size=300))
def test_no_text_breaks_it(text: str) -> None:
    for each in (text, f"s1.{Keyring([OLD], PURPOSE).signing.id}.{text}"):
        assert sealer().open(each, ANN) is None


def test_there_is_a_limit_to_what_a_client_must_carry() -> None:
    content = os.urandom(MAX_BYTES)
    assert sealer().open(sealer().seal(content, ANN, 60), ANN) == content
    with pytest.raises(ResultTooLarge, match=str(MAX_BYTES)):
        sealer().seal(content + b"x", ANN, 60)
    assert sealer().open("s1." + "A" * 10_000_000, ANN) is None


def test_a_private_sealer_is_of_its_process_alone() -> None:
    one, other = private_sealer(), private_sealer()
    assert one.open(one.seal(b"x", ANN, 60), ANN) == b"x" and other.open(one.seal(b"x", ANN, 60), ANN) is None
