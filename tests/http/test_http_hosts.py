"""Several hosts and several sites on one Redis: one key and one name each, or a refusal that says what to write (docs/operations.md)."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from cmsmcp.bootstrap.chosen import choose
from cmsmcp.bootstrap.keys import open_keyring, open_sessions
from cmsmcp.core.ports import Caller
from cmsmcp.identity.cursors import PURPOSE as CURSORS
from cmsmcp.identity.sealer import PURPOSE as STATE
from cmsmcp.identity.sessions import PURPOSE as SESSIONS
from cmsmcp.settings import SettingsError, SiteChoice
from cmsmcp.state.redis.client import Client
from cmsmcp.state.redis.keys import Keys

ROOT = Path(__file__).resolve().parents[2]
PING = b'{"jsonrpc":"2.0","id":1,"method":"ping"}'
DOORS = {
    "serve": ["cmsmcp", "serve", "--bind", "127.0.0.1:0", "--site"],
    "stdio": ["cmsmcp", "mcp", "serve", "--site"],
    "tokens create": ["cmsmcp", "tokens", "create", "--name", "t", "--site"],
    "tokens list": ["cmsmcp", "tokens", "list", "--site"],
    "tokens revoke": ["cmsmcp", "tokens", "revoke", "t", "--site"],
    "tokens rotate-key": ["cmsmcp", "tokens", "rotate-key", "--site"],
    "audit tail": ["cmsmcp", "audit", "tail", "--site"],
    "audit key": ["cmsmcp", "audit", "key", "--site"],
    "sidecar": ["python", "-m", "cmsmcp.sidecar"],
    "wsgi": ["python", "-c", "import sys; from cmsmcp.app import from_folder; from_folder(sys.argv[1])"],
}


def begin(place: Any, *words: str) -> subprocess.CompletedProcess[str]:
    line = [Path(sys.executable).with_name(words[0]), *words[1:]]
    return subprocess.run(
        line, env=place.environment, cwd=ROOT, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, check=False
    )  # fmt: skip


def rename(place: Any, name: str | None) -> None:
    config = place.site / "content/config/site.yaml"
    config.write_text(re.sub("(?m)^name: .*\n", "" if name is None else f"name: {name}\n", config.read_text()))


@pytest.fixture(scope="module")
def unnamed(new_place: Any, redis_url: str) -> Any:
    place = new_place().with_(REDIS_URL=redis_url, CMSMCP_SECRET_KEY="k" * 40)
    rename(place, None)
    return place


@pytest.mark.parametrize("door", DOORS)
def test_a_site_without_a_name_is_refused_at_every_door_of_a_shared_redis(unnamed: Any, redis_url: str, door: str) -> None:
    """Two of them would be one: a token made for one would read the other."""
    done = begin(unnamed, *DOORS[door], str(unnamed.site))
    assert done.returncode != 0 and done.stdout == "" and "Traceback" not in done.stderr
    [line] = done.stderr.splitlines()
    assert "site.yaml:1: name is not set" in line and "REDIS_URL" in line and f"name: {unnamed.site.name}" in line


def test_check_warns_of_it_where_redis_is_shared(unnamed: Any) -> None:
    found = json.loads(unnamed.run("check", "--site", str(unnamed.site), "--json").stdout)
    assert [one["severity"] for one in found["findings"] if "name of its own" in one["message"]] == ["warning"]
    del unnamed.environment["REDIS_URL"]
    try:
        assert json.loads(unnamed.run("check", "--site", str(unnamed.site), "--json").stdout)["findings"] == []
        assert choose(SiteChoice(unnamed.site)).settings.site_name == "foundry", "alone it is served under the default"
    finally:
        unnamed.environment["REDIS_URL"] = "unix:///nowhere"


@pytest.mark.parametrize(
    ("name", "own"),
    [
        ("", False), ("~", False), ("null", False), ('""', False), ('"  "', False), ("[a]", False), ("foundry", False),
        ('" foundry "', False), ("blog", True), ('"null"', True), ("7", True), ("Foundry 2", True),
    ],
)  # fmt: skip
def test_what_counts_as_a_name_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, own: bool
) -> None:
    """Not Foundry's default either, written out: every new Foundry project has that line."""
    (tmp_path / "site/content/config").mkdir(parents=True)
    (tmp_path / "site/content/config/site.yaml").write_text(f"name: {name}\nmcp: {{enabled: true}}\n")
    monkeypatch.setenv("CMSMCP_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.setenv("REDIS_URL", "redis://127.0.0.1:1")
    choice = SiteChoice(tmp_path / "site")
    if own:
        assert choose(choice).settings.site_name == name.strip('"')
    else:
        with pytest.raises(SettingsError, match=r"site\.yaml:1: name .*Write, for example: name: site$"):
            choose(choice)
        overlay = tmp_path / "name.yaml"
        overlay.write_text("name: blog\n")
        assert choose(SiteChoice(tmp_path / "site", overlays=(overlay,))).settings.site_name == "blog"


def test_a_new_site_is_named_like_its_folder(new_place: Any) -> None:
    """Else all of them would have one name, and so share their tokens."""
    folder = new_place().site.parent
    names = {"My Blog": "my-blog", "foundry": "my-site", "Zeitung_2": "zeitung-2", "博客": "博客", "null": "my-site", "!!": "my-site"}
    for name, expected in names.items():
        assert new_place().run("init", str(folder / name)).returncode == 0
        assert f"\nname: {expected}\n" in (folder / name / "content/config/site.yaml").read_text()


def test_what_clients_carry_opens_nothing_of_another_site_with_the_same_secret(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A caller of one external issuer is the same client on both; tokens say themselves whose they are."""
    monkeypatch.setenv("CMSMCP_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.setenv("CMSMCP_SECRET_KEY", "k" * 40)
    sites = []
    for name in ("a", "b"):
        (tmp_path / name / "content/config").mkdir(parents=True)
        (tmp_path / name / "content/config/site.yaml").write_text(f"name: {name}\nmcp: {{enabled: true}}\n")
        sites.append(choose(SiteChoice(tmp_path / name)))
    for purpose in (SESSIONS, CURSORS, STATE):
        first, second = (open_keyring(site, purpose) for site in sites)
        assert first and second and not first.ids & second.ids and first.signing.secret != second.signing.secret
    caller = Caller(client="https://id.example#ann", scopes=frozenset())
    first, second = (open_sessions(site) for site in sites)
    assert first and second
    text = first.issue(caller, "2025-11-25", frozenset())
    assert first.read(text, caller) and second.read(text, caller) is None


def test_a_second_host_is_refused_before_it_makes_a_key_of_its_own(new_place: Any, start: Any, redis_url: str, tmp_path: Path) -> None:
    """Each would refuse the other's tokens as invalid."""
    first = new_place().with_(REDIS_URL=redis_url)
    server = start(first, "--workers", "1")
    second = first.with_(CMSMCP_STATE_DIR=str(tmp_path / "state"))
    for words in (["serve", "--bind", "127.0.0.1:0"], ["tokens", "create", "--name", "x"]):
        done = second.run(*words, "--site", str(second.site))
        [line] = done.stderr.splitlines()
        assert done.returncode == 2 and done.stdout == "" and "CMSMCP_SECRET_KEY" in line and "tokens rotate-key" in line
    assert not list((tmp_path / "state").glob("*/secret.key"))
    assert server.post(PING, {"Authorization": f"Bearer {first.token()}"}).status == 200
    server.stop()
    assert start(first, "--workers", "1").post(PING, {"Authorization": f"Bearer {first.token()}"}).status == 200, "its own key is no other"


def test_a_key_in_the_environment_that_differs_is_told_with_what_it_refuses(new_place: Any, start: Any, redis_url: str) -> None:
    place = new_place().with_(REDIS_URL=redis_url, CMSMCP_SECRET_KEY="k" * 40)
    place.token()
    both = place.with_(CMSMCP_SECRET_KEY=f"{'n' * 40},{'k' * 40}")
    other = place.with_(CMSMCP_SECRET_KEY="n" * 40)
    assert "another key" not in start(both, "--workers", "1").log, "a rotation in its order"
    server = start(other, "--workers", "1")
    [line] = [line for line in server.log.splitlines() if "another key" in line]
    assert re.search(r"good until \d{4}-\d\d-\d\d, are refused here", line) and "CMSMCP_SECRET_KEY" in line


def test_a_rotation_settles_whose_key_it_is(new_place: Any, redis_url: str, tmp_path: Path) -> None:
    """A key that was lost with its host is given up by a rotation here; replaced ones count as long as their tokens."""
    place = new_place().with_(REDIS_URL=redis_url)
    client, key = Client(redis_url), Keys(place.site.name).signers

    def rotate(where: Any, *words: str) -> str:
        done = where.run("tokens", "rotate-key", "--site", str(place.site), *words)
        assert done.returncode == 0, done.stderr
        return done.stdout

    place.token("--ttl", "30d")
    rotate(place, "--keep", "90d")
    lives = [int(score) for score in client.call("ZRANGE", key, 0, -1, "WITHSCORES")[1::2]]
    assert lives[1] - lives[0] > 59 * 86_400, "the replaced key ends with its last token"
    rotate(place, "--keep", "1s")
    place.token()
    elsewhere = place.with_(CMSMCP_STATE_DIR=str(tmp_path / "state"))
    assert elsewhere.run("tokens", "create", "--site", str(place.site), "--name", "x").returncode == 2
    rotate(elsewhere)
    assert client.call("ZCARD", key) == 1 and elsewhere.token()
    assert place.run("tokens", "create", "--site", str(place.site), "--name", "x").returncode == 2, "the site's key is elsewhere now"
    client.close()


def test_a_token_is_revoked_by_its_name_unless_several_have_it(new_place: Any, redis_url: str) -> None:
    place = new_place().with_(REDIS_URL=redis_url, CMSMCP_SECRET_KEY="k" * 40)
    site = str(place.site)

    def listed() -> list[dict[str, Any]]:
        return json.loads(place.run("tokens", "list", "--site", site, "--json").stdout)

    for name in ("agent", "twin", "twin"):
        assert place.run("tokens", "create", "--site", site, "--name", name, "--scope", "read:docs").returncode == 0
    done = place.run("tokens", "revoke", "--site", site, "agent")
    [agent] = [one for one in listed() if one["name"] == "agent"]
    assert done.stdout == f"revoked {agent['id']} (agent)\n" and agent["state"] == "revoked" and agent["revoked"] >= agent["created"]
    assert (agent["access"], agent["scopes"], agent["used"]) == ("mcp-server", ["read:docs"], None)
    twins = {one["id"] for one in listed() if one["name"] == "twin"}
    done = place.run("tokens", "revoke", "--site", site, "twin")
    assert done.returncode == 2 and all(twin in done.stderr for twin in twins) and len(done.stderr.splitlines()) == 1
    assert {one["state"] for one in listed() if one["id"] in twins} == {"good"}
    place.run("tokens", "revoke", "--site", site, twins.pop())
    assert twins.pop() in place.run("tokens", "revoke", "--site", site, "twin").stdout, "one is left"
    for name in ("twin", "nobody"):
        done = place.run("tokens", "revoke", "--site", site, name)
        assert done.returncode == 2 and "tokens list" in done.stderr


def test_a_redis_that_takes_no_writes_stops_the_start(new_place: Any, redis_url: str) -> None:
    """Whose key it is cannot be noted there, nor anything else."""
    place = new_place().with_(REDIS_URL=redis_url, CMSMCP_SECRET_KEY="k" * 40)
    client = Client(redis_url)
    before = client.call("CONFIG", "GET", "maxmemory")[1]
    client.call("CONFIG", "SET", "maxmemory", "1")
    try:
        done = place.run("serve", "--site", str(place.site), "--bind", "127.0.0.1:0")
    finally:
        client.call("CONFIG", "SET", "maxmemory", before)
        client.close()
    assert done.returncode == 2 and "its memory is full" in done.stderr and len(done.stderr.splitlines()) == 1
