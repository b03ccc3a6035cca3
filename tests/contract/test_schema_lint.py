"""Everything we publish, as strict clients take it (docs/rules.md, Published schemas; T-04, T-05, T-08, T-15, P-03, R-05).

Some clients drop a tool over one odd schema, some the whole server, silently: an array without `items`, an empty `properties` that is
a list, a composition at the root, a boolean for a schema, a recursive argument. The lint looks at what goes over the wire, and a test
of its own shows that it sees each fault.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

import jsonschema
import pytest

import cmsmcp.capabilities
from cmsmcp.core.registry import discover
from cmsmcp.core.schemas import input_schema, output_schema
from cmsmcp.protocol import messages
from cmsmcp.protocol.eras import SUPPORTED, Era

REGISTRY = discover(cmsmcp.capabilities)

MAX_TOOLS_BYTES = 24_000
MAX_CATALOG_BYTES = 30_000
"""Tools, resource templates and prompts together, as a client of 2026-07-28 gets them: some 7,500 tokens."""
MAX_DESCRIPTION = 1_024
MAX_ARGUMENT_DEPTH = 5
CLIENT_PREFIX = "mcp__cmsmcp__"
"""What Claude Code puts before a name, and counts in its 64 characters."""

_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_KEY = re.compile(r"[a-zA-Z0-9_.-]{1,64}")
_ANYWHERE = {
    "type", "properties", "required", "additionalProperties", "items", "description", "title", "enum", "default", "minimum", "maximum",
    "minLength", "maxLength", "minItems", "maxItems", "format", "x-mcp-header",
}  # fmt: skip
"""Keywords that every client we know of takes. No $ref, no $defs, no composition, no conditions, no nullable."""


def faults(schema: Any, *, arguments: bool) -> list[str]:
    """What a strict client would stumble over. `arguments`: what goes in, where models choose the values, and clients are strictest."""
    if not isinstance(schema, Mapping) or schema.get("type") != "object" or not isinstance(schema.get("properties"), Mapping):
        return ["$: the root is an object with properties"]
    found = list(_faults(schema, "$", arguments))
    if arguments and schema.get("additionalProperties") is not False:
        found.append("$: arguments are closed")
    if arguments and _depth(schema) > MAX_ARGUMENT_DEPTH:
        found.append("$: too deep")
    try:
        jsonschema.Draft202012Validator.check_schema(schema)
    except jsonschema.SchemaError as error:
        found.append(f"$: not valid in 2020-12: {error.message[:80]}")
    return found


def _faults(node: Any, path: str, arguments: bool) -> Iterator[str]:
    if not isinstance(node, Mapping):
        yield f"{path}: a schema is an object, no {type(node).__name__}"
        return
    if unknown := node.keys() - _ANYWHERE:
        yield f"{path}: {', '.join(sorted(unknown))}"
    kind = node.get("type")
    if isinstance(kind, list) and (arguments or len(kind) != 2 or "null" not in kind):
        yield f"{path}: one type"
    if arguments and not isinstance(kind, str):
        yield f"{path}: no type"
    kinds = kind if isinstance(kind, list) else [kind]
    if "array" in kinds and not isinstance(node.get("items"), Mapping):
        yield f"{path}: an array has items"
    if "enum" in node and (not node["enum"] or len({str(one) for one in node["enum"]}) != len(node["enum"]) or kind != "string"):
        yield f"{path}: an enum is a list of different strings"
    if len(node.get("description", "")) > MAX_DESCRIPTION or "\n" in node.get("description", ""):
        yield f"{path}: description"
    yield from _children(node, path, arguments)


def _children(node: Mapping[str, Any], path: str, arguments: bool) -> Iterator[str]:
    properties = node.get("properties", {})
    if not isinstance(properties, Mapping):
        yield f"{path}: properties is an object"
        return
    required = node.get("required", [])
    if len(set(required)) != len(required) or not set(required) <= properties.keys():
        yield f"{path}: required"
    for name, child in properties.items():
        if not _KEY.fullmatch(name):
            yield f"{path}.{name[:70]}: name"
        yield from _faults(child, f"{path}.{name}", arguments)
    if "items" in node:
        yield from _faults(node["items"], f"{path}[]", arguments)
    if not isinstance(node.get("additionalProperties", False), bool):
        yield from _faults(node["additionalProperties"], f"{path}.*", arguments)


def _depth(node: Any) -> int:
    if not isinstance(node, Mapping):
        return 0
    children = [*node.get("properties", {}).values(), node.get("items"), node.get("additionalProperties")]
    return 1 + max(map(_depth, children))


def listed_tools(revision: str) -> list[dict[str, Any]]:
    return [
        messages.tool(
            Era(revision, modern=revision == SUPPORTED[0]),
            name=name, title=one.title, description=one.description, version=one.version,
            input_schema=input_schema(one), output_schema=output_schema(one),
        )
        for name, one in REGISTRY.tools.items()
    ]  # fmt: skip


def listed_prompts() -> list[dict[str, Any]]:
    return [
        messages.prompt(name=name, title=one.title, description=one.description, version=one.version, input_schema=input_schema(one))
        for name, one in REGISTRY.prompts.items()
    ]


def listed_templates() -> list[dict[str, Any]]:
    return [
        messages.template(
            uri_template=template.template, name=one.name, title=one.title, description=one.description, mime_type=one.mime_type,
            version=one.version,
        )
        for template, one in REGISTRY.resources.items()
    ]  # fmt: skip


def size(value: Any) -> int:
    return len(json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode())


def closed(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "additionalProperties": False}


@pytest.mark.parametrize("name", REGISTRY.tools)
@pytest.mark.parametrize("revision", SUPPORTED)
def test_a_tool_is_what_strict_clients_take(revision: str, name: str) -> None:
    """T-04, T-05."""
    [entry] = [one for one in listed_tools(revision) if one["name"] == name]
    assert faults(json.loads(json.dumps(entry["inputSchema"])), arguments=True) == []
    assert "outputSchema" not in entry or faults(json.loads(json.dumps(entry["outputSchema"])), arguments=False) == []


@pytest.mark.parametrize("resource", REGISTRY.resources.values(), ids=lambda resource: resource.name)
def test_what_a_resource_holds_has_a_plain_schema_too(resource) -> None:
    schema = output_schema(resource)
    assert schema is None or faults(schema, arguments=False) == []


@pytest.mark.parametrize("name", REGISTRY.prompts)
def test_the_arguments_of_a_prompt_are_described_strings(name: str) -> None:
    """P-03."""
    assert faults(input_schema(REGISTRY.prompts[name]), arguments=True) == []
    [entry] = [one for one in listed_prompts() if one["name"] == name]
    for argument in entry["arguments"]:
        assert _KEY.fullmatch(argument["name"]) and argument["description"] and len(argument["description"]) <= MAX_DESCRIPTION
        assert isinstance(argument["required"], bool)


def test_every_argument_of_a_tool_a_model_must_choose_says_what_it_is() -> None:
    for name, one in REGISTRY.tools.items():
        for argument, schema in input_schema(one)["properties"].items():
            assert schema.get("description") or argument in ("limit", "severity"), f"{name}.{argument}"


def test_names_fit_where_clients_put_a_prefix_before_them() -> None:
    """T-08, T-15."""
    for entry in [*listed_tools(SUPPORTED[0]), *listed_prompts()]:
        assert _NAME.fullmatch(CLIENT_PREFIX + entry["name"]), entry["name"]
        assert 20 <= len(entry["description"]) <= MAX_DESCRIPTION and entry["title"], entry["name"]


def test_templates_are_absolute_uris_of_rfc_6570() -> None:
    """R-05: `{var}` and `{+var}` alone, so that any client can expand them."""
    for entry in listed_templates():
        assert re.fullmatch(r"[a-z][a-z0-9+.-]*://(?:[A-Za-z0-9_./~-]|\{\+?[a-z_]+\})+", entry["uriTemplate"]), entry["uriTemplate"]
        assert entry["mimeType"] and 10 <= len(entry["description"]) <= MAX_DESCRIPTION


def test_the_catalog_keeps_its_size() -> None:
    """docs/rules.md, Published schemas: context is what users pay for."""
    tools = size(listed_tools(SUPPORTED[0]))
    assert tools <= MAX_TOOLS_BYTES
    assert tools + size(listed_prompts()) + size(listed_templates()) <= MAX_CATALOG_BYTES


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "array", "items": {}},
        {"type": "object"},
        {"type": "object", "properties": []},
        {"type": "object", "properties": None},
        {**closed(), "anyOf": [{"required": ["a"]}]},
        {**closed(), "$ref": "#/$defs/a"},
        {"type": "object", "properties": {}},
        closed(a=True),
        closed(a=None),
        closed(a={}),
        closed(a={"type": "array"}),
        closed(a={"type": "array", "items": True}),
        closed(a={"type": ["string", "null"]}),
        closed(a={"type": "string", "nullable": True}),
        closed(a={"type": "string", "enum": []}),
        closed(a={"type": "string", "enum": ["x", "x"]}),
        closed(a={"type": "string", "description": "x" * 1_025}),
        closed(a={"oneOf": [{"type": "string"}], "type": "string"}),
        closed(**{"a" * 65: {"type": "string"}}),
        closed(**{"a b": {"type": "string"}}),
        {**closed(), "required": ["a"]},
        closed(a={"type": "strin"}),
        closed(a=closed(a=closed(a=closed(a=closed(a={"type": "string"}))))),
    ],
)
def test_the_lint_sees_each_fault(schema: Any) -> None:
    assert faults(schema, arguments=True)


def test_the_lint_lets_a_plain_schema_pass() -> None:
    plain = closed(a={"type": "string", "description": "A"}, b={"type": "array", "items": {"type": "integer"}}, c=closed())
    assert faults(plain, arguments=True) == []
    assert faults({**closed(a={"type": ["string", "null"]}), "required": ["a"]}, arguments=False) == []
    assert faults(closed(a={"type": ["string", "integer"]}), arguments=False)
