"""Which key names announce a secret. Knows words; must not know values.

A name is read as words: `accessToken`, `ACCESS-TOKEN`, `access_token` and full-width spellings are all (access, token). As in
English, the last word says what a thing is: `password_hash` is a secret, `password_policy` and `api_key_env` are not. What only
says which form or edition of it this is does not count: `password_old`, `apiKeyV2`, `secret_key_base`.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from cmsmcp.governance.redaction.vocabulary import (
    CLAIMS,
    ENDINGS,
    FORMS,
    NOT_PASS_OF,
    NOT_SECRET_OF,
    NOT_TOKEN_OF,
    NOUNS,
    QUALIFIED,
    TOGETHER,
)

MAX_NAME = 256
_WORD = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[^\W\d_A-Za-z]+")
_UNSTRUCK = str.maketrans("łøđı", "lodi")
ATTRIBUTE = "accesskey"
"""HTML's attribute for a key on the keyboard, which is written in lower case and together; `AccessKey` and `access_key` are secrets."""


@lru_cache(maxsize=4096)
def words(name: str) -> tuple[str, ...]:
    """The words of a name, in lower case, accents and digits dropped."""
    name = name[-MAX_NAME:]
    if not name.isascii():
        apart = unicodedata.normalize("NFKD", name).translate(_UNSTRUCK)
        name = unicodedata.normalize("NFC", "".join(char for char in apart if not unicodedata.combining(char)))
    found: list[str] = []
    for word in _WORD.findall(name):
        lower = word.lower()
        found.extend(TOGETHER.get(lower) or TOGETHER.get(_singular(lower)) or _split(lower))
    return tuple(found)


@lru_cache(maxsize=4096)
def is_secret(name: str) -> bool:
    """Whether what stands under this name is a secret. A path or a package (`@azure/keyvault-secrets`) is no such name."""
    spelled = _spelled(name)
    if not spelled or name == ATTRIBUTE:
        return False
    noun = _singular(spelled[-1])
    of = spelled[-2] if len(spelled) > 1 else ""
    if noun in NOUNS or spelled[-1] in NOUNS:
        return of not in NOT_SECRET_OF
    if spelled[-1] == "token":
        return of not in NOT_TOKEN_OF
    if spelled[-1] == "pass":
        return bool(of) and of not in NOT_PASS_OF
    return of in QUALIFIED.get(noun, ())


@lru_cache(maxsize=4096)
def claim(name: str) -> str:
    """What a value under this name must be to be a secret, where the name alone does not say: "text" (of any kind), "code" (digits
    in it), "pairs" (`name=value`), "made" (what a machine or a careful person makes), "header" (what `Authorization` carries); "" for
    every other name. `pass: s3cret` is one, `pass: 12` counts tests.
    """
    spelled = _spelled(name)
    if not spelled or (len(spelled) > 1 and spelled[-2] in NOT_TOKEN_OF | NOT_PASS_OF):
        return ""
    return "made" if name == ATTRIBUTE else "" if is_secret(name) else CLAIMS.get(spelled[-1], "")


def is_count(name: str) -> bool:
    """Whether a number under this (secret) name counts secrets rather than being one: the name is in the plural."""
    spelled = words(name)
    return bool(spelled) and spelled[-1] != _singular(spelled[-1])


def _spelled(name: str) -> list[str]:
    """The words that decide: without the forms at the end."""
    spelled = [] if "/" in name else list(words(name))
    while len(spelled) > 1 and spelled[-1] in FORMS:
        spelled.pop()
    return spelled


def _split(word: str) -> tuple[str, ...]:
    """The words of one that is written together in one case, as far as its end is known: `MYSIGNINGKEYOLD`, `dbpassword`."""
    for size in range(min(len(word) - 4, 10), 0, -1):
        if word[-size:] in FORMS:
            core = _split(word[:-size])
            if len(core) > 1 or core[0] in NOUNS:
                return (*core, word[-size:])
    bare = _singular(word)
    for size in range(min(len(bare), 18), 4, -1):
        end = bare[-size:]
        if end in TOGETHER:
            return (bare[:-size], *TOGETHER[end]) if bare[:-size] else TOGETHER[end]
        if end in ENDINGS and len(bare) > size:
            return bare[:-size], end
    return (word,)


def _singular(word: str) -> str:
    return word[:-1] if word.endswith("s") and not word.endswith("ss") else word
