"""Every message that the server sends, of every method and each revision, fits that revision's own schema.

The suite looks at two revisions and at fixtures; this looks at four, at a site with content, and at every capability there is.
"""

from __future__ import annotations

import http.client
import json
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from types import ModuleType
from typing import Any
from urllib.parse import urlsplit

import jsonschema
import pytest

HERE = Path(__file__).resolve().parent
MODERN = "2026-07-28"
LEGACY = ("2025-03-26", "2025-06-18", "2025-11-25")
META = "io.modelcontextprotocol/"
CAPABILITIES = {"elicitation": {}, "sampling": {}, "roots": {}}
NAMES = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}

# method -> what its result is called in the schemas
RESULTS = {
    "initialize": "InitializeResult", "ping": "EmptyResult", "logging/setLevel": "EmptyResult", "resources/subscribe": "EmptyResult",
    "resources/unsubscribe": "EmptyResult", "server/discover": "DiscoverResult", "tools/list": "ListToolsResult",
    "tools/call": "CallToolResult", "resources/list": "ListResourcesResult", "resources/read": "ReadResourceResult",
    "resources/templates/list": "ListResourceTemplatesResult", "prompts/list": "ListPromptsResult", "prompts/get": "GetPromptResult",
    "completion/complete": "CompleteResult",
}  # fmt: skip
ARGUMENTS: dict[str, dict[str, Any]] = {
    "search_content": {"query": "the"}, "list_documents": {"limit": 2}, "get_document": {"url": "/"}, "greet": {"name": "Ann"},
    "get_plugin_status": {"name": "guestbook"}, "test_sampling": {"prompt": "?"}, "test_elicitation": {"message": "?"},
    "slow_compute": {"seconds": 0}, "json_schema_2020_12_tool": {"phone": "1", "contactMethod": "phone"},
}  # fmt: skip
PROMPTED = {"resourceUri": "test://static-text"}
CRASHES = "protocol_error_job"
REGION = "test_x_mcp_header"


class Peer:
    """A client of one revision; `seen` has what it was sent, with the method of the request that brought it."""

    def __init__(self, url: str, revision: str) -> None:
        self.revision = revision
        self.seen: list[tuple[str, dict[str, Any]]] = []
        self.session: str | None = None
        self._last = ""
        self._address = urlsplit(url)
        self._ids = iter(range(1, 10_000))
        if revision != MODERN:
            about = {"protocolVersion": revision, "capabilities": CAPABILITIES, "clientInfo": {"name": "schemas", "version": "1"}}
            self.ask("initialize", about)
            self.tell({"method": "notifications/initialized"})

    def ask(self, method: str, params: Mapping[str, Any] | None = None, **headers: str) -> dict[str, Any]:
        """The outcome of a request: its result or error. What the server asks meanwhile is answered."""
        sent = dict(params or {})
        if self.revision == MODERN:
            about = {f"{META}protocolVersion": MODERN, f"{META}clientCapabilities": CAPABILITIES, f"{META}logLevel": "debug"}
            sent["_meta"] = {**about, "progressToken": "p"}
            headers |= {"Mcp-Method": method} | ({"Mcp-Name": sent[NAMES[method]]} if method in NAMES else {})
        elif method in NAMES:
            sent["_meta"] = {"progressToken": "p"}
        outcome = self._exchange(method, {"jsonrpc": "2.0", "id": next(self._ids), "method": method, "params": sent}, headers)
        result = outcome.get("result", {})
        if result.get("resultType") != "input_required":
            return outcome
        answers = {key: answer_to(asked) for key, asked in result["inputRequests"].items()}
        state = {"requestState": result["requestState"]} if "requestState" in result else {}
        return self.ask(method, {**(params or {}), "inputResponses": answers, **state}, **headers)

    def _exchange(self, method: str, message: dict[str, Any], headers: Mapping[str, str]) -> dict[str, Any]:
        for got in self.post(message, **headers):
            self.seen.append((method, got))
            if "method" in got and "id" in got:
                self.tell({"id": got["id"], "result": answer_to(got)})
            elif got.get("id") == message["id"]:
                return got
        for got in self.resume():
            self.seen.append((method, got))
            return got
        raise AssertionError(f"{method}: no reply")

    def resume(self) -> Iterator[Any]:
        """The rest of a stream that the server closed."""
        return self._send("GET", None, {"Accept": "text/event-stream", "Last-Event-ID": self._last})

    def tell(self, message: Mapping[str, Any]) -> None:
        """Send what is not answered."""
        assert list(self.post({"jsonrpc": "2.0", **message})) == []

    def post(self, message: Any, **headers: str) -> Iterator[Any]:
        """The messages of one reply, as they come."""
        sent = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream", **headers}
        return self._send("POST", json.dumps(message), sent)

    def _send(self, verb: str, body: str | None, headers: Mapping[str, str]) -> Iterator[Any]:
        connection = http.client.HTTPConnection(self._address.hostname or "", self._address.port, timeout=60)
        sent = dict(headers)
        if self.revision == MODERN or self.session is not None:
            sent["MCP-Protocol-Version"] = self.revision
        if self.session is not None:
            sent["Mcp-Session-Id"] = self.session
        connection.request(verb, "/mcp", body, sent)
        reply = connection.getresponse()
        self.session = reply.getheader("Mcp-Session-Id") or self.session
        return self._read(connection, reply)

    def _read(self, connection: http.client.HTTPConnection, reply: http.client.HTTPResponse) -> Iterator[Any]:
        with closing(connection):
            if reply.headers.get_content_type() != "text/event-stream":
                body = reply.read()
                if body:
                    yield json.loads(body)
                return
            for line in reply:
                if line.startswith(b"id: "):
                    self._last = line[4:].decode().strip()
                if line.startswith(b"data: {"):
                    yield json.loads(line[6:])


