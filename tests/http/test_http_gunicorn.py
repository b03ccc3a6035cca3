"""Plain gunicorn, as README and docs/operations.md start it: whole with one command, and what it says (docs/rules.md, Processes)."""

from __future__ import annotations

import http.client
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from cmsmcp.identity.keys import Keyring
from cmsmcp.identity.tokens import Grant, Tokens
from tests.waiting import until

ROOT = Path(__file__).resolve().parents[2]
KEY = {"CMSMCP_SECRET_KEY": "k" * 40}
COMMANDS = {"bare": [], "configured": ["-c", "config/gunicorn.conf.py"]}


class Gunicorn:
    """On a port of its own; `log` is what it printed."""

    def __init__(self, place: Any, log: Path, *options: str, app: str = "wsgi:app", folder: Path = ROOT) -> None:
        self.place, self._log = place, log
        with socket.create_server(("127.0.0.1", 0)) as listener:
            listener.set_inheritable(True)
            self.port, handle = listener.getsockname()[1], listener.fileno()
            line = [Path(sys.executable).with_name("gunicorn"), *options, "--bind", f"fd://{handle}", app]
            environment = {**place.environment, "CMSMCP_SITE": str(place.site), "HOME": str(log.parent)}
            with log.open("wb") as output:
                self.process = subprocess.Popen(line, cwd=folder, env=environment, pass_fds=(handle,), stdout=output, stderr=output)

    @property
    def log(self) -> str:
        return self._log.read_text()

    def ask(self, method: str, path: str, message: Any = None, **headers: str) -> tuple[int, Any]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            body = None if message is None else json.dumps(message)
            connection.request(method, path, body, {"Content-Type": "application/json", **headers})
            reply = connection.getresponse()
            return reply.status, json.loads(reply.read())
        except (OSError, http.client.HTTPException):
            return 0, None
        finally:
            connection.close()

    def call(self, tool: str, token: str, **arguments: Any) -> tuple[int, Any]:
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": tool, "arguments": arguments}}
        return self.ask("POST", "/mcp", message, Authorization=f"Bearer {token}")

    def is_ready(self) -> bool:
        assert self.process.poll() is None, self.log
        return self.ask("GET", "/readyz")[0] == 200

    def title(self, token: str) -> str | None:
        """Of the front page."""
        status, reply = self.call("get_document", token, slug="index")
        return json.loads(reply["result"]["content"][0]["text"])["title"] if status == 200 and not reply["result"].get("isError") else None

    def stop(self) -> int:
        if self.process.poll() is None:
            self.process.terminate()
        return self.process.wait(60)


@pytest.fixture
def run(tmp_path: Path) -> Iterator[Callable[..., Gunicorn]]:
    begun: list[Gunicorn] = []

    def begin(place: Any, *options: str, **where: Any) -> Gunicorn:
        begun.append(Gunicorn(place, tmp_path / f"log{len(begun)}", *options, **where))
        return begun[-1]

    yield begin
    for one in begun:
        one.stop()


@pytest.fixture
def place(new_place: Any, redis_url: str) -> Any:
    return new_place().with_(REDIS_URL=redis_url, **KEY)


