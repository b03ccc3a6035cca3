"""An external issuer before real workers: discovery, its tokens, and none of it without one (docs/tokens.md, AU-01, AU-02)."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from jwt.algorithms import ECAlgorithm

PING = b'{"jsonrpc":"2.0","id":41,"method":"ping"}'
KEY = ec.generate_private_key(ec.SECP256R1())
PUBLIC = "https://cms.example.org/site"
WELL_KNOWN = "/.well-known/oauth-protected-resource"


@pytest.fixture(scope="module")
def issuer() -> Iterator[dict[str, Any]]:
    """Its name, and how often it was asked."""
    seen: dict[str, Any] = {"fetches": 0}

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            seen["fetches"] += 1
            body = json.dumps({"keys": [{**json.loads(ECAlgorithm.to_jwk(KEY.public_key())), "kid": "k1"}]}).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    seen["name"] = f"http://127.0.0.1:{server.server_port}"
    yield seen
    server.shutdown()


@pytest.fixture(scope="module")
def host(new_place: Any, start: Any, issuer: dict[str, Any], redis_url: str) -> Any:
    place = new_place().with_(REDIS_URL=redis_url, CMSMCP_SECRET_KEY="k" * 40)
    config = place.site / "content/config/site.yaml"
    block = (
        f"\n  public_url: {PUBLIC}\n  scopes: [read:content, read:docs, read:unpublished]\n"
        f"  issuers: [{{issuer: '{issuer['name']}', jwks_url: '{issuer['name']}/keys', audience: {PUBLIC}/mcp}}]\n"
    )
    text = config.read_text()
    assert "mcp:\n  enabled: true\n" in text
    config.write_text(text.replace("mcp:\n  enabled: true\n", f"mcp:\n  enabled: true{block}"))
    return start(place, "--workers", "2")


def test_the_document_names_the_issuer_at_every_address(host: Any, issuer: dict[str, Any]) -> None:
    """AU-01: unauthenticated, from the public address and never from Host."""
    for path in (f"{WELL_KNOWN}/site/mcp", f"{WELL_KNOWN}/mcp", WELL_KNOWN):
        reply = host.post(b"", {"Host": "evil.example"}, path, "GET")
        assert reply.status == 200 and reply.headers["Content-Type"] == "application/json"
        assert reply.json == {
            "resource": f"{PUBLIC}/mcp", "authorization_servers": [issuer["name"]], "scopes_supported": ["read:content", "read:docs"],
            "bearer_methods_supported": ["header"], "resource_name": "cmsmcp",
        }


def test_a_challenge_points_to_the_document(host: Any) -> None:
    """AU-02, AU-03: `error` only if a token was sent; `/api` is another resource."""
    pointer = f'resource_metadata="https://cms.example.org{WELL_KNOWN}/site/mcp"'
    scope = 'scope="read:content read:docs"'
    assert host.post(PING).headers["WWW-Authenticate"] == f"Bearer {scope}, {pointer}"
    wrong = host.post(PING, {"Authorization": "Bearer wrong"})
    assert wrong.headers["WWW-Authenticate"] == f'Bearer error="invalid_token", {scope}, {pointer}'
    other = host.post(PING, {"Authorization": f"Bearer {host.place.token('--access', 'read-only')}"})
    assert (other.status, other.headers["WWW-Authenticate"]) == (403, f'Bearer error="insufficient_scope", {pointer}')
    assert "resource_metadata" not in host.post(b"", path="/api/post", method="GET").headers.get("WWW-Authenticate", "")


def test_its_tokens_pass_on_every_worker_beside_our_own(host: Any, issuer: dict[str, Any]) -> None:
    now = int(time.time())
    claims = {"iss": issuer["name"], "aud": ["x", f"{PUBLIC}/mcp"], "sub": "ana", "iat": now, "exp": now + 60, "scope": "read:content"}
    token = jwt.encode(claims, KEY, "ES256", {"kid": "k1"})
    end = time.monotonic() + 60
    # Each worker learns the keys by itself: eight answers in a row come from both.
    while any(host.post(PING, {"Authorization": f"Bearer {token}"}).status == 503 for _ in range(8)):
        assert time.monotonic() < end, "the keys were not fetched within 10 s"
        time.sleep(0.05)
    own = host.place.token()
    assert [host.post(PING, {"Authorization": f"Bearer {one}"}).status for _ in range(8) for one in (token, own)] == [200] * 16
    assert issuer["fetches"] == 1, "two workers, one fetch"
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "list_plugins", "arguments": {}}}
    refused = host.post(json.dumps(call), {"Authorization": f"Bearer {token}"})
    assert refused.status == 403 and 'scope="read:plugins"' in refused.headers["WWW-Authenticate"]
    forged = jwt.encode({**claims, "aud": "x"}, KEY, "ES256", {"kid": "k1"})
    assert host.post(PING, {"Authorization": f"Bearer {forged}"}).json["error"] == "Invalid API token"


def test_without_an_issuer_there_is_no_document_and_no_pointer(server: Any) -> None:
    """AU-01: a document without an issuer would not be valid. `/ops` does not exist either, whoever asks."""
    for path in (f"{WELL_KNOWN}/mcp", WELL_KNOWN, "/ops", "/ops/audit"):
        reply = server.post(b"", path=path, method="GET")
        assert (reply.status, reply.json) == (404, {"error": "Not found"})
    assert server.post(PING).headers["WWW-Authenticate"] == "Bearer"
