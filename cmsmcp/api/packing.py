"""Compression of a reply. Knows bytes and what a client accepts.

What compresses well can tell of a secret in it when a stranger chooses another part of the same body and sees its length (BREACH).
Replies of `/api` hold no secret: tokens are in headers, bodies are redacted, and no reply of success repeats what was asked. So what
succeeds is compressed, and refusals, which quote parameters, are not.
"""

from __future__ import annotations

import gzip

from werkzeug.datastructures import Accept

SMALLEST = 1_024
"""Bytes. Below, a packet is sent either way."""
LEVEL = 5
GZIP = "gzip"


def accepts_gzip(accepted: Accept) -> bool:
    return accepted.quality(GZIP) > 0


def packed(body: bytes) -> bytes:
    """The same bytes for the same body: no time is in it."""
    return gzip.compress(body, LEVEL, mtime=0)
