"""What a locale lacks: documents of the default language without a translation into it."""

from __future__ import annotations

from collections.abc import Sequence

from marshmallow import Schema

from cmsmcp.capabilities._completion import other_languages, types
from cmsmcp.capabilities._documents import text
from cmsmcp.capabilities._foreign import MAX_PROMPT, NOTE, data, on_one_line
from cmsmcp.core.capability import Call, prompt
from cmsmcp.core.ports import Document
from cmsmcp.protocol.errors import InvalidArguments

_MOST_LISTED = 200
_PLANNING = """Find out what the locale {locale!r} of this site lacks against {default!r}, and propose in which order to translate it.

{total} published documents{of_type} in {default!r} have no published translation into {locale!r}{listed}.

1. Say how large the gap is, by content type.
2. Name what visitors meet first and should be translated first: pages in the menus (get_navigation), pages others link to, what is recent.
   Leave for later, or for good, what only matters to readers of {default!r}, and say why.
3. Give the plan as a table: priority, document (id), address, reason. Read a document with get_document and its id before you judge it.

A document without a translation may still be shown to visitors in a fallback language. This server changes nothing: propose."""


class Input(Schema):
    locale = text("Locale to look at, such as de", required=True)
    type = text("Only documents of this content type")


@prompt(
    scope="read:content", audit="content.audit", title="Find what a locale lacks", input=Input, example={"locale": "de"},
    complete={"locale": other_languages, "type": types}, max_result=MAX_PROMPT,
)
def locale_gaps(arguments, call: Call):
    """List the published documents that a locale has no translation of, and plan what to translate first."""
    found = call.site.types.locales()
    default, locale, kind = found["defaultLocale"], arguments["locale"], arguments.get("type")
    code = next((one for one in found["locales"] if one.casefold() == locale.casefold()), None)
    if code is None or code == default:
        others = ", ".join(one for one in found["locales"] if one != default) or "none"
        reason = "is the default locale, against which the others are compared" if code else "is no locale of this site"
        raise InvalidArguments(f"{locale[:40]!r} {reason}. Use one of: {others}.", argument="locale")
    page = call.site.content.find_untranslated(
        default, code, type=kind, visibility=call.visibility(None), limit=_MOST_LISTED, deadline=call.deadline
    )
    asking = _PLANNING.format(
        locale=code, default=default, total=page.total, of_type=f" of the type {kind}" if kind else "",
        listed=f"; the first {len(page.items)}, by type and address, are listed below" if page.total > len(page.items) else "",
    )  # fmt: skip
    return "\n\n".join((asking, NOTE, data("documents without a translation, by content type", _lines(page.items), 28_000)))


def _lines(documents: Sequence[Document]) -> str:
    lines: list[str] = []
    for kind in dict.fromkeys(one.type for one in documents):
        those = [one for one in documents if one.type == kind]
        lines.append(f"{kind} ({len(those)})")
        lines += [f"- {one.url} | {on_one_line(one.title, 120)} | id {one.id} | {_changed(one)}" for one in those]
    return "\n".join(lines) or "(none)"


def _changed(one: Document) -> str:
    return f"changed {one.updated_at or one.date}" if one.updated_at or one.date else "no date"
