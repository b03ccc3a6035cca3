"""The results we send, in the shape each revision knows (docs/rules.md, Revisions). Values in, JSON-ready values out; knows no capability.

Older revisions lose only what would break them: additive display fields (`title`, `lastModified`) stay.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import orjson

from cmsmcp.protocol.eras import META_PREFIX, SUPPORTED, Era

NAME = "cmsmcp"
TITLE = "cmsmcp"
OWN_PREFIX = "dev.cmsmcp/"
TASKS = META_PREFIX + "tasks"
EXTENSIONS: Mapping[str, Any] = {TASKS: {}}
"""Of 2026-07-28 alone, so of server/discover alone (EX-01, EX-02)."""

READ_ONLY = {"readOnlyHint": True, "destructiveHint": False, "idempotentHint": True, "openWorldHint": False}

Result = dict[str, Any]


def server_info(version: str) -> Result:
    return {"name": NAME, "title": TITLE, "version": version}


def complete(era: Era, version: str, result: Result, *, ttl_ms: int | None = None) -> Result:
    """`result` with what 2026-07-28 adds. `ttl_ms` only where that revision wants cache hints; always private (K-01)."""
    if not era.additive:
        return result
    result["resultType"] = "complete"
    if ttl_ms is not None:
        result["ttlMs"] = ttl_ms
        result["cacheScope"] = "private"
    result["_meta"] = {META_PREFIX + "serverInfo": server_info(version)}
    return result


def input_required(version: str, requests: Mapping[str, Any], state: str) -> Result:
    """A result of 2026-07-28 that asks the client for input instead of ending its request (E-01)."""
    info = {META_PREFIX + "serverInfo": server_info(version)}
    return {"resultType": "input_required", "inputRequests": requests, "requestState": state, "_meta": info}


def initialize(revision: str, version: str, features: Mapping[str, Any], instructions: str) -> Result:
    """`features` are the server's capabilities, as it declares them to this client."""
    return {
        "protocolVersion": revision,
        "capabilities": features,
        "serverInfo": server_info(version),
        "instructions": instructions,
    }


def discover(features: Mapping[str, Any], instructions: str) -> Result:
    """All four revisions, newest first: a client of both eras then knows its way back. Tasks come with tools alone (TK-01)."""
    extensions = {"extensions": dict(EXTENSIONS)} if "tools" in features else {}
    return {"supportedVersions": list(SUPPORTED), "capabilities": {**features, **extensions}, "instructions": instructions}


def tool(
    era: Era,
    *,
    name: str,
    title: str,
    description: str,
    version: str,
    input_schema: Mapping[str, Any],
    output_schema: Mapping[str, Any] | None,
) -> Result:
    """An entry of tools/list. Hints are written out, because their defaults say the opposite (T-13)."""
    entry: Result = {"name": name, "title": title or name, "description": description, "inputSchema": input_schema}
    if output_schema is not None and era.structured and (era.modern or output_schema.get("type") == "object"):
        entry["outputSchema"] = output_schema
    entry["annotations"] = dict(READ_ONLY)
    entry["_meta"] = {OWN_PREFIX + "version": version}
    return entry


def call_result(era: Era, encoded: str, note: str = "") -> Result:
    """A tool's result from its encoded JSON object: as text, and structured where the revision knows it (O-01, O-02).

    `note` is a second text for the model: which call comes next.
    """
    texts = [encoded, note] if note else [encoded]
    result: Result = {"content": [{"type": "text", "text": text} for text in texts]}
    if era.structured:
        result["structuredContent"] = orjson.Fragment(encoded)
    return result


def call_content(encoded: str, is_error: bool) -> Result:
    """The result of a tool that returns content blocks, from their encoded JSON array (O-04)."""
    result: Result = {"content": orjson.Fragment(encoded)}
    if is_error:
        result["isError"] = True
    return result


def call_error(message: str) -> Result:
    """A failure the model can act on (T-11)."""
    return {"content": [{"type": "text", "text": message}], "isError": True}


def prompt(*, name: str, title: str, description: str, version: str, input_schema: Mapping[str, Any]) -> Result:
    """An entry of prompts/list; its arguments are the properties of `input_schema`, all of them strings."""
    required = input_schema.get("required", ())
    arguments = []
    for argument, schema in input_schema.get("properties", {}).items():
        titled = {"title": schema["title"]} if schema.get("title") else {}
        arguments.append({"name": argument, **titled, "description": schema["description"], "required": argument in required})
    meta = {OWN_PREFIX + "version": version}
    return {"name": name, "title": title or name, "description": description, "arguments": arguments, "_meta": meta}


def prompt_result(description: str, encoded: str) -> Result:
    """The result of prompts/get from its encoded list of messages."""
    return {"description": description, "messages": orjson.Fragment(encoded)}


def completion(encoded: str) -> Result:
    """The result of completion/complete from its encoded object of `values`, `hasMore` and, where it is known, `total`."""
    return {"completion": orjson.Fragment(encoded)}


def resource(entry: Mapping[str, Any], mime_type: str) -> Result:
    """An entry of resources/list, its keys in the order of the seed's sample."""
    known = {"name": entry["name"], "title": entry.get("title") or entry["name"], "uri": entry["uri"]}
    if entry.get("description"):
        known["description"] = entry["description"]
    known["mimeType"] = entry.get("mimeType") or mime_type
    if entry.get("annotations"):
        known["annotations"] = entry["annotations"]
    return known


def template(*, uri_template: str, name: str, title: str, description: str, mime_type: str, version: str) -> Result:
    return {
        "name": name,
        "title": title or name,
        "uriTemplate": uri_template,
        "description": description,
        "mimeType": mime_type,
        "_meta": {OWN_PREFIX + "version": version},
    }


def contents(uri: str, mime_type: str, text: str) -> Result:
    """The result of resources/read; `uri` is echoed as it was sent (P19)."""
    return {"contents": [{"uri": uri, "mimeType": mime_type, "text": text}]}


def blob(uri: str, mime_type: str, encoded: str) -> Result:
    """The same for what is not text, in Base64 (R-04)."""
    return {"contents": [{"uri": uri, "mimeType": mime_type, "blob": encoded}]}


def page(key: str, entries: Sequence[Mapping[str, Any]], next_cursor: str | None) -> Result:
    """A list result; `nextCursor` is left out at the end, because clients follow even an empty one (G-01)."""
    result: Result = {key: list(entries)}
    if next_cursor is not None:
        result["nextCursor"] = next_cursor
    return result
