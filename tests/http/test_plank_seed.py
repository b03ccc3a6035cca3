"""Plank's guide, request by request over HTTP: what it sends, and what it shows as the answers (P1–P27).

Requests go out as the guide prints them: no session, no version header, no Accept. Answers are compared with its own JSON; where we
serve more than Plank did (methods, capabilities, resources), the guide's part must be in it unchanged.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

POST_TYPE = """\
id: c33f35ea-0d98-4a00-95a5-2d8c2d88cf0c
name: Posts
slug: post
kind: collection
previewEnabled: true
tableName: posts
fields:
  - {name: title, type: string, width: half, required: true}
  - {name: slug, type: uid, width: half, required: true, targetField: title}
isDefault: true
createdAt: 2026-05-01T00:00:00.000Z
updatedAt: 2026-05-23T00:00:00.000Z
"""
INITIALIZE = """{
  "jsonrpc": "2.0",
  "id": 1,
  "method": "initialize",
  "params": {
    "protocolVersion": "2025-11-25",
    "capabilities": {},
    "clientInfo": {
      "name": "example-client",
      "version": "0.1.0"
    }
  }
}"""
LIST = """{
  "jsonrpc": "2.0",
  "id": 2,
  "method": "resources/list"
}"""
INSTRUCTIONS = (
    "Use resources/list to discover available resources, then resources/read to load Plank content types, per-type schemas, and locales."
)
LISTED = [
    {
        "name": "content-types",
        "title": "Content Types",
        "uri": "plank://content-types",
        "description": "Lists the content types available in this Plank instance.",
        "mimeType": "application/json",
    },
    {
        "name": "locales",
        "title": "Locales",
        "uri": "plank://locales",
        "description": "Lists the enabled locales and the default locale for this Plank instance.",
        "mimeType": "application/json",
    },
    {
        "name": "content-type-schema-post",
        "title": "Post schema",
        "uri": "plank://content-types/post/schema",
        "description": 'Schema for the "post" content type.',
        "mimeType": "application/json",
        "annotations": {"lastModified": "2026-05-23T00:00:00.000Z"},
    },
]
POST_ITEM = """    {
      "name": "Posts",
      "slug": "post",
      "kind": "collection",
      "previewEnabled": true,
      "isDefault": true,
      "schemaUri": "plank://content-types/post/schema",
      "updatedAt": "2026-05-23T00:00:00.000Z"
    }"""
LOCALES = '{\n  "defaultLocale": "en",\n  "locales": [\n    "en",\n    "es"\n  ]\n}'
SCHEMA = """{
  "id": "c33f35ea-0d98-4a00-95a5-2d8c2d88cf0c",
  "name": "Posts",
  "slug": "post",
  "kind": "collection",
  "previewEnabled": true,
  "tableName": "posts",
  "fields": [
    {
      "name": "title",
      "type": "string",
      "width": "half",
      "required": true
    },
    {
      "name": "slug",
      "type": "uid",
      "width": "half",
      "required": true,
      "targetField": "title"
    }
  ],
  "isDefault": true,
  "createdAt": "2026-05-01T00:00:00.000Z",
  "updatedAt": "2026-05-23T00:00:00.000Z"
}"""


def read(id: int, uri: str) -> str:
    return f"""{{
  "jsonrpc": "2.0",
  "id": {id},
  "method": "resources/read",
  "params": {{
    "uri": "{uri}"
  }}
}}"""


@pytest.fixture(scope="module")
def plank(new_place: Callable[[], Any], start: Callable[..., Any]) -> Any:
    """A site with the guide's content type and its two locales."""
    place = new_place()
    (place.site / "content/types").mkdir(exist_ok=True)
    (place.site / "content/types/post.yaml").write_text(POST_TYPE)
    (place.site / "content/types/note.yaml").unlink(missing_ok=True)
    config = place.site / "content/config/site.yaml"
    config.write_text(config.read_text() + "\nlocales: [en, es]\n")
    return start(place, "--workers", "2")


@pytest.fixture(scope="module")
def bearer(plank: Any) -> dict[str, str]:
    return {"Authorization": f"Bearer {plank.place.token('--access', 'mcp-server')}"}


@pytest.fixture(scope="module")
def ask(plank: Any, bearer: dict[str, str]) -> Callable[[str], Any]:
    def send(body: str) -> Any:
        reply = plank.post(body, bearer)
        assert (reply.status, reply.headers["Content-Type"]) == (200, "application/json")
        return reply.json

    return send


def test_initialize_answers_in_the_guides_shape(ask: Callable[[str], Any]) -> None:
    """P14, P15. Name and version are our own; the server is no Plank. What it can do holds what Plank can."""
    reply = ask(INITIALIZE)
    assert (reply["jsonrpc"], reply["id"], set(reply)) == ("2.0", 1, {"jsonrpc", "id", "result"})
    result = reply["result"]
    assert list(result) == ["protocolVersion", "capabilities", "serverInfo", "instructions"]
    assert result["protocolVersion"] == "2025-11-25"
    assert result["capabilities"]["resources"] == {"subscribe": True, "listChanged": True}
    assert set(result["serverInfo"]) == {"name", "title", "version"}
    assert INSTRUCTIONS in result["instructions"]


