"""How text becomes terms: folding, languages and analyzers. The same for documents and queries, or nothing would be found.

Two forms of every word are indexed. The *folded* form ignores case, accents and Unicode normal form; the *stemmed* form also
ignores the language's endings. A query looks for both, so that the exact word ranks above its relatives.
"""

from __future__ import annotations

import re
import unicodedata

from tantivy import Filter, Index, TextAnalyzer, TextAnalyzerBuilder, Tokenizer

FOLDED = "folded"
LONGEST_TERM = 64
"""Bytes. Longer runs (keys, encoded data) are not words; they are left out on both sides."""

STEMMERS = {
    "ar": "arabic", "da": "danish", "de": "german", "el": "greek", "en": "english", "es": "spanish", "fi": "finnish", "fr": "french",
    "hu": "hungarian", "it": "italian", "nl": "dutch", "no": "norwegian", "nb": "norwegian", "nn": "norwegian", "pt": "portuguese",
    "ro": "romanian", "ru": "russian", "sv": "swedish", "ta": "tamil", "tr": "turkish",
}  # fmt: skip

_NO_STOP_WORDS = frozenset({"arabic", "greek", "romanian", "tamil", "turkish"})

_MARKS = re.compile("[\u0300-\u036f\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u064b-\u065f\u0670]+")
_INVISIBLE = re.compile("[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff]+")
# Scripts written without blanks between words, and Hangul, whose words run on into their particles.
_UNSPACED = (
    "\u0e01-\u0eff\u1000-\u109f\u1780-\u17ff\u3005\u3041-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    "\uac00-\ud7a3\U00020000-\U0003fffd"
)
_RUN = re.compile(f"[{_UNSPACED}]+")
# Letters that the engine folds by itself exactly as `fold` would, and signs that are no letters: most European text is
# nothing else, and this look costs a tenth of the folding. (Left out: İ, Ĳ, Ŀ, ŉ and what follows ž.)
_NOT_PLAIN = re.compile(
    "[^\x00-\x7f\u00a0-\u00a7\u00a9\u00ab\u00ac\u00ae\u00b0\u00b1\u00b6\u00b7\u00bb\u00bf-\u012f\u0131\u0134-\u013e"
    "\u0141-\u0148\u014a-\u017e\u2010-\u2026\u2030\u2039\u203a\u20ac]"
)
# C++, C#, F#: the sign is half of the name, and the engine's tokenizer would drop it.
_SIGNED = re.compile(r"(?<!\w)(\w)(\+\+|#)(?!\w)")
_SIGN_WORDS = {"++": "plusplus", "#": "sharp"}


def fold(text: str) -> str:
    """`text` with neither accents nor compatibility forms. The analyzers do the rest (case, ß, ł, punctuation)."""
    if not text.isascii():
        text = _MARKS.sub("", unicodedata.normalize("NFKD", _INVISIBLE.sub("", text)))
        text = unicodedata.normalize("NFC", text).replace("ς", "σ")
    return _name_signs(text)


def index_text(text: str) -> str:
    """`text` as the engine's tokenizers shall see it: folded, and split where its script has no blanks."""
    if text.isascii() or not _NOT_PLAIN.search(text):
        return _name_signs(text)
    return split_unspaced(fold(text))


def split_unspaced(text: str) -> str:
    """`text` with every run of CJK (and the like) as overlapping pairs, and its last sign alone: 検索語 → 検索 索語 語."""
    return text if text.isascii() else _RUN.sub(lambda run: f" {' '.join(_pairs(run.group()))} ", text)


def split_unspaced_query(text: str) -> str:
    """Likewise for a query, whose last sign need not end a run: 検索語 → 検索 索語."""
    return text if text.isascii() else _RUN.sub(lambda run: f" {' '.join(_pairs(run.group())[:-1] or [run.group()])} ", text)


def is_unspaced_sign(term: str) -> bool:
    """Whether `term` is one sign of such a script: it then begins pairs, and is sought by its beginning."""
    return len(term) == 1 and _RUN.fullmatch(term) is not None


def plain_name(title: str) -> str:
    """A whole title as one term: folded, caseless, blanks collapsed. For "the page whose title is the query" (C053)."""
    return " ".join(fold(title).casefold().split())[:200]


def language_of(lang: str) -> str | None:
    """The stemmer's language for a language tag (`de-AT` → `german`), or None."""
    return STEMMERS.get(lang.replace("_", "-").split("-")[0].lower())


def folded_analyzer() -> TextAnalyzer:
    return (
        TextAnalyzerBuilder(Tokenizer.simple())
        .filter(Filter.remove_long(LONGEST_TERM))
        .filter(Filter.lowercase())
        .filter(Filter.ascii_fold())
        .build()
    )


def stemming_analyzer(language: str) -> TextAnalyzer:
    """Stems before it folds: endings such as -ción carry their accent. The commonest words have no relatives worth a search,
    and stemming them is a third of an index's cost; they are found in their folded form."""
    builder = TextAnalyzerBuilder(Tokenizer.simple()).filter(Filter.remove_long(LONGEST_TERM)).filter(Filter.lowercase())
    if language not in _NO_STOP_WORDS:
        builder = builder.filter(Filter.stopword(language))
    return builder.filter(Filter.stemmer(language)).filter(Filter.ascii_fold()).build()


def register_analyzers(index: Index) -> None:
    index.register_tokenizer(FOLDED, folded_analyzer())
    for language in set(STEMMERS.values()):
        index.register_tokenizer(language, stemming_analyzer(language))


def _pairs(run: str) -> list[str]:
    return [run[start : start + 2] for start in range(len(run))]


def _name_signs(text: str) -> str:
    if "++" in text or "#" in text:
        return _SIGNED.sub(lambda found: f"{found[1]} {found[1]}{_SIGN_WORDS[found[2]]}", text)
    return text
