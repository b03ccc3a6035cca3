"""What a site's own server answers beside documents and lists of them (docs/rules.md, Identity and URLs): known by the shape of the path.

Knows configuration and paths in the site's spelling, no catalog and no files.
"""

from __future__ import annotations

from cmsmcp.site.config.languages import normal
from cmsmcp.site.media import url_key
from cmsmcp.site.model import SiteConfig
from cmsmcp.site.urls import normal_path

# The bundle is made of the CSS files.
_FIXED = ("/search.json", "/preview-links.json", "/assets/css/foundry.bundle.css", "/robots.txt", "/favicon.ico")


def language_prefixes(config: SiteConfig) -> dict[str, str]:
    """By language, what its paths begin with: nothing for the default one."""
    return {code: "" if code == config.default_lang else "/" + normal(code) for code in config.locales.codes}


def fixed_paths(config: SiteConfig) -> list[str]:
    """Feeds, searches and files that a site makes by itself, in the site's spelling."""
    searches = (f"{prefix}/search/" for prefix in {"", *language_prefixes(config).values()})
    return [normal_path(path) for path in (*_FIXED, *config.feed_paths, *searches)]


def own_prefixes(config: SiteConfig) -> tuple[str, ...]:
    """What paths of the server itself and of its admin begin with."""
    admin = config.values.get("admin")
    path = admin.get("path") if isinstance(admin, dict) else None
    return ("/__", normal_path(path)) if isinstance(path, str) and path.strip("/ ") else ("/__",)


def is_beside_documents(config: SiteConfig, path: str) -> bool:
    """Whether a path could be no document's, whatever documents there are: a home page, a media file, an asset, a feed."""
    homes = {f"{prefix}/" for prefix in language_prefixes(config).values()}
    shapes = (*own_prefixes(config), "/theme/", "/plugins/")
    return path in homes or path in fixed_paths(config) or path.startswith(shapes) or url_key(path) is not None
