"""Every resource through every door, Plank's to the letter."""

from __future__ import annotations

import json
from typing import Any

import jsonschema
import pytest


@pytest.fixture(scope="session")
def listed(door) -> list[dict[str, Any]]:
    return door.send("resources/list")["result"]["resources"]


def test_resources_are_listed_in_planks_order(listed) -> None:
    """P16, P11: content types, locales, then one schema per type by name; F29: the two without variables too."""
    uris = [resource["uri"] for resource in listed]
    plank = [uri for uri in uris if uri.startswith("plank://")]
    assert plank[:2] == ["plank://content-types", "plank://locales"]
    assert plank[2:] == [
        f"plank://content-types/{slug}/schema"
        for slug in ("event", "instrument", "observation", "page", "person", "post", "site-settings", "sky-object")
    ]
    assert {"foundry://plugins", "foundry://runtime/health"} <= set(uris)


def test_the_fixed_plank_resources_are_described_word_for_word(listed) -> None:
    """P18."""
    by_uri = {resource["uri"]: resource for resource in listed}
    expected = {
        "plank://content-types": ("content-types", "Content Types", "Lists the content types available in this Plank instance."),
        "plank://locales": ("locales", "Locales", "Lists the enabled locales and the default locale for this Plank instance."),
    }
    for uri, (name, title, description) in expected.items():
        found = by_uri[uri]
        assert (found["name"], found["title"], found["description"], found["mimeType"]) == (name, title, description, "application/json")
        assert "annotations" not in found


def test_a_schema_resource_is_named_and_described_as_the_seed_shows(listed) -> None:
    """P17: title from the slug, in title case."""
    found = {resource["uri"]: resource for resource in listed}["plank://content-types/site-settings/schema"]
    assert found["name"] == "content-type-schema-site-settings"
    assert found["title"] == "Site Settings schema"
    assert found["description"] == 'Schema for the "site-settings" content type.'
    assert found["mimeType"] == "application/json"


def test_a_schema_resource_says_when_its_type_changed(listed) -> None:
    """P17: `lastModified` is the type's `updatedAt`, and absent where the type has none."""
    by_uri = {resource["uri"]: resource for resource in listed}
    assert by_uri["plank://content-types/event/schema"]["annotations"] == {"lastModified": "2026-08-14T07:30:00.000Z"}
    assert "annotations" not in by_uri["plank://content-types/page/schema"]


def test_lists_never_carry_schemas(listed) -> None:
    """P26."""
    assert all(set(resource) <= {"uri", "name", "title", "description", "mimeType", "annotations", "_meta"} for resource in listed)


def test_content_types_are_listed_as_plank_lists_them(read) -> None:
    """P19, P20: JSON by two spaces; each item's keys in order."""
    content = read("plank://content-types")
    assert content["mimeType"] == "application/json"
    value = json.loads(content["text"])
    assert content["text"] == json.dumps(value, indent=2, ensure_ascii=False)
    for item in value["contentTypes"]:
        assert list(item) == ["name", "slug", "kind", "previewEnabled", "isDefault", "schemaUri", "updatedAt"]
        assert item["schemaUri"] == f"plank://content-types/{item['slug']}/schema"
    assert {item["slug"]: item["kind"] for item in value["contentTypes"]}["site-settings"] == "single"


def test_locales_name_the_default_and_all(read) -> None:
    """P21."""
    assert json.loads(read("plank://locales")["text"]) == {"defaultLocale": "en", "locales": ["en", "de", "de-AT", "ja"]}


def test_a_schema_keeps_planks_keys_in_their_order(read) -> None:
    """P22: the object's keys as persisted, a field's by length, then bytes."""
    value = json.loads(read("plank://content-types/event/schema")["text"])
    keys = ["id", "name", "slug", "kind", "previewEnabled", "tableName", "fields", "isDefault", "createdAt", "updatedAt"]
    assert list(value) == [key for key in keys if key in value]
    assert {"id", "name", "slug", "kind", "tableName", "fields"} <= value.keys()
    for field in value["fields"]:
        assert list(field) == sorted(field, key=lambda key: (len(key), key))


