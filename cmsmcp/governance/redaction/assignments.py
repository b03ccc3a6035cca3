"""Secrets within a text known by the name they are assigned to, in whatever syntax: `password: …`, `--api-key …`, `{\"token\":\"…\"}`,
`<secret>…</secret>`, `| password | … |`, `define('PASSWORD', '…')`.

One sweep finds the names; what joins a name to its value says how much the value must look like a secret: between quotes it need only be
no placeholder and no label, bare it may be code or a sentence, and must look made. Knows names and values by `names` and `values` alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from cmsmcp.governance.redaction.announcements import Name, find_name
from cmsmcp.governance.redaction.names import is_secret
from cmsmcp.governance.redaction.places import MAX_PLACES, Span
from cmsmcp.governance.redaction.syntax import (
    BARE,
    CELL,
    ELEMENT,
    ELEMENT_START,
    ITEM,
    LIBPQ,
    LIST,
    LITERAL,
    LITERAL_PART,
    MAX_VALUE,
    OPENER,
    PROVES,
    QUOTED,
    REST,
    SEPARATOR,
    SETS,
    SETTER,
    START,
    SWEEP,
    VALUE_BEFORE,
    column,
    quoted,
)
from cmsmcp.governance.redaction.values import is_encoded, is_label, is_made, is_placeholder, is_reference, is_worded


def assigned(text: str, lower: str) -> Iterator[Span]:
    """Where each value that a name announces starts and ends, in order. `lower` is `text` in lower case, of the same length."""
    done = names = 0
    for found in SWEEP.finditer(lower):
        if found.start() < done:
            continue
        name = find_name(text, found.start(), found.end("end"))
        if name is not None:
            names += 1
            if names > MAX_PLACES:
                yield found.start(), len(text)
                return
            for start, end in _values(text, name, found):
                yield start, end
                done = max(done, end)


def _values(text: str, name: Name, found: re.Match[str]) -> Iterator[Span]:
    kind, at = found.lastgroup or "", found.end()
    if found["close"] and name.before[-1:] in ('"', "'"):
        yield from _reversed(text, name, found)
    if kind == "cell":
        yield from _cell(text, name, at)
        yield from _column(text, name, found.end("end"))
    elif kind in ("tag", "cells"):
        if kind == "cells" or ELEMENT_START.search(name.before):
            yield from _element(text, name, at)
    elif kind == "comma":
        if QUOTED.search(found["close"]):
            yield from _argument(text, name, at)
        yield from _column(text, name, found.end("end"))
    elif kind == "eol":
        yield from _column(text, name, found.end("end"))
    elif kind == "call":
        quote = QUOTED.match(text, at)
        if quote is not None and (_is_worth if SETS.match(name.text) else _looks_made)(name, text[slice(*quoted(text, quote))]):
            yield quoted(text, quote)
    elif kind != "closed":
        yield from _assigned(text, name, found, kind, at)


def _reversed(text: str, name: Name, found: re.Match[str]) -> Iterator[Span]:
    """`{"value": "x", "name": "password"}`"""
    start = found.end("end") - len(name.text)
    before = VALUE_BEFORE.search(text, max(0, start - 400), start)
    if before is not None and _is_worth(name, before["secret"]):
        yield before.span("secret")


def _assigned(text: str, name: Name, found: re.Match[str], kind: str, at: int) -> Iterator[Span]:
    begin = START.match(text, at)
    assert begin is not None
    alone = "\n" in begin[0]
    if alone and kind not in ("assign", "pair"):
        return
    at = begin.end()
    opener = OPENER.match(text, at)
    if opener is not None:
        at = opener.end()
    listed = LIST.match(text, at)
    if listed is not None and kind != "gap":
        yield from _listed(text, name, listed.end())
        return
    quote = QUOTED.match(text, at)
    if quote is not None:
        if not found["close"] and _is_open(name.before, quote[0]):
            return
        span = quoted(text, quote)
        value = text[slice(*span)]
        if kind == "gap" and name.text == "pass":
            return
        weak = (
            opener is not None and opener["call"] or kind in ("is", "gap") and not _is_statement(text, name, found, span[1] + len(quote[0]))
        )
        if value.strip() and (_looks_made(name, value) if weak else _is_worth(name, value)):
            yield span
    elif opener is None:
        yield from _bare(text, name, found, kind, at, alone=alone)


def _bare(text: str, name: Name, found: re.Match[str], kind: str, at: int, *, alone: bool) -> Iterator[Span]:
    literal = _is_literal(text, name, found) and not alone
    if literal:
        whole = (LITERAL if PROVES.search(name.before) and not name.before.strip("- \t").endswith("{") else LITERAL_PART).match(text, at)
        if whole is not None and _is_plain(name, whole[0]):
            yield whole.start(), whole.start() + len(whole[0].rstrip(",.;") or whole[0])
        return
    value = BARE.match(text, at)
    if value is None or (alone and text[value.end() : value.end() + 1].strip()):
        return
    word = value[0].rstrip(".:!?")
    if kind == "is" and not (name.is_password or name.announces == "code"):
        return
    if kind == "gap" and not (name.is_option or _is_line(text, name, value.end())):
        return
    if not is_placeholder(value[0]) and _looks_made(name, word):
        whole = REST.match(text, value.end())
        yield value.start(), whole.end() if whole is not None and whole[0] else value.start() + len(word)


def _is_literal(text: str, name: Name, found: re.Match[str]) -> bool:
    """In shells, queries, options and connection strings whatever is assigned is a value; elsewhere it may be code."""
    if found["assign"] not in ("=", "%3d", ":-", ":=") or found["close"] or found.end("end") != found.start("assign"):
        return False
    if name.is_option or name.text.isupper() or name.before[-1:] in ("?", "&", "#", ";"):
        return True
    after = text[found.end() : found.end() + 100].partition("\n")[0]
    return "=" in name.before + after and (LIBPQ.search(name.before) is not None or LIBPQ.search(after) is not None)


def _is_line(text: str, name: Name, end: int) -> bool:
    """Whether name and value are all that stands on the line, as in a file of settings."""
    return not name.before.strip() and not text[end : end + 80].partition("\n")[0].strip("; \t\r")


def _is_open(before: str, quote: str) -> bool:
    """Whether a quote of this kind is open already: the next one ends `"?secret=" + x`."""
    return len(re.findall(r"(?<!\w)'|'(?!\w)" if quote == "'" else re.escape(quote), before)) % 2 == 1


def _is_statement(text: str, name: Name, found: re.Match[str], end: int) -> bool:
    """`password 'x'` on a line of its own, `:password "x"`: a setting in a language without a sign for it."""
    return (
        not found["close"] and found["gap"] is not None and (name.before.endswith(":") or name.text.isupper() or _is_line(text, name, end))
    )


def _listed(text: str, name: Name, at: int) -> Iterator[Span]:
    """The items of `[a, 'b']` that look made."""
    limit = at + MAX_VALUE
    while at < limit:
        item = ITEM.match(text, at)
        if item is None:
            return
        quote = QUOTED.match(text, at) if item["quote"] else None
        start, end = quoted(text, quote) if quote is not None else item.span()
        if _looks_made(name, text[start:end]):
            yield start, end
        after = SEPARATOR.match(text, end + (len(quote[0]) if quote is not None and quote[0] not in ('"', "'", "`") else 0))
        if after is None:
            return
        at = after.end()


def _argument(text: str, name: Name, at: int) -> Iterator[Span]:
    """`define('password', 'x')`; in a list of names or a translation the second is a word."""
    begin = START.match(text, at)
    assert begin is not None
    quote = QUOTED.match(text, begin.end())
    if quote is None:
        return
    span = quoted(text, quote)
    value = text[slice(*span)]
    sets = SETTER.search(name.before.rstrip("\\").rstrip("\"'`").rstrip("\\")) is not None
    if _is_worth(name, value) if sets else _looks_made(name, value):
        yield span


def _cell(text: str, name: Name, at: int) -> Iterator[Span]:
    cell = CELL.match(text, at)
    if cell is not None and _looks_made(name, cell["value"]):
        yield cell.span("value")


def _column(text: str, name: Name, at: int) -> Iterator[Span]:
    """A column in whose head the name stands; it ends where another head begins."""
    for start, end in column(text, at):
        value = text[start:end]
        if is_secret(value):
            return
        if _looks_made(name, value):
            yield start, end


def _element(text: str, name: Name, at: int) -> Iterator[Span]:
    inner = ELEMENT.match(text, at)
    if inner is not None and inner["value"].strip() and _is_worth(name, inner["value"].strip()):
        yield inner.span("value")


def _is_worth(name: Name, value: str) -> bool:
    """Whether a value between quotes is a secret."""
    if name.announces not in ("secret",):
        return _looks_made(name, value)
    return not (is_placeholder(value) or is_label(value) or is_reference(value)) and value.strip() != name.text


def _is_plain(name: Name, value: str) -> bool:
    """Whether a value of a variable, an option or a query is a secret."""
    if name.announces == "signature":
        return len(value) >= 16 and not is_placeholder(value)
    if name.announces in ("secret", "text"):
        return not (is_placeholder(value) or is_reference(value)) and value != name.text.lstrip("-")
    return _looks_made(name, value)


def _looks_made(name: Name, value: str) -> bool:
    """Whether a value that may as well be code or words is a secret."""
    if name.announces == "signature" or is_placeholder(value) or is_reference(value):
        return False
    if name.announces == "code":
        return re.fullmatch(r"\d{4,10}", value) is not None or is_made(value)
    if name.announces == "pairs":
        return re.match(r"[^\s=;]{1,256}=[^\s;]*\d", value) is not None
    if is_made(value) or (name.announces == "made" and is_encoded(value)):
        return " " not in value
    return name.is_password and is_worded(value)
