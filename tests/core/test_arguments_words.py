"""How faulty arguments are described: by name, with what is expected, on one line, in our words (T-11)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from marshmallow import Schema, ValidationError, fields, validates_schema
from marshmallow.validate import Length, OneOf, Range

from cmsmcp.core.arguments import load
from cmsmcp.core.capability import tool
from cmsmcp.protocol.errors import InvalidArguments


class Input(Schema):
    query = fields.String(required=True, validate=Length(min=2, max=10))
    limit = fields.Integer(strict=True, load_default=20, validate=Range(1, 100))
    status = fields.String(validate=OneOf(["draft", "published"]))
    fields_ = fields.List(fields.String(validate=OneOf(["a", "b"])), validate=Length(max=2), data_key="fields", attribute="fields")
    deep = fields.Boolean()
    filters = fields.Dict(keys=fields.String(), values=fields.Integer(strict=True))

    @validates_schema
    def together(self, data, **_):
        if data.get("query") == "both":
            raise ValidationError("Give one\nor the other.")


PROBE = tool(scope="read:content", audit="x", input=Input, output=Input, name="probe", description="x")(lambda a, c: None)


@pytest.mark.parametrize(
    ("given", "sentence", "argument"),
    [
        ({}, "query is required: a string from 2 to 10 characters.", "query"),
        ({"query": 7}, "query must be a string from 2 to 10 characters.", "query"),
        ({"query": None}, "query must be a string from 2 to 10 characters.", "query"),
        ({"query": "x"}, "query must be a string from 2 to 10 characters.", "query"),
        ({"query": "ok", "limit": 101}, "limit must be an integer from 1 to 100.", "limit"),
        ({"query": "ok", "limit": 1.5}, "limit must be an integer from 1 to 100.", "limit"),
        ({"query": "ok", "limit": "many"}, "limit must be an integer from 1 to 100.", "limit"),
        ({"query": "ok", "status": "live"}, "status must be one of draft, published.", "status"),
        ({"query": "ok", "fields": "a"}, "fields must be a list of at most 2 items, each one of a, b.", "fields"),
        ({"query": "ok", "fields": ["a", "z"]}, "fields[1] must be one of a, b.", "fields/1"),
        ({"query": "ok", "deep": "perhaps"}, "deep must be true or false.", "deep"),
        ({"query": "ok", "qurey": "x"}, "Unknown argument 'qurey'; did you mean 'query'?", "qurey"),
        ({"query": "ok", "zz": 1}, "Unknown argument 'zz'; known are query, limit, status, fields, deep, filters.", "zz"),
        (
            {"query": "ok", "filters": {"a\nb": "x"}},
            "filters['a\\nb'].value must be a value of the kind the schema names.",
            "filters/a\nb/value",
        ),
        ({"query": "both"}, "Give one or the other.", None),
    ],
)
def test_a_fault_is_named_with_the_way_out(given: dict, sentence: str, argument: str | None) -> None:
    with pytest.raises(InvalidArguments) as caught:
        load(PROBE, given)
    assert caught.value.message == sentence
    assert caught.value.data.get("argument") == argument


class Choosy(Schema):
    may_be_null = fields.String(allow_none=True)
    may_be_empty = fields.String(validate=Length(min=0, max=9))
    choice = fields.String(validate=OneOf(["", "a"]))
    inner = fields.Dict(keys=fields.String(), values=fields.String())


CHOOSY = tool(scope="read:content", audit="x", input=Choosy, output=Choosy, name="choosy", description="x")(lambda a, c: None)
LITERAL = tool(
    scope="read:content", audit="x", output=Choosy, name="literal", description="x",
    input_schema={
        "type": "object", "required": ["needed"],
        "properties": {
            "needed": {"type": "string"}, "title": {"type": "string"}, "address": {"$ref": "#/$defs/address"},
            "end": {"type": ["string", "null"]}, "kind": {"enum": ["a", None]}, "size": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
        },
    },
)(lambda a, c: None)  # fmt: skip


def test_null_means_that_an_optional_argument_was_not_given() -> None:
    """Models in strict mode write every property of a schema, and null for what they would leave out."""
    given = dict.fromkeys(["limit", "status", "fields", "deep", "filters"])
    assert load(PROBE, {"query": "ok", **given}) == {"query": "ok", "limit": 20}
    assert load(PROBE, {"query": "ok", "filters": {"a": None, "b": 1}}) == {"query": "ok", "limit": 20, "filters": {"b": 1}}
    assert load(LITERAL, {"needed": None, "title": None, "address": None}) == {"needed": None}
    with pytest.raises(InvalidArguments, match=r"^fields\[0\] must be"):
        load(PROBE, {"query": "ok", "fields": [None]})


def test_null_is_a_value_where_the_schema_has_it() -> None:
    assert load(CHOOSY, {"may_be_null": None}) == {"may_be_null": None}
    kept = {"needed": "x", "end": None, "kind": None, "size": None}
    assert load(LITERAL, kept) == kept


def test_an_empty_text_means_the_same_or_is_named() -> None:
    """It means the same for a text whose length the schema leaves open; a literal schema is taken at its word."""
    assert load(PROBE, {"query": "ok", "status": ""}) == {"query": "ok", "limit": 20}
    assert load(CHOOSY, {"may_be_null": "", "inner": {"a": "", "b": "x"}}) == {"may_be_null": "", "inner": {"b": "x"}}
    assert load(CHOOSY, {"may_be_empty": "", "choice": ""}) == {"may_be_empty": "", "choice": ""}
    assert load(LITERAL, {"needed": "", "title": ""}) == {"needed": "", "title": ""}
    for name, blank in (("query", ""), ("limit", ""), ("deep", ""), ("fields", "")):
        with pytest.raises(InvalidArguments, match=f"^{name} must be"):
            load(PROBE, {"query": "ok", name: blank})


@pytest.mark.parametrize("blank", [None, ""])
def test_an_unknown_argument_is_refused_whatever_it_holds(blank: object) -> None:
    with pytest.raises(InvalidArguments, match="Unknown argument 'qurey'"):
        load(PROBE, {"query": "ok", "qurey": blank})


@pytest.mark.parametrize("given", [1.5, "1", True, float("inf"), float("nan"), 101.0])
def test_what_is_no_integer_in_json_schema_is_refused(given: object) -> None:
    with pytest.raises(InvalidArguments, match=r"^limit must be an integer from 1 to 100\.$"):
        load(PROBE, {"query": "ok", "limit": given})


def test_a_number_without_a_fraction_is_an_integer() -> None:
    """JSON Schema 2020-12, validation 6.1.1: `1.0` is one; some clients send every number so."""
    loaded = load(PROBE, {"query": "ok", "limit": 5.0, "filters": {"a": 2.0}})
    assert (loaded["limit"], loaded["filters"]) == (5, {"a": 2})
    assert type(loaded["limit"]) is type(loaded["filters"]["a"]) is int


def test_defaults_are_filled_in() -> None:
    assert load(PROBE, {"query": "ok"}) == {"query": "ok", "limit": 20}


@given(
    st.dictionaries(
        st.text(max_size=200), st.none() | st.booleans() | st.integers() | st.text() | st.lists(st.integers(), max_size=3), max_size=30
    )
)
def test_any_arguments_end_in_values_or_one_bounded_line(given: dict) -> None:
    try:
        load(PROBE, given)
    except InvalidArguments as error:
        assert len(error.message) < 1_500
        assert "\n" not in error.message
        assert "marshmallow" not in error.message
