"""The one spelling of a URL path on this site, so that menus, redirects, links and documents can be compared as text.

Segments are NFC and percent-encoded (docs/rules.md, Identity and URLs); a path starts with `/` and ends with `/` unless its last segment
has a `.`.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache
from urllib.parse import SplitResult, quote, unquote_to_bytes, urljoin, urlsplit

_SAFE = "!$&'()*+,;=:@~"
_PORTS = {"http": 80, "https": 443}
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


def own_paths(url: str, base_url: str) -> tuple[str, ...]:
    """`url` as paths of this site (query and fragment kept), the likeliest first; none for another place.

    An absolute URL is the site's on the host of `base_url` and below its path, in any case of scheme and host, with any default port. A
    path may be written with the path of `base_url` before it, as a browser needs it, or without, as documents have it.
    """
    below = base_path(base_url)
    if not is_absolute(url):
        bare = _below(url, below)
        return (url,) if bare is None or bare == url else (bare, url)
    try:
        parts, base = urlsplit(url), urlsplit(base_url)
        same = bool(base.hostname) and _authority(parts, base.scheme) == _authority(base, base.scheme)
    except ValueError:
        return ()
    if not same:
        return ()
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "") + (f"#{parts.fragment}" if parts.fragment else "")
    bare = _below(path, below)
    return () if bare is None else (bare,)


def is_own(url: str, base_url: str) -> bool:
    """Whether a URL can lead nowhere but to this site: on a host that the site shares, what is not below its path is another's."""
    if is_absolute(url):
        return bool(own_paths(url, base_url))
    return _below(url, base_path(base_url)) is not None


def resolved_against(url: str, target: str, base_url: str) -> str | None:
    """Where `target` leads from the page at `url`, a path of this site, as a browser takes it; None for a place outside the site."""
    below = base_path(base_url)
    return _below(urljoin(below + url, target), below)


@cache
def base_path(base_url: str) -> str:
    """The path below which the site lies on its host, without a slash at its end: `/handbook`; "" for the whole host."""
    try:
        return normal_path(urlsplit(base_url).path).rstrip("/")
    except ValueError:
        return ""


def _below(path: str, below: str) -> str | None:
    """`path` without `below` in front of it; None when it is not there."""
    if not below:
        return path
    bare, query, fragment = split_url(path)
    spelled = normal_path(bare)
    if not f"{spelled.rstrip('/')}/".startswith(f"{below}/"):
        return None
    return (spelled[len(below) :] or "/") + path[len(bare) :]


def _authority(parts: SplitResult, scheme: str) -> tuple[str, int | None]:
    """Host and port; of two default ports none. Raises ValueError for a port that is none, and for a scheme that is not the web's."""
    scheme = (parts.scheme or scheme).lower()
    if scheme not in _PORTS:
        raise ValueError(scheme)
    host = unicodedata.normalize("NFC", parts.hostname or "").rstrip(".")
    try:
        host = host if host.isascii() else host.encode("idna").decode()
    except UnicodeError:
        pass
    port = parts.port or _PORTS[scheme]
    return host, None if port == _PORTS[scheme] else port


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
