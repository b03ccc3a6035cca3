"""One document by slug, URL or id (F15), in the locale asked for or the nearest fallback (C045).

A hidden document and an absent one are told apart nowhere: every query sees visible rows only (C049).
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cmsmcp.core.deadline import Deadline
from cmsmcp.core.ports import Document, Visibility
from cmsmcp.protocol.errors import InvalidArguments, NotFound
from cmsmcp.site.catalog.reader import CatalogReader
from cmsmcp.site.catalog.rows import SUMMARY_COLUMNS, to_document
from cmsmcp.site.catalog.visibility import visible_sql
from cmsmcp.site.content.addresses import url_spellings
from cmsmcp.site.model import SiteConfig
from cmsmcp.site.paths import composed
from cmsmcp.site.permalinks import urls_of_path

_LISTED = 10
_MOST = 200
"""Candidates looked at. A slug that more documents share is ambiguous anyway."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What the caller gave. Languages are spelled as the site spells them; `chain` None is `lang` with the site's fallbacks."""

    slug: str | None = None
    url: str | None = None
    id: str | None = None
    type: str | None = None
    lang: str | None = None
    chain: tuple[str, ...] | None = None

    @property
    def keys(self) -> list[tuple[str, str]]:
        given = (("id", self.id), ("url", self.url), ("slug", self.slug))
        return [(name, value) for name, value in given if value is not None]


@dataclass(frozen=True, slots=True)
class _Candidate:
    row: int
    id: str
    type: str
    lang: str
    slug: str
    url: str
    key: str


