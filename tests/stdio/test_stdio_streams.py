"""What travels over stdio beside replies, on a real site: notices, progress, questions to the client; in both eras, in any order."""

from __future__ import annotations

import json
import os
import queue
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

CMSMCP = Path(sys.executable).with_name("cmsmcp")
TESTS = Path(__file__).resolve().parents[1]
GUIDE = "foundry://docs/guide.md"
WAIT = 60.0
SUBSCRIPTION = "io.modelcontextprotocol/subscriptionId"
META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {"elicitation": {}},
}
Message = dict[str, Any]


class Client:
    """A client that keeps what it has not looked at yet, because messages come in any order."""

    def __init__(self, process: subprocess.Popen[bytes], site: Path) -> None:
        self.process = process
        self.site = site
        self._lines: queue.Queue[bytes] = queue.Queue()
        self._kept: list[Message] = []
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self._lines.put(line)
        self._lines.put(b"")

    def send(self, **message: Any) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        self.process.stdin.flush()

    def see(self, wanted: Callable[[Message], bool]) -> Message:
        """The first message that is wanted, kept or to come; the test fails when the output ends or nothing comes."""
        for message in self._kept:
            if wanted(message):
                self._kept.remove(message)
                return message
        while line := self._lines.get(timeout=WAIT):
            message = json.loads(line)
            if wanted(message):
                return message
            self._kept.append(message)
        raise AssertionError(f"the output ended; seen were {self._kept}")

    def reply(self, id: Any) -> Message:
        return self.see(lambda message: message.get("id") == id and "method" not in message)

    def told(self, method: str) -> Message:
        return self.see(lambda message: message.get("method") == method).get("params", {})

    def rest(self) -> list[Message]:
        """Everything left, once the input is closed and the process has ended."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        assert self.process.wait(WAIT) == 0
        kept = list(self._kept)
        while line := self._lines.get(timeout=WAIT):
            kept.append(json.loads(line))
        return kept

    def handshake(self, capabilities: Message | None = None, revision: str = "2025-11-25") -> None:
        params = {"protocolVersion": revision, "capabilities": capabilities or {}, "clientInfo": {"name": "probe", "version": "0"}}
        self.send(id="hello", method="initialize", params=params)
        assert self.reply("hello")["result"]["protocolVersion"] == revision
        self.send(method="notifications/initialized")

    def edit(self) -> None:
        with (self.site / "docs" / "guide.md").open("a", encoding="utf-8") as file:
            file.write("\nOne line more.\n")


@pytest.fixture
def client(tmp_path: Path) -> Iterator[Client]:
    site = Path(shutil.copytree(TESTS.parent / "examples" / "site", tmp_path / "site", symlinks=True))
    (site / "docs").mkdir(exist_ok=True)
    (site / "docs" / "guide.md").write_text("# A guide\n", encoding="utf-8")
    kept = {name: value for name, value in os.environ.items() if name not in ("REDIS_URL", "CMSMCP_SECRET_KEY")}
    own = {"CMSMCP_STATE_DIR": str(tmp_path / "state"), "CMSMCP_CAPABILITIES": "talkers", "PYTHONPATH": str(TESTS / "clients")}
    command = [CMSMCP, "mcp", "serve", "--transport", "stdio"]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    process = subprocess.Popen(command, cwd=site, env={**kept, **own}, **pipes)
    yield Client(process, site)
    process.kill()
    process.wait(WAIT)


def listen(client: Client, id: Any, **wanted: Any) -> Message:
    client.send(id=id, method="subscriptions/listen", params={"notifications": wanted, "_meta": META})
    return client.told("notifications/subscriptions/acknowledged")


def test_a_listen_stream_shares_standard_output_with_calls(client: Client) -> None:
    """ST-09, S-01, S-02: acknowledged first, each message under the id of its stream, calls answered in between."""
    acknowledged = listen(client, "L", resourceSubscriptions=[GUIDE, "foundry://docs/none.md"], toolsListChanged=True)
    assert acknowledged["notifications"] == {"resourceSubscriptions": [GUIDE], "toolsListChanged": True}
    assert acknowledged["_meta"] == {SUBSCRIPTION: "L"}
    listen(client, 7, resourceSubscriptions=[GUIDE])
    client.edit()
    told = [client.told("notifications/resources/updated") for _ in range(2)]
    assert sorted(str(one["_meta"][SUBSCRIPTION]) for one in told) == ["7", "L"]
    assert {one["uri"] for one in told} == {GUIDE}
    client.send(id=8, method="tools/list", params={"_meta": META})
    assert client.reply(8)["result"]["tools"]


def test_a_stream_the_client_cancels_says_nothing_more(client: Client) -> None:
    """ST-08, ST-09. The other one goes on, which also shows that the change was told."""
    listen(client, "gone", resourceSubscriptions=[GUIDE])
    listen(client, "stays", resourceSubscriptions=[GUIDE])
    client.send(method="notifications/cancelled", params={"requestId": "gone"})
    client.send(id=1, method="tools/list", params={"_meta": META})
    client.reply(1)
    client.edit()
    assert client.told("notifications/resources/updated")["_meta"] == {SUBSCRIPTION: "stays"}
    left = client.rest()
    assert not [message for message in left if "gone" in json.dumps(message)]


def test_the_end_of_the_input_ends_streams_with_their_result(client: Client) -> None:
    """ST-03, ST-09: the result, then the cancel, for each."""
    listen(client, "L", toolsListChanged=True)
    left = client.rest()
    assert [message.get("id", message.get("method")) for message in left] == ["L", "notifications/cancelled"]
    assert left[0]["result"]["resultType"] == "complete" and left[0]["result"]["_meta"][SUBSCRIPTION] == "L"
    assert left[1]["params"]["requestId"] == "L"


def test_a_stream_that_opens_after_the_input_has_ended_ends_at_once(client: Client) -> None:
    """ST-03: a client that starts us, asks and leaves in one breath leaves no process behind."""
    client.send(id="L", method="subscriptions/listen", params={"notifications": {"toolsListChanged": True}, "_meta": META})
    client.send(id="M", method="subscriptions/listen", params={"notifications": {"resourceSubscriptions": [GUIDE]}, "_meta": META})
    left = client.rest()
    assert sorted(message["id"] for message in left if "result" in message) == ["L", "M"]


def test_a_question_that_is_put_after_the_input_has_ended_is_not_waited_for(client: Client) -> None:
    """ST-03, E-11."""
    params = {"protocolVersion": "2025-11-25", "capabilities": {"elicitation": {}}, "clientInfo": {"name": "probe", "version": "0"}}
    client.send(id=0, method="initialize", params=params)
    client.send(id=1, method="tools/call", params={"name": "greet_by_name", "arguments": {}})
    [reply] = [message["result"] for message in client.rest() if message.get("id") == 1]
    assert reply["isError"] and "ended its input" in reply["content"][0]["text"]


def test_a_legacy_client_is_told_of_what_it_subscribed_to(client: Client) -> None:
    """S-08."""
    client.handshake()
    client.send(id=1, method="resources/subscribe", params={"uri": GUIDE})
    assert client.reply(1)["result"] == {}
    client.edit()
    assert client.told("notifications/resources/updated") == {"uri": GUIDE}
    client.send(id=2, method="resources/unsubscribe", params={"uri": GUIDE})
    assert client.reply(2)["result"] == {}
    shutil.copytree(client.site / "themes" / "nightglass", client.site / "themes" / "second")
    client.told("notifications/resources/list_changed")
    client.edit()
    client.send(id=3, method="resources/read", params={"uri": GUIDE})
    client.reply(3)
    assert not [message for message in client.rest() if message.get("method") == "notifications/resources/updated"]


def test_a_legacy_client_is_asked_while_other_calls_go_on(client: Client) -> None:
    """E-11, ST-07, ST-10: a request of ours, whose answer is found by its id; others are answered meanwhile."""
    client.handshake({"elicitation": {}})
    client.send(id=1, method="tools/call", params={"name": "greet_by_name", "arguments": {}, "_meta": {"progressToken": "p"}})
    asked = client.see(lambda message: message.get("method") == "elicitation/create")
    assert asked["params"]["message"] == "Who is there?"
    client.send(id=2, method="ping")
    assert client.reply(2)["result"] == {}
    client.send(id="cmsmcp-nobody-asked-this----", result={"action": "accept", "content": {"name": "Eve"}})
    client.send(id=asked["id"], result={"action": "accept", "content": {"name": "Ada"}})
    assert client.reply(1)["result"]["content"][0]["text"] == "Good day, Ada."
    assert [client.told("notifications/progress")["progress"] for _ in range(3)] == [1, 2, 3]


def test_a_legacy_client_that_cannot_be_asked_is_told_so(client: Client) -> None:
    """E-02, E-11."""
    client.handshake()
    client.send(id=1, method="tools/call", params={"name": "greet_by_name", "arguments": {}})
    result = client.reply(1)["result"]
    assert result["isError"] and "declared" in result["content"][0]["text"]


def test_a_modern_client_is_asked_by_a_result(client: Client) -> None:
    """E-01, E-07, ST-10: no request of ours; the retry stands alone."""
    call = {"name": "greet_by_name", "arguments": {}, "_meta": META}
    client.send(id=1, method="tools/call", params=call)
    first = client.reply(1)["result"]
    assert first["resultType"] == "input_required" and set(first["inputRequests"]) == {"name"}
    answer = {"name": {"action": "accept", "content": {"name": "Ada"}}}
    client.send(id=2, method="tools/call", params={**call, "inputResponses": answer, "requestState": first["requestState"]})
    assert client.reply(2)["result"]["content"][0]["text"] == "Good day, Ada."
    assert not [message for message in client.rest() if message.get("method") == "elicitation/create"]


def test_an_unanswered_question_does_not_outlive_the_input(client: Client) -> None:
    """ST-03: nobody can answer any more, so the call ends at once, and the process with it."""
    client.handshake({"elicitation": {}})
    client.send(id=1, method="tools/call", params={"name": "greet_by_name", "arguments": {}})
    client.see(lambda message: message.get("method") == "elicitation/create")
    assert client.process.stdin is not None
    client.process.stdin.close()
    assert client.process.wait(60) == 0
