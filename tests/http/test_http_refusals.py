"""Every refusal of the HTTP door, byte for byte over a raw socket: status, headers, body, and that the next request is served.

One row, one request. `pytest tests/http/test_http_refusals.py --refusals FILE` also writes each request with its reply.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import re
import socket
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from cmsmcp.identity.keys import Keyring
from cmsmcp.identity.tokens import PURPOSE

SECRET = "refusals-are-tested-with-this-key-FAKE"
LIMIT = 8_388_608
MODERN = "2026-07-28"
V = "io.modelcontextprotocol/protocolVersion"
C = "io.modelcontextprotocol/clientCapabilities"
PING = b'{"jsonrpc":"2.0","id":41,"method":"ping"}'
LIST = b'{"jsonrpc":"2.0","id":1,"method":"tools/list"}'
INITIALIZED = b'{"jsonrpc":"2.0","method":"notifications/initialized"}'
NOT_ALLOWED = "GET, HEAD, POST, OPTIONS"


def rpc(method: str, params: Any = None, id: Any = 1) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": id, "method": method, **({"params": params} if params is not None else {})}).encode()


def enveloped(method: str, version: Any = MODERN, capabilities: Any = None, **params: Any) -> bytes:
    return rpc(method, {**params, "_meta": {V: version, C: {} if capabilities is None else capabilities}})


def modern(method: str, *lines: str, version: str = MODERN) -> tuple[str, ...]:
    return (f"MCP-Protocol-Version: {version}", f"Mcp-Method: {method}", *lines)


@dataclass(frozen=True)
class Row:
    """`expect` is the JSON-RPC code, the text under "error", or None for no body. `id` is that of the reply; absent unless given."""

    name: str
    request: Callable[[Kit], bytes]
    status: int | tuple[int, ...]
    expect: int | str | None | type = -32600
    id: Any = None
    headers: dict[str, str] = field(default_factory=dict)
    data: dict[str, Any] = field(default_factory=dict)
    cut: bool = False
    """The client goes away in the middle: it half-closes after what it sent."""


class Kit:
    """What rows build their requests with."""

    def __init__(self, server: Any) -> None:
        self.server = server
        self.key = Keyring([SECRET.encode()], PURPOSE).signing
        self.token = server.place.token()
        self.docs = server.place.token("--scope", "read:docs")
        self.others = {access: server.place.token("--access", access) for access in ("read-only", "full-access", "operator")}
        self.claims = json.loads(_unpad(self.token.split(".")[1]))
        self.revoked = server.place.token()
        identifier = json.loads(_unpad(self.revoked.split(".")[1]))["jti"]
        revoked = server.place.run("tokens", "revoke", "--site", str(server.place.site), identifier)
        assert revoked.returncode == 0, revoked.stderr
        opened = self.send(self.post(rpc("initialize", {"protocolVersion": "2025-11-25"})))
        self.session = re.search(rb"Mcp-Session-Id: (\S+)", opened)[1].decode()

    def post(self, body: bytes = PING, *lines: str, drop: str = "", verb: str = "POST /mcp") -> bytes:
        """A request with good headers. `lines` replace headers of their name, or are added; `drop` names those left out."""
        base = ["Host: localhost", f"Authorization: Bearer {self.token}", "Content-Type: application/json", f"Content-Length: {len(body)}"]
        gone = {name.lower() for name in drop.split()} | {line.partition(":")[0].lower() for line in lines}
        if "transfer-encoding" in gone:
            gone.add("content-length")
        kept = [line for line in base if line.partition(":")[0].lower() not in gone]
        return "\r\n".join([f"{verb} HTTP/1.1", *kept, *lines, "Connection: close", "", ""]).encode("latin-1") + body

    def bearer(self, token: str, body: bytes = LIST) -> bytes:
        return self.post(body, f"Authorization: Bearer {token}")

    def forge(self, header: Any = None, key: bytes | None = None, **claims: Any) -> bytes:
        """A token made with our own key unless told otherwise, some claims changed (None leaves one out)."""
        head = {"alg": "HS256", "typ": "JWT", "kid": self.key.id, **(header or {})}
        said = {name: value for name, value in {**self.claims, **claims}.items() if value is not None}
        signed = f"{_pad(json.dumps(head).encode())}.{_pad(json.dumps(said).encode())}"
        mac = hmac.digest(self.key.secret if key is None else key, signed.encode(), hashlib.sha256)
        return self.bearer(f"{signed}.{'' if str(head['alg']).lower() == 'none' else _pad(mac)}")

    def send(self, request: bytes, *, cut: bool = False) -> bytes:
        """What the server sends until it closes."""
        with socket.create_connection((self.server.host, self.server.port), timeout=60) as peer:
            try:
                peer.sendall(request)
                if cut:
                    peer.shutdown(socket.SHUT_WR)
            except OSError:
                pass  # it answered and closed before it had everything
            received = b""
            try:
                while chunk := peer.recv(65_536):
                    received += chunk
            except ConnectionResetError:
                pass
            return received


def _pad(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


def _unpad(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def chunked(*parts: bytes) -> bytes:
    return b"".join(b"%x\r\n%b\r\n" % (len(part), part) for part in (*parts,)) + b"0\r\n\r\n"


def body(raw: bytes, *lines: str) -> Callable[[Kit], bytes]:
    return lambda kit: kit.post(raw, *lines)


INVALID = "Invalid API token"
ABOUT_TOKENS = (INVALID, "API token required", "This token cannot access this endpoint")
CHALLENGE = {"WWW-Authenticate": r'Bearer\b.*error="invalid_token".*'}

SIZE_AND_NAME = [
    Row("announced size over the limit", body(b"", f"Content-Length: {LIMIT + 1}"), 413),
    Row("announced size without end", body(b"", f"Content-Length: {10**17}"), 413),
    Row("size is told before the token", lambda k: k.post(b"", f"Content-Length: {LIMIT + 1}", drop="authorization"), 413),
    Row("chunked size over the limit", body(chunked(*[b" " * 65_536] * 130), "Transfer-Encoding: chunked"), 413),
    Row("one byte over the limit", body(PING + b" " * (LIMIT + 1 - len(PING))), 413),
    Row("foreign host", body(PING, "Host: evil.example"), 403, r"Host not allowed; .*"),
    Row("rebound host", body(PING, "Host: localhost.evil.example"), 403, r"Host not allowed; .*"),
    Row("no host", lambda k: k.post(drop="host"), (400, 403), str),
    Row("two hosts", body(PING, "Host: localhost", "Host: evil.example"), (400, 403), str),
    Row("foreign origin", body(PING, "Origin: https://evil.example"), 403, "Origin not allowed"),
    Row("null origin", body(PING, "Origin: null"), 403, "Origin not allowed"),
    Row("two origins", body(PING, "Origin: http://localhost", "Origin: https://evil.example"), 403, "Origin not allowed"),
    Row("foreign origin on a preflight", lambda k: k.post(b"", "Origin: https://evil.example", verb="OPTIONS /mcp"),
        403, "Origin not allowed"),
    Row("host is told before origin and verb", lambda k: k.post(b"", "Host: evil.example", "Origin: null", verb="PUT /mcp"),
        403, r"Host .*"),
]  # fmt: skip

VERBS_AND_PATHS = [
    *(Row(f"verb {verb}", lambda k, verb=verb: k.post(b"", drop="authorization", verb=f"{verb} /mcp"), 405, f"{verb} is not supported.*",
          headers={"Allow": NOT_ALLOWED}) for verb in ("PUT", "PATCH", "TRACE", "FOO", "PROPFIND")),
    Row("DELETE", lambda k: k.post(b"", verb="DELETE /mcp"), 405, "Session termination is not supported", headers={"Allow": NOT_ALLOWED}),
    Row("DELETE of a session", lambda k: k.post(b"", f"Mcp-Session-Id: {k.session}", verb="DELETE /mcp/"), 405,
        "Session termination is not supported", headers={"Allow": NOT_ALLOWED}),
    Row("GET for a stream of no session", lambda k: k.post(b"", "Accept: text/event-stream", verb="GET /mcp"), 400, -32600),
    Row("GET for a stream of a lost session", lambda k: k.post(b"", "Accept: text/event-stream", f"Mcp-Session-Id: {k.session}x",
        verb="GET /mcp"), 404, 4040),
    Row("GET of a modern client", lambda k: k.post(b"", f"MCP-Protocol-Version: {MODERN}", verb="GET /mcp"), 405, str,
        headers={"Allow": NOT_ALLOWED}),
    Row("GET of an unknown revision", lambda k: k.post(b"", "MCP-Protocol-Version: 1999-01-01", verb="GET /mcp"), 400, -32022),
    Row("GET without a token", lambda k: k.post(b"", drop="authorization", verb="GET /mcp"), 401, "API token required",
        headers={"WWW-Authenticate": "Bearer.*"}),
    *(Row(f"path {path}", lambda k, path=path: k.post(PING, verb=f"POST {path}"), 404, "Not found")
      for path in ("//mcp", "/MCP", "/mcp//", "/mcp/x", "/mcp%2f%2f", "/mcp;a", "/nope", "/mcp.php")),
]  # fmt: skip

TOKENS = [
    Row("no token", lambda k: k.post(LIST, drop="authorization"), 401, "API token required", headers={"WWW-Authenticate": "Bearer.*"}),
    *(Row(f"Authorization {value!r}", body(LIST, f"Authorization: {value}"), (400, 401), "API token required",
          headers={"WWW-Authenticate": "Bearer.*"}) for value in ("Basic eDp5", "Bearer", "Bearer  ", "Digest a=b")),
    Row("no token, a foreign scheme beside it", body(LIST, "Authorization: Token x"), 401, "API token required"),
    Row("a token in the query", lambda k: k.post(LIST, drop="authorization", verb=f"POST /mcp?access_token={k.token}"),
        401, "API token required"),
    *(Row(f"token {text[:12]!r}", lambda k, text=text: k.bearer(text), 401, INVALID, headers=CHALLENGE)
      for text in ("wrong", "a.b.c", "..", "a.b", "e30.e30.", "a" * 9_000)),
    Row("two tokens, the first good", lambda k: k.post(LIST, f"Authorization: Bearer {k.token}", "Authorization: Bearer wrong"),
        401, INVALID),
    Row("two tokens, the second good", lambda k: k.post(LIST, "Authorization: Bearer wrong", f"Authorization: Bearer {k.token}"),
        401, INVALID),
    *(Row(f"token with alg {alg!r}", lambda k, alg=alg: k.forge({"alg": alg}), 401, INVALID, headers=CHALLENGE)
      for alg in ("none", "None", "nOnE", "", None, 0, ["HS256"], "RS256", "HS384")),
    *(Row(f"token with kid {str(kid)[:20]!r}", lambda k, kid=kid: k.forge({"kid": kid}), 401, INVALID, headers=CHALLENGE)
      for kid in ("unknown", "../../empty", "k1' OR '1'='1", "k1\u0000", 7, None, {"a": 1}, "k" * 2_000)),
    *(Row(f"token with {name} in its header", lambda k, name=name, value=value: k.forge({name: value}), 401, INVALID, headers=CHALLENGE)
      for name, value in (("jku", "https://evil.example/k"), ("x5u", "https://evil.example/c"), ("jwk", {"kty": "oct"}), ("crit",
          ["b64"]))),
    Row("token signed by another key", lambda k: k.forge(key=b"another key, of forty bytes or so, FAKE."), 401, INVALID, headers=CHALLENGE),
    Row("token signed by an empty key", lambda k: k.forge(key=b""), 401, INVALID, headers=CHALLENGE),
    Row("token cut by a character", lambda k: k.bearer(k.token[:-1]), 401, INVALID, headers=CHALLENGE),
    Row("token with padding", lambda k: k.bearer(k.token + "="), 401, INVALID, headers=CHALLENGE),
    Row("token of four parts", lambda k: k.bearer(k.token + ".x"), 401, INVALID, headers=CHALLENGE),
    Row("token with aud as a list", lambda k: k.forge(aud=[k.claims["aud"]]), 401, INVALID, headers=CHALLENGE),
    Row("token with aud as a list of two", lambda k: k.forge(aud=[k.claims["aud"], "other"]), 401, INVALID, headers=CHALLENGE),
    Row("token for another audience", lambda k: k.forge(aud="urn:cmsmcp:other"), 401, INVALID, headers=CHALLENGE),
    Row("token without audience", lambda k: k.forge(aud=None), 401, INVALID, headers=CHALLENGE),
    Row("token of a foreign issuer", lambda k: k.forge(iss="https://issuer.example"), 401, INVALID, headers=CHALLENGE),
    Row("token without issuer", lambda k: k.forge(iss=None), 401, INVALID, headers=CHALLENGE),
    Row("expired token", lambda k: k.forge(iat=int(time.time()) - 7200, exp=int(time.time()) - 3600), 401, INVALID, headers=CHALLENGE),
    Row("token without expiry", lambda k: k.forge(exp=None), 401, INVALID, headers=CHALLENGE),
    Row("token issued in the future", lambda k: k.forge(iat=int(time.time()) + 3600, exp=int(time.time()) + 7200),
        401, INVALID, headers=CHALLENGE),
    Row("token not valid yet", lambda k: k.forge(nbf=int(time.time()) + 3600), 401, INVALID, headers=CHALLENGE),
    Row("token with exp as text", lambda k: k.forge(exp="9999999999"), 401, INVALID, headers=CHALLENGE),
    Row("token without an id", lambda k: k.forge(jti=None), 401, INVALID, headers=CHALLENGE),
    Row("token with claims that are none", lambda k: k.forge(scope=7, access=["mcp-server"]), 401, INVALID, headers=CHALLENGE),
    Row("revoked token", lambda k: k.bearer(k.revoked), 401, 4010, id=1, headers=CHALLENGE),
    *(Row(f"token with access {access}", lambda k, access=access: k.bearer(k.others[access]), 403, "This token cannot access this endpoint",
          headers={"WWW-Authenticate": 'Bearer.*error="insufficient_scope".*'}) for access in ("read-only", "full-access", "operator")),
    Row("token is told before media types", lambda k: k.post(b"{", "Content-Type: text/plain", drop="authorization"),
        401, "API token required"),
]  # fmt: skip

MEDIA_TYPES = [
    Row("no content type", lambda k: k.post(drop="content-type"), 415),
    *(Row(f"content type {mime}", body(PING, f"Content-Type: {mime}"), 415)
      for mime in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "application/json-rpc",
                   "application/jsonx", "text/json", "application/*", "application/json, text/plain", ";", "é")),
    Row("two content types, the second good", body(PING, "Content-Type: text/plain", "Content-Type: application/json"), 400, str),
    Row("two content types, the first good", body(PING, "Content-Type: application/json", "Content-Type: text/plain"), 400, str),
    Row("compressed body", body(PING, "Content-Encoding: gzip"), 415),
    *(Row(f"accept {accept}", body(PING, f"Accept: {accept}"), 406)
      for accept in ("text/html", "application/json;q=0", "application/json;q=0, text/event-stream;q=0.0", "nonsense", "image/*",
          "*/*;q=0")),
    Row("content type is told before accept", body(PING, "Content-Type: text/plain", "Accept: text/html"), 415),
    Row("accept is told before the body", body(b"{", "Accept: text/html"), 406),
]  # fmt: skip

NO_JSON = [
    *(Row(name, body(raw), 400, -32700) for name, raw in {
        "empty body": b"",
        "blank body": b"  \r\n ",
        "cut JSON": b'{"jsonrpc":"2.0","id":1',
        "no JSON": b"{this is not json",
        "a bare word": b"nul",
        "two values": PING + PING,
        "trailing comma": b'{"jsonrpc":"2.0","id":1,"method":"ping",}',
        "single quotes": b"{'jsonrpc':'2.0'}",
        "bad UTF-8": b'{"jsonrpc":"2.0","id":1,"method":"p\xffing"}',
        "overlong UTF-8": b'{"jsonrpc":"2.0","id":1,"method":"p\xc0\xafing"}',
        "UTF-16": PING.decode().encode("utf-16"),
        "a byte order mark": b"\xef\xbb\xbf" + PING,
        "duplicate key": b'{"jsonrpc":"2.0","id":1,"method":"ping","id":2}',
        "duplicate key deep inside": b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":{"b":1,"b":1}}}',
        "duplicate key by escape": b'{"jsonrpc":"2.0","id":1,"method":"ping","\\u0069d":2}',
        "NaN": b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":NaN}}',
        "Infinity": b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":-Infinity}}',
        "100,000 nested arrays": b"[" * 100_000 + b"]" * 100_000,
        "100,000 nested objects": b'{"a":' * 100_000 + b"1" + b"}" * 100_000,
        "101 levels": b'{"jsonrpc":"2.0","id":1,"method":"ping","params":' + b'{"a":' * 100 + b"1" + b"}" * 101,
        "an integer of 5,000 digits": b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":' + b"9" * 5_000 + b"}}",
        "an id of 5,000 digits": b'{"jsonrpc":"2.0","id":' + b"9" * 5_000 + b',"method":"ping"}',
        "a fraction of 5,000 digits": b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":0.' + b"9" * 5_000 + b"}}",
        "a lone surrogate": b'{"jsonrpc":"2.0","id":"\\ud800","method":"ping"}',
        "a lone surrogate in a key": b'{"jsonrpc":"2.0","id":1,"method":"ping","\\udfff":1}',
        "a control character": b'{"jsonrpc":"2.0","id":"a\x00b","method":"ping"}',
        "another charset": '{"jsonrpc":"2.0","id":"é","method":"ping"}'.encode("latin-1"),
    }.items()),
    Row("a body that ends early", body(PING[:10], "Content-Length: 100"), 400, -32700, cut=True),
    Row("chunks that end early", body(b"29\r\n" + PING[:10], "Transfer-Encoding: chunked"), 400, -32700, cut=True),
]  # fmt: skip

NO_MESSAGE = [
    *(Row(name, body(raw), 400) for name, raw in {
        "a string": b'"text"', "a number": b"42", "null": b"null", "true": b"true", "an empty object": b"{}",
        "an empty array": b"[]", "an array in an array": b"[[]]", "an array of numbers": b"[1,2]", "an array": b"[" + PING + b"]",
        "50,000 pings": b"[" + b",".join([PING] * 50_000) + b"]",
    }.items()),
    *(Row(f"id {raw.decode()}", body(b'{"jsonrpc":"2.0","id":%b,"method":"ping"}' % raw), 400)
      for raw in (b"1.5", b"1.0", b"1e2", b"true", b"null", b"[1]", b'{"a":1}', b"18446744073709551616")),
    Row("jsonrpc 1.0", body(b'{"jsonrpc":"1.0","id":3,"method":"ping"}'), 400, id=3),
    Row("jsonrpc as a number", body(b'{"jsonrpc":2.0,"id":"a","method":"ping"}'), 400, id="a"),
    Row("no jsonrpc", body(b'{"id":3,"method":"ping"}'), 400, id=3),
    Row("method as a number", body(b'{"jsonrpc":"2.0","id":4,"method":7}'), 400, id=4),
    Row("params as an array", body(b'{"jsonrpc":"2.0","id":4,"method":"ping","params":[]}'), 400, id=4),
    Row("params as text", body(b'{"jsonrpc":"2.0","id":4,"method":"ping","params":"a"}'), 400, id=4),
    Row("result and error", body(b'{"jsonrpc":"2.0","id":4,"result":{},"error":{}}'), 400),
    Row("an empty array in 2025-03-26", body(b"[]", "MCP-Protocol-Version: 2025-03-26"), 400),
    Row("51 messages in 2025-03-26", body(b"[" + b",".join([PING] * 51) + b"]", "MCP-Protocol-Version: 2025-03-26"), 400),
    Row("an array in a session of 2025-11-25", lambda k: k.post(b"[" + PING + b"]", f"Mcp-Session-Id: {k.session}"), 400),
    Row("an array of a modern client", body(b"[" + PING + b"]", f"MCP-Protocol-Version: {MODERN}"), 400),
]  # fmt: skip

SUPPORTED = [MODERN, "2025-11-25", "2025-06-18", "2025-03-26"]
ERAS = [
    Row("legacy header of an unknown revision", body(LIST, "MCP-Protocol-Version: 1999-01-01"), 400, -32022, id=1,
        data={"supported": SUPPORTED, "requested": "1999-01-01"}),
    Row("the same header on a notification", body(INITIALIZED, "MCP-Protocol-Version: 1999-01-01"), 400, -32022),
    *(Row(f"repeated {name}", body(LIST, f"{name}: {first}", f"{name}: {second}"), 400, -32020) for name, first, second in (
        ("MCP-Protocol-Version", "2025-11-25", "2025-11-25"), ("MCP-Protocol-Version", "2025-11-25", MODERN),
        ("Mcp-Method", "tools/list", "tools/call"), ("Mcp-Session-Id", "a", "b"))),
    Row("initialize without a version", body(rpc("initialize", {})), 200, -32602, id=1, data={"supported": SUPPORTED}),
    Row("initialize with a number for version", body(rpc("initialize", {"protocolVersion": 123})), 200, -32602, id=1),
    Row("legacy unknown method", body(rpc("no/such")), 200, -32601, id=1),
    Row("legacy unknown method of a session", lambda k: k.post(rpc("no/such"), f"Mcp-Session-Id: {k.session}"), 200, -32601, id=1),
    *(Row(f"session {session!r}", body(LIST, f"Mcp-Session-Id: {session}"), 404, 4040, id=1) for session in ("", "junk", "a" * 500, "é")),
    Row("session changed by a letter", lambda k: k.post(LIST, f"Mcp-Session-Id: {k.session[:-1]}~"), 404, 4040, id=1),
    Row("session of another token", lambda k: k.post(LIST, f"Authorization: Bearer {k.docs}", f"Mcp-Session-Id: {k.session}"),
        404, 4040, id=1),
    Row("notification of a lost session", body(INITIALIZED, "Mcp-Session-Id: junk"), 404, 4040),
    Row("response of a lost session", body(b'{"jsonrpc":"2.0","id":1,"result":{}}', "Mcp-Session-Id: junk"), 404, 4040),
    Row("batch of a lost session", body(b"[" + PING + b"]", "Mcp-Session-Id: junk", "MCP-Protocol-Version: 2025-03-26"), 404, 4040),
    Row("version is told before the session", body(LIST, "Mcp-Session-Id: junk", "MCP-Protocol-Version: 1999-01-01"), 400, -32022, id=1),
    Row("modern header without envelope", body(LIST, *modern("tools/list")), 400, -32602, id=1),
    Row("modern header without envelope, no such session", body(LIST, *modern("tools/list", "Mcp-Session-Id: junk")), 400, -32602, id=1),
    Row("server/discover without envelope", body(rpc("server/discover", {}), *modern("server/discover")), 400, -32602, id=1),
    Row("envelope without capabilities", body(rpc("tools/list", {"_meta": {V: MODERN}}), *modern("tools/list")), 400, -32602, id=1),
    Row("envelope with capabilities as a list", body(enveloped("tools/list", capabilities=[]), *modern("tools/list")), 400, -32602, id=1),
    Row("envelope with a version of no text", body(enveloped("tools/list", 20260728), *modern("tools/list")), 400, -32602, id=1),
    Row("envelope without header", body(enveloped("tools/list"), "Mcp-Method: tools/list"), 400, -32020, id=1),
    Row("envelope unlike its header", body(enveloped("tools/list"), *modern("tools/list", version="2025-11-25")), 400, -32020, id=1),
    Row("unknown envelope unlike its header", body(enveloped("tools/list", "v999.0.0"), *modern("tools/list")), 400, -32020, id=1),
    Row("unknown envelope like its header", body(enveloped("tools/list", "v999.0.0"), *modern("tools/list", version="v999.0.0")), 400,
        -32022, id=1, data={"supported": [MODERN], "requested": "v999.0.0"}),
    *(Row(f"envelope that names {version}", body(enveloped("tools/list", version), *modern("tools/list", version=version)),
        400, -32022, id=1,
          data={"supported": [MODERN], "requested": version}) for version in SUPPORTED[1:]),
    Row("a response of a modern client", body(b'{"jsonrpc":"2.0","id":1,"result":{}}', f"MCP-Protocol-Version: {MODERN}"), 400),
]  # fmt: skip

CALL = {"name": "list_documents", "arguments": {}}
MODERN_HEADERS = [
    Row("no Mcp-Method", body(enveloped("tools/list"), f"MCP-Protocol-Version: {MODERN}"), 400, -32020, id=1),
    Row("another Mcp-Method", body(enveloped("tools/list"), *modern("tools/call")), 400, -32020, id=1),
    Row("Mcp-Method in capitals", body(enveloped("tools/list"), *modern("TOOLS/LIST")), 400, -32020, id=1),
    Row("Mcp-Method with an underscore", body(enveloped("tools/list"), f"MCP-Protocol-Version: {MODERN}", "Mcp_Method: tools/list"), 400,
        -32020, id=1),
    Row("version header with underscores", body(enveloped("tools/list"), f"MCP_Protocol_Version: {MODERN}", "Mcp-Method: tools/list"), 400,
        -32020, id=1),
    Row("no Mcp-Name", body(enveloped("tools/call", **CALL), *modern("tools/call")), 400, -32020, id=1),
    *(Row(f"Mcp-Name {name!r}", body(enveloped("tools/call", **CALL), *modern("tools/call", f"Mcp-Name: {name}")), 400, -32020, id=1)
      for name in ("", "get_document", "LIST_DOCUMENTS", "list_documents,list_documents", "=?base64?bGlzdF9kb2N1bWVudHM?=",
                   "=?base64?bGlzdF9kb2!!1bWVudHM=?=", "=?BASE64?bGlzdF9kb2N1bWVudHM=?=", "=?base64??=", "list_documents\u00e9")),
    Row("Mcp-Name sent twice", body(enveloped("tools/call", **CALL), *modern("tools/call", "Mcp-Name: list_documents",
        "Mcp-Name: get_document")),
        400, -32020, id=1),
    Row("Mcp-Name with an underscore", body(enveloped("tools/call", **CALL), *modern("tools/call", "Mcp_Name: list_documents")),
        400, -32020, id=1),
    Row("Mcp-Name unlike the URI", body(enveloped("resources/read", uri="plank://locales"), *modern("resources/read",
        "Mcp-Name: plank://x")),
        400, -32020, id=1),
    *(Row(f"modern {method}", body(enveloped(method), *modern(method)), 404, -32601, id=1)
      for method in ("initialize", "ping", "logging/setLevel", "resources/subscribe", "resources/unsubscribe", "unknown/method",
          "tasks/list",
                     "tasks/result", "rpc.discover", "")),
    Row("modern unknown tool", body(enveloped("tools/call", name="nope"), *modern("tools/call", "Mcp-Name: nope")), 200, -32602, id=1),
    Row("modern missing resource", body(enveloped("resources/read", uri="x://y"), *modern("resources/read", "Mcp-Name: x://y")),
        200, -32602, id=1),
    Row("modern bad cursor", body(enveloped("tools/list", cursor="!"), *modern("tools/list")), 200, -32602, id=1),
    Row("headers are told before the version", body(enveloped("tools/list", "v9"), "MCP-Protocol-Version: v9", "Mcp-Method: x"),
        400, -32020, id=1),
    Row("the version before the method", body(enveloped("no/such", "v9"), *modern("no/such", version="v9")), 400, -32022, id=1),
]  # fmt: skip

HEALTH = {"name": "get_runtime_health", "arguments": {}}
SCOPE = {"WWW-Authenticate": 'Bearer.*error="insufficient_scope".*scope="[^"]*read:ops[^"]*".*'}
CALLS = [
    Row("legacy call without the scope", lambda k: k.post(rpc("tools/call", HEALTH), f"Authorization: Bearer {k.docs}"), 403, 4030, id=1,
        headers=SCOPE, data={"required_scopes": ["read:ops"]}),
    Row("modern call without the scope", lambda k: k.post(enveloped("tools/call", **HEALTH), f"Authorization: Bearer {k.docs}",
        *modern("tools/call", "Mcp-Name: get_runtime_health"), "Accept: text/event-stream"), 403, 4030, id=1, headers=SCOPE),
    Row("unknown tool", body(rpc("tools/call", {"name": "nope"})), 200, -32602, id=1),
    Row("a tool without name", body(rpc("tools/call", {})), 200, -32602, id=1),
    Row("arguments as a list", body(rpc("tools/call", {"name": "list_documents", "arguments": []})), 200, -32602, id=1),
    Row("missing resource", body(rpc("resources/read", {"uri": "foundry://nope"})), 200, -32002, id=1, data={"uri": "foundry://nope"}),
    Row("unknown content type", body(rpc("resources/read", {"uri": "plank://content-types/unknown-slug/schema"})), 200, -32004, id=1,
        data={"slug": "unknown-slug"}),
    Row("a URI of 9,000 characters", body(rpc("resources/read", {"uri": "x:" + "y" * 9_000})), 200, -32602, id=1),
    Row("legacy bad cursor", body(rpc("tools/list", {"cursor": "!"})), 200, -32602, id=1),
]  # fmt: skip

WIRE = [
    Row("length and chunks", body(b"0\r\n\r\n", "Content-Length: 5", "Transfer-Encoding: chunked"), 400, str),
    Row("two lengths", body(b"abcde", "Content-Length: 5", "Content-Length: 6"), 400, str),
    Row("two equal lengths", body(PING, f"Content-Length: {len(PING)}", f"Content-Length: {len(PING)}"), 400, str),
    Row("a length list", body(PING, f"Content-Length: {len(PING)}, {len(PING)}"), 400, str),
    *(Row(f"length {length!r}", body(b"abcde", f"Content-Length: {length}"), (400, 413), object)
      for length in ("5x", "-1", "+5", "0x5", "5.0", "\u00b2", "1_0", "9" * 30)),
    *(Row(f"transfer encoding {coding!r}", body(b"0\r\n\r\n", f"Transfer-Encoding: {coding}"), 400, str)
      for coding in ("gzip", "chunked, gzip", "xchunked", "chunked\u000b", "chunked, chunked")),
    Row("a compressed transfer", body(chunked(PING), "Transfer-Encoding: gzip, chunked"), 415, -32600),
    Row("chunk size of no number", body(b"zz\r\n", "Transfer-Encoding: chunked"), 400, object),
    Row("chunk size below zero", body(b"-5\r\nabcde\r\n0\r\n\r\n", "Transfer-Encoding: chunked"), 400, object),
    Row("chunk without its end", body(b"3\r\nabcde\r\n0\r\n\r\n", "Transfer-Encoding: chunked"), 400, object),
    Row("a folded header", body(PING, "X-A: b\r\n c"), 400, str),
    Row("a blank before the colon", body(PING, "X-A : b"), 400, str),
    Row("a header without colon", body(PING, "nonsense"), 400, str),
    Row("NUL in a header", body(PING, "X-A: b\u0000c"), 400, str),
    Row("a bare CR in a header", body(PING, "X-A: b\rX-B: c"), 400, str),
    Row("a long header", body(PING, "X-Long: " + "a" * 20_000), (400, 431), str),
    Row("100 headers", body(PING, *(f"X-{n}: 1" for n in range(100))), (400, 431), str),
    Row("unknown expectation", body(PING, "Expect: nonsense"), 417, str),
    Row("no request line", lambda k: b"GARBAGE\r\n\r\n", 400, str),
    Row("HTTP/9.9", lambda k: b"POST /mcp HTTP/9.9\r\nHost: localhost\r\n\r\n", 400, str),
    Row("a long path", lambda k: b"GET /" + b"a" * 9_000 + b" HTTP/1.1\r\n\r\n", (400, 414), str),
    Row("a verb in small letters", lambda k: k.post(PING, verb="post /mcp"), (400, 405), str),
]  # fmt: skip

GROUPS = {
    "size, host, origin": SIZE_AND_NAME, "verb, path": VERBS_AND_PATHS, "token": TOKENS, "media type": MEDIA_TYPES, "no JSON": NO_JSON,
    "no message": NO_MESSAGE, "revision, session": ERAS, "modern headers, method": MODERN_HEADERS, "scope, parameters": CALLS, "wire": WIRE,
}  # fmt: skip
ROWS = [pytest.param(group, row, id=f"{group}: {row.name}") for group, rows in GROUPS.items() for row in rows]
LEAKS = re.compile(rb"(?i)<html|<!doctype|traceback|\.py\b|line \d+, in|/home/|/tmp/|/usr/|site-packages|redis|werkzeug|" + SECRET.encode())


@pytest.fixture(scope="module")
def kit(new_place: Callable[[], Any], start: Callable[..., Any]) -> Kit:
    """A server of its own: these rows must not run its address's bucket dry."""
    place = new_place().with_(CMSMCP_SECRET_KEY=SECRET)
    config = place.site / "content/config/site.yaml"
    text = config.read_text()
    assert "  enabled: true\n" in text
    config.write_text(text.replace("  enabled: true\n", "  enabled: true\n  rate_limit: {requests_per_minute: 600000, burst: 100000}\n", 1))
    return Kit(start(place, "--workers", "2"))


