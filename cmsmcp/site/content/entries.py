"""The `Entries` port: documents as their content types have them, in one locale (docs/rules.md, Content types, Languages).

Which documents there are is the `Content` port's to say; this adds the types' order, relations and the locale.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from cmsmcp.core.deadline import Deadline
from cmsmcp.core.ports import Content, Document, Entry, Page, Visibility
from cmsmcp.protocol.errors import ContentTypeNotFound, InvalidArguments, NotFound
from cmsmcp.site.catalog.reader import CatalogReader
from cmsmcp.site.content.relations import Target, visible_targets
from cmsmcp.site.definitions import Definitions
from cmsmcp.site.types.fields import Field
from cmsmcp.site.types.registry import ContentType, entry_values


def _now() -> int:
    return int(time.time() * 1000)


class TypedEntries:
    """Safe to share between threads and greenlets."""

    def __init__(self, content: Content, reader: CatalogReader, definitions: Definitions, clock: Callable[[], int] = _now) -> None:
        self._content = content
        self._reader = reader
        self._types = definitions.types
        self._locales = definitions.config.locales
        self._clock = clock

    def list_entries(
        self, *, type: str, locale: str | None, visibility: Visibility, limit: int, cursor: str | None, deadline: Deadline,
    ) -> Page[Entry]:
        """See the port."""
        kind, code = self._kind(type), self._code(locale)
        page = self._page(kind, code, visibility=visibility, limit=limit, cursor=cursor, deadline=deadline)
        return Page(self._entries(kind, page.items, visibility, deadline), page.total, page.next_cursor)

    def get_entry(self, *, type: str, ref: str, locale: str | None, visibility: Visibility, deadline: Deadline) -> Entry:
        """See the port."""
        kind, code = self._kind(type), self._code(locale)

        def get(*, id: str | None = None, slug: str | None = None, lang: str | None = None) -> Document:
            return self._content.get_document(
                slug=slug, url=None, id=id, type=kind.slug, lang=lang, visibility=visibility, deadline=deadline
            )

        try:
            found = get(id=ref)
        except NotFound:
            found = get(slug=ref, lang=code)
        else:
            if locale is not None:
                translations = {found.lang: found.id, **{one["lang"]: one["id"] for one in found.translations}}
                nearest = next((one for one in self._chain(code) if one in translations), None)
                if nearest is None:
                    raise NotFound("entry", ref)
                found = found if nearest == found.lang else get(id=translations[nearest])
        return self._entries(kind, [found], visibility, deadline)[0]

    def get_single(self, *, type: str, locale: str | None, visibility: Visibility, deadline: Deadline) -> Entry:
        """See the port."""
        kind = self._kind(type)
        for code in self._chain(self._code(locale)):
            page = self._page(kind, code, visibility=visibility, limit=1, cursor=None, deadline=deadline)
            if page.items:
                return self._entries(kind, page.items, visibility, deadline)[0]
        raise NotFound("entry", type)

    def _page(
        self, kind: ContentType, code: str, *, visibility: Visibility, limit: int, cursor: str | None, deadline: Deadline
    ) -> Page[Document]:
        return self._content.list_documents(
            type=kind.slug, lang=code, taxonomy={}, visibility=visibility, updated_after=None, updated_before=None,
            limit=limit, cursor=cursor, deadline=deadline, bodies=True,
        )  # fmt: skip

    def _entries(self, kind: ContentType, documents: Sequence[Document], visibility: Visibility, deadline: Deadline) -> list[Entry]:
        values = [entry_values(kind, document) for document in documents]
        relations = {field.name: self._related(field) for field in kind.fields if field.type == "relation" and not field.inverse}
        targets = {target for one in values for name, related in relations.items() for target in _targets(related, one[name])}
        visible = visible_targets(self._reader, targets, visibility, self._clock(), deadline)
        for one in values:
            for name, related in relations.items():
                one[name] = _kept(related, one[name], visible)
        return [_entry(kind, document, one) for document, one in zip(documents, values, strict=True)]

    def _related(self, field: Field) -> str:
        """The slug of the type that a relation leads to."""
        return field.related or self._types.by_table[field.related_table].slug

    def _kind(self, slug: str) -> ContentType:
        kind = self._types.find(slug)
        if kind is None:
            raise ContentTypeNotFound(slug)
        return kind

    def _code(self, locale: str | None) -> str:
        if locale is None:
            return self._locales.default
        code = self._locales.find(locale)
        if code is None:
            raise InvalidArguments(f"No locale {locale[:40]!r}. Locales: {', '.join(self._locales.codes)}.", argument="locale")
        return code

    def _chain(self, code: str) -> tuple[str, ...]:
        return (code, *self._locales.fallbacks.get(code, ()))


def _entry(kind: ContentType, document: Document, values: dict[str, Any]) -> Entry:
    entry: dict[str, Any] = {"id": document.id}
    entry |= {field.name: values[field.name] for field in kind.fields if not field.inverse}
    own = {
        "status": document.status, "published_at": document.date, "created_at": document.created_at, "updated_at": document.updated_at,
        "author": document.author or None, "locale": document.lang,
    }  # fmt: skip
    return Entry(entry | {name: value for name, value in own.items() if name not in entry}, document.lang)


def _targets(related: str, value: Any) -> Iterator[Target]:
    for one in value if isinstance(value, list) else [value]:
        if isinstance(one, str) and one:
            yield related, one


def _kept(related: str, value: Any, visible: set[Target]) -> Any:
    """What may be seen of a relation: whoever reads an entry must not learn from it which hidden ones exist."""
    if isinstance(value, list):
        return [one for one in value if (related, one) in visible]
    return value if (related, value) in visible else None
