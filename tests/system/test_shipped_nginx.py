"""The nginx configuration we ship, unmodified but for addresses, on Debian's nginx (docs/operations.md, Behind a proxy)."""

from __future__ import annotations

import http.client
import json
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]


class Names:
    """A name server that knows one name; `address` None: it does not."""

    def __init__(self) -> None:
        self.address: str | None = None
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.bind(("127.0.0.1", 0))
        self.port = self._socket.getsockname()[1]
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        while True:
            try:
                asked, client = self._socket.recvfrom(512)
            except OSError:
                return
            end = asked.index(b"\0", 12) + 5
            found = self.address is not None
            head = asked[:2] + (b"\x81\x80" if found else b"\x81\x83") + b"\0\1" + (b"\0\1" if found else b"\0\0") + b"\0\0\0\0"
            answer = b"\xc0\x0c\0\1\0\1\0\0\0\1\0\4" + socket.inet_aton(self.address) if self.address is not None else b""
            self._socket.sendto(head + asked[12:end] + answer, client)

    def close(self) -> None:
        self._socket.close()


def serve(address: str, port: int = 0) -> ThreadingHTTPServer:
    """Says its own address, and what it was sent."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = json.dumps({"here": address, "path": self.path, "sent": dict(self.headers.items())}).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer((address, port), Handler)
    threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
    return server


@pytest.fixture
def names() -> Iterator[Names]:
    made = Names()
    yield made
    made.close()


def until(condition: Callable[[], Any], seconds: float = 60.0) -> Any:
    end = time.monotonic() + seconds
    while not (value := condition()):
        assert time.monotonic() < end, f"not within {seconds} s"
        time.sleep(0.1)
    return value


def test_a_server_that_moves_is_found_again(names: Names, tmp_path: Path) -> None:
    """A container that is made anew has another address; nginx starts without it, and says in JSON that it is not there."""
    first = serve("127.0.0.2")
    behind = first.server_address[1]
    second = serve("127.0.0.3", behind)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    conf = (ROOT / "docker/nginx.conf").read_text()
    for shipped, here in (
        ("listen 8080;", f"listen 127.0.0.1:{port};"), ("resolver 127.0.0.11 ", f"resolver 127.0.0.1:{names.port} "),
        ("server:8080;", f"server.test:{behind};"), ("/tmp/", f"{tmp_path}/"),
    ):  # fmt: skip
        assert shipped in conf
        conf = conf.replace(shipped, here)
    (tmp_path / "nginx.conf").write_text(conf)

    def ask() -> tuple[int, Any]:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        try:
            connection.request("GET", "/api/x%2Fy?a=%20b", headers={"X-Forwarded-For": "203.0.113.9"})
            reply = connection.getresponse()
            return reply.status, json.loads(reply.read())
        except OSError:
            return 0, None
        finally:
            connection.close()

    nginx = subprocess.Popen(["nginx", "-c", tmp_path / "nginx.conf", "-g", "daemon off;"], stderr=subprocess.DEVNULL)
    try:
        assert until(lambda: (found := ask())[0] and found) == (503, {"error": "The server is not there. Try again in a second."})
        names.address = "127.0.0.2"
        _, found = until(lambda: (answer := ask())[0] == 200 and answer)
        assert found["here"] == "127.0.0.2" and found["path"] == "/api/x%2Fy?a=%20b", "the path as it was sent"
        assert found["sent"]["X-Forwarded-For"] == "127.0.0.1" and found["sent"]["Host"] == f"127.0.0.1:{port}"
        names.address = "127.0.0.3"
        until(lambda: ask()[1]["here"] == "127.0.0.3")
    finally:
        nginx.terminate()
        nginx.wait(60)
        for server in (first, second):
            server.shutdown()
