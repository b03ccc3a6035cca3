"""What `/api` says beside entries: the site's content types, locales and menus, its authors, and what a search finds. Published only."""

from __future__ import annotations

from typing import Any

from cmsmcp.api.answer import Answer, Asked, answer
from cmsmcp.api.parameters import OF_NAVIGATION, OF_SEARCH, read_limit, read_locale
from cmsmcp.api.query import Given, listed, near, shown
from cmsmcp.core.ports import Hit
from cmsmcp.protocol.errors import InvalidArguments

SUMMARY = ("name", "slug", "kind", "previewEnabled", "isDefault", "updatedAt")
"""What the list of content types says of each, as Plank's does; what a type does not have is null."""
MAX_WORDS = 1_000


def read_types(asked: Asked) -> Answer:
    """`{data: [{name, slug, kind, previewEnabled, isDefault, updatedAt}], total}`, by name."""
    Given(asked.pairs, ())
    kinds = asked.call.site.types.all()
    return answer({"data": [{key: kind.get(key) for key in SUMMARY} for kind in kinds], "total": len(kinds)}, asked.call)


def read_type(asked: Asked) -> Answer:
    """Plank's object, fields and all."""
    kind = asked.call.site.types.get(asked.named["slug"])
    Given(asked.pairs, ())
    return answer(kind, asked.call)


def read_locales(asked: Asked) -> Answer:
    """`{defaultLocale, locales}`."""
    Given(asked.pairs, ())
    return answer(asked.call.site.types.locales(), asked.call)


def read_navigation(asked: Asked) -> Answer:
    """`{menus, pages, truncated}` as the port has them. `locale` narrows the pages."""
    given = Given(asked.pairs, OF_NAVIGATION)
    locale = read_locale(given, asked.call.site.types.locales()["locales"])
    menus = asked.call.site.content.get_navigation(lang=locale, deadline=asked.call.deadline)
    return answer(menus, asked.call, "Name one locale.", locales=(locale,) if locale else ())


def read_author(asked: Asked) -> Answer:
    """`{slug, name, entries, types}`: how many published documents are theirs, in all and by type."""
    call, slug = asked.call, asked.named["slug"]
    author = call.site.content.get_author(slug, visibility=call.visibility(None), deadline=call.deadline)
    Given(asked.pairs, ())
    return answer(author, call)


def read_search(asked: Asked) -> Answer:
    """`{data: [hit], total, limit, next_cursor}`, best first."""
    given, call = Given(asked.pairs, OF_SEARCH), asked.call
    types = [kind["slug"] for kind in call.site.types.all()]
    words, type_ = given.get("q") or "", given.get("type")
    if not words.strip() or len(words) > MAX_WORDS:
        raise InvalidArguments(f"q must be words to look for, at most {MAX_WORDS} characters of them.", argument="q")
    if type_ is not None and type_ not in types:
        known = f"{near(type_, types)} Types: {listed(sorted(types))}."
        raise InvalidArguments(f"type: there is no content type {shown(type_)}.{known}", argument="type")
    locale = read_locale(given, call.site.types.locales()["locales"])
    page = call.site.content.search(
        words, type=type_, lang=locale, visibility=call.visibility(None), limit=read_limit(given), cursor=asked.opened(given.get("cursor")),
        deadline=call.deadline,
    )  # fmt: skip
    hits, following = [_hit(hit) for hit in page.items], asked.sealed(page.next_cursor)
    body = {"data": hits, "total": page.total, "limit": read_limit(given), "next_cursor": following}
    return answer(body, call, "Lower limit.", locales=tuple(dict.fromkeys(hit.document.lang for hit in page.items)))



def _hit(hit: Hit) -> dict[str, Any]:
    found = hit.document
    return {
        "id": found.id, "type": found.type, "slug": found.slug, "title": found.title, "url": found.url, "locale": found.lang,
        "published_at": found.date, "updated_at": found.updated_at, "author": found.author or None, "score": hit.score,
        "snippet": hit.snippet,
    }  # fmt: skip
