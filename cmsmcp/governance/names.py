"""Which key names announce a secret. Knows words; must not know values.

A name is read as words: `accessToken`, `ACCESS-TOKEN`, `access_token` and full-width spellings are all (access, token). As in
English, the last word says what a thing is: `password_hash` is a secret, `password_policy` and `api_key_env` are not. What only
says which form or edition of it this is does not count: `password_old`, `apiKeyV2`, `secret_key_base`.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

MAX_NAME = 256
_WORD = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+")

# Secret by themselves, whatever stands before them.
_NOUNS = frozenset({
    "password", "passwd", "passphrase", "passcode", "pwd", "secret", "credential", "authorization", "dsn",
})
# Secret after one of the qualifiers beside them. `token` alone is one too, unless it marks a place in a list or a design.
_TOKEN_OF = frozenset({
    "access", "refresh", "session", "auth", "api", "bearer", "admin", "reset", "csrf", "xsrf", "id", "user", "personal", "service",
    "deploy", "device", "oauth", "jwt", "bot", "lock", "login", "security", "private", "secret", "webhook", "app", "client", "github",
})
_NOT_TOKEN_OF = frozenset({
    "page", "continuation", "sync", "design", "color", "cancellation", "next", "max", "min", "stop", "special", "pad", "separated",
})
_KEY_OF = frozenset({
    "api", "private", "secret", "access", "encryption", "encrypt", "signing", "signature", "master", "shared", "deploy", "ssh", "auth",
    "storage", "session", "service", "account", "license", "rsa", "aes", "hmac", "webhook", "subscription", "security",
    "stripe", "openai", "anthropic", "sendgrid", "mailgun", "mailchimp", "twilio", "postmark",
})
_ID_OF = frozenset({"session"})
_COOKIE_OF = frozenset({"session", "auth", "login", "set"})
_STRING_OF = frozenset({"connection", "conn"})
_QUALIFIED = {"token": _TOKEN_OF, "key": _KEY_OF, "id": _ID_OF, "cookie": _COOKIE_OF, "string": _STRING_OF, "str": _STRING_OF}
# A form or an edition of a secret is as good as the secret: the words before these decide. Digits are no words: `base64`, `v2`.
_FORMS = frozenset({
    "hash", "hashes", "hashed", "digest", "value", "values", "plain", "plaintext", "raw", "base", "pem", "salt", "encrypted",
    "v", "old", "new", "current", "previous", "prev", "legacy", "backup", "default", "primary", "secondary", "main", "local",
    "prod", "production", "stage", "staging", "dev", "development", "test", "sandbox", "live",
})
# Words for a secret and for harmless things too: what stands under them must look the part (`Claim`).
_CLAIMS = {
    "pass": "text", "tokens": "text", "bearer": "text", "jwt": "text", "otp": "code", "pin": "code",
    "cookie": "pairs", "cookies": "pairs",
}
_NOT_PASS_OF = frozenset({
    "first", "second", "third", "last", "single", "double", "two", "multi", "by", "render", "tests", "checks", "all", "must",
    "boarding", "day", "week", "season", "ski", "festival", "museum", "rail", "bus", "mountain", "high", "low", "band",
})
# Words written together, in lower case: `apikey`, `clientsecret`, `sessionid`.
_TOGETHER = {
    **{f"{of}{noun}": (of, noun) for noun, words in _QUALIFIED.items() for of in words},
    **{f"{of}{noun}": (of, noun) for noun in _NOUNS for of in ("db", "user", "client", "app", "admin", "root", "database", "shared")},
    "bearertoken": ("bearer", "token"), "passwordhash": ("password", "hash"), "passwordhashes": ("password", "hash"),
}


@lru_cache(maxsize=4096)
def words(name: str) -> tuple[str, ...]:
    """The words of a name, in lower case, digits dropped."""
    if not name.isascii():
        name = unicodedata.normalize("NFKC", name)
    found: list[str] = []
    for word in _WORD.findall(name[-MAX_NAME:]):
        lower = word.lower()
        found.extend(_TOGETHER.get(lower) or _TOGETHER.get(_singular(lower)) or (lower,))
    return tuple(found)


@lru_cache(maxsize=4096)
def is_secret(name: str) -> bool:
    """Whether what stands under this name is a secret. A path or a package (`@azure/keyvault-secrets`) is no such name."""
    spelled = _spelled(name)
    if not spelled:
        return False
    noun = _singular(spelled[-1])
    of = spelled[-2] if len(spelled) > 1 else ""
    if noun in _NOUNS:
        return True
    if spelled[-1] == "token":
        return of not in _NOT_TOKEN_OF
    if spelled[-1] == "pass":
        return bool(of) and of not in _NOT_PASS_OF
    return of in _QUALIFIED.get(noun, ())


@lru_cache(maxsize=4096)
def claim(name: str) -> str:
    """What a value under this name must be to be a secret, where the name alone does not say: "text" (of any kind), "code" (digits
    in it), "pairs" (`name=value`); "" for every other name. `pass: s3cret` is one, `pass: 12` counts tests.
    """
    spelled = _spelled(name)
    if not spelled or (len(spelled) > 1 and spelled[-2] in _NOT_TOKEN_OF | _NOT_PASS_OF):
        return ""
    return _CLAIMS.get(spelled[-1], "")


def is_count(name: str) -> bool:
    """Whether a number under this (secret) name counts secrets rather than being one: the name is in the plural."""
    spelled = words(name)
    return bool(spelled) and spelled[-1] != _singular(spelled[-1])


def _spelled(name: str) -> list[str]:
    """The words that decide: without the forms at the end."""
    spelled = [] if "/" in name else list(words(name))
    while len(spelled) > 1 and spelled[-1] in _FORMS:
        spelled.pop()
    return spelled


def _singular(word: str) -> str:
    return word[:-1] if word.endswith("s") and not word.endswith("ss") else word
