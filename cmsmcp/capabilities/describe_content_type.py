"""A content type explained to somebody who is to write code for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from marshmallow import Schema

from cmsmcp.capabilities._completion import types
from cmsmcp.capabilities._content_types import schema_uri
from cmsmcp.capabilities._documents import text
from cmsmcp.capabilities._foreign import MAX_PROMPT, NOTE, data
from cmsmcp.core.capability import Call, prompt
from cmsmcp.core.entries import Query
from cmsmcp.protocol.errors import InvalidArguments

_MOST_TEXT = 600
_EXPLAINING = """Describe the content type "{slug}" of this site to a developer who is to read and show its entries.

1. What an entry is, in two sentences, as the fields and the example show it.
2. A table of the fields: name, type, required or not, what it holds, one real value.
3. Relations: which fields lead to other types (relatedSlug, relationType), and which other types lead here.
4. A type in the developer's language (TypeScript unless asked otherwise) whose optional fields are null when absent.
5. How to read it, with one call each that works as it stands:
   - list_documents with {{"type": "{slug}", "limit": 20}}, then get_document with an id; next_cursor goes on;
   - the resource {uri}, which is the schema below;
   - over HTTP, GET /api/{slug} ({kind}) with a read-only token{entry}; ?locale= chooses the language.
6. What to watch for: empty and missing values, locales and their fallbacks, only published entries are served.

The site's schema below is what counts; ask for more entries with list_documents before you generalise from one example."""


class Input(Schema):
    type = text("Slug of the content type", required=True)


@prompt(
    scope="read:content", audit="schema.read", title="Describe a content type", input=Input, example={"type": "post"},
    complete={"type": types}, max_result=MAX_PROMPT,
)
def describe_content_type(arguments, call: Call):
    """Explain a content type to a developer: fields, rules, relations, an example entry and how to read it."""
    kind = _find(arguments["type"], call)
    slug, single = kind["slug"], kind["kind"] == "single"
    asking = _EXPLAINING.format(
        slug=slug, uri=schema_uri(slug), kind="the entry itself" if single else "a list, by limit and cursor",
        entry="" if single else f", GET /api/{slug}/<id or slug> for one entry",
    )  # fmt: skip
    total, example = _example(slug, call)
    return "\n\n".join((
        asking,
        NOTE,
        data("schema of the type", kind, 12_000),
        data("relations of other types that lead here", _incoming(kind, call.site.types.all()), 3_000),
        data(f"one of {total} published entries in the default language" if total else "no entry is published", example, 10_000),
    ))  # fmt: skip


def _find(slug: str, call: Call) -> Mapping[str, Any]:
    every = {kind["slug"]: kind for kind in call.site.types.all()}
    if slug not in every:
        raise InvalidArguments(f"No content type {slug[:40]!r}. Types: {', '.join(sorted(every)[:50])}.", argument="type")
    return every[slug]


def _example(slug: str, call: Call) -> tuple[int, Mapping[str, Any]]:
    page = call.site.entries.list(Query(slug, call.visibility(None), limit=1), call.deadline)
    return page.total, {name: _short(value) for name, value in page.items[0].values.items()} if page.items else {}


def _incoming(kind: Mapping[str, Any], every: Sequence[Mapping[str, Any]]) -> list[str]:
    return [
        f"{other['slug']}.{one['name']} ({one.get('relationType', 'relation')})"
        for other in every
        for one in other["fields"]
        if one["type"] == "relation" and _leads_to(one, kind)
    ]


def _leads_to(relation: Mapping[str, Any], kind: Mapping[str, Any]) -> bool:
    if relation.get("relatedSlug"):
        return bool(relation["relatedSlug"] == kind["slug"])
    return bool(relation.get("relatedTable") == kind["tableName"])


def _short(value: Any) -> Any:
    return f"{value[:_MOST_TEXT]} … ({len(value)} characters)" if isinstance(value, str) and len(value) > _MOST_TEXT else value
