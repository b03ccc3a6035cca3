"""The processes of a host: how they start, refuse, end, and that none is left behind (docs/rules.md, Processes)."""

from __future__ import annotations

import base64
import json
import os
import re
import signal
import socket
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from cmsmcp.state.redis.bus import RedisBus
from cmsmcp.state.redis.client import Client
from tests.waiting import until

PING = b'{"jsonrpc":"2.0","id":1,"method":"ping"}'


def descendants(process: int) -> set[int]:
    """Every process that has `process` among its ancestors."""
    parents: dict[int, int] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                parents[int(entry.name)] = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            except (OSError, ValueError):
                continue
    found, frontier = set(), {process}
    while frontier:
        frontier = {child for child, parent in parents.items() if parent in frontier}
        found |= frontier
    return found


def alive(processes: set[int]) -> set[int]:
    """Those that still run; a process that has ended and was not yet waited for does not."""
    return {one for one in processes if _state(one) not in ("", "Z")}


def _state(process: int) -> str:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return ""


def _parent(process: int) -> int:
    return int(Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[1])


def _line(process: int) -> bytes:
    return Path(f"/proc/{process}/cmdline").read_bytes()


def test_with_one_redis_two_servers_share_a_site_and_end_by_signal(new_place: Any, start: Any, redis_url: str) -> None:
    """With `REDIS_URL` it uses that Redis; a token is valid for any server with the same key and Redis."""
    place = new_place().with_(REDIS_URL=redis_url, CMSMCP_SECRET_KEY="k" * 40)
    first, second = start(place, "--workers", "1"), start(place, "--workers", "1")
    headers = {"Authorization": f"Bearer {place.token()}"}
    for server, number, code in ((first, signal.SIGINT, 130), (second, signal.SIGTERM, 0)):
        assert server.post(PING, headers).status == 200
        children = descendants(server.process.pid)
        assert len(children) >= 3, "the indexer, gunicorn and a worker"
        server.process.send_signal(number)
        assert server.process.wait(60) == code
        assert not alive(children) and "Traceback" not in server.log


def test_a_token_made_before_the_server_works_and_one_its_registry_lost_does_not(new_place: Any, start: Any) -> None:
    """Tokens can be made while nothing runs; what revokes them is then kept in the same place."""
    place = new_place()
    kept, revoked = place.token(), place.token()
    jti = json.loads(base64.urlsafe_b64decode(revoked.split(".")[1] + "=="))["jti"]
    assert place.run("tokens", "revoke", "--site", str(place.site), jti).returncode == 0
    server = start(place, "--workers", "1")
    assert [server.post(PING, {"Authorization": f"Bearer {token}"}).status for token in (kept, revoked)] == [200, 401]
    client = Client(json_url(place))
    client.call("FLUSHALL")
    client.close()
    for token in (kept, revoked):
        refused = server.post(PING, {"Authorization": f"Bearer {token}"})
        assert refused.status == 401 and "new one" in refused.json["error"]["message"]
    assert server.post(PING, {"Authorization": f"Bearer {place.token()}"}).status == 200
    server.stop()


def test_a_revocation_is_told_to_every_process(new_place: Any, start: Any) -> None:
    """S-07: an open stream ends with its token, and asks for nothing meanwhile."""
    place = new_place()
    token = place.token()
    server = start(place, "--workers", "1")
    client, heard = Client(json_url(place)), []
    [key] = client.call("KEYS", "cmsmcp:{*}:tokens")
    bus = RedisBus(client, key.decode().split("{")[1].split("}")[0])
    bus.listen("revoked", heard.append)
    jti = json.loads(base64.urlsafe_b64decode(token.split(".")[1] + "=="))["jti"]
    assert place.run("tokens", "revoke", "--site", str(place.site), jti).returncode == 0
    until(lambda: heard == [{"token": jti}])
    bus.close()
    client.close()
    server.stop()


def json_url(place: Any) -> str:
    """Where the private Redis of a running server listens."""
    [found] = (place.site.parent / "state").glob("*/redis.json")
    return f"unix://{json.loads(found.read_text())['socket']}"


