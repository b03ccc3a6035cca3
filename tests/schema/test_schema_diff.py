"""What a change of the types breaks: one row for each kind of change (docs/schema.md, Diff)."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from cmsmcp.schema.catalog import Catalog
from cmsmcp.schema.diff import Change, NoSchema, changes
from cmsmcp.schema.json_schema import json_schema
from cmsmcp.schema.openapi import openapi

Make = Callable[..., Catalog]
TITLE = {"name": "title", "type": "string", "required": True}
BREAKS, HOLDS = True, False


def number(subtype: str, **more: Any) -> dict[str, Any]:
    return {"name": "x", "type": "number", "subtype": subtype, **more}


def relation(kind: str, to: str = "other") -> dict[str, Any]:
    return {"name": "x", "type": "relation", "relationType": kind, "relatedSlug": to}


def rows(*fields: dict[str, Any]) -> dict[str, Any]:
    return {"name": "x", "type": "array", "required": True, "arrayFields": [TITLE, *fields]}


def field(kind: str, **more: Any) -> dict[str, Any]:
    return {"name": "x", "type": kind, **more}


ROWS = [
    ([field("text")], [], ["thing.x: the field is gone"], BREAKS),
    ([], [field("text")], ["thing.x: the field is new"], HOLDS),
    ([field("text")], [field("number")], ["thing.x: was text and is number"], BREAKS),
    ([field("text")], [field("richtext")], ["thing.x: was text and is richtext"], BREAKS),
    ([field("text")], [field("uid")], ["thing.x: was text and is uid", "thing.x: has at most 255 characters now"], HOLDS),
    ([field("text", required=True)], [field("text")], ["thing.x: may be null now"], BREAKS),
    ([field("text")], [field("text", required=True)], ["thing.x: is never null now"], HOLDS),
    ([number("integer")], [number("float")], ["thing.x: was integer and is number"], BREAKS),
    ([number("float")], [number("integer")], ["thing.x: was any number and is a whole one"], HOLDS),
    ([relation("many-to-one")], [relation("many-to-one", "thing")], ["thing.x: led to other and leads to thing"], BREAKS),
    ([relation("many-to-one")], [relation("one-to-one")], ["thing.x: was many-to-one and is one-to-one"], HOLDS),
    ([relation("many-to-one")], [relation("many-to-many")], ["thing.x: was many-to-one and is many-to-many"], BREAKS),
    (
        [relation("many-to-many")], [relation("one-to-many")],
        ["thing.x: may be left out now", "thing.x: was many-to-many and is one-to-many"], BREAKS,
    ),
    ([rows(field("text"))], [rows()], ["thing.x.x: the field is gone"], BREAKS),
    ([rows(field("text", required=True))], [rows(field("text"))], ["thing.x.x: may be null now"], BREAKS),
    ([rows()], [rows(field("text"))], ["thing.x.x: the field is new"], HOLDS),
    ([field("media")], [field("media-gallery")], ["thing.x: was media and is media-gallery"], BREAKS),
    ([{"name": "author", "type": "text"}], [], ["thing.author: was text and is no declared field"], BREAKS),
]  # fmt: skip


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[2][0])
@pytest.mark.parametrize("written", [json_schema, lambda catalog: openapi(catalog, "1")], ids=["json-schema", "openapi"])
def test_each_change_is_told_and_known_to_break_or_not(
    catalog_with: Make, written: Callable[[Catalog], Any], row: tuple[list[Any], list[Any], list[str], bool]
) -> None:
    old, new, told, breaking = row
    found = changes(written(catalog_with(TITLE, *old)), written(catalog_with(TITLE, *new)))
    assert sorted(f"{one.where}: {one.what}" for one in found) == sorted(told)
    assert any(one.breaking for one in found) is breaking


def test_types_kinds_and_locales_count_as_well(catalog_with: Make) -> None:
    whole = catalog_with(TITLE)
    without = Catalog((whole.by_slug["other"],), "en", ("en", "de"))
    assert changes(json_schema(whole), json_schema(without)) == [Change("thing", "the type is gone", BREAKS)]
    assert changes(json_schema(without), json_schema(whole)) == [Change("thing", "the type is new", HOLDS)]
    assert changes(json_schema(whole), json_schema(catalog_with(TITLE, kind="single"))) == [
        Change("thing", "was a collection and is a single", BREAKS)
    ]
    assert changes(json_schema(whole), json_schema(catalog_with(TITLE, locales=("de", "ja")))) == [
        Change("locales", "en is gone", BREAKS), Change("locales", "the default was en and is de", BREAKS),
        Change("locales", "ja is new", HOLDS),
    ]  # fmt: skip


def test_a_schema_differs_from_itself_in_nothing_however_it_is_written(example_catalog: Catalog) -> None:
    assert changes(json_schema(example_catalog), openapi(example_catalog, "1")) == []


def test_a_value_more_in_a_list_of_values_breaks_one_fewer_does_not(example_catalog: Catalog) -> None:
    whole = json_schema(example_catalog)
    fewer = json.loads(json.dumps(whole).replace('"draft", ', ""))
    assert {(one.what, one.breaking) for one in changes(fewer, whole)} == {("may be draft too", BREAKS)}
    assert {(one.what, one.breaking) for one in changes(whole, fewer)} == {("is never draft any more", HOLDS)}


@pytest.mark.parametrize(
    "document",
    [
        {}, {"$defs": []}, {"$defs": {}}, {"$defs": {"A": {"type": "object"}}}, {"components": {"schemas": {"A": 1}}},
        {"$defs": {"A": {"x-content-type": "a", "properties": [1]}}}, {"$defs": {"A": {"x-content-type": "a", "properties": {"b": 1}}}},
        {"$defs": {"A": {"x-content-type": "a", "properties": {"b": {"items": {"$ref": "#/$defs/B"}}}}}},
    ],
)
def test_what_is_no_schema_of_ours_is_said_so(document: dict[str, Any]) -> None:
    with pytest.raises(NoSchema):
        changes(document, document)
