"""The official Python client over HTTP, in its legacy and its modern mode, against a started server with two workers."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client
from mcp.shared.exceptions import MCPError

MODES = {"legacy": "2025-11-25", "auto": "2026-07-28", "2026-07-28": "2026-07-28"}


@asynccontextmanager
async def connected(url: str, token: str, mode: str, seen: list[Any]) -> AsyncIterator[Client]:
    """`seen` gets every HTTP response."""
    async with create_mcp_http_client(headers={"Authorization": f"Bearer {token}"}) as http:

        async def note(response: Any) -> None:
            seen.append(response)

        http.event_hooks = {"request": [], "response": [note]}
        async with Client(streamable_http_client(url, http_client=http), mode=mode, read_timeout_seconds=60) as client:
            yield client


@pytest.mark.parametrize("mode", MODES)
def test_the_python_client_lists_calls_and_reads(url: str, token: str, mode: str) -> None:
    seen: list[Any] = []

    async def run() -> None:
        async with connected(url, token, mode, seen) as client:
            assert client.protocol_version == MODES[mode]
            tools = [tool.name for tool in (await client.list_tools()).tools]
            assert "search_content" in tools and tools == sorted(tools)
            found = await client.call_tool("search_content", {"query": "post"})
            assert json.loads(found.content[0].text) == found.structured_content
            assert "first-post" in [item["slug"] for item in found.structured_content["items"]]
            refused = await client.call_tool("search_content", {"qeury": "post"})
            assert refused.is_error and "query" in refused.content[0].text
            uris = {str(resource.uri) for resource in (await client.list_resources()).resources}
            assert {"plank://content-types", "plank://locales"} <= uris
            assert len((await client.list_resource_templates()).resource_templates) >= 8
            content = (await client.read_resource("plank://content-types")).contents[0]
            assert json.loads(content.text)["contentTypes"]
            for call, code in (
                (client.read_resource("plank://content-types/nope/schema"), -32004 if mode == "legacy" else -32602),
                (client.read_resource("foundry://nope"), -32002 if mode == "legacy" else -32602),
                (client.call_tool("nope", {}), -32602),
            ):
                with pytest.raises(MCPError) as caught:
                    await call
                assert caught.value.error.code == code

    anyio.run(run)
    sessions = [response.headers.get("mcp-session-id") for response in seen]
    if mode == "legacy":
        assert sessions[0] and not any(sessions[1:]), "on initialize, and there alone"
        assert all(response.request.headers.get("mcp-session-id") == sessions[0] for response in seen[1:])
    else:
        assert not any(sessions), "never in the modern era"


@pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
def test_many_calls_at_once_keep_their_answers(url: str, token: str, mode: str) -> None:
    """C030, across workers."""

    async def run() -> None:
        async with connected(url, token, mode, []) as client:
            sizes: dict[int, int] = {}

            async def one(limit: int) -> None:
                result = await client.call_tool("list_documents", {"limit": limit})
                sizes[limit] = len(result.structured_content["items"])

            async with anyio.create_task_group() as group:
                for limit in range(1, 11):
                    group.start_soon(one, limit)
            total = max(sizes.values())
            assert sizes == {limit: min(limit, total) for limit in range(1, 11)}

    anyio.run(run)


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_a_bad_token_ends_the_connection(url: str, mode: str) -> None:
    """AU-02, C023: neither era takes it for a server of the other."""
    seen: list[Any] = []

    async def run() -> None:
        async with connected(url, "wrong", mode, seen):
            pass

    with pytest.raises(BaseException):  # noqa: B017, PT011 - the client wraps it as it likes
        anyio.run(run)
    assert {response.status_code for response in seen} == {401}
