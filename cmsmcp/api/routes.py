"""Which question a path below `/api` is. One rule for all content types, so that they change without a restart."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from cmsmcp.api.about import read_author, read_locales, read_navigation, read_search, read_type, read_types
from cmsmcp.api.answer import Answer, Asked
from cmsmcp.api.entries import read_entries, read_one
from cmsmcp.api.parameters import OF_ENTRY, OF_LIST, OF_NAVIGATION, OF_SEARCH
from cmsmcp.api.published import read_openapi


@dataclass(frozen=True, slots=True)
class Route:
    """`capability` and `category` are what the audit says of it; `parameters` the names it knows (a single's are those of ENTRY)."""

    template: str
    capability: str
    category: str
    parameters: tuple[str, ...]
    read: Callable[[Asked], Answer]


ENTRIES = Route("/api/{type}", "entries", "content.list", OF_LIST, read_entries)
ENTRY = Route("/api/{type}/{entry}", "entry", "content.read", OF_ENTRY, read_one)
AUTHOR = Route("/api/authors/{slug}", "author", "content.read", (), read_author)
TYPE = Route("/api/content-types/{slug}", "content_type", "schema.read", (), read_type)
FIXED: dict[str, Route] = {
    "content-types": Route("/api/content-types", "content_types", "schema.read", (), read_types),
    "locales": Route("/api/locales", "locales", "schema.read", (), read_locales),
    "navigation": Route("/api/navigation", "navigation", "content.navigation", OF_NAVIGATION, read_navigation),
    "openapi.json": Route("/api/openapi.json", "openapi", "schema.read", (), read_openapi),
    "search": Route("/api/search", "search", "content.search", OF_SEARCH, read_search),
}
"""By the one word behind `/api/`, which is reserved as a slug of types."""
BELOW: Mapping[str, Route] = {"authors": AUTHOR, "content-types": TYPE}
"""By the first of several words; what follows is a slug."""


def find_route(path: str) -> tuple[Route, dict[str, str]]:
    """The route and the parts of the path that it names. `path` is decoded and stands behind `/api/`; an id may hold slashes."""
    first, slash, rest = path.removesuffix("/").partition("/")
    if not slash:
        return (FIXED[first], {}) if first in FIXED else (ENTRIES, {"type": first})
    if first in BELOW:
        return BELOW[first], {"slug": rest}
    return ENTRY, {"type": first, "entry": rest}
