"""One content file as the catalog keeps it: plain rows, so that a process beside this one can make them and send them cheaply.

Knows the columns of `catalog_schema` and the shapes of `model`, nothing of SQLite.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from hashlib import blake2b
from typing import Any, NamedTuple

from cmsmcp.site.catalog.schema import FOREVER
from cmsmcp.site.entries.filling import Typed
from cmsmcp.site.entries.tables import TypedDocument, own_values
from cmsmcp.site.model import BodyScan, Diagnostic, ParsedDocument
from cmsmcp.site.times import read_moment

COLUMNS = (
    "path", "id", "type", "lang", "slug", "url", "key", "title", "status", "publish_at", "unpublish_at", "owner", "moment", "layout",
    "summary", "author", "last_editor", "date", "created_at", "updated_at", "taxonomies", "fields", "params", "digest",
)  # fmt: skip
"""Of `documents`, in the order of `Entry.document`."""


DIGEST_BYTES = 12


class FileState(NamedTuple):
    """What tells an unchanged file from a changed one: size in bytes, mtime in nanoseconds, inode."""

    size: int
    mtime_ns: int
    inode: int


class Entry(NamedTuple):
    """A tuple, because it travels between processes at half the cost of a dataclass.

    `document` are COLUMNS, or None when the file cannot be served; the rest are rows of the tables so named, without `row`.

    `typed` goes into the table of its type."""

    path: str
    state: FileState
    diagnostics: tuple[tuple[Any, ...], ...]
    document: tuple[Any, ...] | None = None
    body: tuple[Any, ...] = ()
    terms: tuple[tuple[str, str], ...] = ()
    links: tuple[tuple[str, str, int], ...] = ()
    anchors: tuple[str, ...] = ()
    typed: Typed = Typed()


class Searchable(NamedTuple):
    """What the search index takes of a document. `owner` is folded; the bounds are in milliseconds, None where there is none.
    `words` are those of its fields."""

    title: str
    slug: str
    summary: str
    lang: str
    type: str
    status: str
    publish_at: int | None
    unpublish_at: int | None
    owner: str
    taxonomies: Mapping[str, Sequence[str]]
    text: str
    headings: Sequence[str]
    words: str


def searchable_of(document: ParsedDocument, scan: BodyScan, words: str) -> Searchable:
    return Searchable(
        document.title, document.slug, document.summary, document.lang, document.type, document.status, document.publish_at,
        document.unpublish_at, document.owner.casefold(), document.taxonomies, scan.text, scan.headings, words,
    )  # fmt: skip


def diagnostic_row(one: Diagnostic) -> tuple[Any, ...]:
    return one.path, one.severity, one.check, one.line, one.message


def unserved_entry(path: str, state: FileState, diagnostics: tuple[Diagnostic, ...]) -> Entry:
    return Entry(path, state, tuple(map(diagnostic_row, diagnostics)))


def served_entry(
    state: FileState, document: ParsedDocument, scan: BodyScan, words: str, *, diagnostics: tuple[Diagnostic, ...], typed: Typed
) -> Entry:
    """`words` are those of its fields that search finds it by."""
    return Entry(
        document.path, state, tuple(map(diagnostic_row, diagnostics)),
        document=_columns(document),
        body=(document.body, document.body_line, scan.text, json.dumps(scan.headings, ensure_ascii=False), words),
        terms=tuple({(name, term) for name, values in document.taxonomies.items() for term in values}),
        links=tuple((link.target, link.kind, link.line) for link in scan.links),
        anchors=tuple(scan.anchors),
        typed=typed,
    )  # fmt: skip


def typed_documents(entries: Iterable[tuple[int, Entry]]) -> dict[str, list[TypedDocument]]:
    """Those of (row, entry) that are served, by the slug of their type."""
    found: dict[str, list[TypedDocument]] = {}
    for row, entry in entries:
        if entry.document is not None:
            document = dict(zip(COLUMNS, entry.document, strict=True))
            found.setdefault(document["type"], []).append((own_values(row, document), *entry.typed))
    return found


def _columns(document: ParsedDocument) -> tuple[Any, ...]:
    moment = _moment(document.updated_at or document.date)
    return (
        document.path, document.id, document.type, document.lang, document.slug, document.url, document.key, document.title,
        document.status, document.publish_at or 0, FOREVER if document.unpublish_at is None else document.unpublish_at,
        document.owner.casefold(), moment, document.layout, document.summary,
        document.author, document.last_editor, document.date, document.created_at, document.updated_at,
        _json(document.taxonomies), _json(document.fields), _json(document.params), _digest(document),
    )  # fmt: skip


def _digest(document: ParsedDocument) -> bytes:
    """Of all that readers see of it: not of what decides whether they may, which others are told apart by."""
    seen = replace(document, status="", publish_at=None, unpublish_at=None, owner="", body_line=0)
    return blake2b(repr(seen).encode("utf-8", "surrogatepass"), digest_size=DIGEST_BYTES).digest()


def _json(value: Mapping[str, Any]) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=list) if value else "{}"


def _moment(value: str | None) -> int | None:
    """Milliseconds since 1970 of a date or time that was read before."""
    found = read_moment(value) if value else None
    return found.ms if found else None
