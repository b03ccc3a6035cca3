"""Signals that mean something to other programs end none of ours, and those that end them do so in order (docs/operations.md, Signals)."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from cmsmcp.processes.signals import MEANINGLESS
from tests.waiting import until

PING = b'{"jsonrpc":"2.0","id":1,"method":"ping"}'
HABITS = (*MEANINGLESS, signal.SIGWINCH, signal.SIGPIPE)


def test_a_server_outlives_habits_of_other_programs_and_says_what_they_do_here(new_place: Any, start: Any) -> None:
    """By default each of the four ends or stops a process. SIGQUIT ends a server as gunicorn's users expect."""
    server = start(new_place(), "--workers", "1")
    headers = {"Authorization": f"Bearer {server.place.token()}"}
    for number in HABITS:
        server.process.send_signal(number)
    until(lambda: all(f"{number.name} changes nothing here" in server.log for number in MEANINGLESS))
    assert server.post(PING, headers).status == 200 and "SIGWINCH" not in server.log, "a window that changes its size says nothing"
    server.process.send_signal(signal.SIGQUIT)
    assert server.process.wait(60) == 0


def test_a_server_whose_log_nobody_reads_any_more_goes_on(new_place: Any) -> None:
    """`cmsmcp serve 2>&1 | head -2` closes the pipe."""
    place = new_place()
    line = [Path(sys.executable).with_name("cmsmcp"), "serve", "--site", place.site, "--bind", "127.0.0.1:0", "--workers", "1"]
    process = subprocess.Popen(line, env=place.environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    assert process.stderr is not None
    while b"serving" not in process.stderr.readline():
        pass
    process.stderr.close()
    process.send_signal(signal.SIGUSR1)
    process.send_signal(signal.SIGHUP)
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(1)
    process.terminate()
    assert process.wait(60) == 0


@pytest.mark.parametrize("ending", [signal.SIGTERM, signal.SIGQUIT])
def test_the_indexer_outlives_them_too(new_place: Any, ending: signal.Signals) -> None:
    place = new_place()
    process = subprocess.Popen([sys.executable, "-P", "-m", "cmsmcp.sidecar", place.site], env=place.environment, stderr=subprocess.PIPE)
    state = Path(place.environment["CMSMCP_STATE_DIR"])
    until(lambda: list(state.glob("*/index/writer.lock")))  # it listens by now
    for number in HABITS:
        process.send_signal(number)
    process.send_signal(ending)
    _, said = process.communicate(timeout=60)
    assert (process.returncode, said) == (0, b"")


@pytest.mark.parametrize("ending", [signal.SIGTERM, signal.SIGQUIT, signal.SIGHUP])
def test_a_stdio_server_answers_after_them(new_place: Any, ending: signal.Signals) -> None:
    """A client's terminal that closes ends it like its client does: in order."""
    place = new_place()
    line = [Path(sys.executable).with_name("cmsmcp"), "mcp", "serve", "--site", place.site]
    process = subprocess.Popen(line, env=place.environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdin is not None and process.stdout is not None

    def ask(id: int) -> None:
        params = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
        message = {"jsonrpc": "2.0", "id": id, "method": "initialize" if id == 1 else "ping", "params": params if id == 1 else {}}
        process.stdin.write(json.dumps(message).encode() + b"\n")  # type: ignore[union-attr]
        process.stdin.flush()  # type: ignore[union-attr]
        assert json.loads(process.stdout.readline())["id"] == id  # type: ignore[union-attr]

    ask(1)
    for id, number in enumerate(HABITS, 2):
        process.send_signal(number)
        ask(id)
    process.send_signal(ending)
    assert process.wait(60) == 0
    process.stdin.close()
    assert process.stderr is not None and process.stderr.read() == b""