def test_plank_resources_hold_no_entry(read, call) -> None:
    """P2: schema discovery only."""
    texts = [read(uri)["text"] for uri in ("plank://content-types", "plank://locales", "plank://content-types/event/schema")]
    events = call("list_documents", type="event", limit=100)["items"]
    assert events
    for event in events:
        assert not any(event["title"] in text for text in texts)


def test_an_unknown_content_type_is_refused_as_the_seed_shows(door) -> None:
    """P25, on a legacy revision."""
    error = door.send("resources/read", {"uri": "plank://content-types/unknown-slug/schema"})["error"]
    assert (error["code"], error["message"], error["data"]["slug"]) == (-32004, "Content type not found", "unknown-slug")


@pytest.mark.parametrize(
    "uri",
    [
        "foundry://content/pages/about",
        "foundry://content/collections/event",
        "foundry://themes/nightglass/manifest",
        "foundry://themes/carnival/security-report",
        "foundry://plugins",
        "foundry://runtime/health",
    ],
)
def test_a_foundry_resource_reads_as_json(read, uri: str) -> None:
    """F27, F28, F29."""
    content = read(uri)
    assert content["mimeType"] == "application/json"
    assert isinstance(json.loads(content["text"]), dict)


def test_a_resource_holds_what_its_tool_gives(read, call) -> None:
    """F27, F28, F29."""

    def value(uri: str) -> Any:
        return json.loads(read(uri)["text"])

    assert value("foundry://content/pages/about") == call("get_document", slug="about", type="page")
    events = call("list_documents", type="event", limit=100)
    assert value("foundry://content/collections/event") == {"type": "event", **events}
    assert value("foundry://themes/nightglass/manifest") == call("get_theme_manifest", name="nightglass")
    assert value("foundry://themes/carnival/security-report") == call("get_theme_security_report", name="carnival")
    plugins = value("foundry://plugins")["plugins"]
    assert plugins == [call("get_plugin_status", name=name) for name in ("guestbook", "moonphase", "weatherglass")]
    assert value("foundry://runtime/health")["checks"] == call("get_runtime_health")["checks"]


def test_a_documentation_file_reads_as_written(read, site) -> None:
    """F30: several segments."""
    path = next(path for path in sorted((site / "docs").rglob("*.md")) if path.parent != site / "docs")
    relative = path.relative_to(site / "docs").as_posix()
    content = read(f"foundry://docs/{relative}")
    assert content["text"] == path.read_text(encoding="utf-8")
    assert content["mimeType"] == "text/markdown"


OUTSIDE = ("../content/config/site.yaml", "%2e%2e/content/config/site.yaml", "..%2fcontent%2fconfig%2fsite.yaml", "/etc/passwd")


@pytest.mark.parametrize("path", [*OUTSIDE, "absent.md"])
def test_nothing_outside_the_docs_folder_is_read(door, path: str) -> None:
    """F30, R-05."""
    reply = door.send("resources/read", {"uri": f"foundry://docs/{path}"})
    assert reply["error"]["code"] == -32002
    assert "falkenried.example" not in json.dumps(reply)


def test_templates_are_listed(door) -> None:
    """F27–F30, R-08."""
    templates = door.send("resources/templates/list")["result"]["resourceTemplates"]
    assert {template["uriTemplate"] for template in templates} >= {
        "foundry://content/pages/{slug}", "foundry://content/collections/{type}", "foundry://themes/{name}/manifest",
        "foundry://themes/{name}/security-report", "foundry://plugins", "foundry://runtime/health", "foundry://docs/{+path}",
        "plank://content-types/{slug}/schema",
    }  # fmt: skip
    jsonschema.validate(templates, {"items": {"required": ["uriTemplate", "name", "title", "description", "mimeType"]}})


def test_a_draft_is_not_a_resource(door) -> None:
    """C044, C049: by URI a draft does not exist, whoever asks."""
    hidden, absent = (door.send("resources/read", {"uri": f"foundry://content/pages/{slug}"})["error"] for slug in ("bright-comet", "zzz"))
    assert hidden["code"] == absent["code"]
    assert hidden["message"].replace("bright-comet", "S") == absent["message"].replace("zzz", "S")
