"""One document as the search index takes it: its texts put together and folded, ready to be added.

Making it needs nothing but the document, so that processes beside the writer can do it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from tantivy import Document

from cmsmcp.site.catalog.entry import Searchable
from cmsmcp.site.catalog.visibility import index_status
from cmsmcp.site.search.query import BODY, HEAD, NAME, TITLE
from cmsmcp.site.search.text import index_text, language_of, plain_name
from cmsmcp.site.types.registry import ContentType

_TITLE_WEIGHT = 3
"""How many times a title's stems count: all stems of a document share one field."""


class SearchEntry(NamedTuple):
    """`texts` and `numbers` are the values of the fields so named (see `engine.build_schema`); a field may have several."""

    texts: tuple[tuple[str, str], ...]
    numbers: tuple[tuple[str, int], ...]


def stem_field(language: str) -> str:
    return f"stem_{language}"


def search_entry(found: Searchable) -> SearchEntry:
    title = found.title
    terms = [term for values in found.taxonomies.values() for term in values]
    head = "\n".join([found.slug, found.summary, *found.headings, *terms])
    body = f"{found.text}\n{found.words}" if found.words else found.text
    texts = [
        (NAME, plain_name(title)), ("type", found.type), ("lang", found.lang), ("owner", found.owner),
        (TITLE, index_text(title)), (HEAD, index_text(head)), (BODY, index_text(body)),
    ]  # fmt: skip
    language = language_of(found.lang)
    if language:
        texts.extend((stem_field(language), text) for text in (*[title] * _TITLE_WEIGHT, head, body))
    numbers: list[tuple[str, int]] = []
    for name, value in index_status(found.status, found.publish_at, found.unpublish_at).items():
        (texts if isinstance(value, str) else numbers).append((name, value))
    return SearchEntry(tuple(texts), tuple(numbers))


def engine_document(row: int, entry: SearchEntry) -> Document:
    """`row` is the catalog's."""
    document = Document()
    document.add_integer("row", row)
    for name, text in entry.texts:
        document.add_text(name, text)
    for name, number in entry.numbers:
        document.add_integer(name, number)
    return document


def field_words(kind: ContentType, fields: Mapping[str, Any]) -> str:
    """What a document is found by of its fields. Where a relation leads is no word of its own: it may lead to what is hidden."""
    relations = {field.name for field in kind.fields if field.type == "relation"}
    return "\n".join(leaf_texts({name: value for name, value in fields.items() if name not in relations}))


def leaf_texts(value: Any) -> Iterator[str]:
    """The words in front matter fields: every text and number, at any depth."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for inner in value.values():
            yield from leaf_texts(inner)
    elif isinstance(value, Sequence):
        for inner in value:
            yield from leaf_texts(inner)
    elif value is not None and not isinstance(value, bool):
        yield str(value)
