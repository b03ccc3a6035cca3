"""A document looked at before it goes live: what stands in it, what its type wants, and what the checks of the site found."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from marshmallow import Schema

from cmsmcp.capabilities._completion import languages, slugs, statuses
from cmsmcp.capabilities._documents import ALL_STATUSES, status, text
from cmsmcp.capabilities._foreign import MAX_PROMPT, NOTE, data
from cmsmcp.core.capability import Call, prompt
from cmsmcp.core.entries import Query
from cmsmcp.core.ports import Document, Visibility
from cmsmcp.protocol.errors import InvalidArguments, NotFound, ScopeRefused

_MOST_FINDINGS = 40
_CHECKING = """Audit the document below as an editor would before it is published. Judge what is there; invent nothing.

1. Must be mended first: every finding with severity error, every required field that is empty, every link in the body that leads nowhere.
2. Should be mended: findings with severity warning; a missing summary, or one over 160 characters; a title that does not say what the
   page is about; headings that skip a level; images without alternative text; links called "here"; passed dates written as future ones;
   sentences a stranger could not follow; statements that need a source.
3. Languages: which translations are missing, and whether this document needs them.

Quote the place for each point, say why it matters in one line, and give the text that should stand there instead. get_document reads
linked pages, search_content finds related ones. This server changes nothing: propose edits, by file and line where you know them.
End with one verdict: ready, ready after small edits, or not ready."""
_UNREADABLE = """This document cannot be audited yet: its file has errors, so nothing of it is served, to nobody.
Explain each finding below to its author in plain words, with the file and the line, and show the corrected line.
When they are mended, the audit can be asked for again."""


class Input(Schema):
    page = text("Slug or id of the document, or its URL beginning with /", most=1_000, required=True)
    type = text("Content type, where several have the slug")
    lang = text("Language or locale; default: the default language first")
    status = status()


@prompt(
    scope="read:content", audit="content.audit", title="Audit a page before publishing", input=Input, example={"page": "about"},
    complete={"page": slugs, "lang": languages, "status": statuses}, timeout=30.0, max_result=MAX_PROMPT, isolated=True,
)
def audit_page(arguments, call: Call):
    """Audit one document before publishing: its text, empty required fields, broken links, findings and missing translations."""
    try:
        document, around = _find(arguments, call)
    except NotFound as error:
        return _mending(arguments, error, call)
    return "\n\n".join((
        _CHECKING,
        NOTE,
        data("facts", _facts(document, around, call), 8_000),
        data("fields", document.fields, 3_000),
        data("body, Markdown; get_document with the id above reads the whole", document.body, 18_000),
    ))  # fmt: skip


def _mending(arguments: Mapping[str, Any], absent: NotFound, call: Call) -> str:
    """A file with errors of its own is no document. It is named to those alone who may see whatever is unpublished."""
    page = arguments["page"]
    try:
        around = call.visibility(ALL_STATUSES)
        hidden = _by_any_name(arguments, around, call)
    except ScopeRefused:
        raise absent from None
    except NotFound:
        pass
    else:
        raise NotFound("published document", page, hint=f"There is one with the status {hidden.status}: give that as status.")
    stem = page.strip("/").rpartition("/")[2].rpartition(":")[2].removesuffix(".md")
    findings = call.site.operations.validate(call.deadline, around)["findings"]
    own = [{"path": one["path"], **_finding(one)} for one in findings if one["path"].endswith(f"/{stem}.md")]
    if not own or around.owner is not None:
        raise absent
    return "\n\n".join((_UNREADABLE, NOTE, data("findings", own[:_MOST_FINDINGS], 16_000)))


def _find(arguments: Mapping[str, Any], call: Call) -> tuple[Document, Visibility]:
    """The document, and what may be seen around it: with an unpublished one, its unpublished neighbours."""
    asked = arguments.get("status")
    seen = call.visibility(asked)
    found = _by_any_name(arguments, seen, call)
    if seen == call.visibility(None):
        return found, seen
    around = call.visibility(ALL_STATUSES)
    return call.site.content.get_document(
        slug=None, url=None, id=found.id, type=None, lang=None, visibility=around, deadline=call.deadline
    ), around  # fmt: skip


def _by_any_name(arguments: Mapping[str, Any], seen: Visibility, call: Call) -> Document:
    page = arguments["page"]

    def get(**key: str) -> Document:
        keys: dict[str, Any] = {"slug": None, "url": None, "id": None, **key}
        return call.site.content.get_document(
            **keys, type=arguments.get("type"), lang=arguments.get("lang"), visibility=seen, deadline=call.deadline
        )

    if page.startswith("/"):
        return get(url=page)
    try:
        return get(slug=page)
    except NotFound:
        if ":" not in page:
            raise
        return get(id=page)
    except InvalidArguments as error:
        if error.data.get("argument") != "id":
            raise
        raise InvalidArguments(error.message.replace("Ask for one by id.", "Give one of these ids as page."), argument="page") from None


def _facts(document: Document, around: Visibility, call: Call) -> Mapping[str, Any]:
    kept = ("id", "type", "lang", "status", "url", "path", "title", "summary", "author", "date", "updated_at", "taxonomies")
    translated = {document.lang, *(one["lang"] for one in document.translations)}
    locales = call.site.types.locales()["locales"]
    findings = [_finding(one) for one in call.site.operations.findings(document.path, call.deadline, around)]
    return {
        "document": {name: _short(getattr(document, name)) for name in kept},
        "words": len(document.body.split()),
        "required_fields_that_are_empty": _empty(document, around, call),
        "translations": [dict(one) for one in document.translations][:20],
        "languages_without_a_translation": [code for code in locales if code not in translated][:50],
        "findings": findings[:_MOST_FINDINGS],
        "findings_left_out": max(0, len(findings) - _MOST_FINDINGS),
    }


def _empty(document: Document, around: Visibility, call: Call) -> list[str]:
    fields = call.site.types.get(document.type)["fields"]
    required = [one["name"] for one in fields if one.get("required") and one.get("relationType") != "one-to-many"]
    entry = call.site.entries.get(Query(document.type, around), document.id, call.deadline)
    return [name for name in required if _is_empty(entry.values.get(name))]


def _finding(one: Mapping[str, Any]) -> Mapping[str, Any]:
    return {"severity": one["severity"], "check": one["check"], "line": one["line"], "message": _short(one["message"])}


def _is_empty(value: Any) -> bool:
    return value is None or value == [] or (isinstance(value, str) and not value.strip())


def _short(value: Any) -> Any:
    return value if not isinstance(value, str) or len(value) <= 300 else value[:300] + " …"
