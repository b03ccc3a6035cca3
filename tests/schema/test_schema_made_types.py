"""Any types at all: what is exported of them is valid, and true to what is sent."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import graphql
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from openapi_spec_validator import OpenAPIV31SpecValidator

from cmsmcp.governance.redaction import redact
from cmsmcp.schema.catalog import Catalog
from cmsmcp.schema.entries import EntrySchemas
from cmsmcp.schema.examples import example
from cmsmcp.schema.graphql import graphql_sdl
from cmsmcp.schema.json_schema import json_schema
from cmsmcp.schema.names import names_of
from cmsmcp.schema.openapi import openapi
from cmsmcp.schema.typescript import typescript
from cmsmcp.site.types.fields import ARRAY_TYPES, RELATIONS, TYPES
from cmsmcp.site.types.files import NAME, RESERVED_FIELDS, SLUG, SQL_WORDS

SLUGS = st.sampled_from([
    "a-b", "ab", "a--b", "a-1", "a1", "a-", "problem", "problem-type", "media", "string", "query", "entries", "record", "i-d", "moment",
    "event-list", "event", "docs", "locale", "get", "mixed-value", "navigation-item", "text-filter", "search-page", "event-part",
]) | st.from_regex(SLUG, fullmatch=True).filter(lambda slug: len(slug) < 40)  # fmt: skip
NAMES = st.sampled_from([
    "fields", "load", "dump", "items", "opts", "context", "get_attribute", "validate", "component", "api_key", "password", "pin", "author",
    "locale", "name", "value", "key", "dict_class", "declared_fields", "type", "constructor", "a1", "x_",
]) | st.from_regex(NAME, fullmatch=True).filter(lambda name: len(name) < 40)  # fmt: skip


@st.composite
def field(draw: st.DrawFn, slugs: list[str], types: frozenset[str] = TYPES) -> dict[str, Any]:
    options: dict[str, Any] = {"type": draw(st.sampled_from(sorted(types))), "required": draw(st.booleans())}
    if options["type"] == "number":
        options["subtype"] = draw(st.sampled_from(["integer", "float"]))
    if options["type"] == "relation":
        options |= {"relatedSlug": draw(st.sampled_from(slugs)), "relationType": draw(st.sampled_from(sorted(RELATIONS)))}
    if options["type"] == "array":
        options["arrayFields"] = draw(declared(slugs, ARRAY_TYPES, least=1))
    return options


@st.composite
def declared(draw: st.DrawFn, slugs: list[str], types: frozenset[str] = TYPES, least: int = 0) -> list[dict[str, Any]]:
    names = draw(st.lists(NAMES.filter(lambda name: name not in RESERVED_FIELDS | SQL_WORDS), min_size=least, max_size=6, unique=True))
    return [{"name": name, **draw(field(slugs, types))} for name in names]


@st.composite
def catalogs(draw: st.DrawFn) -> Catalog:
    slugs = sorted(draw(st.lists(SLUGS, min_size=1, max_size=5, unique=True)))
    title = st.text(min_size=1, max_size=12)
    types = tuple(
        {
            "slug": slug, "name": draw(title), "kind": draw(st.sampled_from(["collection", "single"])), "tableName": f"t{number}",
            "fields": draw(declared(slugs)),
        }
        for number, slug in enumerate(slugs)
    )  # fmt: skip
    return Catalog(types, "en", ("en", "de-AT"))


limited = settings(
    max_examples=25, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True, phases=[Phase.explicit, Phase.generate],
)  # fmt: skip


@settings(limited, max_examples=8)
@given(catalogs())
def test_the_openapi_file_of_any_types_is_valid_and_holds_no_secret(catalog: Catalog) -> None:
    """docs/schema.md, OpenAPI and a page."""
    document = openapi(catalog, "1")
    OpenAPIV31SpecValidator(document).validate()
    operations = [item["get"]["operationId"] for item in document["paths"].values()]
    assert len(operations) == len(set(operations))
    expected = sum(1 if kind["kind"] == "single" else 2 for kind in catalog.types) + 7
    assert len(operations) == expected
    assert redact(document) == document


@limited
@given(catalogs())
def test_entries_of_any_types_are_valid_in_their_order_even_without_their_secrets(catalog: Catalog) -> None:
    """docs/schema.md, Export: what a field is. docs/rules.md, Redaction."""
    document, schemas = json_schema(catalog), EntrySchemas(catalog)
    Draft202012Validator.check_schema(document)
    for kind in catalog.types:
        entry, schema = example(kind, catalog), schemas.of(kind["slug"])
        assert list(entry) == ["id", *(field["name"] for field in kind["fields"]), *list(entry)[1 + len(kind["fields"]) :]]
        assert schema.validate(entry) == {}
        assert list(schema.dump(entry).items()) == list(entry.items())
        assert "undeclared" not in schema.dump({**entry, "undeclared": 1})
        validator = Draft202012Validator({**document, "anyOf": [{"$ref": f"#/$defs/{catalog.names[kind['slug']]}"}]})
        populated = _populated(entry, kind, catalog)
        for sent in (entry, populated, redact(entry), redact(populated), _without(entry, kind)):
            assert [fault.message for fault in validator.iter_errors(sent)] == []
        assert not validator.is_valid({**entry, "status": "secret"}) and not validator.is_valid({})


def _populated(entry: Mapping[str, Any], kind: Mapping[str, Any], catalog: Catalog) -> dict[str, Any]:
    found = dict(entry)
    for options in kind["fields"]:
        if options["type"] == "relation":
            target = example(catalog.by_slug[options["relatedSlug"]], catalog)
            found[options["name"]] = [target] if isinstance(found[options["name"]], list) else target
    return found


def _without(entry: Mapping[str, Any], kind: Mapping[str, Any]) -> dict[str, Any]:
    """Nothing where nothing may be."""
    missing = {
        options["name"]: None for options in kind["fields"]
        if not options["required"] and not (options["type"] == "relation" and options["relationType"].endswith("many"))
    }  # fmt: skip
    return {**entry, **missing}


@limited
@given(catalogs())
def test_names_in_code_are_valid_and_nobody_shares_one(catalog: Catalog) -> None:
    """docs/schema.md, Export: names of types."""
    graphql.build_schema(graphql_sdl(catalog))
    text = typescript(catalog)
    interfaces = re.findall(r"^export (?:interface|type) (\S+)", text, re.MULTILINE)
    assert len(interfaces) == len(set(interfaces)) and all(name.isidentifier() for name in interfaces)


@settings(max_examples=300, deadline=None, derandomize=True)
@given(st.lists(SLUGS, unique=True, max_size=30))
def test_slugs_that_differ_have_names_that_differ(slugs: list[str]) -> None:
    """docs/schema.md, Export: names of types."""
    names = names_of(slugs)
    assert len(set(names.values())) == len(slugs)
    assert not {"String", "Problem", "Media", "Query"} & set(names.values())