@pytest.fixture(scope="module")
def schema_only(plank: Any) -> dict[str, str]:
    """Plank's own token: it discovers schemas and reads no entry."""
    return {"Authorization": f"Bearer {plank.place.token('--access', 'mcp-server', '--scope', 'read:schema')}"}


def test_a_token_for_schemas_alone_is_planks(plank: Any, schema_only: dict[str, str]) -> None:
    """P2, P8, P14–P18, P26: what the guide announces, instructs and lists, and nothing beside it. `page` is a type of every site here."""
    result = plank.post(INITIALIZE, schema_only).json["result"]
    assert (list(result["capabilities"]), result["instructions"]) == (["resources"], INSTRUCTIONS)
    assert plank.post("", schema_only, method="GET").json["capabilities"] == ["resources"]
    listed = plank.post(LIST, schema_only).json["result"]["resources"]
    assert [one for one in listed if one["name"] != "content-type-schema-page"] == LISTED
    read_schema = plank.post(read(4, "plank://content-types/post/schema"), schema_only).json["result"]["contents"][0]["text"]
    assert read_schema == SCHEMA
    assert plank.post(read(5, "plank://locales"), schema_only).json["result"]["contents"][0]["text"] == LOCALES
    assert POST_ITEM in plank.post(read(3, "plank://content-types"), schema_only).json["result"]["contents"][0]["text"]


def asked(method: str, **params: Any) -> str:
    return json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})


@pytest.mark.parametrize("revision", ["2025-11-25", "2025-06-18", "2025-03-26", None])
def test_a_token_for_schemas_alone_opens_nothing_else(plank: Any, schema_only: dict[str, str], revision: str | None) -> None:
    """P2, AU-03: whatever reads entries is refused and says what it takes; lists of it are empty."""
    headers = {**schema_only, **({"MCP-Protocol-Version": revision} if revision else {})}
    for method, params, scope in (
        ("tools/call", {"name": "list_documents"}, "read:content"),
        ("tools/call", {"name": "export_schema", "arguments": {"format": "typescript"}}, "read:content"),
        ("prompts/get", {"name": "describe_content_type", "arguments": {"type": "post"}}, "read:content"),
        ("resources/read", {"uri": "foundry://content/collections/post"}, "read:content"),
        ("resources/read", {"uri": "foundry://runtime/health"}, "read:ops"),
        (
            "completion/complete",
            {"ref": {"type": "ref/resource", "uri": "plank://content-types/{slug}/schema"}, "argument": {"name": "slug", "value": ""}},
            "read:content",
        ),
    ):
        refused = plank.post(asked(method, **params), headers)
        assert (refused.status, refused.json["error"]["code"]) == (403, 4030), params
        assert refused.json["error"]["data"]["required_scopes"] == [scope]
    for method, key in (("tools/list", "tools"), ("prompts/list", "prompts")):
        assert plank.post(asked(method), headers).json["result"][key] == []
    templates = plank.post(asked("resources/templates/list"), headers).json["result"]["resourceTemplates"]
    assert {one["uriTemplate"].partition("//")[0] for one in templates} == {"plank:"}
    assert plank.post("", headers, path="/api/post", method="GET").status == 403