@pytest.fixture(scope="module")
def record(request: pytest.FixtureRequest) -> Iterator[Callable[[str, bytes, bytes], None]]:
    path = request.config.getoption("--refusals", None)
    entries: list[str] = []

    def note(name: str, sent: bytes, received: bytes) -> None:
        entries.append(f"### {name}\n\n{_shown(sent, 700)}\n\n--> \n\n{_shown(received, 2_000)}\n\n")

    yield note
    if path:
        Path(path).write_text("".join(entries), encoding="utf-8")


def _shown(raw: bytes, most: int) -> str:
    text = raw[: most * 4].decode("utf-8", "backslashreplace").replace("\r\n", "\n")
    text = re.sub(r"(Bearer |access_token=)[A-Za-z0-9._-]{60,}", r"\1…", text)
    printable = "".join(character if character.isprintable() or character == "\n" else ascii(character)[1:-1] for character in text)
    return printable if len(printable) <= most and len(raw) <= most * 4 else f"{printable[:most]}… ({len(raw)} bytes)"


@pytest.mark.parametrize(("group", "row"), ROWS)
def test_a_refusal(kit: Kit, record: Callable[[str, bytes, bytes], None], group: str, row: Row) -> None:
    """docs/rules.md, HTTP order of checks; docs/errors.md."""
    request = row.request(kit)
    received = kit.send(request, cut=row.cut)
    record(f"{group}: {row.name}", request, received)
    head, _, content = received.partition(b"\r\n\r\n")
    status_line, *lines = head.decode("latin-1").split("\r\n")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    status = int(status_line.split()[1])
    assert status in (row.status if isinstance(row.status, tuple) else (row.status,)), received[:300]
    assert status < 500
    assert headers["content-type"] == "application/json"
    assert int(headers["content-length"]) == len(content)
    assert not LEAKS.search(received), received
    assert kit.token.encode() not in received
    _check_body(row, json.loads(content))
    for name, pattern in row.headers.items():
        assert re.fullmatch(pattern, headers[name.lower()]), (name, headers)
    served = kit.send(kit.post())
    assert served.startswith(b"HTTP/1.1 200") and served.endswith(b'{"jsonrpc":"2.0","id":41,"result":{}}')


