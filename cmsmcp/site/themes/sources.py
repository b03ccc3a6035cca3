"""Declared sources of a theme: how they are normalised, which URLs they cover, and the policy they add up to (docs/rules.md, Themes).

Pure. A source is an origin (`https://cdn.example.com`), a URL prefix, or a bare host that covers its subdomains.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from urllib.parse import SplitResult, urlsplit

from cmsmcp.site.themes.shapes import ExternalAssets, Security

_UNSAFE = re.compile(r"[\s;,\"\x00-\x1f\x7f]")


def normalise(items: Iterable[str]) -> list[str]:
    """Sorted, without repeats or blanks; a URL is cut to its origin."""
    return sorted({_origin(item.strip()) or item.strip() for item in items if item.strip()})


def unsafe(source: str) -> bool:
    """Whether the source would break out of its directive in a Content-Security-Policy."""
    return _UNSAFE.search(source) is not None


def allowlist(assets: ExternalAssets) -> list[str]:
    """Every declared asset source, whatever its kind."""
    return normalise(source for _, sources in lists_of(assets) for source in sources)


def lists_of(assets: ExternalAssets) -> list[tuple[str, list[str]]]:
    """(key below `security`, its sources) for each kind of asset."""
    return [
        ("external_assets.scripts", assets["scripts"]),
        ("external_assets.styles", assets["styles"]),
        ("external_assets.fonts", assets["fonts"]),
        ("external_assets.images", assets["images"]),
        ("external_assets.media", assets["media"]),
    ]


def covers(patterns: Iterable[str], url: str) -> bool:
    """Whether one of the patterns allows the URL: same origin, a prefix that ends at a boundary, or a host and its subdomains.

    A URL without a scheme is taken as https. The host decides, so a user name in front of it hides nothing.
    """
    target = _split(f"https:{url}" if url.startswith("//") else url)
    if target is None or not target.hostname:
        return False
    return any(_covers(pattern.strip(), url, target) for pattern in patterns)


def _covers(pattern: str, url: str, target: SplitResult) -> bool:
    if "://" not in pattern:
        return bool(pattern) and _host_matches(pattern, target)
    declared = _split(pattern)
    if declared is None or not declared.hostname:
        return False
    if declared.hostname.startswith("*."):
        return declared.scheme == target.scheme and _host_matches(declared.netloc, target)
    if _place(declared) != _place(target):
        return False
    if declared.path in ("", "/"):
        return True
    return url.startswith(pattern) and (pattern.endswith("/") or url[len(pattern) : len(pattern) + 1] in ("", "/", "?", "#"))


def _host_matches(pattern: str, target: SplitResult) -> bool:
    host = pattern.lower().removeprefix("*.")
    hosts = {target.hostname or "", target.netloc.rpartition("@")[2].lower()}
    return any(found == host or found.endswith(f".{host}") for found in hosts)


def _place(parts: SplitResult) -> tuple[str, str]:
    return parts.scheme, parts.netloc.rpartition("@")[2].lower()


def _origin(item: str) -> str | None:
    parts = _split(item)
    if parts is None or not parts.scheme or not parts.netloc:
        return None
    scheme, host = _place(parts)
    return f"{scheme}://{host}"


def _split(url: str) -> SplitResult | None:
    try:
        return urlsplit(url)
    except ValueError:  # an unclosed bracket in the host, say
        return None


def content_security_policy(security: Security) -> str:
    """The policy, in Foundry's order. Asset lists enter it whether or not `allowed` is set, as Foundry has it; origins only if it is."""
    assets, requests = security["external_assets"], security["frontend_requests"]
    directives = [
        ["default-src", "'self'"],
        ["base-uri", "'self'"],
        ["object-src", "'none'"],
        ["frame-ancestors", "'self'"],
        ["script-src", "'self'", "'unsafe-inline'", *assets["scripts"]],
        ["style-src", "'self'", "'unsafe-inline'", *assets["styles"]],
        ["font-src", "'self'", "data:", *assets["fonts"]],
        ["img-src", "'self'", "data:", "blob:", *assets["images"]],
        ["media-src", "'self'", "data:", "blob:", *assets["media"]],
        ["connect-src", "'self'", *(requests["origins"] if requests["allowed"] else [])],
    ]
    return "; ".join(" ".join(dict.fromkeys(value for value in directive if not unsafe(value))) for directive in directives)


def policy_summary(security: Security) -> list[str]:
    assets, requests = security["external_assets"], security["frontend_requests"]
    remote = requests["origins"] if requests["allowed"] else []
    return [
        "Everything not named below: this site only",
        f"Scripts: this site and inline, {_more(assets['scripts'])}",
        f"Styles: this site and inline, {_more(assets['styles'])}",
        f"Fonts, images and media: this site, {_more(assets['fonts'] + assets['images'] + assets['media'])}",
        f"Requests from scripts: this site, {_more(remote)}",
    ]


def declared_summary(security: Security) -> list[str]:
    """What the declaration grants, in one line each."""
    assets, requests, context = security["external_assets"], security["frontend_requests"], security["template_context"]
    sources = allowlist(assets) if assets["allowed"] else []
    origins = requests["origins"] if requests["allowed"] else []
    lines = [
        f"External assets: {', '.join(sources) if sources else 'none'}",
        f"Frontend requests: {', '.join(origins) + ' by ' + ', '.join(requests['methods']) if origins else 'none'}",
    ]
    granted = [word for word, allowed in (
        ("site params", context["allow_site_params"]),
        ("content fields", context["allow_content_fields"]),
        ("shared fields", context["allow_shared_fields"]),
    ) if allowed]
    lines.append(f"Templates see: {', '.join(granted) if granted else 'nothing beyond the page'}")
    return lines


def _more(sources: list[str]) -> str:
    count = len(sources)
    return "nothing remote" if not count else f"{count} remote source{'s' if count > 1 else ''}"