def answer_to(asked: Mapping[str, Any]) -> dict[str, Any]:
    """A client's answer to one of our requests."""
    if asked["method"] == "roots/list":
        return {"roots": [{"uri": "file:///here"}]}
    if asked["method"] == "sampling/createMessage":
        return {"role": "assistant", "content": {"type": "text", "text": "so"}, "model": "m"}
    fields = asked["params"]["requestedSchema"]["properties"]
    return {"action": "accept", "content": {name: fill(field) for name, field in fields.items()}}


def fill(field: Mapping[str, Any]) -> Any:
    """A value that a field of a form takes."""
    if field["type"] == "array":
        return [fill({"type": "string", **field["items"]})]
    choices = field.get("enum") or [option["const"] for option in field.get("oneOf", field.get("anyOf", []))]
    return choices[0] if choices else {"string": "text", "boolean": True, "integer": 1, "number": 1.5}[field["type"]]


def visit(peer: Peer) -> None:
    """Use everything that the server lists, and be refused in each way that has an error of its own."""
    if peer.revision == MODERN:
        peer.ask("server/discover")
    else:
        for method, params in {"ping": {}, "logging/setLevel": {"level": "debug"}}.items():
            peer.ask(method, params)
    for tool in peer.ask("tools/list")["result"]["tools"]:
        region = {"region": "north"} if tool["name"] == REGION else {}
        if tool["name"] != CRASHES:
            headers = {"Mcp-Param-Region": "north"} if region and peer.revision == MODERN else {}
            peer.ask("tools/call", {"name": tool["name"], "arguments": {**ARGUMENTS.get(tool["name"], {}), **region}}, **headers)
    resources = peer.ask("resources/list")["result"]["resources"]
    peer.ask("resources/templates/list")
    for resource in [*resources, {"uri": "test://template/7/data"}, {"uri": "test://nothing"}]:
        peer.ask("resources/read", {"uri": resource["uri"]})
    for prompt in peer.ask("prompts/list")["result"]["prompts"]:
        required = [argument["name"] for argument in prompt.get("arguments", []) if argument.get("required")]
        given = {name: PROMPTED.get(name, "en") for name in required}
        peer.ask("prompts/get", {"name": prompt["name"], "arguments": given})
        for argument in prompt.get("arguments", []):
            reference = {"type": "ref/prompt", "name": prompt["name"]}
            peer.ask("completion/complete", {"ref": reference, "argument": {"name": argument["name"], "value": ""}})
    if peer.revision != MODERN:
        for method in ("resources/subscribe", "resources/unsubscribe"):
            peer.ask(method, {"uri": "test://watched-resource"})
    refused = {"no/such": {}, "tools/call": {"name": "no_such"}, "tools/list": {"cursor": "no"}, "prompts/get": {"name": "no"}}
    for method, params in refused.items():
        assert "error" in peer.ask(method, params)


