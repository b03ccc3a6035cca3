"""An issuer on loopback: real HTTP, real keys; a test decides what it publishes and how it answers."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from jwt.algorithms import ECAlgorithm, OKPAlgorithm, RSAAlgorithm

from tests.waiting import until

KEYS: dict[str, tuple[str, Any, Any]] = {
    "rsa": ("RS256", rsa.generate_private_key(65537, 2048), RSAAlgorithm),
    "ec": ("ES256", ec.generate_private_key(ec.SECP256R1()), ECAlgorithm),
    "okp": ("EdDSA", ed25519.Ed25519PrivateKey.generate(), OKPAlgorithm),
    "next": ("RS256", rsa.generate_private_key(65537, 2048), RSAAlgorithm),
}
AUDIENCE = "https://cms.example/mcp"


def public_jwk(name: str, **changed: Any) -> dict[str, Any]:
    algorithm, key, codec = KEYS[name]
    found = {**json.loads(codec.to_jwk(key.public_key())), "kid": name, "alg": algorithm, "use": "sig", **changed}
    found.pop("key_ops", None) if "key_ops" not in changed else None
    return {entry: value for entry, value in found.items() if value is not ...}


class Issuer:
    """`keys` is what it publishes (or `answer`, any status and body); `fetches` counts who asked."""

    def __init__(self) -> None:
        self.keys: list[Any] = [public_jwk("rsa"), public_jwk("ec"), public_jwk("okp")]
        self.answer: Callable[[], tuple[int, bytes]] = lambda: (200, json.dumps({"keys": self.keys}).encode())
        self.fetches = 0
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                outer.fetches += 1
                status, body = outer.answer()
                try:
                    self.send_response(status)
                    self.send_header("Location", "/elsewhere")
                    self.send_header("Content-Length", str(len(body)))
                    self.end_headers()
                    self.wfile.write(body)
                except OSError:
                    pass

            def log_message(self, *_: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()
        self.name = f"http://127.0.0.1:{self._server.server_port}/"
        self.jwks_url = f"{self.name}keys?v=2"

    def token(self, key: str = "rsa", header: dict[str, Any] | None = None, algorithm: str = "", **changed: Any) -> str:
        now = int(time.time())
        claims = {"iss": self.name, "aud": AUDIENCE, "sub": "ana", "jti": "j1", "iat": now, "exp": now + 600, "scope": "read:content",
                  **changed}
        claims = {name: value for name, value in claims.items() if value is not ...}
        head = {"kid": key, **(header or {})}
        head = {name: value for name, value in head.items() if value is not ...}
        named, private, _ = KEYS[key]
        return jwt.encode(claims, private, algorithm=algorithm or named, headers=head)

    def stop(self) -> None:
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture
def idp() -> Iterator[Issuer]:
    made = Issuer()
    yield made
    made.stop()


@pytest.fixture(name="until")
def wait_until() -> Callable[..., None]:
    return until


@pytest.fixture
def jwk() -> Callable[..., dict[str, Any]]:
    return public_jwk
