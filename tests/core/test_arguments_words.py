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
