"""A stdio server as its client meets it: a process, its lines and its end (F8, F9, F10, F44)."""

from __future__ import annotations

import json
import os
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from cmsmcp.protocol import errors

SERVER = [sys.executable, str(Path(__file__).with_name("server.py"))]
WAIT = 60.0


def request(method: str, params: dict[str, Any] | None = None, id: Any = 1) -> dict[str, Any]:
    message: dict[str, Any] = {"jsonrpc": "2.0", "id": id, "method": method}
    return message if params is None else {**message, "params": params}


def call(name: str, id: Any = 1, **arguments: Any) -> dict[str, Any]:
    return request("tools/call", {"name": name, "arguments": arguments}, id)


def initialize(version: str = "2025-06-18") -> dict[str, Any]:
    return request("initialize", {"protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "probe", "version": "0"}}, 0)


INITIALIZED = {"jsonrpc": "2.0", "method": "notifications/initialized"}
PING = request("ping", id="alive")


class Client:
    """A server process; `receive` gives the next line decoded, or fails after a bounded wait."""

    def __init__(self, **environment: str) -> None:
        self.process = subprocess.Popen(
            SERVER, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={**os.environ, **environment}
        )
        self.lines: queue.Queue[bytes] = queue.Queue()
        self.stderr: list[bytes] = []
        for target in (self._read_out, self._read_err):
            threading.Thread(target=target, daemon=True).start()

    def _read_out(self) -> None:
        assert self.process.stdout
        for line in self.process.stdout:
            self.lines.put(line)
        self.lines.put(b"")

    def _read_err(self) -> None:
        assert self.process.stderr
        for line in self.process.stderr:
            self.stderr.append(line)

    def send(self, *messages: Any) -> None:
        assert self.process.stdin
        for message in messages:
            self.process.stdin.write(message if isinstance(message, bytes) else json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()

    def receive(self) -> dict[str, Any]:
        line = self.lines.get(timeout=WAIT)
        assert line.endswith(b"\n"), f"the server ended: {b''.join(self.stderr).decode()[-2000:]}"
        return json.loads(line)

    def ask(self, message: dict[str, Any]) -> dict[str, Any]:
        self.send(message)
        return self.receive()

    def finish(self) -> tuple[int, list[dict[str, Any]]]:
        """Close the input; the exit status and what still came."""
        assert self.process.stdin
        self.process.stdin.close()
        status = self.process.wait(WAIT)
        rest = []
        while line := self.lines.get(timeout=WAIT):
            rest.append(json.loads(line))
        return status, rest


@pytest.fixture
def client() -> Iterator[Callable[..., Client]]:
    """Starts servers, by default after the handshake; none outlives its test."""
    started: list[Client] = []

    def start(*, handshake: str | None = "2025-06-18", **environment: str) -> Client:
        one = Client(**environment)
        started.append(one)
        if handshake:
            assert one.ask(initialize(handshake))["result"]["protocolVersion"] == handshake
            one.send(INITIALIZED)
        return one

    yield start
    for one in started:
        one.process.kill()
        one.process.wait(WAIT)


CAP = 8 * 1024 * 1024
MODERN_META = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}


def run(lines: bytes, timeout: float = 30) -> tuple[int, list[dict], str]:
    """A whole session at once: exit status, decoded stdout lines, stderr."""
    done = subprocess.run(SERVER, input=lines, capture_output=True, timeout=timeout, check=False)
    assert done.stdout == b"" or done.stdout.endswith(b"\n")
    return done.returncode, [json.loads(line) for line in done.stdout.splitlines()], done.stderr.decode()


def joined(*messages: object) -> bytes:
    return b"".join(message if isinstance(message, bytes) else json.dumps(message).encode() + b"\n" for message in messages)


def test_standard_output_holds_messages_and_nothing_else(client) -> None:
    """C001, F8, F10, ST-01: prints, raw writes, warnings and logs go to standard error."""
    one = client(PYTHONWARNINGS="always")
    assert one.ask(call("noisy", text="x"))["result"]["structuredContent"] == {"text": "x"}
    assert one.ask(call("broken"))["error"]["code"] == errors.INTERNAL_ERROR
    assert one.ask(PING)["id"] == "alive"
    assert one.finish() == (0, [])
    stderr = b"".join(one.stderr).decode()
    for shown in ("a banner", "printed", "descriptor 1", "sys.stdout", "a warning", "a log line", "boom"):
        assert shown in stderr


def test_bad_lines_are_answered_in_order_and_the_stream_goes_on() -> None:
    """C004, ST-02: blank lines are ignored; the last line needs no newline (C014)."""
    lines = [
        b"{this is not json\n", b"\n", b"   \n", b"\r\n", b"nul\n", b'"text"\n', b"42\n", b"{}\n",
        b'{"jsonrpc":"1.0","id":3,"method":"ping"}\n', b'{"jsonrpc":"2.0","id":4,"method":7}\n',
        b'{"jsonrpc":"2.0","id":5,"method":"no/such"}\r\n',
    ]  # fmt: skip
    status, replies, _ = run(joined(initialize(), INITIALIZED, *lines) + json.dumps(PING).encode())
    assert status == 0
    assert [(reply.get("id"), reply.get("error", {}).get("code")) for reply in replies] == [
        (0, None),
        (None, errors.PARSE_ERROR),
        (None, errors.PARSE_ERROR),
        (None, errors.INVALID_REQUEST),
        (None, errors.INVALID_REQUEST),
        (None, errors.INVALID_REQUEST),
        (3, errors.INVALID_REQUEST),
        (4, errors.INVALID_REQUEST),
        (5, errors.METHOD_NOT_FOUND),
        ("alive", None),
    ]
    assert all("id" in reply for reply in replies if reply.get("id") is not None)
    assert "id" not in replies[1], "an unreadable id is left out, not null"


def test_notifications_and_arrays_produce_what_they_should() -> None:
    """C006, C008."""
    status, replies, _ = run(
        joined(
            initialize(),
            INITIALIZED,
            {"jsonrpc": "2.0", "method": "notifications/roots/list_changed"},
            {"jsonrpc": "2.0", "method": "notifications/not-a-thing", "params": []},
            {"jsonrpc": "2.0", "method": "tools/list"},
            [call("echo", 1), INITIALIZED, request("ping", id=2)],
            [],
            [[]],
            [1, 2],
            b"[" + b",".join([json.dumps(PING).encode()] * 50_000) + b"]\n",
            PING,
        )
    )
    assert status == 0
    assert [reply.get("error", {}).get("code") for reply in replies] == [None, *[errors.INVALID_REQUEST] * 5, None]
    assert all("id" not in reply for reply in replies[1:6])


def test_a_request_before_the_handshake_is_told_what_to_do(client) -> None:
    """ST-05, ST-06: no silence, and ping always works."""
    one = client(handshake=None)
    assert one.ask(PING)["result"] == {}
    assert one.ask(request("tools/list"))["error"]["code"] == errors.INVALID_PARAMS
    assert one.ask(request("server/discover", {"_meta": MODERN_META}))["result"]["resultType"] == "complete"
    wrong = one.ask(request("tools/list", {"_meta": {**MODERN_META, "io.modelcontextprotocol/protocolVersion": "2099-01-01"}}))
    assert wrong["error"]["code"] == errors.UNSUPPORTED_VERSION


def test_both_eras_interleave_in_one_process(client) -> None:
    """ST-04, A-01."""
    one = client(handshake="2025-11-25")
    assert "resultType" not in one.ask(request("tools/list"))["result"]
    assert one.ask(request("tools/list", {"_meta": MODERN_META}))["result"]["resultType"] == "complete"
    assert "resultType" not in one.ask(request("tools/list"))["result"]
    assert one.ask(initialize("2026-07-28"))["result"]["protocolVersion"] == "2026-07-28"
    assert one.ask(request("tools/list"))["result"]["resultType"] == "complete"
    assert one.ask(PING)["result"] == {}


def test_the_oldest_revision_takes_batches(client) -> None:
    """ST-11."""
    one = client(handshake="2025-03-26")
    one.send([call("echo", 1, text="a"), INITIALIZED, request("ping", id="p")])
    assert [reply["id"] for reply in one.receive()] == [1, "p"]


def edge_lines() -> bytes:
    lines = b""
    for id, size in ((1, CAP), (2, CAP + 1), (3, 3 * CAP)):
        head = b'{"jsonrpc":"2.0","id":%d,"method":"ping","p":"' % id
        lines += head + b"x" * (size - len(head) - 2) + b'"}\n'
    return lines + json.dumps(PING).encode() + b"\n"


def test_the_line_cap_is_exact_and_independent_of_chunks(client) -> None:
    """C029, F44: exactly 8 MiB passes, one byte more is refused before dispatch, the stream stays usable."""
    edge = edge_lines()
    _, at_once, _ = run(edge)
    assert [(reply.get("id"), reply.get("error", {}).get("code")) for reply in at_once] == [
        (1, None),
        (None, errors.INVALID_REQUEST),
        (None, errors.INVALID_REQUEST),
        ("alive", None),
    ]
    one = client(handshake=None)
    with ThreadPoolExecutor(1) as pool:
        sending = pool.submit(lambda: [one.send(edge[start : start + 50_001]) for start in range(0, len(edge), 50_001)])
        assert [one.receive() for _ in at_once] == at_once
        sending.result()


def test_an_endless_line_uses_bounded_memory(client) -> None:
    """C029: under about 64 MiB."""
    one = client(handshake=None)
    with ThreadPoolExecutor(1) as pool:
        sending = pool.submit(lambda: [one.send(b"a" * 1_000_000) for _ in range(120)])
        assert one.receive()["error"]["code"] == errors.INVALID_REQUEST
        sending.result()
    with open(f"/proc/{one.process.pid}/status") as status:  # noqa: PTH123
        peak = next(int(line.split()[1]) for line in status if line.startswith("VmHWM"))
    assert peak < 64 * 1024
    one.send(b"\n")
    assert one.ask(PING)["id"] == "alive"


def test_a_result_over_its_limit_is_an_explicit_error_with_the_id(client) -> None:
    """C029, F43."""
    one = client()
    reply = one.ask(request("resources/read", {"uri": "test://big"}, "big"))
    assert (reply["id"], reply["error"]["code"]) == ("big", errors.RESULT_TOO_LARGE)
    assert reply["error"]["data"]["limit"] == 262_144


def test_quick_calls_do_not_wait_for_a_slow_one_and_every_id_is_answered_once(client) -> None:
    """C030, ST-07."""
    one = client(TEST_CAP="100")
    one.send(call("slow", 1, text="slow", seconds=0.8), *(call("echo", id, text=f"page-{id}") for id in range(2, 61)))
    replies = [one.receive() for _ in range(60)]
    assert replies[-1]["id"] == 1
    assert sorted(reply["id"] for reply in replies) == list(range(1, 61))
    for reply in replies[:-1]:
        assert reply["result"]["structuredContent"] == {"text": f"page-{reply['id']}"}


def test_calls_over_the_cap_are_refused_not_queued(client) -> None:
    """F45: of seventeen slow calls sixteen run, and one is refused while they do."""
    one = client()
    one.send(*(call("slow", id, seconds=3) for id in range(17)))
    assert one.receive()["error"]["code"] == errors.CONCURRENCY_LIMITED
    assert one.ask(PING)["id"] == "alive"


def test_a_late_call_is_answered_at_its_deadline(client) -> None:
    one = client()
    began = time.monotonic()
    result = one.ask(call("stubborn", seconds=50))["result"]
    assert result["isError"] is True
    assert time.monotonic() - began < 40


def test_cancelling_sends_nothing_and_breaks_nothing(client) -> None:
    """C013, ST-08, X-03, X-04."""
    one = client()

    def cancel(params: object) -> dict:
        return {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}

    one.send(call("slow", 11, seconds=50), cancel({"requestId": 11, "reason": "user"}), cancel({"requestId": 11}))
    one.send(cancel({"requestId": "never-sent"}), cancel({}), cancel(None), cancel({"requestId": 0}), cancel({"requestId": [1]}))
    assert one.ask(PING)["id"] == "alive"
    assert one.ask(call("echo", 11, text="again"))["result"]["structuredContent"] == {"text": "again"}, "the id is free again"
    began = time.monotonic()
    assert one.finish() == (0, [])
    assert time.monotonic() - began < 40


def test_an_id_in_flight_cannot_be_taken_again(client) -> None:
    """ST-13."""
    one = client()
    one.send(call("slow", 7, seconds=0.4), call("echo", 7), call("echo", "7"))
    replies = [one.receive() for _ in range(3)]
    assert [reply["error"]["code"] for reply in replies if "error" in reply] == [errors.INVALID_REQUEST]
    assert sorted(str(reply["id"]) for reply in replies) == ["7", "7", "7"]


def test_end_of_input_drains_what_runs_and_exits_with_0(client) -> None:
    """F9, ST-03, C014."""
    assert run(b"")[:2] == (0, [])
    one = client()
    one.send(call("slow", 1, text="done", seconds=0.4))
    status, rest = one.finish()
    assert status == 0
    assert [reply["result"]["structuredContent"] for reply in rest] == [{"text": "done"}]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_quietly(client, number) -> None:
    one = client()
    one.send(call("slow", 1, seconds=50), call("stubborn", 2, seconds=50))
    assert one.ask(PING)["id"] == "alive"
    began = time.monotonic()
    one.process.send_signal(number)
    assert one.process.wait(60) == 0
    assert time.monotonic() - began < 40
    assert b"Traceback" not in b"".join(one.stderr)


def test_a_reader_that_goes_away_ends_it_quietly() -> None:
    """C014: input stays open, output is closed."""
    process = subprocess.Popen(SERVER, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdin and process.stdout and process.stderr
    process.stdin.write(joined(initialize()))
    process.stdin.flush()
    assert json.loads(process.stdout.readline())["id"] == 0
    process.stdout.close()
    try:
        for id in range(500):
            process.stdin.write(joined(call("echo", id)))
        process.stdin.flush()
    except BrokenPipeError:
        pass
    assert process.wait(60) == 0
    assert b"Traceback" not in process.stderr.read()
    for stream in (process.stdin, process.stderr):
        try:
            stream.close()
        except BrokenPipeError:
            pass


@pytest.mark.parametrize("ending", ["signal", "end of input"])
def test_a_client_that_reads_nothing_cannot_keep_it_alive(ending) -> None:
    """C014: the pipe to the client is full."""
    process = subprocess.Popen(SERVER, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    assert process.stdin and process.stdout
    process.stdin.write(joined(initialize(), *(call("echo", id, text="x" * 50_000) for id in range(10))))
    process.stdin.flush()
    assert process.stdout.read(1), "it has begun to answer"
    if ending == "signal":
        process.send_signal(signal.SIGTERM)
    else:
        process.stdin.close()
    assert process.wait(60) == 0
    process.stdin.close()
    process.stdout.close()


def test_the_rate_is_limited_on_stdio_too(client) -> None:
    """F45: a burst of 120, then refused with a hint, and the process lives on."""
    one = client()
    replies = [one.ask(request("ping", id=id)) for id in range(200)]
    refused = [reply for reply in replies if "error" in reply]
    assert refused
    assert {reply["error"]["code"] for reply in refused} == {errors.RATE_LIMITED}
    assert all(reply["error"]["data"]["retry_after"] >= 1 for reply in refused)


def test_the_first_reply_comes_before_anything_heavy_is_loaded() -> None:
    """docs/rules.md, Processes: the handshake waits for no schema library, index or web framework."""
    heavy = ("marshmallow", "apispec", "sqlite3", "tantivy", "flask", "redis", "click", "yaml", "cmsmcp.capabilities", "cmsmcp.site")
    probe = f"""
import sys
sys.path.insert(0, {os.path.dirname(SERVER[1])!r})
import server
from cmsmcp.core import service
answer = service.Service._answer
def watched(self, exchange, method):
    outcome = answer(self, exchange, method)
    sys.stderr.write("LOADED " + " ".join(name for name in {heavy!r} if name in sys.modules) + ".\\n")
    return outcome
service.Service._answer = watched
sys.exit(server.main())
"""  # noqa: PTH120
    done = subprocess.run([SERVER[0], "-c", probe], input=joined(initialize()), capture_output=True, timeout=60, check=False)
    assert done.returncode == 0
    assert "LOADED .\n" in done.stderr.decode()
