"""What a client without a token can learn: which issuers give tokens for `/mcp` (RFC 9728), and the challenge that points there.

Knows one document, built from `mcp.public_url` and never from a request's Host. Must not know tokens. Only with an external issuer:
the document must name one, so without it there is neither document nor pointer.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from flask import Blueprint, Response, request

BASE = "/.well-known/oauth-protected-resource"
DOOR = "/mcp"


@dataclass(frozen=True, slots=True)
class Resource:
    """`public_url` has no trailing slash; `issuers` are their names to the letter; `scopes` what a token may be asked for."""

    public_url: str
    issuers: Sequence[str]
    scopes: Sequence[str]

    @property
    def paths(self) -> list[str]:
        """Where the document is: after the path of the public address (RFC 9728 §3.1), at `/mcp`, and at the root."""
        return list(dict.fromkeys([f"{BASE}{urlsplit(self.public_url).path}{DOOR}", BASE + DOOR, BASE]))

    @property
    def address(self) -> str:
        parts = urlsplit(self.public_url)
        return f"{parts.scheme}://{parts.netloc}{self.paths[0]}"

    @property
    def document(self) -> bytes:
        return json.dumps({
            "resource": self.public_url + DOOR,
            "authorization_servers": list(self.issuers),
            "scopes_supported": list(self.scopes),
            "bearer_methods_supported": ["header"],
            "resource_name": "cmsmcp",
        }).encode()


def blueprint(resource: Resource) -> Blueprint:
    known = Blueprint("wellknown", __name__)
    document, address, scopes = resource.document, resource.address, " ".join(resource.scopes)

    def show() -> Response:
        headers = {"Access-Control-Allow-Origin": "*", "Cache-Control": "max-age=300"}
        return Response(document, headers=headers, mimetype="application/json")

    for number, path in enumerate(resource.paths):
        known.add_url_rule(path, f"document{number}", show, methods=("GET", "HEAD"), provide_automatic_options=False)

    @known.after_app_request
    def point(response: Response) -> Response:
        challenge = response.headers.get("WWW-Authenticate")
        if challenge is not None and request.path.rstrip("/") == DOOR:
            found = [challenge] if challenge != "Bearer" else []
            if response.status_code == 401 and scopes:
                found.append(f'scope="{scopes}"')
            found.append(f'resource_metadata="{address}"')
            text = ", ".join(found)
            response.headers["WWW-Authenticate"] = text if text.startswith("Bearer ") else f"Bearer {text}"
        return response

    return known
