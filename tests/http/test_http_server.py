"""The HTTP door over real sockets: gunicorn, workers, Redis and the index as `cmsmcp serve` starts them."""

from __future__ import annotations

import base64
import http.client
import json
import re
import socket
import subprocess
from typing import Any

import pytest

PING = b'{"jsonrpc":"2.0","id":41,"method":"ping"}'
LIMIT = 8_388_608


def raw(server: Any, *pieces: bytes) -> bytes:
    """What the server sends back until it closes. Sent at once: what it leaves unread would reset the connection."""
    with socket.create_connection((server.host, server.port), timeout=60) as peer:
        peer.sendall(b"".join(pieces))
        received = b""
        while chunk := peer.recv(65_536):
            received += chunk
        return received


def head(token: dict[str, str], *lines: str, verb: str = "POST /mcp") -> bytes:
    base = [f"{verb} HTTP/1.1", "Host: localhost", f"Authorization: {token['Authorization']}", "Content-Type: application/json"]
    return "\r\n".join([*base, *lines, "", ""]).encode()


def test_the_printed_curl_line_works_when_pasted(server: Any) -> None:
    """What `make run` shows must work when it is pasted."""
    line = next(line for line in server.log.splitlines() if line.startswith("curl "))
    done = subprocess.run(line, shell=True, capture_output=True, text=True, timeout=60, check=True)
    reply = json.loads(done.stdout)
    assert reply["id"] == 1 and not reply["result"].get("isError")
    assert json.loads(reply["result"]["content"][0]["text"])["items"]


def test_the_printed_client_block_starts_a_server(server: Any) -> None:
    """Command, args and cwd as printed."""
    block = json.loads(re.search(r"^\{.*^\}", server.log, re.DOTALL | re.MULTILINE)[0])["mcpServers"]["foundry"]
    initialize = json.dumps(
        {"jsonrpc": "2.0", "id": 0, "method": "initialize",
         "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "0"}}}
    )
    done = subprocess.run(
        [block["command"], *block["args"]], cwd=block["cwd"], input=initialize + "\n", env=server.place.environment,
        capture_output=True, text=True, timeout=60, check=True,
    )
    assert json.loads(done.stdout)["result"]["protocolVersion"] == "2025-06-18"


@pytest.mark.parametrize("path", ["/mcp", "/mcp/"])
def test_both_spellings_serve(server: Any, token: dict[str, str], path: str) -> None:
    """C018."""
    assert server.post(PING, token, path).json == {"jsonrpc": "2.0", "id": 41, "result": {}}


def test_a_head_has_no_body(server: Any, token: dict[str, str]) -> None:
    """C018."""
    answer = raw(server, head(token, "Connection: close", verb="HEAD /mcp"))
    assert answer.startswith(b"HTTP/1.1 200") and answer.endswith(b"\r\n\r\n")


def test_a_chunked_body_is_answered_as_a_sized_one(server: Any, token: dict[str, str]) -> None:
    """C065; pallets/flask#2229."""
    chunks = b"".join(b"%x\r\n%b\r\n" % (len(part), part) for part in (PING[:10], PING[10:])) + b"0\r\n\r\n"
    answer = raw(server, head(token, "Transfer-Encoding: chunked", "Connection: close"), chunks)
    assert answer.startswith(b"HTTP/1.1 200") and answer.endswith(b'{"jsonrpc":"2.0","id":41,"result":{}}')


def test_expect_continue_does_not_stall(server: Any, token: dict[str, str]) -> None:
    """C065: the body is asked for, so nobody waits a second to send it unasked."""
    with socket.create_connection((server.host, server.port), timeout=60) as peer:
        peer.sendall(head(token, f"Content-Length: {len(PING)}", "Expect: 100-continue", "Connection: close"))
        assert peer.recv(100).startswith(b"HTTP/1.1 100")
        peer.sendall(PING)
        received = b""
        while chunk := peer.recv(65_536):
            received += chunk
    assert b'"result":{}' in received


@pytest.mark.parametrize(
    ("lines", "body", "status"),
    [
        (["Content-Length: 5", "Transfer-Encoding: chunked"], b"0\r\n\r\n", (400,)),
        (["Content-Length: 5", "Content-Length: 6"], b"abcde", (400,)),
        (["Transfer-Encoding: chunked"], b"zz\r\n", (400,)),
        (["Content-Length: 5x"], b"abcde", (400,)),
        (["Expect: nonsense", f"Content-Length: {len(PING)}"], PING, (200, 417)),
        (["X-Long: " + "a" * 20_000], b"", (400, 431)),
        (["Authorization: Bearer wrong"], b"", (400, 401)),
    ],
)
def test_what_servers_read_differently_is_refused_in_json(
    server: Any, token: dict[str, str], lines: list[str], body: bytes, status: tuple[int, ...]
) -> None:
    """C065, C023 (two tokens); no HTML page, whoever answers."""
    answer = raw(server, head(token, *lines, "Connection: close"), body)
    assert int(answer.split(b" ", 2)[1]) in status
    headers, _, content = answer.partition(b"\r\n\r\n")
    assert b"application/json" in headers.lower() and b"<" not in content
    json.loads(content)


@pytest.mark.parametrize("line", [b"GARBAGE\r\n\r\n", b"POST /mcp HTTP/9.9\r\n\r\n", b"GET /" + b"a" * 9_000 + b" HTTP/1.1\r\n\r\n"])
def test_a_broken_request_line_is_refused_in_json(server: Any, line: bytes) -> None:
    answer = raw(server, line)
    assert answer.split(b" ", 2)[1] in (b"400", b"414") and b"application/json" in answer


def test_a_body_of_the_cap_passes_and_one_byte_more_is_413(server: Any, token: dict[str, str]) -> None:
    """C029."""
    exact = PING[:-1] + b',"p":"' + b"x" * (LIMIT - len(PING) - 7) + b'"}'
    assert server.post(exact, token).status == 200
    over = raw(server, head(token, f"Content-Length: {LIMIT + 1}", "Connection: close"))
    assert over.startswith(b"HTTP/1.1 413") and b"-32600" in over


@pytest.mark.parametrize("authorization", [None, "Basic eDp5", "Bearer", "Bearer wrong", "Bearer " + "a" * 12_000])
def test_without_a_good_token_it_is_401_with_a_challenge(server: Any, authorization: str | None) -> None:
    """C023."""
    reply = server.post(PING, {} if authorization is None else {"Authorization": authorization})
    assert reply.status == 401 and reply.headers["WWW-Authenticate"].startswith("Bearer") and "error" in reply.json


def test_a_token_of_another_door_is_403_and_a_revoked_one_401(server: Any) -> None:
    """P5, C061: revocation holds from the next request on, on every worker and for kept connections."""
    other = {"Authorization": f"Bearer {server.place.token('--access', 'read-only')}"}
    assert server.post(PING, other).status == 403
    good = server.place.token()
    connections = [http.client.HTTPConnection(server.host, server.port, timeout=60) for _ in range(8)]
    assert [_ping(connection, good) for connection in connections] == [200] * 8
    payload = good.split(".")[1]
    identifier = json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))["jti"]
    assert identifier in server.place.run("tokens", "list", "--site", str(server.place.site)).stdout
    assert server.place.run("tokens", "revoke", "--site", str(server.place.site), identifier).returncode == 0
    assert [_ping(connection, good) for connection in connections] == [401] * 8
    unknown = server.place.run("tokens", "revoke", "--site", str(server.place.site), "0" * 32)
    assert unknown.returncode == 2 and "tokens list" in unknown.stderr


