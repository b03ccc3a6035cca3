"""The piece of a text that shows why it was found, in the author's own spelling. Knows text and words, not documents.

The text is folded sign by sign, so that every place in the folded text is the same place in the original: accents, case and
length never shift a cut.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence

LENGTH = 180
BEFORE = 60
"""Signs of the text before the hit (domain §1: 60 of 180)."""
_LOOKED_AT = 200_000
"""Characters. A first mention deeper in a text than this is not shown."""
_SLACK = 20

# One sign in the text for two in the folded query: ß, æ, œ, þ.
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


def find_place(text: str, words: Sequence[str], stems: Iterable[str]) -> int | None:
    """Where in `text` the query shows: all words in a row, else the first word, else a word of the same stem."""
    if not words:
        return None
    folded = fold_in_place(text[:_LOOKED_AT])
    loose = not folded.isascii() or not text.isascii()
    whole = r"\W+".join(_pattern(word, loose) for word in words)
    single = "|".join(_pattern(word, loose) for word in sorted(set(words), key=len, reverse=True))
    beginnings = "|".join(sorted({re.escape(stem) for stem in stems if len(stem) > 2}))
    patterns = [whole if len(words) > 1 else "", single, beginnings and rf"\b(?:{beginnings})"]
    for pattern in filter(None, patterns):
        found = re.search(pattern, folded)
        if found:
            return found.start()
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


def _pattern(word: str, loose: bool) -> str:
    folded = fold_in_place(word)
    escaped = re.escape(folded)
    if loose:
        escaped = _SHORTENED.sub(lambda pair: f"{pair.group()}?", escaped)
    if _UNSPACED.search(folded):
        return escaped
    return rf"(?<!\w){escaped}(?!\w)"


def _whole(text: str, at: int) -> int:
    """`at`, moved back to the beginning of the character it would cut: marks, joiners and selectors stay with their base."""
    while 0 < at < len(text) and (unicodedata.combining(text[at]) or _joins(text[at]) or text[at - 1] == "\u200d"):
        at -= 1
    return at


def _joins(sign: str) -> bool:
    point = ord(sign)
    return point == 0x200D or 0xFE00 <= point <= 0xFE0F or 0x1F3FB <= point <= 0x1F3FF or unicodedata.category(sign) in ("Mn", "Mc", "Me")
