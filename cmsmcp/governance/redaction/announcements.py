"""A name as it stands in a text, and what it announces. Knows how names are written in texts; what they mean is `names`' to say."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from cmsmcp.governance.redaction.names import claim, is_secret, words
from cmsmcp.governance.redaction.syntax import EMAN, LOOK_BACK, SIGNATURES
from cmsmcp.governance.redaction.vocabulary import NOUNS


@dataclass(frozen=True, slots=True)
class Name:
    """A name as it stands in a text: what it announces (`claim`, or "secret"), and what is before it on its line."""

    text: str
    announces: str
    before: str

    @property
    def is_option(self) -> bool:
        return self.text.startswith("-")

    @property
    def is_password(self) -> bool:
        """What people make up themselves, a word and a number perhaps."""
        return any(word in NOUNS or word in ("pass", "word") for word in words(self.text.lstrip("-.")))


def find_name(text: str, inside: int, end: int) -> Name | None:
    """The name that has the letter at `inside` in it and ends at `end`, if it announces anything."""
    length, announces = _spelled(text[max(0, inside - LOOK_BACK) : end], end - inside)
    if not announces:
        return None
    start = end - length
    return Name(text[start:end], announces, text[max(0, start - 80) : start].rpartition("\n")[2])


@lru_cache(maxsize=8192)
def _spelled(passage: str, certain: int) -> tuple[int, str]:
    """How long the name at the end of a passage is, of which the last `certain` characters belong to it, and what it announces."""
    eman = EMAN.match(passage[-certain - 1 :: -1])
    assert eman is not None
    length = certain + eman.end()
    bare = passage[-length:].removeprefix("-D").lstrip("-.")
    announces = "secret" if is_secret(bare) else claim(bare)
    if announces == "secret" and words(bare)[-1] == "cookie":
        announces = "pairs"
    if not announces and words(bare)[-1:] and words(bare)[-1] in SIGNATURES:
        announces = "signature"
    if not announces:
        word = _WORD_BEFORE.match(passage[: len(passage) - length][::-1])
        announces = "secret" if word is not None and is_secret(word[1][::-1] + "_" + bare) else ""
    return length, announces


_WORD_BEFORE = re.compile(r" ([A-Za-z]{2,20})(?![\w-])")
"""Backwards: `API key`, `secret access key`."""
