"""No SQL is made of input: whatever is asked, the texts of statements are those of harmless questions of the same shape; only what is
bound to them differs."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import Any
from urllib.parse import urlencode

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cmsmcp.api.fields import fields_of
from cmsmcp.api.parameters import OF_LIST, Site, read_list
from cmsmcp.api.query import Given, split_query
from cmsmcp.core.deadline import Deadline
from cmsmcp.core.entries import OPERATORS, Condition, Order, Query
from cmsmcp.core.ports import Visibility
from cmsmcp.protocol.errors import CallError
from cmsmcp.site.catalog import reader
from cmsmcp.site.catalog.state import note_kept
from cmsmcp.site.content.port import CatalogContent
from cmsmcp.site.definitions import load_definitions
from cmsmcp.site.entries.columns import OPERATORS_OF, columns_of
from cmsmcp.site.entries.query import askable
from cmsmcp.site.entries.store import TypedEntries

THING = """\
name: Things
tableName: things
fields:
  - {name: title, type: string}
  - {name: slug, type: uid}
  - {name: long, type: text}
  - {name: body, type: richtext}
  - {name: note, type: richtext}
  - {name: whole, type: number}
  - {name: real, type: number, subtype: float}
  - {name: flag, type: boolean}
  - {name: moment, type: datetime}
  - {name: cover, type: media}
  - {name: one, type: relation, relatedSlug: thing}
  - {name: several, type: relation, relationType: many-to-many, relatedSlug: thing}
  - {name: back, type: relation, relationType: one-to-many, relatedSlug: thing, relatedField: one}
  - {name: rows, type: array, arrayFields: [{name: label, type: string}]}
