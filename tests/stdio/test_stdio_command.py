"""The real command in a site's folder: `cmsmcp mcp serve` and its twin `foundry` (F1, F7–F11, F46; C001, C025)."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import anyio
import jsonschema
import pytest
from mcp import StdioServerParameters
from mcp.client.client import Client

BIN = Path(sys.executable).parent
EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "site"
INIT = {
    "jsonrpc": "2.0",
    "id": 0,
    "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "probe", "version": "0"}},
}
TOOLS = {
    "search_content": {"query": "the"},
    "list_documents": {"limit": 3},
    "get_document": {"url": "/"},
    "get_navigation": {},
    "get_project_documentation": {},
    "get_api_documentation": {},
    "get_theme_manifest": {},
    "get_theme_security_report": {},
    "validate_theme": {},
    "list_plugins": {},
    "get_plugin_status": None,
    "get_runtime_health": {},
    "validate_configuration": {},
}
"""Arguments that every site can answer; None: taken from what list_plugins says."""


@pytest.fixture
def site(tmp_path: Path) -> Path:
    return Path(shutil.copytree(EXAMPLE, tmp_path / "site", symlinks=True))


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name != "REDIS_URL"}
    return {**kept, "CMSMCP_STATE_DIR": str(tmp_path / "state")}


def run(command: str, folder: Path, environment: dict[str, str], *messages: Any, args: tuple[str, ...] = ()) -> subprocess.CompletedProcess:
    lines = b"".join(json.dumps(message).encode() + b"\n" for message in messages)
    line = [str(BIN / command), "mcp", "serve", "--transport", "stdio", *args]
    return subprocess.run(line, input=lines, capture_output=True, cwd=folder, env=environment, timeout=60, check=False)


def fingerprint(folder: Path) -> dict[str, str]:
    found = {}
    for path in sorted(folder.rglob("*")):
        content = os.readlink(path).encode() if path.is_symlink() else path.read_bytes() if path.is_file() else b""  # noqa: PTH115
        found[str(path.relative_to(folder))] = hashlib.sha256(content).hexdigest() + f"{path.lstat().st_mtime_ns}"
    return found


@pytest.mark.parametrize("command", ["cmsmcp", "foundry"])
def test_the_seeds_client_block_works_as_written(command: str, site: Path, environment: dict[str, str]) -> None:
    """F7–F11: the working folder decides the site; every line is a message; the end of input ends it with 0."""
    done = run(
        command, site, {**environment, "PYTHONWARNINGS": "always", "LOG_LEVEL": "DEBUG"}, INIT, {**INIT, "id": 1, "method": "tools/list"}
    )
    assert done.returncode == 0, done.stderr.decode()
    first, second = (json.loads(line) for line in done.stdout.splitlines())
    assert first["result"]["protocolVersion"] == "2025-06-18"
    assert set(TOOLS) <= {tool["name"] for tool in second["result"]["tools"]}


@pytest.mark.parametrize("block", ["", "mcp:\n  enabled: false\n"])
def test_a_site_that_does_not_enable_it_is_refused(block: str, tmp_path: Path, environment: dict[str, str]) -> None:
    """F46: nothing on standard output, one line on standard error, an exit status that is not 0."""
    config = tmp_path / "site" / "content" / "config"
    config.mkdir(parents=True)
    (config / "site.yaml").write_text(f"name: Bare\n{block}")
    done = run("cmsmcp", tmp_path / "site", environment, INIT)
    assert done.returncode != 0
    assert done.stdout == b""
    assert len(done.stderr.decode().splitlines()) == 1
    assert "mcp" in done.stderr.decode()


@pytest.mark.parametrize(("scopes", "tools"), [("[read:docs]", ["get_api_documentation", "get_project_documentation"]), ("[]", [])])
def test_a_local_client_has_the_scopes_that_are_configured(
    scopes: str, tools: list[str], site: Path, environment: dict[str, str], tmp_path: Path
) -> None:
    """F39, F38, F5: no token and no user; what a scope hides it also refuses."""
    overlay = tmp_path / "scopes.yaml"
    overlay.write_text(f"mcp: {{scopes: {scopes}}}\n")
    call = {**INIT, "id": 2, "method": "tools/call", "params": {"name": "search_content", "arguments": {"query": "x"}}}
    done = run("cmsmcp", site, environment, INIT, {**INIT, "id": 1, "method": "tools/list"}, call, args=("--config-overlay", str(overlay)))
    replies = {reply["id"]: reply for reply in map(json.loads, done.stdout.splitlines())}
    assert [tool["name"] for tool in replies[1]["result"]["tools"]] == tools
    assert replies[2]["error"]["code"] == 4030


def test_a_configuration_for_schemas_alone_is_planks(site: Path, environment: dict[str, str], tmp_path: Path) -> None:
    """P2, P14, P15 over stdio, in every revision that has a handshake."""
    overlay = tmp_path / "scopes.yaml"
    overlay.write_text("mcp: {scopes: [read:schema]}\n")
    for revision in ("2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26"):
        first = {**INIT, "params": {**INIT["params"], "protocolVersion": revision}}
        more = [{**INIT, "id": number, "method": method, "params": {}} for number, method in enumerate(("resources/list", "tools/list"), 1)]
        done = run("cmsmcp", site, environment, first, *more, args=("--config-overlay", str(overlay)))
        replies = {reply["id"]: reply["result"] for reply in map(json.loads, done.stdout.splitlines())}
        assert list(replies[0]["capabilities"]) == ["resources"]
        assert replies[0]["instructions"].startswith("Use resources/list") and "search_content" not in replies[0]["instructions"]
        assert {one["uri"].partition("/")[0] for one in replies[1]["resources"]} == {"plank:"}
        assert replies[2]["tools"] == []


@pytest.mark.parametrize(("scopes", "code"), [("", 4030), (", scopes: [read:content, read:unpublished]", None)])
def test_drafts_are_opened_by_name_alone(scopes: str, code: int | None, tmp_path: Path, environment: dict[str, str]) -> None:
    """F5: a block that only enables MCP gives a local client the five read scopes, and none of what opens drafts."""
    site = tmp_path / "bare"
    for name, text in (("config/site.yaml", f"mcp: {{enabled: true{scopes}}}\n"), ("pages/x.md", "---\ntitle: X\ndraft: true\n---\n")):
        (site / "content" / name).parent.mkdir(parents=True)
        (site / "content" / name).write_text(text)
    ask = {**INIT, "id": 1, "method": "tools/call", "params": {"name": "list_documents", "arguments": {"status": "all"}}}
    reply = json.loads(run("cmsmcp", site, environment, INIT, ask).stdout.splitlines()[1])
    assert reply.get("error", {}).get("code") == code
    if code is None:
        assert [one["status"] for one in reply["result"]["structuredContent"]["items"]] == ["draft"]
    else:
        assert reply["error"]["data"]["required_scopes"] == ["read:content", "read:unpublished"]


@pytest.mark.parametrize("closed", ["<&-", ">&-", ">&- 2>&-", "<&- >&- 2>&-", "<&- 2>&-"])
def test_without_its_streams_it_says_so_and_ends(closed: str, site: Path, environment: dict[str, str]) -> None:
    """F8: the streams are the client; a closed one is never mistaken for a file opened since, and live input keeps nothing alive."""
    ours, theirs = os.pipe()
    line = ["sh", "-c", f'exec "$0" mcp serve {closed}', str(BIN / "cmsmcp")]
    try:
        done = subprocess.run(line, stdin=ours, capture_output=True, cwd=site, env=environment, timeout=60, check=False)
    finally:
        os.close(ours)
        os.close(theirs)
    assert done.returncode == 2, done.stderr.decode()
    assert done.stdout == b""
    said = done.stderr.decode().splitlines()
    assert len(said) == (0 if "2>&-" in closed else 1)
    assert all("closed" in line and line.startswith("cmsmcp: ") for line in said)


def test_without_standard_error_it_serves(site: Path, environment: dict[str, str]) -> None:
    """F8: no log, and no log line on standard output either."""
    line = ["sh", "-c", 'exec "$0" mcp serve 2>&-', str(BIN / "cmsmcp")]
    text = json.dumps(INIT).encode() + b"\n"
    done = subprocess.run(line, input=text, stdout=subprocess.PIPE, cwd=site, env=environment, timeout=60, check=False)
    assert done.returncode == 0
    assert [json.loads(reply)["id"] for reply in done.stdout.splitlines()] == [0]


def test_another_transport_is_a_usage_error(site: Path, environment: dict[str, str]) -> None:
    """F7."""
    done = run("cmsmcp", site, environment, INIT, args=("--transport", "carrier-pigeon"))
    assert done.returncode == 2
    assert done.stdout == b""


@pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
def test_every_tool_answers_in_the_shape_it_declares(mode: str, site: Path, environment: dict[str, str]) -> None:
    """C025, O-01, O-02; and F1: the site is byte for byte what it was."""
    before = fingerprint(site)
    server = StdioServerParameters(
        command=str(BIN / "cmsmcp"), args=["mcp", "serve", "--transport", "stdio"], cwd=str(site), env=environment
    )

    async def session() -> None:
        async with Client(server, mode=mode, read_timeout_seconds=60) as client:
            declared = {tool.name: tool.output_schema for tool in (await client.list_tools()).tools}
            assert set(TOOLS) <= set(declared)
            plugins = (await client.call_tool("list_plugins", {})).structured_content or {}
            for name, arguments in TOOLS.items():
                given = {"name": plugins["items"][0]["name"]} if arguments is None else arguments
                result = await client.call_tool(name, given)
                assert not result.is_error, (name, result.content)
                jsonschema.validate(result.structured_content, declared[name] or {})
                assert json.loads(result.content[0].text) == result.structured_content
            for resource in (await client.list_resources()).resources:
                [content] = (await client.read_resource(str(resource.uri))).contents
                assert content.text

    anyio.run(session)
    assert fingerprint(site) == before
