"""The MCP Inspector's command line over HTTP and stdio, in both eras."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

INSPECTOR = Path(__file__).parent / "node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js"


@pytest.fixture
def inspect(way: Any, run_node: Callable[..., Any], tmp_path: Path) -> Callable[..., Any]:
    """Runs one method; the home folder is its own, so that nothing of the user's is read or written."""
    target = way.target
    if way.door == "http":
        server = [target["url"], "--transport", "http", "--header", f"Authorization: Bearer {target['token']}"]
    else:
        server = [target["command"], "mcp", "serve", "--site", target["cwd"]]

    def run(era: str, method: str, *options: str) -> Any:
        own = {**way.environment, "HOME": str(tmp_path)}
        return run_node(own, INSPECTOR, "--cli", *server, "--protocol-era", era, "--method", method, *options)

    return run


def result(done: subprocess.CompletedProcess[str]) -> Any:
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize(("era", "revision"), [("legacy", "2025-11-25"), ("modern", "2026-07-28")])
def test_the_inspector_lists_calls_and_reads(era: str, revision: str, way: Any, inspect: Callable[..., Any], seen: Any) -> None:
    """Strict: it finds no schema that a client would reject (its exit code says so)."""
    names = [tool["name"] for tool in result(inspect(era, "tools/list", "--strict"))["tools"]]
    assert "search_content" in names and names == sorted(names)
    found = result(inspect(era, "tools/call", "--tool-name", "search_content", "--tool-arg", "query=post"))
    assert "first-post" in found["content"][0]["text"]
    read = result(inspect(era, "resources/read", "--uri", "plank://content-types"))
    assert json.loads(read["contents"][0]["text"])["contentTypes"]
    got = result(inspect(era, "prompts/get", "--prompt-name", "describe_content_type", "--prompt-args", "type=post"))
    assert "post" in got["messages"][0]["content"]["text"]
    client = seen.package("MCP Inspector, command line", "@modelcontextprotocol/inspector")
    seen.note(client, way.door, revision, "list, call, read", "prompts")