def test_server_discover_says_the_same_and_is_private(plank: Any, schema_only: dict[str, str], bearer: dict[str, str]) -> None:
    """2026-07-28: server/discover, Caching (K-01); no cache between may keep one caller's answer for another."""
    meta = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}
    headers = {"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "server/discover", "Accept": "application/json, text/event-stream"}
    narrow, wide = (plank.post(asked("server/discover", _meta=meta), {**headers, **token}) for token in (schema_only, bearer))
    assert (narrow.json["result"]["capabilities"].keys(), narrow.json["result"]["instructions"]) == ({"resources"}, INSTRUCTIONS)
    assert narrow.json["result"]["cacheScope"] == "private" and narrow.headers["Cache-Control"] == "no-store"
    assert {"tools", "prompts", "completions", "extensions"} <= wide.json["result"]["capabilities"].keys()


def test_ping_is_empty(ask: Callable[[str], Any]) -> None:
    """P10."""
    assert ask('{"jsonrpc":"2.0","id":9,"method":"ping"}') == {"jsonrpc": "2.0", "id": 9, "result": {}}


def test_resources_are_listed_as_the_guide_shows(ask: Callable[[str], Any]) -> None:
    """P11, P16, P17, P18; direct calls without a handshake are tolerated (P13)."""
    listed = ask(LIST)["result"]["resources"]
    schemas = [resource for resource in listed if resource["uri"].startswith("plank://content-types/")]
    fixed = [resource for resource in listed if resource["uri"] in ("plank://content-types", "plank://locales")]
    assert fixed == LISTED[:2]
    assert [resource for resource in schemas if resource["name"] == "content-type-schema-post"] == LISTED[2:]
    assert list(schemas[-1]) == list(LISTED[2]), "keys in the guide's order"
    order = [resource["uri"] for resource in listed if resource["uri"].startswith("plank://")]
    assert order[:2] == ["plank://content-types", "plank://locales"]
    schemes = [one["uri"].partition(":")[0] for one in listed]
    assert schemes == sorted(schemes, reverse=True), "Plank's own before the others"
    assert all("fields" not in json.dumps(resource) for resource in listed), "P26: never a schema"


def test_content_types_read_as_the_guide_shows(ask: Callable[[str], Any]) -> None:
    """P19, P20: the text to the letter, for the guide's type."""
    reply = ask(read(3, "plank://content-types"))
    assert reply["id"] == 3 and list(reply["result"]) == ["contents"]
    (content,) = reply["result"]["contents"]
    assert {key: content[key] for key in ("uri", "mimeType")} == {"uri": "plank://content-types", "mimeType": "application/json"}
    assert set(content) == {"uri", "mimeType", "text"}
    assert content["text"].startswith('{\n  "contentTypes": [\n    {\n') and content["text"].endswith("    }\n  ]\n}")
    assert POST_ITEM in content["text"]


def test_locales_read_to_the_letter(ask: Callable[[str], Any]) -> None:
    """P21."""
    assert ask(read(5, "plank://locales")) == {
        "jsonrpc": "2.0",
        "id": 5,
        "result": {"contents": [{"uri": "plank://locales", "mimeType": "application/json", "text": LOCALES}]},
    }


def test_a_schema_reads_to_the_letter(ask: Callable[[str], Any]) -> None:
    """P22."""
    assert ask(read(4, "plank://content-types/post/schema")) == {
        "jsonrpc": "2.0",
        "id": 4,
        "result": {"contents": [{"uri": "plank://content-types/post/schema", "mimeType": "application/json", "text": SCHEMA}]},
    }


def test_an_unknown_content_type_is_the_guides_error(ask: Callable[[str], Any]) -> None:
    """P25."""
    reply = ask(read(7, "plank://content-types/unknown-slug/schema"))
    assert (reply["jsonrpc"], reply["id"]) == ("2.0", 7)
    assert (reply["error"]["code"], reply["error"]["message"]) == (-32004, "Content type not found")
    assert reply["error"]["data"]["slug"] == "unknown-slug"


def test_every_other_method_of_plank_is_unknown_or_reads(ask: Callable[[str], Any]) -> None:
    """P12: nothing edits."""
    for method in ("resources/write", "content-types/create", "tools/create", "entries/list"):
        assert ask(f'{{"jsonrpc":"2.0","id":1,"method":"{method}"}}')["error"]["code"] == -32601


def test_the_endpoint_answers_get_and_refuses_delete(plank: Any, bearer: dict[str, str]) -> None:
    """P8, P9."""
    got = plank.post("", bearer, method="GET")
    assert got.status == 200 and got.json["endpoint"] == "/mcp"
    assert plank.post(INITIALIZE, method="GET").status == 401
    assert "result" not in plank.post(INITIALIZE, bearer, method="GET").json, "a GET carries no message"
    gone = plank.post("", bearer, method="DELETE")
    assert (gone.status, gone.json) == (405, {"error": "Session termination is not supported"})


def test_without_a_token_the_guides_body_is_sent(plank: Any) -> None:
    """P4, P23."""
    reply = plank.post(INITIALIZE)
    assert (reply.status, reply.json["error"]) == (401, "API token required")
    assert set(reply.json) == {"error", "hint"} and "Authorization: Bearer" in reply.json["hint"]
    assert reply.headers["WWW-Authenticate"].startswith("Bearer")


@pytest.mark.parametrize("access", ["read-only", "full-access"])
def test_tokens_of_the_api_do_not_open_it_and_its_own_opens_no_api(plank: Any, bearer: dict[str, str], access: str) -> None:
    """P5, P6, P24."""
    other = {"Authorization": f"Bearer {plank.place.token('--access', access)}"}
    assert plank.post(INITIALIZE, other).status == 403
    assert plank.post("", other, path="/api/post", method="GET").status == 200
    assert plank.post("", bearer, path="/api/post", method="GET").status == 403
    assert plank.post(INITIALIZE, {"Authorization": "Bearer nonsense"}).status == 401


def test_no_entry_leaves_by_the_schema_resources(plank: Any, ask: Callable[[str], Any], bearer: dict[str, str]) -> None:
    """P2, P26."""
    titles = [entry["title"] for entry in _entries(plank)]
    assert titles
    texts = [ask(read(1, uri))["result"]["contents"][0]["text"] for uri in (item["uri"] for item in LISTED)]
    assert not [title for title in titles for text in texts if title in text]


def _entries(plank: Any) -> list[dict[str, Any]]:
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "list_documents", "arguments": {"type": "post"}}}
    headers = {"Authorization": f"Bearer {plank.place.token()}", "MCP-Protocol-Version": "2025-11-25"}
    return plank.post(json.dumps(message), headers).json["result"]["structuredContent"]["items"]
