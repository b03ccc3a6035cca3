"""Session ids of the legacy revisions (MCP 2025-11-25, basic/transports): what they say, whom they read for, and what is no id."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cmsmcp.core.ports import Caller
from cmsmcp.identity.keys import Keyring
from cmsmcp.identity.sessions import PURPOSE, TTL, Session, Sessions

OLD, NEW = b"o" * 40, b"n" * 40
ADA = Caller("token:ada", frozenset())
BOB = Caller("token:bob", frozenset())
NOW = 1_790_000_000
ALL = frozenset({"elicitation", "elicitation-url", "roots", "sampling"})


def sessions(*secrets: bytes, now: float = NOW, purpose: str = PURPOSE) -> Sessions:
    return Sessions(Keyring(secrets or (OLD,), purpose), lambda: now)


def issue(declared: frozenset[str] = frozenset()) -> str:
    return sessions().issue(ADA, "2025-11-25", declared)


@pytest.mark.parametrize("declared", [frozenset(), frozenset({"sampling"}), ALL])
@pytest.mark.parametrize("revision", ["2025-03-26", "2026-07-28"])
def test_an_id_says_what_was_settled_on_any_worker(revision: str, declared: frozenset[str]) -> None:
    text = sessions().issue(ADA, revision, declared)
    assert sessions().read(text, ADA) == Session(revision, declared, NOW + TTL)


def test_an_id_is_visible_ascii_and_no_two_are_alike() -> None:
    """0x21–0x7E; no comma, which is how WSGI folds repeated headers."""
    texts = {issue(ALL) for _ in range(50)}
    assert len(texts) == 50
    for text in texts:
        assert len(text) < 200
        assert all(0x21 <= ord(character) <= 0x7E and character != "," for character in text)


def test_an_id_reads_for_its_own_principal_alone_and_does_not_name_it() -> None:
    text = issue()
    assert sessions().read(text, BOB) is None
    assert "ada" not in text


def test_an_id_ends_by_time() -> None:
    text = issue()
    for late, over in ((TTL - 1, False), (TTL, True), (2 * TTL, True)):
        reader = sessions(now=NOW + late)
        found = reader.read(text, ADA)
        assert found is not None
        assert reader.is_over(found) is over


def test_a_rotated_key_still_reads_and_a_removed_one_does_not() -> None:
    text = issue()
    assert sessions(NEW, OLD).read(text, ADA) is not None
    assert sessions(NEW).read(text, ADA) is None
    assert sessions(NEW, OLD).issue(ADA, "2025-11-25", frozenset()).split(":")[0] != text.split(":")[0]


def test_a_key_of_another_purpose_opens_nothing() -> None:
    assert sessions(purpose="tokens").read(issue(), ADA) is None


def test_every_character_counts() -> None:
    """Also the last one of the signature, whose spare bits some decoders let pass."""
    text = issue(frozenset({"sampling"}))
    for index, character in enumerate(text):
        for other in {"A", "B", "0", "1", ":", "-"} - {character}:
            assert sessions().read(text[:index] + other + text[index + 1 :], ADA) is None, (index, other)
        assert sessions().read(text[:index] + text[index + 1 :], ADA) is None, index


JUNK: list[Any] = ["", ":", ":" * 5, "abc", "x" * 20_000, "é", "a\nb", "1868a90c-0000-4000-8000-000000000000"]


@pytest.mark.parametrize("text", JUNK)
def test_what_is_no_id_reads_as_nothing(text: str) -> None:
    assert sessions().read(text, ADA) is None


@given(st.text())
@settings(max_examples=200)
def test_no_text_breaks_the_reader(text: str) -> None:
    assert sessions().read(text, ADA) is None
