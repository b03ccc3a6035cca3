"""Every tool through every door: structured content that validates, the same as text, and work that is right for the example site."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from cmsmcp import __version__
from cmsmcp.schema.catalog import catalog_of
from cmsmcp.schema.exports import export
from cmsmcp.site.definitions import load_definitions

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "site"
ARGUMENTS: dict[str, dict[str, Any]] = {
    "search_content": {"query": "telescope"},
    "list_documents": {"type": "page", "limit": 3},
    "get_document": {"slug": "about"},
    "get_navigation": {},
    "get_project_documentation": {"limit": 2},
    "get_api_documentation": {},
    "get_theme_manifest": {"name": "nightglass"},
    "get_theme_security_report": {"name": "carnival"},
    "validate_theme": {"name": "carnival"},
    "list_plugins": {},
    "get_plugin_status": {"name": "guestbook"},
    "get_runtime_health": {},
    "validate_configuration": {"limit": 5},
    "export_schema": {"format": "typescript", "type": "event"},
}


@pytest.fixture(scope="session")
def schemas(door) -> dict[str, dict[str, Any]]:
    return {tool["name"]: tool for tool in door.send("tools/list")["result"]["tools"]}


@pytest.mark.parametrize("name", ARGUMENTS)
def test_a_tool_gives_structured_content_that_validates_and_the_same_as_text(door, schemas, name: str) -> None:
    """O-01, O-02, C025, F12, F31."""
    result = door.send("tools/call", {"name": name, "arguments": ARGUMENTS[name]})["result"]
    assert not result.get("isError"), result["content"]
    jsonschema.validate(result["structuredContent"], schemas[name]["outputSchema"], cls=jsonschema.Draft202012Validator)
    jsonschema.validate(ARGUMENTS[name], schemas[name]["inputSchema"], cls=jsonschema.Draft202012Validator)
    assert json.loads(result["content"][0]["text"]) == result["structuredContent"]


@pytest.mark.parametrize("name", sorted(ARGUMENTS.keys() - {"get_runtime_health"}))  # that one tells the time
def test_an_optional_argument_that_is_null_or_an_empty_text_was_not_given(door, schemas, name: str) -> None:
    """Models in strict mode write every property of the schema. Nothing in the published schemas says so: several clients drop odd ones."""
    plain = door.send("tools/call", {"name": name, "arguments": ARGUMENTS[name]})["result"]
    properties = schemas[name]["inputSchema"]["properties"]
    texts = {argument: "" for argument, schema in properties.items() if schema["type"] == "string"}
    for blank in (dict.fromkeys(properties), texts):
        assert door.send("tools/call", {"name": name, "arguments": {**blank, **ARGUMENTS[name]}})["result"] == plain


def test_line_breaks_of_unicode_leave_escaped(door, call) -> None:
    """The doors of these tests look at every line; here such breaks are in it, as text, as structure and in errors."""
    breaks = "dome\u0085\u2028\u2029"
    assert call("search_content", query=breaks)["query"] == breaks
    assert door.send("resources/read", {"uri": f"foundry://docs/{breaks}"})["error"]["data"]["uri"].endswith(breaks)


def test_both_doors_give_the_same_answers(stdio_door, http_door) -> None:
    """F2: the same services at every door."""
    for name, arguments in ARGUMENTS.items():
        if name == "get_runtime_health":  # it tells the time and the age of the process
            continue
        params = {"name": name, "arguments": arguments}
        assert stdio_door.send("tools/call", params)["result"] == http_door.send("tools/call", params)["result"], name


def test_every_tool_says_that_it_only_reads(schemas) -> None:
    """F12, P12, T-13: annotations are explicit."""
    for tool in schemas.values():
        assert tool["annotations"] == {"readOnlyHint": True, "destructiveHint": False, "idempotentHint": True, "openWorldHint": False}


def test_a_list_is_20_long_unless_asked_and_100_at_most(door, call: Callable[..., Any]) -> None:
    """F41, F14."""
    assert len(call("list_documents")["items"]) == 20
    assert len(call("list_documents", limit=100)["items"]) > 20
    for limit in (0, 101, -1, "5", 2.5, True):
        result = door.send("tools/call", {"name": "list_documents", "arguments": {"limit": limit}})["result"]
        assert result["isError"], limit
        assert "limit" in result["content"][0]["text"]


def test_cursors_walk_the_whole_list_without_repeats(call: Callable[..., Any]) -> None:
    """F13, F14, G-01."""
    seen, cursor = [], None
    while True:
        page = call("list_documents", limit=7, fields=["title"], **({"cursor": cursor} if cursor else {}))
        seen += [item["id"] for item in page["items"]]
        assert set(page["items"][0]) == {"id", "title"}
        cursor = page["next_cursor"]
        if cursor is None:
            break
    assert len(seen) == len(set(seen)) == page["total"]


def test_a_list_that_goes_on_says_which_call_comes_next(door) -> None:
    """A model must know that there is more, and how to get it."""
    result = door.send("tools/call", {"name": "list_documents", "arguments": {"limit": 2}})["result"]
    cursor = result["structuredContent"]["next_cursor"]
    assert result["content"][1]["text"] == f'More follow: call list_documents again with the same arguments and cursor "{cursor}".'


def test_search_ranks_and_cites(call: Callable[..., Any]) -> None:
    """F13."""
    hits = call("search_content", query="refractor", lang="en")["items"]
    assert "refractor" in hits[0]["title"].lower()
    assert [hit["score"] for hit in hits] == sorted((hit["score"] for hit in hits), reverse=True)
    assert all(hit["url"].startswith("/") and hit["snippet"] for hit in hits)


def test_a_document_is_the_same_by_slug_url_and_id(call: Callable[..., Any]) -> None:
    """F15."""
    by_slug = call("get_document", slug="about")
    assert call("get_document", url=by_slug["url"]) == by_slug
    assert call("get_document", id=by_slug["id"]) == by_slug
    assert {"en", "de", "ja"} == {by_slug["lang"], *(twin["lang"] for twin in by_slug["translations"])}


def test_navigation_has_menus_and_published_pages(call: Callable[..., Any]) -> None:
    """F16."""
    navigation = call("get_navigation")
    assert navigation["menus"]["main"][0] == {
        "name": "Visit",
        "url": "/visit/",
        "items": [
            {"name": "Getting here", "url": "/getting-here/"},
            {"name": "Accessibility", "url": "/accessibility/"},
            {"name": "Questions", "url": "/faq/"},
        ],
    }
    assert "/about/" in [page["url"] for page in navigation["pages"]]


def test_documentation_is_listed_and_read(door, call: Callable[..., Any]) -> None:
    """F17, F18."""
    files = call("get_project_documentation", limit=100)
    paths = [file["path"] for file in files["items"]]
    assert "README.md" in paths
    assert len(paths) == files["total"]
    assert call("get_project_documentation", path="README.md")["text"].startswith("#")
    for outside in ("../content/config/site.yaml", "/etc/passwd", "%2e%2e/plugins", "nothing.md"):
        result = door.send("tools/call", {"name": "get_project_documentation", "arguments": {"path": outside}})["result"]
        assert result["isError"], outside
    api = call("get_api_documentation")
    assert api["definition"]["openapi"].startswith("3.1")
    path = next(iter(api["definition"]["paths"]))
    assert list(call("get_api_documentation", path=path)["definition"]["paths"]) == [path]


def test_themes_are_reported_on(door, call: Callable[..., Any]) -> None:
    """F19, F20, F21: the clean one, and the one that is faulty on purpose."""
    assert call("get_theme_manifest")["name"] == "nightglass"
    assert call("validate_theme") == {"name": "nightglass", "active": True, "valid": True, "diagnostics": []}
    faulty = call("validate_theme", name="carnival")
    assert not faulty["valid"]
    assert {finding["severity"] for finding in faulty["diagnostics"]} >= {"error"}
    report = call("get_theme_security_report", name="carnival")
    assert "undeclared" in {reference["status"] for reference in report["detected_assets"]}
    directives = [directive.split()[0] for directive in report["generated_csp"].split("; ")]
    assert directives == [
        "default-src", "base-uri", "object-src", "frame-ancestors", "script-src", "style-src",
        "font-src", "img-src", "media-src", "connect-src",
    ]  # fmt: skip
    unknown = door.send("tools/call", {"name": "get_theme_manifest", "arguments": {"name": "nightglas"}})["result"]
    assert "Did you mean 'nightglass'?" in unknown["content"][0]["text"]


def test_plugins_are_reported_on(door, call: Callable[..., Any]) -> None:
    """F22, F23: one clean, one of medium risk, one that does more than it declares."""
    plugins = {plugin["name"]: plugin for plugin in call("list_plugins")["items"]}
    assert {name: plugin["risk_tier"] for name, plugin in plugins.items()} == {
        "guestbook": "medium", "moonphase": "low", "weatherglass": "medium",
    }  # fmt: skip
    assert {name: plugin["health"] for name, plugin in plugins.items()} == {
        "guestbook": "degraded", "moonphase": "enabled", "weatherglass": "enabled",
    }  # fmt: skip
    report = call("get_plugin_status", name="guestbook")
    assert report["security_findings"]
    assert report["security_mismatches"]
    assert all(finding["path"].startswith("plugins/guestbook/") and finding["line"] for finding in report["security_findings"])
    unknown = door.send("tools/call", {"name": "get_plugin_status", "arguments": {"name": "moonphas"}})["result"]
    assert "Did you mean 'moonphase'?" in unknown["content"][0]["text"]


def test_health_and_validation_see_the_site(call: Callable[..., Any]) -> None:
    """F24, F25."""
    health = call("get_runtime_health")
    assert health["ready"]
    assert {check["status"] for check in health["checks"]} <= {"pass", "fail"}
    report = call("validate_configuration", severity="error")
    assert not report["valid"]
    assert report["findings"], "the guestbook does more than it declares"
    assert {(finding["check"], finding["path"]) for finding in report["findings"]} == {("plugins", "plugins/guestbook/plugin.go")}


def test_hidden_and_absent_documents_look_alike(http_door) -> None:
    """C049, C044: the token does not hold read:unpublished, so a draft does not exist for it."""

    def answer(slug: str) -> Any:
        reply = http_door.send("tools/call", {"name": "get_document", "arguments": {"slug": slug}})
        return json.loads(json.dumps(reply["result"]).replace(slug, "S"))

    assert answer("bright-comet") == answer("no-such-comet-at-all")
    refused = http_door.send("tools/call", {"name": "list_documents", "arguments": {"status": "draft"}})
    assert refused["error"]["code"] == 4030
    assert refused["error"]["data"]["required_scopes"] == ["read:content", "read:unpublished"]
    assert "--scope read:content --scope read:unpublished" in refused["error"]["message"]


def test_operations_count_and_check_no_hidden_document(door, call: Callable[..., Any]) -> None:
    """C044, C049: neither a count nor a finding tells of a draft, unless the caller may see drafts and asks."""
    assert call("get_runtime_health")["content"]["by_status"] == {"published": call("list_documents", limit=1)["total"]}
    drafts = {"content/posts/budget-2027.md", "content/posts/bright-comet.md", "content/events/night-of-silence.md"}
    told = json.dumps(call("validate_configuration", limit=500))
    assert not [path for path in drafts if path in told]


def test_the_local_client_sees_drafts_when_it_asks(stdio_door) -> None:
    """docs/rules.md, Unpublished documents: three things are needed, and the local actor has them all once it asks."""
    plain = stdio_door.send("tools/call", {"name": "get_document", "arguments": {"slug": "bright-comet"}})
    assert plain["result"]["isError"]
    asked = stdio_door.send("tools/call", {"name": "get_document", "arguments": {"slug": "bright-comet", "status": "in_review"}})
    assert asked["result"]["structuredContent"]["status"] == "in_review"
    health = stdio_door.send("tools/call", {"name": "get_runtime_health", "arguments": {"status": "all"}})["result"]["structuredContent"]
    assert {"draft", "in_review", "scheduled", "archived", "published"} == health["content"]["by_status"].keys()


@pytest.mark.parametrize("format_", ["json-schema", "typescript", "openapi", "graphql-sdl"])
def test_the_schema_is_exported_whole_and_under_one_hash(door, format_: str) -> None:
    """docs/schema.md, Export, Hash: redaction takes nothing out of it."""
    content = door.send("tools/call", {"name": "export_schema", "arguments": {"format": format_}})["result"]["structuredContent"]
    assert content["schema_hash"] in content["text"]
    catalog = catalog_of(load_definitions(EXAMPLE).types)
    assert content["text"] == export(catalog, format_, None, __version__, indent=False) and content["schema_hash"] == catalog.digest


def test_a_type_that_is_none_is_refused_with_those_there_are(door) -> None:
    """docs/schema.md, Export."""
    result = door.send("tools/call", {"name": "export_schema", "arguments": {"format": "openapi", "type": "evnt"}})
    assert "No content type 'evnt'. Types: event, instrument" in json.dumps(result)


TOKEN = "ghp_" + "a1B2" * 9


@pytest.mark.parametrize(("method", "params"), [
    ("tools/call", {"name": "get_document", "arguments": {"slug": TOKEN}}),
    ("tools/call", {"name": "get_document", "arguments": {"slug": "about", "password=hunter2Zq9": 1, TOKEN: 1}}),
    ("tools/call", {"name": "search_content", "arguments": {"query": "x", "type": TOKEN}}),
    ("tools/call", {"name": TOKEN, "arguments": {}}),
    ("tools/call", {"name": "list_documents", "arguments": {"cursor": TOKEN}}),
    ("resources/read", {"uri": f"foundry://content/pages/{TOKEN}"}),
    ("resources/read", {"uri": f"plank://content-types/{TOKEN}"}),
    ("prompts/get", {"name": TOKEN}),
    (f"x/{TOKEN}", {}),
], ids=lambda value: str(value)[:60])  # fmt: skip
def test_no_error_gives_a_secret_back(door, method: str, params: dict[str, Any]) -> None:
    """F40 on every door: what was asked for is quoted as redaction leaves it, in the message and in the data."""
    reply = door.send(method, params)
    assert "error" in reply or reply["result"]["isError"]
    assert TOKEN not in json.dumps(reply)
    assert "hunter2Zq9" not in json.dumps(reply)