class Schema:
    """One revision's schema."""

    def __init__(self, revision: str) -> None:
        self._whole = json.loads((HERE / "schemas" / f"{revision}.json").read_text(encoding="utf-8"))
        self._key = "$defs" if "$defs" in self._whole else "definitions"
        self.error = "JSONRPCErrorResponse" if "JSONRPCErrorResponse" in self._whole[self._key] else "JSONRPCError"

    def check(self, name: str, value: Any) -> str:
        """What is wrong with a value, for the eye; blank when it fits."""
        validator = jsonschema.validators.validator_for(self._whole)
        found = validator({**self._whole, "$ref": f"#/{self._key}/{name}"}, format_checker=validator.FORMAT_CHECKER)
        worst = jsonschema.exceptions.best_match(found.iter_errors(value))
        return "" if worst is None else f"{name} at {worst.json_path}: {worst.message[:200]}"


def kind(method: str, message: Mapping[str, Any], schema: Schema) -> tuple[str, Any]:
    """The definition that a message, or its result, must fit."""
    if "method" in message:
        return ("ServerRequest" if "id" in message else "ServerNotification"), message
    if "error" in message:
        return schema.error, message
    result = message["result"]
    return {"input_required": "InputRequiredResult"}.get(result.get("resultType"), RESULTS[method]), result


@pytest.fixture(scope="module")
def url(runner: ModuleType, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    overlay = tmp_path_factory.mktemp("overlay") / "open.yaml"
    overlay.write_text("mcp: {auth: none, max_concurrency: 50, rate_limit: {requests_per_minute: 600000, burst: 60000}}\n")
    faults: list[str] = []
    with runner.served(["--workers", "2", "--config-overlay", str(overlay)], faults, HERE.parents[1] / "examples" / "site") as found:
        yield found
    assert faults == []


@pytest.mark.parametrize("revision", [*LEGACY, MODERN])
def test_every_message_fits_the_schema_of_its_revision(url: str, revision: str) -> None:
    """docs/rules.md, Revisions."""
    peer, schema = Peer(url, revision), Schema(revision)
    visit(peer)
    faults, kinds = set(), Counter()
    for method, message in peer.seen:
        for name, value in (("JSONRPCMessage", message), kind(method, message, schema)):
            kinds[name] += 1
            fault = schema.check(name, value)
            if fault:
                faults.add(f"{method}: {fault}")
    assert not faults
    modern, asked = revision == MODERN, revision != MODERN
    assert {"ServerNotification", schema.error, "CallToolResult", "ReadResourceResult", "GetPromptResult", "CompleteResult"} <= set(kinds)
    assert ("InputRequiredResult" in kinds, "ServerRequest" in kinds) == (modern, asked)


def test_a_message_that_does_not_fit_is_found_out() -> None:
    schema = Schema("2025-03-26")
    assert schema.check("CallToolResult", {"content": [{"type": "text"}]})
    assert schema.check("JSONRPCMessage", {"jsonrpc": "2.0", "id": None})
    assert not schema.check("CallToolResult", {"content": [{"type": "text", "text": ""}]})
