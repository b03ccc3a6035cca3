"""A text with its secrets replaced by a mark. Knows how they are found (`shapes`, `places`, `assignments`), not what they look like."""

from __future__ import annotations

import re

from cmsmcp.governance.redaction.assignments import assigned
from cmsmcp.governance.redaction.places import placed
from cmsmcp.governance.redaction.shapes import Span, shaped

MARK = "[redacted]"
_WIDE = re.compile("[\uff01-\uff5e]")
_NARROW = {wide: wide - 0xFEE0 for wide in range(0xFF01, 0xFF5F)}


def redact_text(text: str) -> str:
    """`text` with what looks like a secret replaced by the mark; the same object where there is none."""
    lower = _lower(text)
    spans = [*shaped(text), *placed(text, lower), *assigned(text, lower)]
    return _masked(text, spans) if spans else text


def _lower(text: str) -> str:
    """In lower case and of the same length: but for one letter, every one has one small letter."""
    lower = text.replace("\u0130", "I").lower()
    return lower.translate(_NARROW) if not text.isascii() and _WIDE.search(lower) else lower


def _masked(text: str, spans: list[Span]) -> str:
    pieces, done = [], 0
    for start, end in sorted(spans):
        if end <= done:
            continue
        if start >= done:
            pieces += [text[done:start], MARK]
        done = end
    return "".join([*pieces, text[done:]])
