"""Which strings are secrets by their looks: private keys, tokens, passwords in URLs and connection strings, provider keys, and
what is assigned to a name within a longer text (`export DB_PASSWORD=…`, `?access_token=…`, `--api-key=…`, `X-Api-Key: …`).

One expression (`CANDIDATE`) sweeps a text for the rare characters that every rule hinges on and names the rules worth trying,
so that a page without secrets costs one sweep. Placeholders (`<token>`, `${TOKEN}`, `your-api-key`, runs of x) are
documentation and stay.
"""

from __future__ import annotations

import re

from cmsmcp.governance.names import claim, is_secret, words
from cmsmcp.governance.shapes import (
    ASSIGNMENT,
    BEARER,
    CANDIDATE,
    CLIENT,
    EMAN,
    LIBPQ,
    MADE_UP,
    PATTERNS,
    PLACEHOLDER,
    PLAIN,
    QUOTED,
    RUN,
    WITH_EQUALS,
)

MARK = "[redacted]"
MAX_SHORT = 4200
"""Characters up to which a text is searched for everything, and may be one assignment as a whole."""
_SIGNATURES = (("sig",), ("signature",))


def redact_text(text: str, *, quoted: bool = True) -> str:
    """`text` with what looks like a secret replaced by the mark. `quoted` False: no quoted string in it names a secret."""
    for rule in dict.fromkeys(found.lastgroup or "" for found in CANDIDATE.finditer(text)):
        for name in (*WITH_EQUALS, rule) if rule == "equals" else (rule,):
            text = PATTERNS[name].sub(_MASK.get(name, _mask_shaped), text)
    if len(text) <= MAX_SHORT or "iscord" in text or "slack.com" in text:
        for pattern in PLAIN:
            text = pattern.sub(_mask_shaped, text)
    if "earer " in text:
        text = BEARER.sub(_mask_free, text)
    if quoted and ('": "' in text or '":"' in text):
        text = QUOTED.sub(_mask_quoted, text)
    if len(text) <= MAX_SHORT and ("=" in text or ": " in text):
        text = _assignment(text)
    return text


def is_placeholder(secret: str) -> bool:
    """Whether this stands where a secret would stand in a manual."""
    return PLACEHOLDER.fullmatch(secret[:200]) is not None


def _assignment(text: str) -> str:
    whole = ASSIGNMENT.fullmatch(text)
    if whole is None or not is_secret(whole[1]) or is_placeholder(whole["secret"]):
        return text
    if whole[2].startswith(":") and not (whole[3] or _is_header(whole[1])):
        return text
    return _replaced(whole)


def _is_header(name: str) -> bool:
    """`Password: Tips` is a title, `X-Api-Key: abc` a header: no sentence starts with the second kind of word."""
    return "-" in name or "_" in name or not (name.islower() or name.istitle())


def _mask_free(found: re.Match[str]) -> str:
    return found[0] if is_placeholder(found["secret"]) else _replaced(found)


def _mask_shaped(found: re.Match[str]) -> str:
    return found[0] if RUN.search(found["secret"]) and "PRIVATE" not in found[0] else _replaced(found)


def _mask_libpq(found: re.Match[str]) -> str:
    before = found.string[max(0, found.start() - 300) : found.start()]
    return _mask_free(found) if LIBPQ.search(before) else found[0]


def _mask_quoted(found: re.Match[str]) -> str:
    return _mask_free(found) if _is_announced(found["name"], found["secret"]) else found[0]


def _mask_user(found: re.Match[str]) -> str:
    before = found.string[max(0, found.start() - 300) : found.start()]
    return _mask_free(found) if CLIENT.search(before) else found[0]


def _mask_flag(found: re.Match[str]) -> str:
    """`--password is required` is a sentence."""
    return _mask_free(found) if is_secret(found["name"]) and MADE_UP.match(found["secret"]) else found[0]


def _mask_assigned(found: re.Match[str]) -> str:
    """In shells, queries and options whatever is assigned is a value; elsewhere it may be code, and must look like one."""
    start = found.start()
    named = EMAN.match(found.string[max(0, start - 70) : start][::-1])
    if named is None:
        return found[0]
    secret, name = found["secret"], named["eman"][::-1]
    is_option, name = name.startswith("--"), name.lstrip("-.")
    bare = found[0][0] == "=" and named.start("eman") == 0
    literal = bare and (name.isupper() or is_option or named["before"][:1] in ("?", "&", "#", ";"))
    if not literal:
        return _mask_free(found) if _is_announced(name, secret) and MADE_UP.match(secret) else found[0]
    is_signature = words(name)[-1:] in _SIGNATURES and len(secret) >= 16
    return _mask_free(found) if (is_signature or is_secret(name) or claim(name) == "text") and secret != name else found[0]


def _is_announced(name: str, secret: str) -> bool:
    return is_secret(name) or (claim(name) == "text" and MADE_UP.match(secret) is not None)


def _replaced(found: re.Match[str]) -> str:
    start, end = (edge - found.start() for edge in found.span("secret"))
    return found[0][:start] + MARK + found[0][end:]


_FREE_FORM = ("url", "header", "header_upper", "bearer_upper", "basic", "account_key", "connection", "cookie")
"""Rules whose secret has no shape of its own, so that a placeholder can stand in its place."""
_MASK = {
    **dict.fromkeys(_FREE_FORM, _mask_free), "libpq": _mask_libpq, "user": _mask_user, "flag": _mask_flag,
    "equals": _mask_assigned, "colon": _mask_assigned,
}
