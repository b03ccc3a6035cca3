"""Each operator on each type of field, by examples that a person can check; and what is refused, by name and with what there is."""

from __future__ import annotations

from typing import Any

import pytest

from cmsmcp.core.deadline import Deadline
from cmsmcp.core.entries import OPERATORS, Query
from cmsmcp.core.ports import Visibility
from cmsmcp.protocol.errors import ContentTypeNotFound, InvalidArguments, NotFound

TYPES = {
    "film": """name: Films
tableName: films
fields:
  - {name: title, type: string}
  - {name: slug, type: uid}
  - {name: blurb, type: text}
  - {name: minutes, type: number}
  - {name: score, type: number, subtype: float}
  - {name: colour, type: boolean}
  - {name: shown, type: datetime}
  - {name: still, type: media}
  - {name: stills, type: media-gallery}
  - {name: menu, type: navigation}
  - {name: director, type: relation, relationType: many-to-one, relatedSlug: maker}
  - {name: cast, type: relation, relationType: many-to-many, relatedSlug: maker}
  - {name: body, type: richtext}
""".replace("name: cast,", "name: actors,"),
    "maker": "name: Makers\ntableName: makers\nfields:\n  - {name: title, type: string}\n  - {name: slug, type: uid}\n",
    "about": "name: About\nkind: single\ntableName: about\nfields:\n  - {name: title, type: string}\n  - {name: slug, type: uid}\n",
}
DOCUMENTS: dict[str, dict[str, Any]] = {
    "films/a.md": {"title": "Alpha", "body": "one *two*", "fields": {
        "blurb": "old", "minutes": 90, "score": 7.5, "colour": True, "shown": "1950-01-01", "still": "media:images/a.png",
        "stills": ["media:images/a.png"], "menu": [{"label": "x", "href": "/"}], "director": "mia", "actors": ["mia", "en:maker:noa"],
    }},
    "films/b.md": {"title": "beta", "body": "three", "fields": {
        "blurb": "older", "minutes": 120, "score": 8, "colour": False, "shown": "1950-01-01T12:00:00Z", "director": "en:maker:noa",
        "actors": ["noa"],
    }},
    "films/c.md": {"title": "Gamma", "fields": {"director": "ghost", "actors": ["ghost", "nobody"]}},
    "makers/mia.md": {"title": "Mia"}, "makers/noa.md": {"title": "Noa"}, "makers/ghost.md": {"title": "Ghost", "draft": True},
    "about/about.md": {"title": "About"}, "about/de/about.md": {"title": "Über"},
}  # fmt: skip


@pytest.fixture(scope="module")
def site(make_site: Any) -> Any:
    return make_site(TYPES, DOCUMENTS)


