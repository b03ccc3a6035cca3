"""The audit from a real server to its readers: command line, export, dashboard; on the shipped Redis users (docs/audit.md)."""

from __future__ import annotations

import csv
import io
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from cmsmcp.governance.audit import FIELDS
from tests.redis_servers import ShippedRedis
from tests.waiting import until

ROOT = Path(__file__).resolve().parents[2]


def call(name: str, **arguments: Any) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": name, "arguments": arguments}}).encode()


@pytest.fixture(scope="module")
def guarded() -> Iterator[ShippedRedis]:
    made = ShippedRedis()
    made.start()
    yield made
    made.remove()


@pytest.fixture(scope="module")
def audited(new_place: Any, start: Any, guarded: ShippedRedis) -> Any:
    """A server that works as the app's user, after one call that went well, one refused and one with a formula for a value."""
    place = new_place().with_(REDIS_URL=guarded.url, CMSMCP_SECRET_KEY="k" * 40)
    server = start(place, "--workers", "2")
    headers = {"Authorization": f"Bearer {place.token('--scope', 'read:content')}"}
    assert server.post(call("list_documents", limit=1), headers).status == 200
    assert server.post(call("list_plugins"), headers).status == 403
    assert server.post(call("get_document", slug="=1+1"), headers).status == 200
    assert server.place.run("tokens", "list", "--site", str(place.site)).stdout.count("\n") == 1
    return server


def test_tail_shows_what_happened(audited: Any) -> None:
    done = audited.place.run("audit", "tail", "--site", str(audited.place.site))
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert [line.split()[1] for line in lines] == ["intent", "outcome", "refusal", "intent", "outcome"]
    assert "list_plugins" in lines[2] and "scope" in lines[2] and "ms" in lines[1]
    assert f"reading the audit stream cmsmcp:{{{audited.place.site.name}}}:audit" in done.stderr


def test_export_gives_every_record_as_json_lines_or_csv(audited: Any) -> None:
    site = str(audited.place.site)
    records = [json.loads(line) for line in audited.place.run("audit", "export", "--site", site, "--since", "1h").stdout.splitlines()]
    assert len(records) == 5 and records[0]["event"] == records[1]["event"]
    assert {name for record in records for name in record} <= {"id", "time", *(name for name, _ in FIELDS)}
    text = audited.place.run("audit", "export", "--site", site, "--since", "2026-01-01", "--format", "csv").stdout
    rows = list(csv.DictReader(io.StringIO(text)))
    assert list(rows[0]) == ["id", "time", *(name for name, _ in FIELDS)]
    assert [row["phase"] for row in rows] == [record["phase"] for record in records] and rows[2]["code"] == records[2]["code"]
    assert audited.place.run("audit", "export", "--site", site, "--since", "2099-01-01").stdout == ""
    wrong = audited.place.run("audit", "export", "--site", site, "--since", "yesterday")
    assert wrong.returncode == 2 and "24h" in wrong.stderr


def test_the_example_reader_follows_as_the_dashboards_user(audited: Any, guarded: ShippedRedis) -> None:
    """Run as docs/audit.md says, from the beginning, then on to what happens while it runs."""
    key = audited.place.run("audit", "key", "--site", str(audited.place.site)).stdout.strip()
    line = [sys.executable, str(ROOT / "examples/audit_reader.py"), key, "0"]
    environment = {**os.environ, "REDIS_URL": guarded.dashboard_url}
    reader = subprocess.Popen(line, env=environment, stdout=subprocess.PIPE, text=True)
    try:
        assert reader.stdout is not None
        seen = [json.loads(reader.stdout.readline()) for _ in range(3)]
        assert [record["phase"] for record in seen] == ["outcome", "refusal", "outcome"]
        assert json.loads(seen[0]["arguments"]) == {"limit": "number"}
        headers = {"Authorization": f"Bearer {audited.place.token()}"}
        assert audited.post(call("get_navigation"), headers).status == 200
        assert json.loads(reader.stdout.readline())["capability"] == "get_navigation"
    finally:
        reader.kill()
        reader.wait()


def test_the_address_of_a_private_redis_leads_a_dashboard_to_the_stream(server: Any, token: dict[str, str], tmp_path: Path) -> None:
    """The example reader, as docs/audit.md has it; and an address that was given is printed without its password."""
    site = str(server.place.site)
    assert server.post(call("get_navigation"), token).status == 200
    found = [server.place.run("audit", word, "--site", site) for word in ("address", "key")]
    url, key = (one.stdout.strip() for one in found)
    environment = {**os.environ, "REDIS_URL": url}
    line = [sys.executable, str(ROOT / "examples/audit_reader.py"), key, "0"]
    reader = subprocess.Popen(line, env=environment, stdout=subprocess.PIPE, text=True)
    try:
        assert reader.stdout is not None and json.loads(reader.stdout.readline())["phase"]
    finally:
        reader.kill()
        reader.wait()
    given = server.place.with_(REDIS_URL="redis://dashboard:dash-FAKE@redis.example:6379/2")
    assert given.run("audit", "address", "--site", site).stdout == "redis://redis.example:6379/2\n"
    away = server.place.with_(CMSMCP_STATE_DIR=str(tmp_path)).run("audit", "address", "--site", site)
    assert away.returncode == 2 and "REDIS_URL" in away.stderr