class Lookup:
    """One look-up, at one moment (`now` in milliseconds), for one caller."""

    def __init__(self, reader: CatalogReader, config: SiteConfig, visibility: Visibility, now: int, deadline: Deadline) -> None:
        self._reader = reader
        self._config = config
        self._deadline = deadline
        self._visible, self._parameters = visible_sql(visibility, now)

    def get(self, wanted: Wanted) -> Document:
        if not wanted.keys:
            raise InvalidArguments("Give one of slug, url or id.", argument="slug")
        chain = self._chain(wanted.lang) if wanted.chain is None else wanted.chain
        found = self._candidates(wanted.keys, wanted.type)
        if not found:
            raise self._why_nothing(wanted)
        if chain:
            fitting = [one for one in found if one.lang in chain]
            if not fitting:
                raise self._missing(wanted.keys[0][1], self._elsewhere(found, chain))
            found = self._nearest(fitting, chain)
        chosen = self._choose(found)
        if chain and wanted.id is None and wanted.url is None:
            chosen = self._translated(chosen, chain)
        return self._load(chosen, wanted.lang)

    def _chain(self, lang: str | None) -> tuple[str, ...]:
        return (lang, *self._config.locales.fallbacks.get(lang, ())) if lang else ()

    def _candidates(self, keys: Sequence[tuple[str, str]], type_: str | None) -> list[_Candidate]:
        found = self._matching(keys, type_, "url")
        if not found and self._config.permalinks and any(name == "url" for name, _ in keys):
            found = self._matching(keys, type_, "lower(url)")
            return found if len({one.url for one in found}) == 1 else []
        urls = next((url_spellings(value, self._config) for name, value in keys if name == "url"), [])
        nearest = next((url for url in urls if any(one.url == url for one in found)), None)
        return [one for one in found if nearest in (None, one.url)]

    def _matching(self, keys: Sequence[tuple[str, str]], type_: str | None, url: str) -> list[_Candidate]:
        """`url` is the column, or what is made of it, for that key: where addresses are made of folders, most generators lower them."""
        where, parameters = self._visible, dict(self._parameters)
        for name, value in keys:
            spelled = url_spellings(value, self._config) if name == "url" else [composed(value)]
            if name == "url" != url:
                spelled = list(map(str.lower, spelled))
            where += f" AND ({url if name == 'url' else name} IN (SELECT value FROM json_each(:{name}))"
            where += " OR url IN (SELECT value FROM json_each(:paths)))" if name == "slug" and self._config.permalinks else ")"
            parameters[name] = json.dumps(spelled)
            if name == "slug":
                parameters["paths"] = json.dumps(urls_of_path(self._config, composed(value), type_))
        if type_ is not None:
            where, parameters["type"] = f"{where} AND type = :type", type_
        return self._query(where, parameters)

    def _query(self, where: str, parameters: Mapping[str, Any]) -> list[_Candidate]:
        rows = self._reader.rows(
            f"SELECT row, id, type, lang, slug, url, key FROM documents WHERE {where} ORDER BY id LIMIT {_MOST}", parameters, self._deadline
        )
        return [_Candidate(*row) for row in rows]

    def _nearest(self, found: list[_Candidate], chain: Sequence[str]) -> list[_Candidate]:
        """Those in the first language of the chain that has any."""
        return next((some for code in chain if (some := [one for one in found if one.lang == code])), [])

    def _choose(self, found: list[_Candidate]) -> _Candidate:
        """The default language before others, page before post before the rest; more than one left is an error that lists ids."""
        found = [one for one in found if one.lang == self._config.default_lang] or found
        for type_ in ("page", "post"):
            found = [one for one in found if one.type == type_] or found
        if len(found) > 1:
            ids = ", ".join(one.id for one in found[:_LISTED])
            more = f" and {len(found) - _LISTED} more" if len(found) > _LISTED else ""
            raise InvalidArguments(f"Several documents fit: {ids}{more}. Ask for one by id.", argument="id")
        return found[0]

    def _translated(self, chosen: _Candidate, chain: Sequence[str]) -> _Candidate:
        """The same document in a language nearer to the one asked for, whatever its slug there."""
        nearer = chain[: chain.index(chosen.lang)]
        return next((one for code in nearer for one in self._siblings(chosen) if one.lang == code), chosen)

    def _siblings(self, chosen: _Candidate) -> list[_Candidate]:
        """Visible translations: same type and path below the language folder, else the same type and slug (docs/rules.md, Odd places),
        which under `:path` says nothing."""
        parameters = {**self._parameters, "type": chosen.type, "key": chosen.key, "slug": chosen.slug, "row": chosen.row}
        where = f"{self._visible} AND type = :type AND row <> :row AND "
        by_slug = chosen.type not in self._config.permalinks
        found = {one.lang: one for one in self._query(f"{where} slug = :slug", parameters)} if by_slug else {}
        found |= {one.lang: one for one in self._query(f"{where} key = :key", parameters)}
        return sorted((one for one in found.values() if one.lang != chosen.lang), key=lambda one: one.lang)

    def _load(self, chosen: _Candidate, lang: str | None) -> Document:
        found = self._reader.texts(
            f"SELECT {SUMMARY_COLUMNS}, body FROM documents JOIN bodies USING (row) WHERE row = :row AND {self._visible}",
            {**self._parameters, "row": chosen.row},
            self._deadline,
        )
        if not found:  # gone or hidden since it was chosen
            raise NotFound("document", chosen.id)
        values = found[0]
        translations = [{"lang": one.lang, "id": one.id, "url": one.url} for one in self._siblings(chosen)]
        return to_document(values[:-1], locale=lang, body=values[-1], translations=translations)

    def _why_nothing(self, wanted: Wanted) -> Exception:
        """A key that finds nothing visible by itself is named; keys that each find something disagree; else the type is another."""
        for key in wanted.keys:
            if not self._candidates([key], None):
                return self._missing(key[1])
        untyped = self._candidates(wanted.keys, None)
        if untyped:
            return self._missing(wanted.keys[0][1], f"It is of type {untyped[0].type}.")
        names = " and ".join(name for name, _ in wanted.keys)
        return InvalidArguments(f"{names} name different documents. Give one of them.", argument=wanted.keys[-1][0])

    def _elsewhere(self, found: Sequence[_Candidate], chain: Sequence[str]) -> str:
        """Where a document is that no language asked for has under this name: its translation there, else the languages that have it."""
        there = self._nearest([other for one in found[:_LISTED] for other in self._siblings(one)], chain)
        if there:
            return f"Its {there[0].lang} translation is {there[0].slug!r}, id {there[0].id!r}."
        return f"It is there in {', '.join(sorted({one.lang for one in found}))}."

    def _missing(self, name: str, hint: str = "") -> NotFound:
        return NotFound("document", name, hint=hint or "search_content finds documents by their words, list_documents by type.")

