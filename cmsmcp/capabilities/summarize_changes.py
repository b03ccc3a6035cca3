"""What changed on the site since a date, by content type."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from marshmallow import Schema

from cmsmcp.capabilities._completion import languages, types
from cmsmcp.capabilities._documents import MAX_LIMIT, text
from cmsmcp.capabilities._foreign import MAX_PROMPT, NOTE, data, on_one_line
from cmsmcp.core.capability import Call, prompt
from cmsmcp.core.ports import Document
from cmsmcp.protocol.errors import InvalidArguments

_MOST_LISTED = 300
_TELLING = """Summarise what changed on this site since {since} for somebody who was away.

{total} published documents{of_type} have a date of change, or else of publication, on or after it{listed}.

1. One paragraph: what matters most, in plain words.
2. By content type: what is new and what was changed, grouped by subject rather than listed one by one, each with its address.
   A document whose date of publication is on or after {since} is new.
3. What a reader, an editor or a partner should now do or know.

The list holds titles and summaries alone; read with get_document, by id, what you are going to describe. What was deleted or withdrawn
does not show here, and a document that names no date does not either: say so if it matters."""


class Input(Schema):
    since = text("Date or time, such as 2026-03-06 or 2026-03-06T10:00:00Z", most=40, required=True)
    type = text("Only documents of this content type")
    lang = text("Only documents in this language")


@prompt(
    scope="read:content", audit="content.audit", title="Summarise changes since a date", input=Input, example={"since": "2026-01-01"},
    complete={"type": types, "lang": languages}, max_result=MAX_PROMPT,
)
def summarize_changes(arguments, call: Call):
    """Summarise what was published or changed since a date, by content type."""
    since, kind = arguments["since"], arguments.get("type")
    total, documents = _changed(arguments, call)
    asking = _TELLING.format(
        since=since, total=total, of_type=f" of the type {kind}" if kind else "",
        listed=f"; {len(documents)} of them are listed, list_documents with updated_after has all" if total > len(documents) else "",
    )  # fmt: skip
    return "\n\n".join((asking, NOTE, data("changed documents, by content type, newest first", _lines(documents), 28_000)))


def _changed(arguments: Mapping[str, Any], call: Call) -> tuple[int, Sequence[Document]]:
    """How many there are, and the first ones by address."""
    documents: list[Document] = []
    cursor: str | None = None
    while True:
        try:
            page = call.site.content.list_documents(
                type=arguments.get("type"), lang=arguments.get("lang"), taxonomy={}, visibility=call.visibility(None),
                updated_after=arguments["since"], updated_before=None, limit=MAX_LIMIT, cursor=cursor, deadline=call.deadline,
            )  # fmt: skip
        except InvalidArguments as error:
            if error.data.get("argument") != "updated_after":
                raise
            raise InvalidArguments(error.message.replace("updated_after", "since", 1), argument="since") from None
        documents += page.items
        cursor = page.next_cursor
        if cursor is None or len(documents) >= _MOST_LISTED:
            return page.total, documents


def _lines(documents: Sequence[Document]) -> str:
    lines: list[str] = []
    for kind in sorted({one.type for one in documents}):
        those = sorted((one for one in documents if one.type == kind), key=_moment, reverse=True)
        lines.append(f"{kind} ({len(those)})")
        for one in those:
            published = f"published {one.date}" if one.date else "no date of publication"
            lines.append(f"- {_moment(one)} | {one.lang} | {one.url} | {on_one_line(one.title, 120)} | id {one.id} | {published}")
            if one.summary:
                lines.append(f"  {on_one_line(one.summary, 160)}")
    return "\n".join(lines) or "(none)"


def _moment(one: Document) -> str:
    return one.updated_at or one.date or ""
