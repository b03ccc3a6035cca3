"""The grammar of `/api`'s query string, without a server: what is read, what is refused, and that nothing is ignored (docs/api.md)."""

from __future__ import annotations

import math
from typing import Any
from urllib.parse import urlencode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cmsmcp.api.fields import Fields, fields_of
from cmsmcp.api.filters import read_filters, write_filter
from cmsmcp.api.parameters import OF_ENTRY, OF_LIST, Site, read_entry, read_list
from cmsmcp.api.query import MAX_PARAMETERS, MAX_QUERY, Given, split_query
from cmsmcp.api.values import Misread, join_list, read_moment, read_number, read_whole, split_list
from cmsmcp.core.entries import MAX_CONDITIONS, MAX_LISTED, MAX_ORDERS, Condition, Order, Query
from cmsmcp.core.ports import Visibility
from cmsmcp.protocol.errors import InvalidArguments

DISH: dict[str, Any] = {
    "slug": "dish", "kind": "collection", "tableName": "dishes", "fields": [
        {"name": "title", "type": "string"}, {"name": "servings", "type": "number"},
        {"name": "price", "type": "number", "subtype": "float"}, {"name": "vegan", "type": "boolean"},
        {"name": "served_at", "type": "datetime"}, {"name": "recipe", "type": "richtext"}, {"name": "photo", "type": "media"},
        {"name": "steps", "type": "array"}, {"name": "api_key", "type": "string"},
        {"name": "cook", "type": "relation", "relatedTable": "cooks"},
        {"name": "with", "type": "relation", "relationType": "many-to-many", "relatedSlug": "dish"},
    ],
}  # fmt: skip
COOK: dict[str, Any] = {
    "slug": "cook", "kind": "collection", "tableName": "cooks", "fields": [
        {"name": "title", "type": "string"}, {"name": "author", "type": "text"},
        {"name": "boss", "type": "relation", "relatedSlug": "cook"},
        {"name": "dishes", "type": "relation", "relationType": "one-to-many", "relatedSlug": "dish"},
    ],
}  # fmt: skip
TYPES = [COOK, DISH]
FIELDS = fields_of(DISH, TYPES)


def _of(slug: str) -> Fields:
    return fields_of(next(kind for kind in TYPES if kind["slug"] == slug), TYPES)


SITE = Site(("en", "de", "de-AT"), _of, lambda status: Visibility())


def asked(query: str) -> Query:
    return read_list(Given(split_query(query.encode()), OF_LIST), FIELDS, SITE)


def refused(query: str) -> InvalidArguments:
    with pytest.raises(InvalidArguments) as caught:
        asked(query)
    return caught.value


def test_a_declared_field_comes_before_what_every_entry_has() -> None:
    """docs/api.md, An entry."""
    assert _of("cook").by_name["author"].type == "text"
    assert FIELDS.names[0] == "id" and FIELDS.names[1:3] == ("title", "servings") and FIELDS.names[-1] == "locale"
    assert FIELDS.by_name["cook"].related == "cook"


def test_nothing_given_asks_for_the_first_twenty() -> None:
    assert asked("") == Query("dish", Visibility())


def test_filters_are_typed_by_their_field() -> None:
    query = (
        "filters[title]=a%20b&filters[servings][gte]=4&filters[price][lt]=1.5&filters[vegan]=true&filters[served_at][gt]=2026-03-06"
        "&filters[cook][in]=ada,en:cook:bob&filters[recipe][contains]=salt&filters[photo][null]=false"
    )
    assert asked(query).conditions == (
        Condition("title", "eq", "a b"), Condition("servings", "gte", 4), Condition("price", "lt", 1.5), Condition("vegan", "eq", True),
        Condition("served_at", "gt", "2026-03-06"), Condition("cook", "in", ("ada", "en:cook:bob")),
        Condition("recipe", "contains", "salt"), Condition("photo", "null", False),
    )  # fmt: skip


def test_author_is_a_filter_with_a_name_of_its_own() -> None:
    assert asked("author=Ada").conditions == (Condition("author", "eq", "Ada"),)
    assert refused("author=").data["argument"] == "author"
    assert "more than once" in refused("author=Ada&filters[author]=Bob").message