def test_a_rotated_key_costs_no_good_token_a_refusal_while_workers_run(server: Any) -> None:
    """Rotation by `kid`. New connections reach both workers; neither was restarted."""
    old = server.place.token()
    assert server.place.run("tokens", "rotate-key", "--site", str(server.place.site), "--keep", "1h").returncode == 0
    new = server.place.token()
    assert [server.post(PING, {"Authorization": f"Bearer {one}"}).status for _ in range(8) for one in (new, old)] == [200] * 16


def _ping(connection: http.client.HTTPConnection, token: str) -> int:
    connection.request("POST", "/mcp", PING, {"Content-Type": "application/json", "Authorization": f"Bearer {token}"})
    reply = connection.getresponse()
    reply.read()
    return reply.status


def test_a_search_finds_the_post_and_not_the_draft(server: Any, token: dict[str, str]) -> None:
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "search_content", "arguments": {"query": "post"}}}
    reply = server.post(json.dumps(body), {**token, "MCP-Protocol-Version": "2025-11-25"})
    items = reply.json["result"]["structuredContent"]["items"]
    assert {item["slug"] for item in items} >= {"first-post"} and "second-post" not in {item["slug"] for item in items}


def test_probes_answer_without_a_token(server: Any) -> None:
    assert server.post(b"", path="/healthz", method="GET").status == 200
    assert server.post(b"", path="/readyz", method="GET").json == {"status": "ready", "missing": []}


def test_no_token_reaches_the_log(server: Any, token: dict[str, str]) -> None:
    """AU-06, C023: not even one that was put into the URL."""
    secret = token["Authorization"].split()[1]
    assert server.post(PING, path=f"/mcp?access_token={secret}").status == 401
    assert secret not in server.log