def test_tail_follows(audited: Any) -> None:
    words = ["audit", "tail", "--site", str(audited.place.site), "--json", "-n", "1"]
    line = [str(Path(sys.executable).with_name("cmsmcp")), *words, "--follow"]
    tail = subprocess.Popen(line, env=audited.place.environment, stdout=subprocess.PIPE, text=True)
    try:
        assert tail.stdout is not None
        first = json.loads(tail.stdout.readline())
        headers = {"Authorization": f"Bearer {audited.place.token()}"}
        assert audited.post(call("list_documents", limit=2), headers).status == 200
        assert [json.loads(tail.stdout.readline())["phase"] for _ in range(2)] == ["intent", "outcome"]
        assert first["id"] < json.loads(audited.place.run(*words).stdout)["id"]
    finally:
        tail.terminate()
        tail.wait(60)


def assert_all_is_there_after(server: Any, redis: ShippedRedis, end: Callable[[], None]) -> None:
    """A token still opens, one that was revoked still does not, and the audit has every record, none twice."""

    def tokens() -> str:
        return server.place.run("tokens", "list", "--site", site).stdout

    def records() -> list[str]:
        return server.place.run("audit", "export", "--site", site, "--since", "1h").stdout.splitlines()

    site = str(server.place.site)
    good, revoked = ({"Authorization": f"Bearer {server.place.token()}"} for _ in range(2))
    assert server.post(call("get_navigation"), good).status == server.post(call("get_navigation"), revoked).status == 200
    last = json.loads(records()[-1])["token"]
    assert server.place.run("tokens", "revoke", "--site", site, last).returncode == 0
    before = tokens(), records()
    until(redis.written)
    end()
    redis.start()
    assert (tokens(), records()) == before
    until(lambda: server.post(call("get_navigation"), good).status == 200)
    assert server.post(call("get_navigation"), revoked).status == 401
    assert len(records()) == len(before[1]) + 3, "intent, outcome, and the refusal of the revoked one"


@pytest.mark.parametrize("how", ["stop", "kill"])
def test_tokens_and_audit_outlast_a_restart_of_redis(audited: Any, guarded: ShippedRedis, how: str) -> None:
    """With the shipped files; docs/operations.md, Redis."""
    assert_all_is_there_after(audited, guarded, getattr(guarded, how))


def test_the_file_of_a_stdio_server_is_read_where_there_is_no_redis(new_place: Any) -> None:
    place = new_place()
    site = str(place.site)
    assert place.run("audit", "tail", "--site", site).stdout == ""
    messages = [
        {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"protocolVersion": "2025-11-25", "capabilities": {}}},
        json.loads(call("list_documents", limit=1)),
    ]
    place.run("mcp", "serve", "--site", site, input="".join(json.dumps(message) + "\n" for message in messages))
    done = place.run("audit", "tail", "--site", site)
    called = [line for line in done.stdout.splitlines() if "list_documents" in line]
    assert [line.split()[1] for line in called] == ["intent", "outcome"] and "audit file" in done.stderr
    exported = place.run("audit", "export", "--site", site, "--since", "1h").stdout.splitlines()
    assert sum("list_documents" in line for line in exported) == 2
    assert place.run("audit", "tail", "--site", site, "--source", "stream", "--follow").returncode == 2


def test_a_refusal_for_a_limit_is_in_the_file_with_the_code_that_the_client_got(new_place: Any) -> None:
    """docs/audit.md, Records: on stdio as in the stream of a server."""
    place = new_place()
    site = str(place.site)
    pings = "".join(json.dumps({"jsonrpc": "2.0", "id": number, "method": "ping"}) + "\n" for number in range(400))
    replies = [json.loads(line) for line in place.run("mcp", "serve", "--site", site, input=pings).stdout.splitlines()]
    told = [reply["error"]["code"] for reply in replies if "error" in reply]
    assert len(replies) == 400 and set(told) == {4290}
    exported = [json.loads(line) for line in place.run("audit", "export", "--site", site, "--since", "1h").stdout.splitlines()]
    assert [(line["phase"], line["reason"], line["code"]) for line in exported] == [("refusal", "rate", "4290")] * len(told)


def test_the_sidecar_trims_what_is_too_old(new_place: Any, start: Any, redis_url: str) -> None:
    """`governance.audit_retention` holds at the start and then once a minute."""
    from cmsmcp.state.redis.client import Client

    place = new_place().with_(REDIS_URL=redis_url, CMSMCP_SECRET_KEY="k" * 40)
    config = place.site / "content/config/site.yaml"
    config.write_text(config.read_text().replace(f"name: {place.site.name}", "name: trimmed") + "governance:\n  audit_retention: 2h\n")
    client, now = Client(redis_url), int(time.time() * 1000)
    for age in (3, 1):
        client.call("XADD", "cmsmcp:{trimmed}:audit", f"{now - age * 3_600_000}-0", "event", str(age))
    server = start(place, "--workers", "1")
    end = time.monotonic() + 60
    while client.call("XLEN", "cmsmcp:{trimmed}:audit") > 1:
        assert time.monotonic() < end, "not trimmed"
        time.sleep(0.05)
    assert client.call("XRANGE", "cmsmcp:{trimmed}:audit", "-", "+")[0][1] == [b"event", b"1"]
    server.stop()
    client.close()
