"""The piece of a text that shows why it was found, in the author's own spelling. Knows text and words, not documents.

The text is folded sign by sign, so that every place in the folded text is the same place in the original: accents, case and
length never shift a cut. Plain substring search: twenty texts are looked through for every page of hits.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence

LENGTH = 180
BEFORE = 60
"""Signs of the text before the hit."""
_LOOKED_AT = 200_000
"""Characters. A first mention deeper in a text than this is not shown."""
_SLACK = 20
_SHORTEST_STEM = 3

_SHORTENED = re.compile("ss|ae|oe|th")
_UNSPACED = re.compile("[\u0e01-\u0eff\u1000-\u109f\u1780-\u17ff\u3041-\u30ff\u3400-\u9fff\uac00-\ud7a3]")
_OWN_LETTERS = {"ł": "l", "ø": "o", "đ": "d", "ħ": "h", "ı": "i", "ß": "s", "æ": "a", "œ": "o", "þ": "t", "ð": "d", "ς": "σ", "’": "'"}


class _Folding(dict):
    """Code point → one folded sign, found when first met."""

    def __missing__(self, point: int) -> str:
        sign = chr(point).lower()[:1]
        base = unicodedata.normalize("NFD", sign)[:1]
        folded = _OWN_LETTERS.get(base, base)
        self[point] = folded
        return folded


_FOLDING = _Folding()


class Finder:
    """Finds where a query shows in a text: its words in a row, else the longest of them there is, else one of the same stem."""

    def __init__(self, words: Sequence[str], stems: Iterable[str]) -> None:
        folded = [fold_in_place(word) for word in words]
        single = sorted(dict.fromkeys(folded), key=len, reverse=True)
        phrase = [" ".join(folded)] if len(folded) > 1 else []
        self._beginnings = sorted({stem for stem in stems if len(stem) >= _SHORTEST_STEM}, key=len, reverse=True)
        self._whole = [*phrase, *single]
        # Where the query has two letters, a text that is not plain may have one sign: ß, æ, œ, þ.
        self._loose = [form for whole in self._whole for form in dict.fromkeys((whole, _SHORTENED.sub(lambda two: two[0][0], whole)))]

    def find(self, text: str) -> int | None:
        """The place in `text`, or None."""
        folded = fold_in_place(text[:_LOOKED_AT])
        for word in self._whole if text.isascii() else self._loose:
            place = _find_word(folded, word, whole=_UNSPACED.search(word) is None)
            if place is not None:
                return place
        for stem in self._beginnings:
            place = _find_word(folded, stem, whole=False, begins=True)
            if place is not None:
                return place
        return None


def _find_word(text: str, word: str, *, whole: bool, begins: bool = False) -> int | None:
    """The first `word` in `text` that no letter touches: on both sides if `whole`, before it if `begins`."""
    place = text.find(word)
    while place >= 0:
        end = place + len(word)
        before = (whole or begins) and place > 0 and text[place - 1].isalnum()
        after = whole and end < len(text) and text[end].isalnum()
        if not before and not after:
            return place
        place = text.find(word, place + 1)
    return None


def cut(text: str, place: int) -> str:
    """About LENGTH characters around `place`, from blank to blank where there are blanks, on one line."""
    start = max(0, place - BEFORE)
    end = min(len(text), start + LENGTH)
    if start:
        blank = text.find(" ", start, min(place, start + _SLACK))
        start = blank + 1 if blank >= 0 else _whole(text, start)
    if end < len(text):
        blank = text.rfind(" ", max(place, end - _SLACK), end)
        end = blank if blank > start else _whole(text, end)
    piece = " ".join(text[start:end].split())
    return f"{'… ' if start else ''}{piece}{' …' if end < len(text) else ''}"


def fold_in_place(text: str) -> str:
    """`text` folded, with every sign where it was."""
    if text.isascii():
        return text.lower()
    return text.translate(_FOLDING)


def _whole(text: str, at: int) -> int:
    """`at`, moved back to the beginning of the character it would cut: marks, joiners and selectors stay with their base."""
    while 0 < at < len(text) and (unicodedata.combining(text[at]) or _joins(text[at]) or text[at - 1] == "\u200d"):
        at -= 1
    return at


def _joins(sign: str) -> bool:
    point = ord(sign)
    return point == 0x200D or 0xFE00 <= point <= 0xFE0F or 0x1F3FB <= point <= 0x1F3FF or unicodedata.category(sign) in ("Mn", "Mc", "Me")
