"""The official `mcp` client, in its modern and its legacy mode, against a started server."""

from __future__ import annotations

import sys
from pathlib import Path

import anyio
import pytest
from mcp import StdioServerParameters
from mcp.client.client import Client
from mcp.shared.exceptions import MCPError

SERVER = StdioServerParameters(command=sys.executable, args=[str(Path(__file__).with_name("server.py"))])
MODES = {"legacy": "2025-11-25", "auto": "2026-07-28", "2026-07-28": "2026-07-28"}


@pytest.mark.parametrize("mode", MODES)
def test_the_official_client_lists_calls_and_reads(mode: str) -> None:
    async def session() -> None:
        async with Client(SERVER, mode=mode, read_timeout_seconds=60) as client:
            assert client.protocol_version == MODES[mode]
            if mode in ("legacy", "auto"):  # a client that names the revision asks for nothing first
                assert client.server_info is not None
                assert (client.server_info.name, client.server_info.version) == ("cmsmcp", "1.2.3")
                assert "resources/list" in (client.instructions or "")
            tools = (await client.list_tools()).tools
            assert [tool.name for tool in tools] == sorted(tool.name for tool in tools)
            assert "echo" in [tool.name for tool in tools]
            result = await client.call_tool("echo", {"text": "hällo"})
            assert result.structured_content == {"text": "hällo"}
            refused = await client.call_tool("echo", {"txet": "x"})
            assert refused.is_error
            assert [str(entry.uri) for entry in (await client.list_resources()).resources] == ["test://big"]
            assert len((await client.list_resource_templates()).resource_templates) == 1
            for uri, code in (("test://big", 4130), ("test://none", -32002 if mode == "legacy" else -32602)):
                with pytest.raises(MCPError) as caught:
                    await client.read_resource(uri)
                assert caught.value.error.code == code

    anyio.run(session)


@pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
def test_a_call_the_official_client_gives_up_on_is_withdrawn(mode: str) -> None:
    """C013: it sends notifications/cancelled; the session stays usable."""

    async def session() -> None:
        async with Client(SERVER, mode=mode, read_timeout_seconds=60) as client:
            with anyio.move_on_after(0.5) as scope:
                await client.call_tool("slow", {"seconds": 8})
            assert scope.cancelled_caught
            assert (await client.call_tool("echo", {"text": "still here"})).structured_content == {"text": "still here"}

    anyio.run(session)


def test_many_calls_at_once_keep_their_answers() -> None:
    """C030."""

    async def session() -> None:
        async with Client(SERVER, mode="2026-07-28", read_timeout_seconds=60) as client:
            texts: dict[int, str] = {}

            async def one(number: int) -> None:
                result = await client.call_tool("echo", {"text": f"text {number}"})
                texts[number] = (result.structured_content or {})["text"]

            async with anyio.create_task_group() as group:
                for number in range(10):
                    group.start_soon(one, number)
            assert texts == {number: f"text {number}" for number in range(10)}

    anyio.run(session)
