"""Signals and neighbours: reading the configuration again, ending without cutting a call off (docs/operations.md)."""

from __future__ import annotations

import json
import os
import pty
import signal
import socket
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.waiting import until

PING = b'{"jsonrpc":"2.0","id":1,"method":"ping"}'
LIST = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "list_documents", "arguments": {}}}).encode()
REDIS = {"CMSMCP_SECRET_KEY": "k" * 40}


class HalfSent:
    """A request of which the second half is still to come."""

    def __init__(self, port: int, headers: dict[str, str]) -> None:
        self.peer = socket.create_connection(("127.0.0.1", port), timeout=60)
        lines = ["POST /mcp HTTP/1.1", "Host: localhost", "Content-Type: application/json", f"Content-Length: {len(PING)}"]
        lines += [f"{name}: {value}" for name, value in headers.items()]
        self.peer.sendall("\r\n".join([*lines, "", ""]).encode() + PING[:10])

    def finish(self) -> bytes:
        self.peer.sendall(PING[10:])
        with self.peer:
            return self.peer.recv(65_536)


def workers_of(gunicorn: int) -> set[int]:
    return {int(child) for child in Path(f"/proc/{gunicorn}/task/{gunicorn}/children").read_text().split()}


def gunicorn_of(server: Any) -> int:
    children = workers_of(server.process.pid)
    return next(child for child in children if b"gunicorn" in Path(f"/proc/{child}/cmdline").read_bytes())


@pytest.fixture
def host(new_place: Any, start: Any, redis_url: str) -> Any:
    return start(new_place().with_(REDIS_URL=redis_url, **REDIS), "--workers", "2")


def test_a_hup_takes_a_sound_configuration_and_leaves_a_faulty_one(host: Any) -> None:
    """No call is cut off by it, and no worker is lost to a faulty file, not even one that has to be started again."""
    config = host.place.site / "content/config/site.yaml"
    before, headers = config.read_text(), {"Authorization": f"Bearer {host.place.token()}"}
    gunicorn = gunicorn_of(host)
    first = workers_of(gunicorn)
    assert host.post(LIST, headers).status == 200

    half = HalfSent(host.port, headers)
    config.write_text(before.replace("audit: true", "audit: true\n  scopes: [read:docs]"))
    host.process.send_signal(signal.SIGHUP)
    until(lambda: [host.post(LIST, headers).status for _ in range(6)] == [403] * 6)
    assert half.finish().startswith(b"HTTP/1.1 200"), "a request of before was served to its end"
    until(lambda: not workers_of(gunicorn) & first)

    second = workers_of(gunicorn)
    config.write_text(before.replace("audit: true", "audit: perhaps"))
    host.process.send_signal(signal.SIGHUP)
    until(lambda: "stays in force" in host.log)
    assert "content/config/site.yaml:" in host.log and "perhaps" in host.log
    assert workers_of(gunicorn) == second and host.post(LIST, headers).status == 403

    os.kill(min(second), signal.SIGKILL)
    until(lambda: min(second) not in workers_of(gunicorn))
    until(lambda: host.log.count("perhaps") > 1)
    assert [host.post(LIST, headers).status for _ in range(4)] == [403] * 4 and host.process.poll() is None

    config.write_text(before)
    host.process.send_signal(signal.SIGHUP)
    until(lambda: [host.post(LIST, headers).status for _ in range(6)] == [200] * 6)
    assert "Traceback" not in host.log


def test_a_sigterm_lets_calls_in_flight_end(host: Any) -> None:
    half = HalfSent(host.port, {"Authorization": f"Bearer {host.place.token()}"})
    until(lambda: host.post(PING).status == 401)
    host.process.terminate()
    until(lambda: not _accepts(host.port))
    assert half.finish().startswith(b"HTTP/1.1 200")
    assert host.process.wait(60) == 0


def _accepts(port: int) -> bool:
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=1) as peer:
            peer.settimeout(0.5)
            peer.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
            return peer.recv(12) == b"HTTP/1.1 200"
    except OSError:
        return False


def test_a_terminal_that_is_closed_ends_the_server(new_place: Any) -> None:
    """Where there is a terminal, SIGHUP may mean that it is gone; then nobody could stop the server any more."""
    place = new_place()
    child, terminal = pty.fork()
    if child == 0:
        os.execve(Path(sys.executable).with_name("cmsmcp"), ["cmsmcp", "serve", "--site", str(place.site), "--bind", "127.0.0.1:0"],
                  dict(place.environment))
    shown = b""
    while b"on http://" not in shown:
        shown += os.read(terminal, 4096)
    os.kill(child, signal.SIGHUP)
    while b"reading the configuration again" not in shown:
        shown += os.read(terminal, 4096)
    os.close(terminal)
    assert until(lambda: os.waitpid(child, os.WNOHANG)[0]) == child
    assert not list((place.site.parent / "state").glob("*/redis.json"))


def test_two_sites_share_a_state_folder_and_never_each_others_files(new_place: Any, start: Any) -> None:
    """No socket, pidfile or control file of two servers collides; each has its own Redis, and a token of one is none of the other."""
    first, second = new_place(), new_place()
    second = second.with_(CMSMCP_STATE_DIR=first.environment["CMSMCP_STATE_DIR"])
    servers = [start(place, "--workers", "1") for place in (first, second)]
    tokens = [{"Authorization": f"Bearer {place.token()}"} for place in (first, second)]
    assert [[server.post(PING, token).status for token in tokens] for server in servers] == [[200, 401], [401, 200]]
    folders = sorted(Path(first.environment["CMSMCP_STATE_DIR"]).iterdir())
    assert len(folders) == 2 and len({(folder / "redis.json").read_text() for folder in folders}) == 2
    for server in servers:
        server.stop()
        assert server.process.returncode == 0
