"""The one spelling of a URL path on this site, so that menus, redirects, links and documents can be compared as text.

Segments are NFC and percent-encoded (docs/rules.md, Identity and URLs); a path starts with `/` and ends with `/` unless its last segment
has a `.`.
"""

from __future__ import annotations

import re
import unicodedata
from urllib.parse import quote, unquote_to_bytes, urlsplit

_SAFE = "!$&'()*+,;=:@~"
_SCHEME = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]*:")


def encode_segment(text: str) -> str:
    """A slug or term as one URL segment."""
    return quote(unicodedata.normalize("NFC", text), safe=_SAFE)


def author_slug(name: str) -> str:
    """Letters and digits of any script, lower case, the rest as single dashes."""
    kept = "".join(c if unicodedata.category(c)[0] in "LN" else "-" for c in name.strip().lower())
    return re.sub(r"-+", "-", kept).strip("-")


def is_absolute(url: str) -> bool:
    """Whether a URL names another place by itself: it has a scheme, or starts with `//`."""
    return url.startswith("//") or bool(_SCHEME.match(url))


def normal_path(path: str) -> str:
    """`about us` → `/about%20us/`; `caf%c3%a9/` → `/caf%C3%A9/`; `rss.xml` → `/rss.xml`. Dot segments are resolved, never above `/`."""
    parts: list[str] = []
    for segment in path.replace("\\", "/").split("/"):
        if segment == "..":
            del parts[-1:]
        elif segment not in ("", "."):
            parts.append(_recode(segment))
    if not parts:
        return "/"
    joined = "/" + "/".join(parts)
    return joined if "." in parts[-1] else joined + "/"


def normal_url(url: str) -> str:
    """`url` with its path in the site's spelling, query and fragment kept; absolute URLs stay as they are."""
    url = url.strip()
    if is_absolute(url):
        return url
    path, query, fragment = split_url(url)
    return normal_path(path) + (f"?{query}" if query else "") + (f"#{fragment}" if fragment else "")


def own_path(url: str, base_url: str) -> str | None:
    """`url` as a path of this site (query and fragment kept), however the site's own address is written in it: case of scheme and
    host, default port, `//host`. None for another place."""
    if not is_absolute(url):
        return url
    try:
        parts, base = urlsplit(url), urlsplit(base_url)
        same = parts.hostname == base.hostname and (parts.port or base.port) in (base.port, 80, 443)
    except ValueError:
        return None
    if not base.hostname or not same or parts.scheme.lower() not in ("", "http", "https"):
        return None
    below, path = base.path.rstrip("/"), parts.path
    if (path + "/").startswith(below + "/"):
        path = path[len(below) :]
    return (path or "/") + (f"?{parts.query}" if parts.query else "") + (f"#{parts.fragment}" if parts.fragment else "")


def split_url(url: str) -> tuple[str, str, str]:
    """Path, query and fragment, without their marks."""
    rest, _, fragment = url.partition("#")
    path, _, query = rest.partition("?")
    return path, query, fragment


def _recode(segment: str) -> str:
    if segment.isascii() and segment.isalnum():
        return segment
    raw = unquote_to_bytes(segment)
    try:
        return encode_segment(raw.decode())
    except UnicodeDecodeError:
        return quote(raw, safe=_SAFE)