@pytest.mark.parametrize(
    ("field", "operator", "value", "expected"),
    [
        ("title", "eq", "Alpha", "a"), ("title", "ne", "Alpha", "bc"), ("title", "in", ("Alpha", "beta"), "ab"),
        ("title", "nin", ("beta",), "ac"),
        ("title", "in", (), ""), ("title", "nin", (), "abc"), ("title", "lt", "Gamma", "a"), ("title", "lte", "Gamma", "ac"),
        ("title", "gt", "Gamma", "b"), ("title", "gte", "Gamma", "bc"), ("title", "contains", "a", "abc"),
        ("title", "contains", "lph", "a"),
        ("title", "null", True, ""), ("title", "null", False, "abc"), ("slug", "eq", "b", "b"), ("blurb", "contains", "old", "ab"),
        ("blurb", "ne", "old", "bc"), ("blurb", "null", True, "c"), ("blurb", "contains", "%", ""), ("minutes", "eq", 90, "a"),
        ("minutes", "eq", 90.0, "a"), ("minutes", "ne", 90, "bc"), ("minutes", "in", (90, 120), "ab"), ("minutes", "nin", (90,), "bc"),
        ("minutes", "lt", 100, "a"), ("minutes", "lte", 120, "ab"), ("minutes", "gt", 90, "b"), ("minutes", "gte", 89.5, "ab"),
        ("minutes", "null", True, "c"), ("score", "eq", 8, "b"), ("score", "gt", 7.4, "ab"), ("colour", "eq", True, "a"),
        ("colour", "ne", True, "bc"), ("colour", "null", True, "c"), ("shown", "eq", "1950-01-01", "a"),
        ("shown", "eq", "1950-01-01T13:00:00+01:00", "b"), ("shown", "gt", "1950-01-01", "b"), ("shown", "lte", "1950-01-01", "a"),
        ("shown", "in", ("1950-01-01", "1951-01-01"), "a"), ("shown", "nin", ("1950-01-01",), "bc"), ("shown", "null", False, "ab"),
        ("still", "eq", "media:images/a.png", "a"), ("still", "null", True, "bc"), ("stills", "null", False, "a"),
        ("menu", "null", True, "bc"),
        ("director", "eq", "mia", "a"), ("director", "eq", "en:maker:mia", "a"), ("director", "eq", "noa", "b"),
        ("director", "ne", "mia", "bc"), ("director", "in", ("mia", "noa"), "ab"), ("director", "nin", ("noa",), "ac"),
        ("director", "null", True, "c"), ("director", "null", False, "ab"), ("director", "eq", "ghost", ""),
        ("director", "ne", "ghost", "abc"),
        ("actors", "contains", "noa", "ab"), ("actors", "eq", "mia", "a"), ("actors", "ne", "mia", "bc"),
        ("actors", "in", ("mia", "noa"), "ab"),
        ("actors", "nin", ("mia", "ghost"), "bc"), ("actors", "null", True, "c"), ("actors", "contains", "ghost", ""),
        ("body", "contains", "two", "a"), ("body", "null", True, "c"), ("id", "eq", "en:film:a", "a"), ("locale", "ne", "en", ""),
        ("status", "eq", "published", "abc"), ("status", "in", ("draft",), ""), ("author", "null", True, "abc"),
        ("published_at", "null", True, "abc"), ("title", "eq", "' OR 1=1 --", ""), ("title", "eq", "a\0b", ""),
    ],
)  # fmt: skip
def test_an_operator_keeps_what_it_says(site: Any, field: str, operator: str, value: Any, expected: str) -> None:
    """Issue 5 item 1; docs/rules.md, Content types. `ne` and `nin` keep entries without a value."""
    assert "".join(site.slugs("film", (field, operator, value))) == expected


def test_conditions_must_all_hold(site: Any) -> None:
    assert site.slugs("film", ("minutes", "gte", 90), ("colour", "ne", True), ("director", "eq", "noa")) == ["b"]


@pytest.mark.parametrize(
    ("field", "operator", "value", "said"),
    [
        ("nope", "eq", "x", "title, slug, still"), ("nope", "eq", "x", "minutes, score"), ("slug; --", "eq", "x", "No field"),
        ("minutes", "contains", "9", "Operators: eq, ne"), ("colour", "lt", True, "Operators: eq, ne, null"),
        ("title", "like", "x", "Operators:"),
        ("body", "eq", "x", "Operators: contains, null"), ("menu", "eq", "x", "Operators: null"),
        ("director", "contains", "x", "Operators: eq"),
        ("minutes", "eq", "90", "takes a number"), ("minutes", "eq", True, "takes a number"),
        ("minutes", "eq", float("nan"), "takes a number"),
        ("colour", "eq", 1, "takes true or false"), ("title", "eq", 1, "takes text"), ("title", "eq", "\ud800", "takes text"),
        ("shown", "eq", "soon", "a date or time, such as"), ("title", "null", "true", "takes true or false"),
        ("title", "in", "Alpha", "a list of at most 100"), ("title", "in", ("x",) * 101, "a list of at most 100"),
    ],
)  # fmt: skip
def test_what_cannot_be_asked_is_refused_by_name(site: Any, field: str, operator: str, value: Any, said: str) -> None:
    """Issue 5: refused by name with the list of what exists."""
    with pytest.raises(InvalidArguments, match=said) as refused:
        site.list("film", (field, operator, value))
    assert refused.value.data["argument"] == f"filters[{field}]"