def _check_body(row: Row, found: Any) -> None:
    if row.expect is object:
        return
    if isinstance(row.expect, int):
        assert set(found) == {"jsonrpc", "error", *(["id"] if row.id is not None else [])}, found
        assert (found["jsonrpc"], found["error"]["code"], found.get("id")) == ("2.0", row.expect, row.id), found
        assert found["error"]["message"] and "\n" not in found["error"]["message"]
        for key, value in row.data.items():
            assert found["error"]["data"][key] == value
    else:
        assert set(found) == {"error", *(["hint"] if found["error"] in ABOUT_TOKENS else [])}, found
        assert re.fullmatch(row.expect if isinstance(row.expect, str) else ".+", found["error"]), found


ACCEPTED = {
    "no Accept": (LIST, ["Accept:"], 200),
    "two Accept lines": (LIST, ["Accept: application/json", "Accept: text/event-stream"], 200),
    "content type with a charset": (PING, ["Content-Type: APPLICATION/json; charset=utf-8"], 200),
    "twin of the session header": (PING, ["Mcp_Session_Id: junk"], 200),
    "twin of the version header": (PING, ["MCP_Protocol_Version: 1999-01-01"], 200),
    "twins of the lengths": (PING, ["Content_Length: 7", "Transfer_Encoding: chunked"], 200),
    "Mcp-Method of a legacy request": (PING, ["Mcp-Method: tools/call", "Mcp-Name: x"], 200),
    "modern, header names in any case": (enveloped("tools/list"), [f"mcp-protocol-version: {MODERN}", "MCP-METHOD:   tools/list  "], 200),
    "modern, name by the sentinel": (enveloped("tools/call", **CALL), [*modern("tools/call",
        "Mcp-Name: =?base64?bGlzdF9kb2N1bWVudHM=?=")], 200),
    "modern, a lost session": (enveloped("tools/list"), [*modern("tools/list", "Mcp-Session-Id: junk")], 200),
    "modern, unknown parameter header": (enveloped("tools/list"), [*modern("tools/list", "Mcp-Param-X: y")], 200),
    "unknown notification": (b'{"jsonrpc":"2.0","method":"notifications/not-a-thing","params":[]}', [], 202),
    "modern notification without its headers": (b'{"jsonrpc":"2.0","method":"notifications/x"}', [f"MCP-Protocol-Version: {MODERN}"], 202),
    "a request without id": (b'{"jsonrpc":"2.0","method":"tools/list"}', [], 202),
    "a response to nothing": (b'{"jsonrpc":"2.0","id":9,"result":{}}', ["MCP-Protocol-Version: 2025-06-18"], 202),
    "a batch of notifications": (b"[" + INITIALIZED + b"]", ["MCP-Protocol-Version: 2025-03-26"], 202),
}  # fmt: skip