def sidecars(place: Any) -> list[int]:
    """Those that run for this site."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            words = (entry / "cmdline").read_bytes().split(b"\0") if entry.name.isdecimal() else []
        except OSError:
            continue
        if b"cmsmcp.sidecar" in words and str(place.site).encode() in words:
            found.append(int(entry.name))
    return found


def write_title(place: Any, title: str) -> None:
    page = place.site / "content/pages/index.md"
    page.write_text(f"---\ntitle: {title}\nslug: index\n---\nWelcome\n")


@pytest.mark.parametrize("command", COMMANDS)
def test_one_command_serves_the_site_whole(place: Any, run: Any, command: str) -> None:
    """Indexed and followed; a reload takes a sound configuration and leaves a faulty one; nothing is left behind at the end."""
    token, config = place.token(), place.site / "content/config/site.yaml"
    server = run(place, *COMMANDS[command])
    until(server.is_ready)
    write_title(place, "Edited")
    until(lambda: server.title(token) == "Edited")
    until(lambda: f"serving {place.site} as {place.site.name} on http://127.0.0.1:{server.port}\n" in server.log)
    assert "tokens create --name NAME" in server.log and server.log.count("serving") == 1
    sound = config.read_text()
    config.write_text("name: mine\nmcp: {enabled: flase}\n")
    server.process.send_signal(signal.SIGHUP)
    until(lambda: "stays in force" in server.log)
    assert server.title(token) == "Edited" and "flase" in server.log
    config.write_text(sound)
    [before] = sidecars(place)
    server.process.send_signal(signal.SIGHUP)
    until(lambda: sidecars(place) not in ([], [before]))
    write_title(place, "Edited again")
    until(lambda: server.title(token) == "Edited again")
    assert server.stop() == 0 and "Traceback" not in server.log
    until(lambda: not sidecars(place))


def test_masters_of_one_site_share_a_sidecar_and_replace_one_that_dies(place: Any, run: Any) -> None:
    """One of a host by its lock; the index is kept whoever is killed."""
    token = place.token()
    servers = [run(place, "--workers", "2") for _ in range(2)]
    for server in servers:
        until(server.is_ready)
    [first] = until(lambda: sidecars(place))
    os.kill(first, signal.SIGKILL)
    [second] = until(lambda: (found := sidecars(place)) != [first] and found)
    until(lambda: any("the sidecar ended with code -9; starting it again" in server.log for server in servers))
    worker = int(Path(f"/proc/{second}/stat").read_text().rpartition(")")[2].split()[1])
    master = int(Path(f"/proc/{worker}/stat").read_text().rpartition(")")[2].split()[1])
    killed, other = servers if servers[0].process.pid == master else servers[::-1]
    assert killed.process.pid == master
    killed.process.kill()
    killed.process.wait(60)
    until(lambda: len(found := sidecars(place)) == 1 and found != [second])
    write_title(place, "After both")
    until(lambda: other.title(token) == "After both")


def test_a_key_that_is_made_later_is_taken_up_without_a_restart(place: Any, run: Any) -> None:
    """docs/tokens.md. Sessions too; before there is a key, the log says how to get one."""
    keyless = place.with_()
    del keyless.environment["CMSMCP_SECRET_KEY"]
    server = run(keyless, "-w", "1")
    until(lambda: server.ask("GET", "/readyz")[1].get("missing") == ["secret"])
    until(lambda: "waiting for a key: set CMSMCP_SECRET_KEY" in server.log and "tokens create" in server.log)
    status, reply = server.call("list_documents", "a.b.c")
    assert (status, reply["error"]["code"]) == (503, 5030) and "CMSMCP_SECRET_KEY" in reply["error"]["message"]
    token = keyless.token()
    assert server.call("list_documents", token)[0] == 200
    params = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
    message = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params})
    connection.request("POST", "/mcp", message, {"Content-Type": "application/json", "Authorization": f"Bearer {token}"})
    assert connection.getresponse().headers["Mcp-Session-Id"]
    connection.close()
    until(server.is_ready)
    until(lambda: "cmsmcp: serving" in server.log)


def test_without_redis_it_says_what_to_do(new_place: Any, run: Any) -> None:
    place = new_place().with_(**KEY)
    server = run(place)
    until(lambda: "REDIS_URL is not set, so every call is refused" in server.log)
    assert "serve --site" in server.log and "cmsmcp: serving" not in server.log
    token = Tokens(Keyring([b"k" * 40], "tokens"), f"urn:cmsmcp:{place.site.name}").create(Grant("t")).token
    status, reply = server.call("list_documents", token)
    assert (status, reply["error"]["code"]) == (503, 5030) and "REDIS_URL" in reply["error"]["message"]
    assert server.ask("GET", "/readyz")[1]["missing"][0] == "redis"


def test_a_key_of_another_host_stops_the_start(place: Any, run: Any, tmp_path: Path) -> None:
    """As `cmsmcp serve` has it (docs/tokens.md, One key for every host)."""
    keyless = place.with_()
    del keyless.environment["CMSMCP_SECRET_KEY"]
    keyless.token()
    elsewhere = run(keyless.with_(CMSMCP_STATE_DIR=str(tmp_path / "state")))
    assert elsewhere.process.wait(60) != 0 and "signed with a key that this host does not have" in elsewhere.log
    assert "Traceback" not in elsewhere.log


def test_a_site_that_is_none_names_the_variable(place: Any, run: Any, tmp_path: Path) -> None:
    """gunicorn has no option --site."""
    for folder, told in ((tmp_path / "gone", "is no folder"), (tmp_path, "is no site")):
        server = run(type(place)(folder, place.environment))
        assert server.process.wait(60) != 0 and told in server.log
        assert "ame a site with CMSMCP_SITE=DIR" in server.log and "--site DIR" not in server.log


def test_a_synchronous_worker_serves_all_but_streams_and_says_so(place: Any, run: Any) -> None:
    token = place.token()
    server = run(place, "--worker-class", "sync")
    until(server.is_ready)
    assert server.log.count("without streams") == 1 and "gunicorn.conf.py" in server.log
    assert server.title(token)
    message = {
        "jsonrpc": "2.0", "id": 1, "method": "subscriptions/listen",
        "params": {"notifications": {"toolsListChanged": True}, "_meta": {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {},
            "io.modelcontextprotocol/clientInfo": {"name": "t", "version": "1"}}},
    }  # fmt: skip
    headers = {"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "subscriptions/listen", "Accept": "application/json, text/event-stream"}
    status, reply = server.ask("POST", "/mcp", message, Authorization=f"Bearer {token}", **headers)
    assert (status, reply["error"]["code"]) == (503, 5031)


def test_a_preloaded_app_has_its_sidecar_too(place: Any, run: Any) -> None:
    token = place.token()
    server = run(place, "--preload", "--workers", "2", "--worker-class", "gthread", "--threads", "8")
    until(server.is_ready)
    write_title(place, "Edited")
    until(lambda: server.title(token) == "Edited")
    assert len(sidecars(place)) == 1 and server.stop() == 0
    until(lambda: not sidecars(place))


def test_another_reading_of_the_site_has_its_own_sidecar(place: Any, run: Any, tmp_path: Path) -> None:
    """An environment may hold other documents; an installed package needs no repository."""
    (place.site / "content/config/site.production.yaml").write_text("title: Production\n")
    app = f"cmsmcp.app:from_folder({str(place.site)!r}, env='production')"
    server = run(place, "-c", "python:cmsmcp.processes.gunicorn_conf", app=app, folder=tmp_path)
    until(server.is_ready)
    [one] = sidecars(place)
    assert b"--env\0production" in Path(f"/proc/{one}/cmdline").read_bytes()
