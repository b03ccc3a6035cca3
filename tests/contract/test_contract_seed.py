"""The seeds' own words, typed here by hand from their texts, against what is published (F26, F27–F33, P11)."""

from __future__ import annotations

import pytest

import cmsmcp.capabilities
from cmsmcp.core.registry import discover
from cmsmcp.core.schemas import input_schema, output_schema

REGISTRY = discover(cmsmcp.capabilities)

TOOL_SCOPES = {
    "search_content": "read:content",
    "list_documents": "read:content",
    "get_document": "read:content",
    "get_navigation": "read:content",
    "get_project_documentation": "read:docs",
    "get_api_documentation": "read:docs",
    "get_theme_manifest": "read:themes",
    "get_theme_security_report": "read:themes",
    "validate_theme": "read:themes",
    "list_plugins": "read:plugins",
    "get_plugin_status": "read:plugins",
    "get_runtime_health": "read:ops",
    "validate_configuration": "read:ops",
}

RESOURCE_SCOPES = {
    "foundry://content/pages/{slug}": "read:content",
    "foundry://content/collections/{type}": "read:content",
    "foundry://themes/{name}/manifest": "read:themes",
    "foundry://themes/{name}/security-report": "read:themes",
    "foundry://plugins": "read:plugins",
    "foundry://runtime/health": "read:ops",
    "foundry://docs/{+path}": "read:docs",
    "plank://content-types": "read:schema",
    "plank://locales": "read:schema",
    "plank://content-types/{slug}/schema": "read:schema",
}

SAMPLE_SCHEMAS = {
    "search_content": {
        "type": "object",
        "properties": {
            "query": {"type": "string"},
            "type": {"type": "string"},
            "lang": {"type": "string"},
            "limit": {"type": "integer"},
            "cursor": {"type": "string"},
        },
        "required": ["query"],
    },
    "get_document": {
        "type": "object",
        "properties": {"slug": {"type": "string"}, "url": {"type": "string"}, "id": {"type": "string"}},
    },
    "get_plugin_status": {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]},
}


def test_the_catalog_has_the_seeds_thirteen_tools_with_their_scopes() -> None:
    """F26. There may be more: what is published altogether is the golden file's matter."""
    assert {name: REGISTRY.tools[name].scope for name in TOOL_SCOPES} == TOOL_SCOPES and len(TOOL_SCOPES) == 13


def test_the_resources_of_the_seeds_are_there_with_their_scopes() -> None:
    """F27–F30, P11; `{path...}` is published in RFC 6570's spelling."""
    scopes = {template.template: resource.scope for template, resource in REGISTRY.resources.items()}
    assert {template: scopes.get(template) for template in RESOURCE_SCOPES} == RESOURCE_SCOPES


@pytest.mark.parametrize("name", SAMPLE_SCHEMAS)
def test_the_sample_schemas_keep_every_property_type_and_requirement(name: str) -> None:
    """F33. Optional properties, descriptions, bounds and `additionalProperties: false` may be added."""
    published, sample = input_schema(REGISTRY.tools[name]), SAMPLE_SCHEMAS[name]
    assert published["type"] == sample["type"]
    assert published.get("required") == sample.get("required")
    for argument, schema in sample["properties"].items():
        assert published["properties"][argument]["type"] == schema["type"], argument


SEEDS = [
    *(tool for name, tool in REGISTRY.tools.items() if name in TOOL_SCOPES),
    *(resource for template, resource in REGISTRY.resources.items() if template.template in RESOURCE_SCOPES),
]


@pytest.mark.parametrize("capability", SEEDS, ids=lambda capability: capability.name)
def test_a_registration_holds_what_the_seed_lists(capability) -> None:
    """F31, F12, F42: name, version, schemas, class, scope, owner, audit category, timeout, size limit, default state."""
    assert capability.version == "1.0"
    assert capability.read_only and capability.enabled and capability.owner is None
    assert capability.audit and capability.scope.startswith("read:")
    assert (capability.timeout, capability.max_result) == (10.0, 262_144)
    assert capability.title and 20 <= len(capability.description) <= 200
    if capability.is_tool:
        assert capability.input is not None
        assert output_schema(capability)["type"] == "object"
