"""The replies of `/api` as OpenAPI has them: every status that can happen, with its headers and its body."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_RESPONSES = "#/components/responses/"
_PLAIN = {"application/json": {"schema": {"type": "object", "properties": {"error": {"type": "string"}}, "required": ["error"]}}}
_PROBLEM = {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}}
_TOLD: Mapping[str, tuple[str, str, tuple[str, ...]]] = {
    "304": ("NotModified", "What the client has is still right.", ("ETag", "Last-Modified")),
    "400": ("BadRequest", "A parameter is unknown, doubled, contradictory or out of bounds; argument names it.", ()),
    "401": ("Unauthorized", "No token, or one that is not valid.", ("WWW-Authenticate",)),
    "403": ("Forbidden", "A token of another door, a scope that is missing, an unknown host or origin.", ("WWW-Authenticate",)),
    "404": ("NotFound", "Not there, or not published.", ()),
    "405": ("MethodNotAllowed", "Only GET, HEAD and OPTIONS are served.", ("Allow",)),
    "413": ("TooLarge", "The answer would be too large; nothing is cut. Or the request has a body that is.", ()),
    "414": ("UriTooLong", "The request line is over 8 KiB.", ()),
    "429": ("TooMany", "A limit of the token, the site or the address is reached.", ("Retry-After",)),
    "500": ("Internal", "A fault of the server; reference names the line in its log.", ()),
    "503": ("Unavailable", "Limits and audit cannot be reached, or the index is being built.", ("Retry-After",)),
    "504": ("TimedOut", "It took longer than 10 seconds.", ()),
}
_TEXT = {"type": "string"}
_HEADERS: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    "Allow": ("The verbs that are served.", _TEXT),
    "Cache-Control": ("Kept by the client alone, and asked again each time.", _TEXT),
    "Content-Language": ("The locales that were served.", _TEXT),
    "ETag": ("For If-None-Match.", {"type": "string", "pattern": '^"[^"]*"$'}),
    "Last-Modified": ("For If-Modified-Since; of one entry, where it is known.", _TEXT),
    "Link": ("Other pages of the list (RFC 8288), relative to this one.", _TEXT),
    "RateLimit": ("What is left of the budget, and the seconds until all of it is back.", _TEXT),
    "RateLimit-Policy": ("The budget: units, and the window in seconds.", _TEXT),
    "Retry-After": ("Seconds.", {"type": "integer", "minimum": 0}),
    "WWW-Authenticate": ("What is wanted (RFC 6750).", _TEXT),
}
_ALWAYS = frozenset({"ETag", "Cache-Control"})


def headers() -> dict[str, Any]:
    return {name: {"description": told, "schema": dict(schema)} for name, (told, schema) in _HEADERS.items()}


def refusals() -> dict[str, Any]:
    """The replies that are alike for every request, by the name they are referred to."""
    found = {}
    for status, (name, told, named) in _TOLD.items():
        body = {} if status == "304" else {"content": _PLAIN if status == "414" else _PROBLEM}
        counted = () if status in ("405", "414") else ("RateLimit", "RateLimit-Policy")
        found[name] = {"description": told, "headers": _headers((*named, *counted)), **body}
    return found


def replies(schema: Mapping[str, Any], told: str, *more: str) -> dict[str, Any]:
    """Of one operation: 200 with a body of `schema`, and every refusal. `more` are headers of the success."""
    named = ("ETag", "Cache-Control", *more, "RateLimit", "RateLimit-Policy")
    content = {"application/json": {"schema": dict(schema)}}
    refused = {status: {"$ref": _RESPONSES + name} for status, (name, *_) in _TOLD.items()}
    return {"200": {"description": told, "headers": _headers(named), "content": content}, **refused}


def _headers(names: tuple[str, ...]) -> dict[str, Any]:
    return {name: {"$ref": f"#/components/headers/{name}"} for name in names}
