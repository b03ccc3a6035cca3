"""What tells a client whether the answer it keeps is still good: tags and times (RFC 9110, Conditional Requests). Pure.

Tags are strong, and checksums of what the body depends on: they hold no secret and open nothing.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from email.utils import format_datetime, parsedate_to_datetime
from hashlib import blake2b

_TAG = re.compile(r'(?:W/)?"([\x21\x23-\x7e\x80-\xff]*)"')
_MAX_HEADER = 8_192
_MAX_TAGS = 100
ANY = "*"
PACKED = "-gzip"
"""Behind the tag of an answer that is sent compressed: other bytes, so another tag."""
_BYTES = 15
_LAST_SECOND = 253_402_300_799


def tag_of(source: bytes) -> str:
    """The tag without its quotes."""
    return blake2b(source, digest_size=_BYTES, person=b"cmsmcp api tag").hexdigest()


def read_tags(header: str | None) -> frozenset[str]:
    """The tags of `If-None-Match` without quotes and weakness; `*` stands for any. What is no tag is left out, as if it matched nothing."""
    if not header or len(header) > _MAX_HEADER:
        return frozenset()
    if header.strip() == ANY:
        return frozenset({ANY})
    return frozenset(_TAG.findall(header)[:_MAX_TAGS])


def in_any_coding(tags: frozenset[str]) -> frozenset[str]:
    """The tags of the same answers as they are before compression."""
    return frozenset(tag.removesuffix(PACKED) for tag in tags)


def tag_sent(tag: str, held: frozenset[str], *, packs: bool) -> str:
    """`tag` as it stands over the answer that is sent, or over the one that the client has (RFC 9111, 4.3.4: it must know it again)."""
    spelled = (f"{tag}{PACKED}", tag) if packs else (tag, f"{tag}{PACKED}")
    return next((one for one in spelled if one in held), spelled[0])


def http_date(milliseconds: int) -> str:
    """As HTTP writes it, in whole seconds. Times before 1970 and after 9999 are the nearest that can be written."""
    seconds = min(max(0, milliseconds // 1000), _LAST_SECOND)
    return format_datetime(datetime.fromtimestamp(seconds, UTC), usegmt=True)


def not_since(header: str | None, modified: int | None) -> bool:
    """Whether nothing changed since `If-Modified-Since`. What is no HTTP date counts as not given."""
    if header is None or modified is None:
        return False
    try:
        since = parsedate_to_datetime(header)
    except (ValueError, TypeError, IndexError, OverflowError):
        return False
    since = since if since.tzinfo else since.replace(tzinfo=UTC)
    return modified // 1000 <= since.timestamp()
