"""`GET /api/docs`: a page to read what there is and to try it. It holds nothing of the site: what it shows it asks for with a token.

One file without anything from elsewhere, so that its policy can forbid everything else (`docs.html`).
"""

from __future__ import annotations

import re
from base64 import b64encode
from functools import cache
from hashlib import sha256
from importlib.resources import files

PATH = "docs"
"""Below `/api/`. A content type may be called so too: who sends a token means the type."""
HTML = "text/html; charset=utf-8"
_INLINE = {"script": re.compile(r"<script>(.*?)</script>", re.DOTALL), "style": re.compile(r"<style>(.*?)</style>", re.DOTALL)}


@cache
def page() -> tuple[str, dict[str, str]]:
    """The page and its headers: its own script and style may run, and it may ask this server."""
    text = files("cmsmcp.api").joinpath("docs.html").read_text(encoding="utf-8")
    inline = [f"{kind}-src {_hashes(text, kind)}" for kind in _INLINE]
    policy = ["default-src 'none'", *inline, "connect-src 'self'", "base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'"]
    return text, {
        "Content-Security-Policy": "; ".join(policy), "Referrer-Policy": "no-referrer", "X-Content-Type-Options": "nosniff",
    }  # fmt: skip


def _hashes(text: str, kind: str) -> str:
    found = (sha256(part.encode()).digest() for part in _INLINE[kind].findall(text))
    return " ".join(f"'sha256-{b64encode(digest).decode()}'" for digest in found)
