"""Signals and neighbours: reading the configuration again, ending without cutting a call off, plain gunicorn (docs/operations.md)."""

from __future__ import annotations

import json
import os
import pty
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
PING = b'{"jsonrpc":"2.0","id":1,"method":"ping"}'
LIST = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "list_documents", "arguments": {}}}).encode()
REDIS = {"CMSMCP_SECRET_KEY": "k" * 40}


def until(condition: Callable[[], Any], seconds: float = 10.0) -> Any:
    end = time.monotonic() + seconds
    while not (value := condition()):
        assert time.monotonic() < end, f"not within {seconds} s"
        time.sleep(0.05)
    return value


class HalfSent:
    """A request of which the second half is still to come."""

    def __init__(self, port: int, headers: dict[str, str]) -> None:
        self.peer = socket.create_connection(("127.0.0.1", port), timeout=20)
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
    assert host.process.wait(20) == 0


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
    assert until(lambda: os.waitpid(child, os.WNOHANG)[0], 15) == child
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


class Gunicorn:
    """Plain gunicorn, as docs/operations.md starts it."""

    def __init__(self, place: Any, log: Path, *options: str) -> None:
        self.log_file = log
        with socket.create_server(("127.0.0.1", 0)) as listener:
            listener.set_inheritable(True)
            self.port, handle = listener.getsockname()[1], listener.fileno()
            with log.open("wb") as output:
                self.process = subprocess.Popen(
                    [Path(sys.executable).with_name("gunicorn"), *options, "--bind", f"fd://{handle}", "wsgi:app"],
                    cwd=ROOT, env={**place.environment, "CMSMCP_SITE": str(place.site)}, pass_fds=(handle,), stdout=output, stderr=output,
                )

    def ask(self, method: str, path: str, body: bytes = b"", **headers: str) -> tuple[int, Any]:
        import http.client

        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)
        try:
            connection.request(method, path, body or None, {"Content-Type": "application/json", **headers})
            reply = connection.getresponse()
            return reply.status, json.loads(reply.read())
        except OSError:
            return 0, None
        finally:
            connection.close()

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait(20)


def test_plain_gunicorn_serves_once_what_it_lacks_is_there(new_place: Any, redis_url: str, tmp_path: Path) -> None:
    place = new_place().with_(REDIS_URL=redis_url, **REDIS)
    server = Gunicorn(place, tmp_path / "log", "-c", "config/gunicorn.conf.py")
    sidecar = None
    try:
        until(lambda: server.ask("GET", "/healthz")[0] == 200, 20)
        assert server.ask("GET", "/readyz") == (503, {"status": "waiting", "missing": ["index"]})
        sidecar = subprocess.Popen([sys.executable, "-m", "cmsmcp.sidecar", str(place.site)], env=place.environment)
        until(lambda: server.ask("GET", "/readyz")[0] == 200, 20)
        headers = {"Authorization": f"Bearer {place.token()}"}
        assert server.ask("POST", "/mcp", LIST, **headers)[0] == 200
        (place.site / "content/config/site.yaml").write_text("name: mine\nmcp: {enabled: flase}\n")
        server.process.send_signal(signal.SIGHUP)
        until(lambda: "stays in force" in server.log_file.read_text(), 15)
        assert server.ask("POST", "/mcp", LIST, **headers)[0] == 200 and "flase" in server.log_file.read_text()
        sidecar.send_signal(signal.SIGHUP)
        sidecar.terminate()
        assert sidecar.wait(10) == 0
    finally:
        server.stop()
        if sidecar is not None:
            sidecar.kill()


def test_bare_gunicorn_serves_too_and_a_faulty_site_is_told(new_place: Any, redis_url: str, tmp_path: Path) -> None:
    """`gunicorn wsgi:app`, its own defaults: one synchronous worker."""
    place = new_place().with_(REDIS_URL=redis_url, HOME=str(tmp_path), **REDIS)
    assert place.run("index", "--site", str(place.site)).returncode == 0
    server = Gunicorn(place, tmp_path / "log")
    try:
        until(lambda: server.ask("GET", "/readyz")[0] == 200, 20)
        assert server.ask("POST", "/mcp", LIST, Authorization=f"Bearer {place.token()}")[0] == 200
    finally:
        server.stop()
    nowhere = Gunicorn(type(place)(tmp_path / "gone", place.environment), tmp_path / "other")
    assert nowhere.process.wait(20) != 0 and "is no folder" in nowhere.log_file.read_text()
