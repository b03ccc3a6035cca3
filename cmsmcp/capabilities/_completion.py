"""Completers shared by prompts and resource templates: what exists on the site and may be named to anybody who may ask.

Documents are named only if they are published, whatever the caller may see (C-03).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from cmsmcp.capabilities._documents import ALL_STATUSES
from cmsmcp.core.capability import Call
from cmsmcp.core.ports import STATUSES
from cmsmcp.protocol.errors import InvalidArguments, ScopeRefused

MOST = 1_001
"""One more than `core.completion` looks at, so that it knows of more."""

Others = Mapping[str, str]


def slugs(typed: str, others: Others, call: Call) -> Iterable[str]:
    """Of documents; of the type and language among the other arguments, if any."""
    return _slugs(typed, others.get("type"), others.get("lang"), call)


def page_slugs(typed: str, _others: Others, call: Call) -> Iterable[str]:
    return _slugs(typed, "page", None, call)


def types(_typed: str, _others: Others, call: Call) -> Iterable[str]:
    return sorted(kind["slug"] for kind in call.site.types.all())


def languages(_typed: str, _others: Others, call: Call) -> Iterable[str]:
    return call.site.types.locales()["locales"]


def other_languages(_typed: str, _others: Others, call: Call) -> Iterable[str]:
    """All but the default one."""
    found = call.site.types.locales()
    return [code for code in found["locales"] if code != found["defaultLocale"]]


def themes(_typed: str, _others: Others, call: Call) -> Iterable[str]:
    return call.site.themes.names()


def plugins(_typed: str, _others: Others, call: Call) -> Iterable[str]:
    return call.site.plugins.names()


def docs_paths(typed: str, _others: Others, call: Call) -> Iterable[str]:
    return [file["path"] for file in call.site.docs.list_files(call.deadline) if typed.casefold() in file["path"].casefold()]


def statuses(_typed: str, _others: Others, call: Call) -> Iterable[str]:
    """Those that the caller may ask for."""
    return [status for status in (*STATUSES, ALL_STATUSES) if _may_ask(status, call)]


def _may_ask(status: str, call: Call) -> bool:
    try:
        call.visibility(status)
    except ScopeRefused:
        return False
    return True


def _slugs(typed: str, type: str | None, lang: str | None, call: Call) -> Iterable[str]:
    try:
        return call.site.content.find_slugs(
            typed, type=type, lang=lang, visibility=call.visibility(None), limit=MOST, deadline=call.deadline
        )
    except InvalidArguments:  # there is no such type or language: nothing of it can be named
        return ()