def test_every_operator_is_known_to_some_type(site: Any) -> None:
    from cmsmcp.site.entries.columns import OPERATORS_OF

    assert {operator for operators in OPERATORS_OF.values() for operator in operators} == set(OPERATORS)


@pytest.mark.parametrize(
    ("asked", "argument"),
    [
        ({"sort": "nope"}, "sort"), ({"sort": "director"}, "sort"), ({"sort": "body"}, "sort"), ({"sort": "title,-title"}, "sort"),
        ({"sort": "title,slug,minutes,score,shown,still"}, "sort"), ({"page": 0}, "page"), ({"page": 10_001}, "page"),
        ({"page": 2, "cursor": "x"}, "cursor"), ({"cursor": "x"}, "cursor"), ({"locale": "xx"}, "locale"),
        ({"fallbacks": ("xx",)}, "fallback"),
        ({"populate": ("title",)}, "populate"), ({"populate": ("director.actors",)}, "populate"), ({"populate": ("a.b.c",)}, "populate"),
    ],
)  # fmt: skip
def test_orders_pages_locales_and_paths_are_refused_by_name(site: Any, asked: dict[str, Any], argument: str) -> None:
    with pytest.raises(InvalidArguments) as refused:
        site.list("film", **asked)
    assert refused.value.data["argument"] == argument


def test_too_many_conditions_are_refused(site: Any) -> None:
    with pytest.raises(InvalidArguments, match="At most 20"):
        site.list("film", *[("title", "ne", "x")] * 21)


def test_an_unknown_type_is_said_to_be_one(site: Any) -> None:
    with pytest.raises(ContentTypeNotFound):
        site.list("films")
    with pytest.raises(ContentTypeNotFound):
        site.get("entries_1", "a")


def test_a_single_is_served_in_the_nearest_locale(site: Any) -> None:
    """docs/rules.md, Languages."""
    def title(**asked: Any) -> tuple[Any, str]:
        found = site.store.single(Query("about", Visibility(), **asked), Deadline(10))
        return found.values["title"], found.locale

    assert [title(), title(locale="de"), title(locale="fr", fallbacks=("de",))] == [("About", "en"), ("Über", "de"), ("Über", "de")]
    with pytest.raises(NotFound):
        title(locale="fr")


def test_an_entry_is_found_by_id_and_slug_and_no_other_way(site: Any) -> None:
    assert site.get("film", "en:film:a").values["title"] == site.get("film", "a").values["title"] == "Alpha"
    assert site.get("about", "about", locale="de").values["id"] == "de:about:about"
    assert site.get("about", "en:about:about", locale="de").values["id"] == "de:about:about"
    assert site.get("about", "about", locale="fr", fallbacks=("de", "en")).locale == "de"
    lost = (("film", "Alpha", {}), ("maker", "ghost", {}), ("maker", "en:maker:ghost", {}), ("about", "about", {"locale": "fr"}))
    for type_, ref, asked in lost:
        with pytest.raises(NotFound):
            site.get(type_, ref, **asked)


def test_only_the_fields_asked_for_are_given_in_their_order(site: Any) -> None:
    """Issue 5 item 1: key order as in the content type."""
    assert list(site.get("film", "a", fields=frozenset({"score", "title", "author"})).values) == ["id", "title", "score", "author"]
    assert list(site.get("maker", "mia").values) == [
        "id", "title", "slug", "status", "published_at", "created_at", "updated_at", "author", "locale",
    ]  # fmt: skip