@pytest.mark.parametrize("name", ACCEPTED)
def test_what_must_not_be_refused(kit: Kit, name: str) -> None:
    """Leniency where MCP wants it; headers with underscores are dropped, whatever they say. 202 has no body and no type."""
    message, lines, status = ACCEPTED[name]
    received = kit.send(kit.post(message, *lines))
    head, _, content = received.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 %d" % status), received[:300]
    if status == 202:
        assert content == b"" and b"\r\ncontent-type:" not in head.lower()
    else:
        assert "result" in json.loads(content)


KEPT = ["no JSON: bad UTF-8", "token: no token", "media type: compressed body", "verb, path: verb PUT", "verb, path: path /nope"]


@pytest.mark.parametrize("name", KEPT)
def test_a_kept_connection_goes_on_after_a_refusal(kit: Kit, name: str) -> None:
    """The body of a request that was refused unread is not taken for the next request."""
    row = next(param.values[1] for param in ROWS if param.id == name)
    refused = row.request(kit).replace(b"Connection: close\r\n", b"")
    if not refused.partition(b"\r\n\r\n")[2]:
        smuggled = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
        refused = refused.replace(b"Content-Length: 0\r\n", b"Content-Length: %d\r\n" % len(smuggled)) + smuggled
    received = kit.send(refused + kit.post())
    assert received.count(b"HTTP/1.1 ") == 2
    assert received.endswith(b'{"jsonrpc":"2.0","id":41,"result":{}}')


def test_no_token_reached_the_log(kit: Kit) -> None:
    """AU-06, C023: not from the query, and not from a header that cannot be read."""
    kit.send(kit.post(LIST, f"Authorization: Bearer {kit.token}\u0001"))
    kit.send(kit.post(LIST, f"Authorization : Bearer {kit.token}"))
    kit.send(kit.post(LIST, f"Authorization Bearer {kit.token}"))
    assert kit.token.split(".")[1] not in kit.server.log