def test_what_dies_is_started_again_and_a_killed_supervisor_leaves_no_orphan(new_place: Any, start: Any) -> None:
    """A killed Redis comes back on its socket with what it knew, gunicorn on its port; a killed supervisor takes everything with it."""
    server = start(new_place(), "--workers", "1")
    headers = {"Authorization": f"Bearer {server.place.token()}"}
    assert server.post(PING, headers).status == 200
    children = descendants(server.process.pid)
    redis = next(one for one in children if b"redis-server" in Path(f"/proc/{one}/cmdline").read_bytes())
    os.kill(redis, signal.SIGKILL)
    until(lambda: redis not in alive({redis}) and server.post(PING, headers).status == 200)
    assert "redis ended" in server.log
    gunicorn = next(one for one in descendants(server.process.pid) if _parent(one) == server.process.pid and b"gunicorn" in _line(one))
    os.kill(gunicorn, signal.SIGKILL)
    until(lambda: "gunicorn ended with code -9; starting it again" in server.log)
    until(lambda: gunicorn not in alive({gunicorn}) and server.post(PING, headers).status == 200)
    assert server.process.poll() is None
    children |= descendants(server.process.pid)
    server.process.kill()
    until(lambda: not alive(children))
    again = start(server.place, "--workers", "1")
    assert again.post(PING, headers).status == 200, "tokens outlive a kill: Redis keeps a log"
    again.stop()
    assert again.process.returncode == 0
    assert not list((server.place.site.parent / "state").glob("*/redis.json"))


def test_no_file_of_the_folder_it_is_started_in_is_run(new_place: Any, start: Any, tmp_path: Path) -> None:
    """A site is data, and so is whatever lies beside it: no process takes a module from there, ours or a library's."""
    for name in ("flask", "gunicorn", "gevent", "redis", "yaml", "json", "tantivy", "sitecustomize", "cmsmcp/__init__", "cmsmcp/app"):
        module = (tmp_path / name).with_suffix(".py")
        module.parent.mkdir(exist_ok=True)
        module.write_text(f"open({str(tmp_path / 'ran')!r}, 'a').write(__name__)\n")
    server = start(replace(new_place(), folder=tmp_path), "--workers", "1")
    until(lambda: b'"ready"' in _get(server.port, "/readyz"))
    assert not (tmp_path / "ran").exists()
    for process in descendants(server.process.pid):
        assert (Path(f"/proc/{process}/cwd")).resolve() != tmp_path.resolve(), Path(f"/proc/{process}/cmdline").read_bytes()
    server.stop()


def test_a_state_folder_named_from_where_it_is_started_is_the_same_for_all(new_place: Any, start: Any, tmp_path: Path) -> None:
    """Server, workers and indexer run elsewhere, yet `CMSMCP_STATE_DIR=state` is one folder."""
    server = start(replace(new_place().with_(CMSMCP_STATE_DIR="state"), folder=tmp_path), "--workers", "1")
    until(lambda: b'"ready"' in _get(server.port, "/readyz"))
    assert [path.name for path in tmp_path.iterdir()] == ["state"] and len(list((tmp_path / "state").iterdir())) == 1
    server.stop()


def test_the_private_redis_is_bounded_and_refuses_rather_than_forget(redis_url: str) -> None:
    """As config/redis.conf: else its memory is the machine's, and what is killed then is not chosen by us."""
    client = Client(redis_url)
    held = dict(zip(*[iter(client.call("CONFIG", "GET", "maxmemory*"))] * 2, strict=True))
    assert (held[b"maxmemory"], held[b"maxmemory-policy"]) == (str(512 * 2**20).encode(), b"noeviction")
    client.close()


def test_a_flood_of_readiness_probes_does_not_reach_redis(server: Any) -> None:
    """Anyone may ask, so the answer is kept for half a second."""
    client = Client(json_url(server.place))

    def pings() -> int:
        return int((re.search(rb"cmdstat_ping:calls=(\d+)", client.call("INFO", "commandstats")) or [b"", b"0"])[1])

    until(lambda: all(b'"ready"' in _get(server.port, "/readyz") for _ in range(6)))  # both workers know of the index
    before, began = pings(), time.monotonic()
    for _ in range(100):
        assert b'"ready"' in _get(server.port, "/readyz")
    allowed = 2 * (2 + (time.monotonic() - began) / 0.5)  # two workers
    assert pings() - before <= allowed
    client.close()