@pytest.mark.parametrize(
    ("query", "argument", "told"),
    [
        ("filters[titel]=x", "filters[titel]", "Did you mean title?"),
        ("filters[nope]=x", "filters[nope]", "Fields to filter by: id, title, servings, price"),
        ("filters[title][like]=x", "filters[title][like]", "Operators of title: eq, ne, in, nin, lt, lte, gt, gte, contains, null"),
        ("filters[vegan][gt]=true", "filters[vegan][gt]", "Operators of vegan: eq, ne, null"),
        ("filters[steps]=x", "filters[steps]", "Operators of steps: null"),
        ("filters[api_key][contains]=a", "filters[api_key][contains]", "cannot be filtered in dish"),
        ("filters", "filters", "filters[field][operator]=value"),
        ("filters[title", "filters[title", "filters[field][operator]=value"),
        ("filters[title][eq][x]=1", "filters[title][eq][x]", "filters[field][operator]=value"),
        ("filters[title][]=1", "filters[title][]", "no operator ''"),
        ("filters[]=1", "filters[]", "is no field of dish"),
        ("filters[title]=a&filters[title][eq]=a", "filters[title][eq]", "more than once"),
        ("filters[title]=", "filters[title]", "needs a value"),
        ("filters[title]=%00", "filters[title]", "NUL"),
        ("filters[title][in]=a,,b", "filters[title][in]", "needs a value"),
        ("filters[title][in]=a,a", "filters[title][in]", "more than once"),
        ("filters[title][in]=a%5Cn", "filters[title][in]", "backslash"),
        ("filters[title][in]=a%5C", "filters[title][in]", "backslash"),
        ("filters[servings]=4.0", "filters[servings]", "whole number"),
        ("filters[servings]=4x", "filters[servings]", "whole number"),
        ("filters[servings]=9223372036854775808", "filters[servings]", "whole number"),
        ("filters[servings]=99999999999999999999", "filters[servings]", "whole number"),
        ("filters[price]=nan", "filters[price]", "must be a number"),
        ("filters[price]=1e999", "filters[price]", "must be a number"),
        ("filters[price]=%D9%A3", "filters[price]", "must be a number"),
        ("filters[vegan]=yes", "filters[vegan]", "true or false"),
        ("filters[vegan]=1", "filters[vegan]", "true or false"),
        ("filters[served_at]=soon", "filters[served_at]", "date or time"),
        ("filters[served_at]=2026-02-30", "filters[served_at]", "date or time"),
        ("filters[served_at]=2026-03-06T10:00:00+02:00", "filters[served_at]", "%2B"),
        ("filters[served_at][null]=maybe", "filters[served_at][null]", "true or false"),
        ("sort=api_key", "sort", "Fields to sort by: id, title"),
        ("sort=cook", "sort", "cannot be sorted by 'cook'"),
        ("sort=title,-title", "sort", "more than once"),
        ("sort=title,title", "sort", "more than once"),
        ("sort=", "sort", "none of them blank"),
        ("sort=--title", "sort", "cannot be sorted by '-title'"),
        ("order=desc", "order", "goes with a sort by one field"),
        ("sort=-title&order=asc", "order", "goes with a sort by one field"),
        ("sort=title,price&order=asc", "order", "goes with a sort by one field"),
        ("sort=title&order=DESC", "order", "asc, desc"),
        ("page=0", "page", "from 1 to 10000"),
        ("page=10001", "page", "from 1 to 10000"),
        ("page=1&cursor=x", "cursor", "page and cursor cannot be given together"),
        ("limit=0", "limit", "from 1 to 100"),
        ("limit=101", "limit", "from 1 to 100"),
        ("limit=5x", "limit", "from 1 to 100"),
        ("fields=title,nope", "fields", "dish has no field 'nope'"),
        ("select=nope", "select", "Fields: id, title"),
        ("exclude=id", "exclude", "always sent"),
        ("fields=title&select=title", "select", "cannot be given together"),
        ("select=title&exclude=price", "exclude", "cannot be given together"),
        ("populate=title", "populate", "Relations: cook, with"),
        ("populate=cook.title", "populate", "'title' is no relation of cook. Relations: boss, dishes"),
        ("populate=cook.boss.boss", "populate", "2 is the most"),
        ("populate=*", "populate", "Relations: cook, with"),
        ("populate=", "populate", "none of them blank"),
        ("fields=title&populate=cook", "populate", "cook is not among the fields"),
        ("locale=xx", "locale", "Locales: en, de, de-AT"),
        ("fallback=de", "fallback", "needs locale"),
        ("locale=de&fallback=en,xx", "fallback", "no locale 'xx'"),
        ("format=pdf", "format", "markdown, html"),
        ("titel=x", "titel", "Known here: page, limit, cursor, sort, order, filters[field][operator], author"),
        ("limti=5", "limti", "Did you mean limit?"),
        ("limit=5&limit=5", "limit", "more than once"),
        ("=x", "", "Unknown parameter ''"),
    ],
)  # fmt: skip
def test_what_cannot_be_meant_is_refused_by_name(query: str, argument: str, told: str) -> None:
    """Issue 5: refused by name with the list of what exists; nothing is ignored in silence."""
    error = refused(query)
    assert error.data.get("argument", "") == argument
    assert told in error.message


def test_orders_and_projections() -> None:
    assert asked("sort=-price,title").order == (Order("price", True), Order("title"))
    assert asked("sort=title&order=desc").order == (Order("title", True),)
    assert asked("sort=title&order=asc").order == (Order("title"),)
    assert asked("fields=title,cook&populate=cook.boss,cook").fields == {"title", "cook"}
    assert asked("exclude=recipe,steps").fields == frozenset(FIELDS.names) - {"recipe", "steps"}
    read = asked("locale=DE_at&fallback=de,en&format=html&populate=cook.dishes,with")
    assert (read.locale, read.fallbacks, read.html, read.populate) == ("de-AT", ("de", "en"), True, ("cook.dishes", "with"))


