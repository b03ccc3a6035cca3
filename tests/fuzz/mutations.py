"""Messages that a broken or hostile client could send: whole ones of every method and era, and what mutations make of them.

Everything follows from one seed. Pure; knows no server.
"""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

MODERN = "2026-07-28"
LEGACY = ("2025-11-25", "2025-06-18", "2025-03-26")
TASKS = "io.modelcontextprotocol/tasks"
ENVELOPE = {
    "io.modelcontextprotocol/protocolVersion": MODERN,
    "io.modelcontextprotocol/clientCapabilities": {"elicitation": {}, "sampling": {}, "roots": {}, "extensions": {TASKS: {}}},
}
FORM = {"who": {"action": "accept", "content": {"name": "Ada"}}}
PARAMS: tuple[tuple[str, Mapping[str, Any]], ...] = (
    ("initialize", {"protocolVersion": "2025-11-25", "capabilities": {"elicitation": {}}, "clientInfo": {"name": "f", "version": "1"}}),
    ("ping", {}),
    ("server/discover", {}),
    ("tools/list", {"cursor": None}),
    ("tools/list", {}),
    ("tools/call", {"name": "echo", "arguments": {"text": "a", "count": 3, "items": ["x"]}}),
    ("tools/call", {"name": "talk", "arguments": {}, "inputResponses": FORM}),
    ("tools/call", {"name": "talk", "arguments": {}, "requestState": "v1.abc"}),
    ("tools/call", {"name": "toil", "arguments": {}}),
    ("resources/list", {}),
    ("resources/templates/list", {}),
    ("resources/read", {"uri": "test://thing/a%20b"}),
    ("resources/subscribe", {"uri": "test://thing/a"}),
    ("resources/unsubscribe", {"uri": "test://thing/a"}),
    ("prompts/list", {}),
    ("prompts/get", {"name": "brief", "arguments": {"topic": "owls"}}),
    ("completion/complete", {"ref": {"type": "ref/prompt", "name": "brief"}, "argument": {"name": "topic", "value": "o"}}),
    ("completion/complete", {"ref": {"type": "ref/resource", "uri": "test://thing/{name}"}, "argument": {"name": "name", "value": ""}}),
    ("logging/setLevel", {"level": "info"}),
    ("subscriptions/listen", {"notifications": {"toolsListChanged": True, "resourceSubscriptions": ["test://thing/a"], "taskIds": ["t"]}}),
    ("tasks/get", {"taskId": "t"}),
    ("tasks/update", {"taskId": "t", "inputResponses": FORM}),
    ("tasks/cancel", {"taskId": "t"}),
)
NOTICES = ("notifications/initialized", "notifications/cancelled", "notifications/progress", "notifications/roots/list_changed", "no/such")
ODD: tuple[Any, ...] = (
    None, True, False, 0, -1, 1, 2**31, 2**63, 2**64, -(2**63), 10**40, 0.5, -0.0, 1e308,
    "", " ", "a", "\x00", "é", "\ud800", "𝔘", "../../etc",
    "a" * 5_000, "{{7*7}}", "' OR 1=1 --", "%2e%2e/", "=?base64?!?=", "v1.", [], [None], [[]], {}, {"": None}, {"a": {"a": {}}},
    {"__proto__": 1}, {"$ref": "#"}, {"type": "ref/prompt"}, [1] * 300, "2026-07-28", "1900-01-01", MODERN, 0.1 + 0.2,
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Sent:
    """`method` is that of the whole message it began as. `revision`: what the connection negotiated; `headers` None on stdio."""

    raw: bytes
    headers: Mapping[str, str] | None
    revision: str | None
    method: str
    is_whole: bool


def messages(seed: int, count: int) -> Iterator[Sent]:
    chance = random.Random(seed)
    for _ in range(count):
        yield _message(chance)


def _message(chance: random.Random) -> Sent:
    method, params = chance.choice(PARAMS)
    modern = chance.random() < 0.5
    id = chance.choice([1, 2, "a", chance.randrange(2**31)])
    message: Any = {"jsonrpc": "2.0", "id": id, "method": method, "params": dict(params)}
    if modern:
        more = chance.choice([{}, {"progressToken": 1}, {"io.modelcontextprotocol/logLevel": "debug"}])
        message["params"]["_meta"] = {**ENVELOPE, **more}
    revision = None if modern else chance.choice(LEGACY)
    roll = chance.random()
    if roll < 0.05:
        message = {"jsonrpc": "2.0", "method": chance.choice(NOTICES), "params": {"requestId": 1}}
    elif roll < 0.08:
        message = {"jsonrpc": "2.0", "id": "x", **chance.choice([{"result": {"action": "accept"}}, {"error": {"code": 1, "message": ""}}])}
    elif roll < 0.11:
        message = [copy.deepcopy(message) for _ in range(chance.randrange(4))]
    headers = _headers(chance, message, revision) if chance.random() < 0.5 else None
    how = chance.random()
    if how < 0.2:
        return Sent(_encode(message), headers, revision, method, True)
    for _ in range(chance.randint(1, 3)):
        message = _changed(chance, message)
    raw = _encode(message)
    if how > 0.65:
        raw = _damaged(chance, raw)
    return Sent(raw, headers, revision, method, False)


def _headers(chance: random.Random, message: Any, revision: str | None) -> dict[str, str]:
    """Those an honest client sends, one of them odd now and then."""
    found = {"mcp-protocol-version": revision or MODERN}
    if isinstance(message, dict) and isinstance(message.get("params"), dict) and revision is None:
        found["mcp-method"] = str(message.get("method"))
        name = next((message["params"][key] for key in ("name", "uri", "taskId") if key in message["params"]), None)
        if name is not None:
            found["mcp-name"] = str(name)
    if chance.random() < 0.1:
        found[chance.choice([*found, "mcp-param-x"])] = chance.choice(["", "x", "=?base64?eA==?=", "=?base64?x?=", "a,b", "\xff"])
    return found


def _encode(message: Any) -> bytes:
    return json.dumps(message, ensure_ascii=False).encode("utf-8", "surrogatepass")


def _changed(chance: random.Random, message: Any) -> Any:
    """The message with one node taken out, put in, replaced, renamed or moved."""
    message = copy.deepcopy(message)
    places = list(_places(message))
    if not places:
        return chance.choice(ODD)
    holder, key = chance.choice(places)
    how = chance.randrange(5)
    if how == 0:
        del holder[key]
    elif how == 1 and isinstance(holder, dict):
        holder[chance.choice(["", "_meta", "x", "cursor", "arguments", "inputResponses", "requestState", "task"])] = chance.choice(ODD)
    elif how == 2:
        other, place = chance.choice(places)
        if place in other if isinstance(other, dict) else place < len(other):
            holder[key] = copy.deepcopy(other[place])
    elif how == 3 and isinstance(holder, dict):
        holder[key + chance.choice(["", "x", " ", "\x00"])] = holder.pop(key)
    else:
        holder[key] = copy.deepcopy(chance.choice(ODD))
    return message


def _places(node: Any) -> Iterator[tuple[Any, Any]]:
    keys = list(node) if isinstance(node, dict) else range(len(node)) if isinstance(node, list) else ()
    for key in keys:
        yield node, key
        yield from _places(node[key])


def _damaged(chance: random.Random, raw: bytes) -> bytes:
    data = bytearray(raw)
    for _ in range(chance.randint(1, 4)):
        at = chance.randrange(len(data) + 1)
        how = chance.randrange(5)
        if how == 0:
            data[at : at + chance.randint(1, 8)] = b""
        elif how == 1:
            data[at:at] = bytes(chance.randrange(256) for _ in range(chance.randint(1, 4)))
        elif how == 2:
            data[at:at] = data[at : at + chance.randint(1, 40)]
        elif how == 3:
            data[at:] = b""
        else:
            data[at:at] = chance.choice([b"[" * 200, b'{"a":' * 200, b"NaN", b"\xff", b"\n", b"\\u0000", b"1e999", b'"id":1,'])
    return bytes(data)
