"""Entries as `/api` gives them: a page of a collection, one entry, a single. Turns parameters into a question for the store.

Must not know how entries are found, nor which document is hidden: that is the store's, by the visibility of the call.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any
from urllib.parse import urlencode

from cmsmcp.api.answer import Answer, Asked, answer, sizes, unchanged
from cmsmcp.api.fields import Fields, fields_of
from cmsmcp.api.parameters import OF_ENTRY, OF_LIST, Site, read_entry, read_list
from cmsmcp.api.query import Given
from cmsmcp.api.validators import tag_of
from cmsmcp.core.capability import DEFAULT_MAX_RESULT
from cmsmcp.core.entries import MAX_PAGES, Found, Query
from cmsmcp.core.ports import ContentTypes
from cmsmcp.protocol.errors import ResultTooLarge
from cmsmcp.schema.catalog import catalog_of
from cmsmcp.schema.entries import schemas_of

FEWER = "Lower limit, or name the fields you need in fields."
FEWER_WHOLE = "Lower limit, populate less, or name the fields you need in fields."


def read_entries(asked: Asked) -> Answer:
    """Of a collection a page, of a single the entry. ContentTypeNotFound for any other type."""
    fields, site = _type(asked)
    if fields.single:
        return _entry(asked, fields, site, None)
    query = read_list(Given(asked.pairs, OF_LIST), fields, site)
    query = replace(query, cursor=asked.opened(query.cursor))
    store = asked.call.site.entries
    tag = _tag(asked, query, store.version(query.visibility))
    if tag in asked.held:
        return unchanged(tag)
    listing = store.list(query, asked.call.deadline)
    following = asked.sealed(listing.next_cursor)
    body = {
        "data": _dumped(asked, fields, listing.items), "total": listing.total, "page": None if query.cursor else query.page,
        "limit": query.limit, "next_cursor": following,
    }  # fmt: skip
    locales = tuple(dict.fromkeys(found.locale for found in listing.items))
    hint = FEWER_WHOLE if query.populate else FEWER
    try:
        return answer(body, asked.call, hint, locales=locales, tag=tag, links=_links(asked.pairs, query, following))
    except ResultTooLarge as error:
        raise _explained(error, listing.items, query) from None


def read_one(asked: Asked) -> Answer:
    """The entry whose id or slug `named["entry"]` is."""
    fields, site = _type(asked)
    return _entry(asked, fields, site, asked.named["entry"])


def _entry(asked: Asked, fields: Fields, site: Site, ref: str | None) -> Answer:
    query = read_entry(Given(asked.pairs, OF_ENTRY), fields, site)
    store = asked.call.site.entries
    tag = _tag(asked, query, store.version(query.visibility), ref)
    deadline = asked.call.deadline
    found = store.single(query, deadline) if ref is None else store.get(query, ref, deadline)
    if tag in asked.held:
        return unchanged(tag)
    # What was populated has times of its own, which nobody compares.
    modified = None if query.populate else found.modified
    try:
        return answer(_dumped(asked, fields, [found])[0], asked.call, locales=(found.locale,), modified=modified, tag=tag)
    except ResultTooLarge as error:
        raise _explained(error, [found], query) from None


def _dumped(asked: Asked, fields: Fields, items: Sequence[Found]) -> list[Any]:
    """Through the schema of the type, the one that is published: what it does not declare does not leave."""
    schema = schemas_of(catalog_of(asked.call.site.types)).of(fields.slug)
    return [schema.dump(found.values) for found in items]


def _type(asked: Asked) -> tuple[Fields, Site]:
    types, call = asked.call.site.types, asked.call
    kind = types.get(asked.named["type"])
    return fields_of(kind, types.all()), Site(types.locales()["locales"], lambda slug: _fields(types, slug), call.visibility)


def _fields(types: ContentTypes, slug: str) -> Fields:
    return fields_of(types.get(slug), types.all())


def _tag(asked: Asked, query: Query, version: str, ref: str | None = None) -> str:
    """Of what decides about the body: the release, what there is to read, what the caller may see of it, and the question."""
    visible = query.visibility
    conditions = [(one.field, one.operator, one.value) for one in query.conditions]
    orders = [(one.field, one.descending) for one in query.order]
    chosen = None if query.fields is None else sorted(query.fields)
    question = [
        query.type, ref, query.locale, query.fallbacks, conditions, orders, chosen, query.populate, query.html, query.page, query.limit,
        query.cursor,
    ]  # fmt: skip
    return tag_of(json.dumps([asked.release, asked.cursors.key_id, version, sorted(visible.statuses), visible.owner, question]).encode())


def _links(pairs: Sequence[tuple[str, str]], query: Query, following: str | None) -> dict[str, str]:
    """Who asked by number goes on by number, else the next page is the cursor's, which stays right when entries come and go."""
    kept = [(name, value) for name, value in pairs if name not in ("page", "cursor")]
    numbered = any(name == "page" for name, _ in pairs)
    pages: dict[str, Sequence[tuple[str, str]]] = {"first": kept}
    if query.cursor is None and query.page > 1:
        pages["prev"] = [*kept, ("page", str(query.page - 1))]
    if following is not None:
        by_number = numbered and query.page < MAX_PAGES
        pages["next"] = [*kept, ("page", str(query.page + 1)) if by_number else ("cursor", following)]
    return {relation: urlencode(given) for relation, given in pages.items()}


def _explained(error: ResultTooLarge, items: Sequence[Found], query: Query) -> ResultTooLarge:
    """Where one entry alone is too large, no limit helps: it is named, with the field to leave out."""
    most: Mapping[str, Any] = {}
    of_most: dict[str, int] = {}
    for found in items:
        measured = sizes(found.values)
        if sum(measured.values()) > sum(of_most.values()):
            most, of_most = found.values, measured
    if len(items) > 1 and sum(of_most.values()) <= DEFAULT_MAX_RESULT:
        return error
    name = max(of_most, key=lambda one: of_most[one])
    way = f"leave it out with exclude={name}" if query.fields is None else f"leave it out of the fields you ask for ({name})"
    hint = f"The entry {most.get('id')!r} alone is too large, most of it {name} ({of_most[name]} bytes): {way}."
    return ResultTooLarge(error.data["size"], error.data["limit"], hint)