def test_an_entry_takes_no_parameter_of_lists() -> None:
    given_ = Given(split_query(b"fields=title&format=html"), OF_ENTRY)
    assert read_entry(given_, FIELDS, SITE) == Query("dish", Visibility(), fields=frozenset({"title"}), html=True)
    for query in (b"page=1", b"sort=title", b"filters[title]=x", b"author=x"):
        with pytest.raises(InvalidArguments, match="Known here: locale, fallback, fields, select, exclude, populate, format, status"):
            Given(split_query(query), OF_ENTRY)


def test_every_bound_is_held() -> None:
    names = ["title", "servings", "price", "served_at", "id", "status"]
    assert len(names) > MAX_ORDERS and refused(f"sort={','.join(names)}").data["argument"] == "sort"
    assert "at most 100" in refused(f"filters[servings][in]={','.join(map(str, range(MAX_LISTED + 1)))}").message
    operators = ("eq", "ne", "lt", "lte", "gt", "gte", "contains")
    many = "&".join(f"filters[{name}][{operator}]=1" for name in ("title", "photo", "id") for operator in operators)
    assert many.count("&") >= MAX_CONDITIONS and refused(many).data["argument"] == "filters"
    for query in (b"&".join(b"a=1" for _ in range(MAX_PARAMETERS + 1)), b"q=" + b"a" * MAX_QUERY, b"q=\xff", b"q=%FF"):
        with pytest.raises(InvalidArguments):
            split_query(query)


texts = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), min_size=1, max_size=20)
moments = st.dates().map(str) | st.datetimes(timezones=st.none() | st.timezones()).map(
    lambda moment: moment.replace(tzinfo=None).isoformat(timespec="milliseconds") + "Z"
)
wholes = st.integers(-(2**63) + 1, 2**63 - 1)
VALUES: dict[str, st.SearchStrategy[Any]] = {
    "title": texts, "servings": wholes, "price": wholes | st.floats(allow_nan=False, allow_infinity=False).map(lambda x: round(x, 6)),
    "vegan": st.booleans(), "served_at": moments, "cook": texts, "with": texts, "photo": texts, "recipe": texts, "author": texts,
}  # fmt: skip


@st.composite
def conditions(draw: st.DrawFn) -> Condition:
    field = FIELDS.by_name[draw(st.sampled_from(sorted(VALUES)))]
    operator = draw(st.sampled_from(field.operators))
    one = texts if operator == "contains" else VALUES[field.name]
    if operator == "null":
        return Condition(field.name, operator, draw(st.booleans()))
    if operator in ("in", "nin"):
        return Condition(field.name, operator, tuple(draw(st.lists(one, min_size=1, max_size=5, unique=True))))
    return Condition(field.name, operator, draw(one))


@given(st.lists(conditions(), max_size=8, unique_by=lambda one: (one.field, one.operator)))
def test_a_condition_that_is_written_is_read_again(wanted: list[Condition]) -> None:
    """Round trip through the query string, whatever is in the values."""
    query = urlencode([write_filter(condition) for condition in wanted])
    assert read_filters(split_query(query.encode()), FIELDS) == tuple(wanted)


@given(st.lists(st.text(), min_size=1))
def test_a_list_that_is_joined_is_split_again(values: list[str]) -> None:
    assert split_list(join_list(values)) == values


WORDS = [
    "filters", "[", "]", "title", "price", "eq", "in", "null", "sort", "page", "limit", "cursor", "fields", "select", "exclude", "populate",
    "cook", "boss", ".", "locale", "fallback", "de", "format", "html", "order", "desc", "author", "status", "=", "=", "&", "&", ",", "-",
    "%", "%5C", "1", "true", "\\", "é", "+",
]  # fmt: skip


@given(st.binary(max_size=100) | st.lists(st.sampled_from(WORDS), max_size=30).map(lambda words: "".join(words).encode()))
def test_any_query_string_is_read_or_refused(query: bytes) -> None:
    """Never a crash; and what is read holds every name that was given."""
    for known, read in ((OF_LIST, read_list), (OF_ENTRY, read_entry)):
        try:
            pairs = split_query(query)
            read(Given(pairs, known), FIELDS, SITE)
        except InvalidArguments as error:
            assert error.message
        else:
            assert all(name in known or name.startswith("filters[") for name, _ in pairs)


@given(st.text(max_size=40))
def test_numbers_and_times_are_whole_or_refused(text: str) -> None:
    for read in (read_whole, read_number, read_moment):
        try:
            value = read(text)
        except Misread:
            continue
        assert isinstance(value, str) or math.isfinite(value)
        assert text.isascii() and text[:1].isdigit() or text[:1] == "-"
