"""Official clients that are asked and told: prompts, completion, progress, elicitation, subscriptions; each over both doors."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import StdioServerParameters
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client
from mcp.types import ElicitResult, PromptReference, ResourceUpdatedNotification

HERE = Path(__file__).parent
URI = "foundry://docs/guide.md"
LEGACY, MODERN = "2025-11-25", "2026-07-28"
EVERYTHING = ("list, call, read", "prompts", "completion", "progress", "asked", "told of changes")
TYPESCRIPT = {
    "v1 legacy": ("@modelcontextprotocol/sdk", LEGACY),
    "v2 legacy": ("@modelcontextprotocol/client", LEGACY),
    "v2 modern": ("@modelcontextprotocol/client", MODERN),
}


@pytest.fixture
def file(site: Path) -> Path:
    path = site / "docs" / "guide.md"
    path.parent.mkdir(exist_ok=True)
    path.write_text("# A guide\n\nAs it began.\n", encoding="utf-8")
    return path


@pytest.mark.parametrize("flavour", TYPESCRIPT)
def test_a_typescript_client_is_asked_and_told(flavour: str, way: Any, file: Path, run_node: Callable[..., Any], seen: Any) -> None:
    sdk, era = flavour.split()
    asked = {"sdk": sdk, "era": era, "uri": URI, "file": str(file), **way.target}
    done = run_node(way.environment, HERE / "interactive.mjs", json.dumps(asked))
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report["errors"] == []
    check(report)
    if era == "modern":
        assert report["honored"] == {"resourceSubscriptions": [URI], "toolsListChanged": True}
    package, revision = TYPESCRIPT[flavour]
    seen.note(seen.package(f"TypeScript SDK {sdk}", package), way.door, revision, *EVERYTHING)


@pytest.mark.parametrize("mode", ["legacy", MODERN])
def test_the_python_client_is_asked_and_told(mode: str, way: Any, file: Path, seen: Any) -> None:
    report: dict[str, Any] = {}
    anyio.run(_drive, mode, way, file, report)
    check(report)
    seen.note(("Python SDK", version("mcp")), way.door, LEGACY if mode == "legacy" else MODERN, *EVERYTHING)


def check(report: dict[str, Any]) -> None:
    """What holds for every client over every door, in every era."""
    assert {"greet_by_name", "search_content"} <= set(report["tools"])
    assert report["read"].endswith("As it began.\n")
    assert "describe_content_type" in report["prompts"]
    assert "post" in report["prompt"]
    assert report["completed"] == ["post"]
    assert report["progress"][-3:] == [1, 2, 3], "in 2026-07-28 after those of the round that asked"
    assert report["questions"] == ["Who is there?"]
    assert report["greeting"] == "Good day, Ada."
    assert report["told"] == URI
    assert report["after"].endswith("One line more.\n")


@asynccontextmanager
async def _connected(way: Any, mode: str, **callbacks: Any) -> AsyncIterator[Client]:
    if way.door == "stdio":
        server = StdioServerParameters(**way.target, env=way.environment)
        async with Client(server, mode=mode, read_timeout_seconds=60, **callbacks) as client:
            yield client
        return
    async with create_mcp_http_client(headers={"Authorization": f"Bearer {way.target['token']}"}) as http:
        transport = streamable_http_client(way.target["url"], http_client=http)
        async with Client(transport, mode=mode, read_timeout_seconds=60, **callbacks) as client:
            yield client


async def _drive(mode: str, way: Any, file: Path, report: dict[str, Any]) -> None:
    report["questions"], report["progress"] = [], []
    told = anyio.Event()

    async def answer(_context: Any, params: Any) -> ElicitResult:
        report["questions"].append(params.message)
        return ElicitResult(action="accept", content={"name": "Ada"})

    async def hear(message: Any) -> None:
        if isinstance(message, ResourceUpdatedNotification):
            report["told"] = str(message.params.uri)
            told.set()

    async def note(done: float, _total: float | None, _message: str | None) -> None:
        report["progress"].append(done)

    async with _connected(way, mode, elicitation_callback=answer, message_handler=hear) as client:
        report["tools"] = [tool.name for tool in (await client.list_tools()).tools]
        report["read"] = (await client.read_resource(URI)).contents[0].text
        report["prompts"] = [prompt.name for prompt in (await client.list_prompts()).prompts]
        prompt = await client.get_prompt("describe_content_type", {"type": "post"})
        report["prompt"] = prompt.messages[0].content.text
        reference = PromptReference(type="ref/prompt", name="describe_content_type")
        report["completed"] = (await client.complete(reference, {"name": "type", "value": "po"})).completion.values
        report["greeting"] = (await client.call_tool("greet_by_name", {}, progress_callback=note)).content[0].text
        await _be_told(client, mode, file, report, told)
        report["after"] = (await client.read_resource(URI)).contents[0].text


async def _be_told(client: Client, mode: str, file: Path, report: dict[str, Any], told: anyio.Event) -> None:
    def edit() -> None:
        with file.open("a", encoding="utf-8") as handle:
            handle.write("\nOne line more.\n")

    with anyio.fail_after(10):
        if mode == "legacy":
            await client.subscribe_resource(URI)
            edit()
            await told.wait()
            await client.unsubscribe_resource(URI)
            return
        async with client.listen(resource_subscriptions=[URI], tools_list_changed=True) as subscription:
            edit()
            async for event in subscription:
                report["told"] = str(event.uri)
                return
