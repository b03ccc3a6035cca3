"""Folding and snippets, as pure functions."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cmsmcp.site.search.query import MAX_TERMS, plan_query
from cmsmcp.site.search.snippets import LENGTH, Finder, cut, fold_in_place
from cmsmcp.site.search.text import fold, folded_analyzer, index_text, split_unspaced


@given(st.text(alphabet=st.characters(max_codepoint=0x2100), max_size=80))
def test_the_short_way_of_folding_gives_the_same_terms(text: str) -> None:
    """`index_text` leaves European text to the engine; a query is always folded here."""
    analyzer = folded_analyzer()
    assert analyzer.analyze(index_text(text)) == analyzer.analyze(split_unspaced(fold(text)))


@given(st.text(max_size=60))
def test_normal_forms_fold_alike(text: str) -> None:
    """C052."""
    analyzer = folded_analyzer()
    forms = {form: analyzer.analyze(fold(unicodedata.normalize(form, text))) for form in ("NFC", "NFD")}
    assert forms["NFC"] == forms["NFD"]


@given(st.text(max_size=3_000))
def test_a_query_has_a_bounded_number_of_terms(text: str) -> None:
    plan = plan_query(text)
    assert sum(len(clause.terms) for clause in (*plan.wanted, *plan.unwanted)) <= MAX_TERMS


@given(st.text(max_size=200))
def test_folding_in_place_moves_nothing(text: str) -> None:
    assert len(fold_in_place(text)) == len(text)


@given(text=st.text(max_size=600), place=st.integers(0, 600))
def test_a_snippet_is_a_bounded_piece_of_the_text(text: str, place: int) -> None:
    piece = cut(text, min(place, len(text)))
    inner = piece.removeprefix("… ").removesuffix(" …")
    assert len(inner) <= LENGTH
    assert inner in " ".join(text.split()) or inner in " ".join(text.split()).replace(" ", "", 1)


@pytest.mark.parametrize(
    ("text", "words", "shown"),
    [
        ("Die Straße nach Łódź", ["strasse"], "Straße"), ("Une crème brûlée", ["creme", "brulee"], "crème brûlée"),
        ("İstanbul rehberi", ["istanbul"], "İstanbul"), ("全文検索の方法", ["検索"], "検索"), ("Œuvre complète", ["oeuvre"], "Œuvre"),
    ],
)  # fmt: skip
def test_the_place_is_found_in_the_original_spelling(text: str, words: list[str], shown: str) -> None:
    """C052: offsets not shifted by folding."""
    padded = "é ß İ " * 200 + text
    place = Finder(words, []).find(padded)
    assert place is not None
    assert padded[place:].startswith(shown)
    assert shown in cut(padded, place)


def test_a_relative_of_the_word_is_shown_where_the_word_is_not() -> None:
    assert Finder(["archive"], ["archiv"]).find("first, archiving things") == 7
    assert Finder(["archive"], ["archiv"]).find("nothing here") is None
    assert Finder(["the"], []).find("breathe theory the end") == 15


@pytest.mark.parametrize("sign", ["👩‍👩‍👧", "e\u0301", "👍🏽", "क्षि"])
def test_a_cut_keeps_characters_whole(sign: str) -> None:
    """No mark, joiner or selector begins a piece, and none is cut off."""
    text = sign * 400
    for place in range(100, 110):
        piece = cut(text, place).removeprefix("… ").removesuffix(" …")
        assert not unicodedata.combining(piece[0])
        assert piece[0] not in "\u200d\ufe0f\U0001f3fd"
        assert piece[-1] != "\u200d"