"""
FIELDS = {"long": "harmless é", "whole": 5, "real": 0.5, "flag": True, "moment": "2026-01-01", "cover": "x.png", "one": "b",
"several": ["a", "b"]}
HARMLESS: tuple[tuple[Any, ...], ...] = (("a", "absent", "é"), (5, 7, 9), (True, False), ("2026-01-01", "2026-01-02", "2026-01-03"))
MARK = "qzxj"
"""Stands in every hostile text, and in no statement."""
SCRAPS = st.sampled_from([
    "'", '"', "`", ";", "--", "/*", "*/", ")", "(", " OR 1=1", " UNION SELECT * FROM documents", ":v0", ":now", "?1", "@a", "$a", "[", "]",
    "%",
    "_", "\\", "\n", "\0", "é", "e\u0301", "e.f0", "DROP TABLE entries_1", "json_each(", "NULL", "{}", "{0}",
])  # fmt: skip
HOSTILE = st.lists(SCRAPS | st.text(st.characters(exclude_categories=["Cs"]), max_size=3), max_size=5).map(lambda parts: MARK.join(["",
*parts, ""]))

_texts: list[str] = []


class _Recorded(sqlite3.Connection):
    def execute(self, sql: str, *parameters: Any) -> sqlite3.Cursor:  # type: ignore[override]
        _texts.append(sql)
        return super().execute(sql, *parameters)


class Asked:
    """A site whose statements are written down, as they are before anything is bound."""

    def __init__(self, site: Any) -> None:
        self.site = site
        self.definitions = load_definitions(site.root)
        kind = self.definitions.types.by_slug["thing"]
        self.known = askable(columns_of(kind, self.definitions.types))
        every = self.definitions.types.all()
        fields = {one["slug"]: fields_of(one, every) for one in every}
        self.fields = fields["thing"]
        self.parameters = Site(self.definitions.config.locales.codes, lambda slug: fields[slug], lambda status: Visibility())
        self.content = CatalogContent(site.state, site.reader, lambda: self.definitions, clock=lambda: site.now)

    def texts(self, ask: Callable[[TypedEntries], Any]) -> frozenset[str]:
        """Of everything that is asked of the catalog for one question; it may be refused."""
        note_kept(self.site.state)
        self.site.reader.forget_meta()
        _texts.clear()
        try:
            ask(TypedEntries(self.site.state, self.site.reader, self.definitions, clock=lambda: self.site.now))
        except CallError:
            pass
        assert not any(MARK in text for text in _texts)
        return frozenset(_texts)

    def of_list(self, **more: Any) -> frozenset[str]:
        return self.texts(lambda store: store.list(Query("thing", Visibility(), **more), Deadline(20)))

    def of_query(self, pairs: Iterable[tuple[str, str]]) -> frozenset[str]:
        """As they come over HTTP."""
        def ask(store: TypedEntries) -> None:
            store.list(read_list(Given(split_query(urlencode(list(pairs)).encode()), OF_LIST), self.fields, self.parameters), Deadline(20))
        return self.texts(ask)


@pytest.fixture(scope="module")
def asked(make_site: Any) -> Iterator[Asked]:
    documents = {f"things/{slug}.md": {"title": slug, "fields": FIELDS, "body": "harmless é"} for slug in ("a", "b", "c")}
    site = make_site({"thing": THING}, documents)
    site.reader.close()
    connect = sqlite3.connect
    patch = pytest.MonkeyPatch()
    patch.setattr(reader.sqlite3, "connect", lambda *words, **named: connect(*words, **named, factory=_Recorded))
    yield Asked(site)
    patch.undo()
    site.reader.close()


def conditions(asked: Asked) -> list[tuple[str, str]]:
    return [(name, operator) for name, column in asked.known.items() for operator in OPERATORS_OF[column.kind]]


@cache
def of_harmless(asked: Asked, field: str, operator: str, count: int) -> frozenset[str]:
    """The texts there are for a condition of this shape, whether or not it finds something."""
    found = asked.of_list()
    for values in HARMLESS:
        for value in [values[:count]] if operator in ("in", "nin") else values:
            found |= asked.of_list(conditions=(Condition(field, operator, value),))
    return found


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_a_value_never_gets_into_a_statement(asked: Asked, data: st.DataObject) -> None:
    """Any field, any operator; texts, and what only looks like one of another type."""
    field, operator = data.draw(st.sampled_from(conditions(asked)))
    hostile = HOSTILE | st.integers() | st.floats() | st.booleans() | st.none() | st.binary(max_size=3)
    values = data.draw(st.lists(hostile, min_size=1, max_size=3, unique_by=repr))
    value: Any = tuple(values) if operator in ("in", "nin") else values[0]
    allowed = of_harmless(asked, field, operator, len(values) if operator in ("in", "nin") else 1)
    assert asked.of_list(conditions=(Condition(field, operator, value),)) <= allowed


NAMES = ("type", "locale", "fallbacks", "condition", "operator", "order", "fields", "populate", "cursor")


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(place=st.sampled_from(NAMES), text=HOSTILE)
def test_a_name_never_gets_into_a_statement(asked: Asked, place: str, text: str) -> None:
    """Of a type, locale, field, operator, order, path; a cursor: refused, or no more than what is always asked."""
    more: dict[str, Any] = {
        "type": {}, "locale": {"locale": text}, "fallbacks": {"locale": "de", "fallbacks": (text,)},
        "condition": {"conditions": (Condition(text, "eq", "a"),)}, "operator": {"conditions": (Condition("title", text, "a"),)},
        "order": {"order": (Order(text),)}, "fields": {"fields": frozenset({text})}, "populate": {"populate": (text,)},
        "cursor": {"cursor": text},
    }[place]  # fmt: skip
    allowed = asked.of_list() | asked.of_list(locale="de", fallbacks=("en",))
    found = asked.texts(lambda store: store.list(Query(text if place == "type" else "thing", Visibility(), **more), Deadline(20)))
    assert found <= allowed
    assert place in ("fields", "cursor") or not any("entries_" in sql for sql in found)


PARAMETERS = ("page", "limit", "cursor", "sort", "order", "author", "locale", "fallback", "fields", "select", "exclude", "populate",
"format",
              "status")  # fmt: skip


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_a_parameter_never_gets_into_a_statement(asked: Asked, data: st.DataObject) -> None:
    """Names and values as they come over HTTP."""
    field = data.draw(st.sampled_from(list(asked.known)) | HOSTILE)
    operator = data.draw(st.sampled_from(OPERATORS) | HOSTILE)
    name = data.draw(st.sampled_from(PARAMETERS) | HOSTILE | st.just(f"filters[{field}][{operator}]"))
    text = data.draw(HOSTILE)
    allowed = asked.of_list() | of_author(asked)
    if name.startswith("filters[") and (field, operator) in conditions(asked):
        allowed |= frozenset().union(*(of_harmless(asked, field, operator, count) for count in (1, 2, 3)))
        text = text.replace(",", "")
    assert asked.of_query([(name, text)]) <= allowed


@cache
def of_author(asked: Asked) -> frozenset[str]:
    return of_harmless(asked, "author", "eq", 1)


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=HOSTILE)
def test_what_names_one_entry_never_gets_into_a_statement(asked: Asked, text: str) -> None:
    """By id or slug; an author; a search and what narrows it."""
    allowed = frozenset().union(*(of_one(asked, ref) for ref in ("a", "en:thing:a", "de:thing:a", "absent", "é")))
    assert of_one(asked, text) <= allowed


def of_one(asked: Asked, ref: str) -> frozenset[str]:
    deadline = Deadline(20)
    found = asked.texts(lambda store: store.get(Query("thing", Visibility(), populate=("one", "several.one")), ref, deadline))
    found |= asked.texts(lambda store: asked.content.get_author(ref, visibility=Visibility(), deadline=deadline))
    for type_, lang in ((None, None), (ref, None), (None, ref)):
        found |= asked.texts(lambda store, type_=type_, lang=lang: asked.content.list_documents(
            type=type_, lang=lang, taxonomy={}, visibility=Visibility(), updated_after=None, updated_before=None, limit=5, cursor=None,
            deadline=deadline,
        ))  # fmt: skip
    return found


def test_statements_of_entries_are_there_to_be_compared(asked: Asked) -> None:
    """What the others compare would else be nothing."""
    plain = asked.of_list()
    assert any("FROM entries_" in sql for sql in plain) and any("FROM bodies" in sql or "JOIN bodies" in sql for sql in plain)
    assert len({of_harmless(asked, field, operator, 1) for field, operator in conditions(asked)}) > 30
    assert asked.of_query([("filters[title][eq]", "a")]) <= of_harmless(asked, "title", "eq", 1)