def test_a_busy_port_is_refused_before_anything_starts(new_place: Any) -> None:
    place = new_place()
    with socket.create_server(("127.0.0.1", 0)) as taken:
        bind = f"127.0.0.1:{taken.getsockname()[1]}"
        done = place.run("serve", "--site", str(place.site), "--bind", bind)
        demo = place.run("serve", "--site", str(place.site), "--bind", bind, "--demo")
    assert done.returncode == 2 and bind in done.stderr and "in use" in done.stderr and "--bind" in done.stderr
    assert "PORT=" not in done.stderr and "make run PORT=" in demo.stderr
    assert not list((place.site.parent / "state").glob("*/redis*"))


def test_a_server_on_every_address_says_so_and_what_lets_others_in(new_place: Any, start: Any) -> None:
    """The address bound is told, not only the one that works from here. Ctrl-C is how a demonstration ends: no error."""
    place = new_place()
    closed = start(place, "--workers", "1", "--bind", "0.0.0.0:0", "--demo")
    assert f"0.0.0.0:{closed.port}" in closed.log and "mcp.allowed_hosts" in closed.log
    reply = closed.post(PING, {"Host": "cms.example.org"})
    assert reply.status == 403 and b"allowed_hosts" in reply.body
    closed.process.send_signal(signal.SIGINT)
    assert closed.process.wait(60) == 0
    config = place.site / "content/config/site.yaml"
    config.write_text(config.read_text() + "  public_url: https://cms.example.org\n")
    opened = start(place, "--workers", "1", "--bind", "0.0.0.0:0")
    assert f"0.0.0.0:{opened.port}" in opened.log and "mcp.allowed_hosts" not in opened.log
    assert opened.post(PING, {"Host": "cms.example.org"}).status == 401


def test_a_second_server_on_the_same_site_is_refused_and_the_first_goes_on(server: Any, token: dict[str, str]) -> None:
    done = server.place.run("serve", "--site", str(server.place.site), "--bind", "127.0.0.1:0")
    assert done.returncode == 2 and "REDIS_URL" in done.stderr and "Traceback" not in done.stderr
    assert server.post(PING, token).status == 200


@pytest.mark.parametrize(
    "url",
    ["redis://:pw-FAKE@127.0.0.1:1/0", "redis://:p#pw-FAKE@localhost:6379/0", ""],
)
def test_a_redis_that_does_not_serve_us_is_told_in_one_line(new_place: Any, url: str) -> None:
    """C068; every form of the URL is tried in the tests of the Redis room."""
    place = new_place().with_(REDIS_URL=url)
    done = place.run("serve", "--site", str(place.site), "--bind", "127.0.0.1:0")
    assert done.returncode != 0
    lines = [line for line in done.stderr.splitlines() if "made a key" not in line]
    assert len(lines) == 1 and "REDIS_URL" in lines[0]
    assert "FAKE@" not in done.stderr and ":pw" not in done.stderr


def test_a_weak_key_and_a_faulty_site_are_told_before_anything_starts(new_place: Any) -> None:
    place = new_place()
    weak = place.with_(CMSMCP_SECRET_KEY="short-FAKE").run("serve", "--site", str(place.site), "--bind", "127.0.0.1:0")
    assert weak.returncode == 2 and "32" in weak.stderr and "FAKE" not in weak.stderr
    config = place.site / "content/config/site.yaml"
    config.write_text("name: x\nmcp:\n  enabled: true\n  auth: none\n")
    public = place.run("serve", "--site", str(place.site), "--bind", "0.0.0.0:0")
    assert public.returncode == 2 and "loopback" in public.stderr
    config.write_text("name: x\nmcp:\n  enabled: flase\n  max: 3\n")
    faulty = place.run("serve", "--site", str(place.site), "--bind", "127.0.0.1:0")
    assert faulty.returncode == 2
    assert [line.split(": ")[1] for line in faulty.stderr.splitlines()] == ["content/config/site.yaml:3", "content/config/site.yaml:4"]


def _get(port: int, path: str) -> bytes:
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=60) as peer:
            peer.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode())
            received = b""
            while chunk := peer.recv(65_536):
                received += chunk
            return received
    except OSError:
        return b""
