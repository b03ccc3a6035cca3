"""A disk that is full, read-only or odd costs one line with the way out, on every door, and nothing else (docs/operations.md, Disks)."""

from __future__ import annotations

import errno
import json
import os
import resource
import shutil
import sqlite3
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from cmsmcp.disk_faults import describe, naming

BIN = Path(sys.executable).parent
COMMANDS = ["tokens create --name t", "tokens list", "tokens rotate-key", "serve --bind 127.0.0.1:0", "index", "check"]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made") / "blog"
    subprocess.run([BIN / "cmsmcp", "init", folder], check=True, capture_output=True, timeout=60)
    return folder


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name not in ("REDIS_URL", "CMSMCP_SECRET_KEY")}
    return {**kept, "CMSMCP_STATE_DIR": str(tmp_path / "state")}


def state_of(site: Path, environment: dict[str, str]) -> Path:
    subprocess.run([BIN / "cmsmcp", "index", "--site", site], env=environment, check=True, capture_output=True, timeout=60)
    [folder] = Path(environment["CMSMCP_STATE_DIR"]).iterdir()
    return folder


def no_more_bytes() -> None:
    """To a file; a disk without room looks so, and needs no mount."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))


def one_line(done: subprocess.CompletedProcess[str]) -> str:
    lines = [line for line in done.stderr.splitlines() if "reading the audit" not in line]
    assert len(lines) == 1 and lines[0].startswith("cmsmcp: "), done.stderr
    return lines[0]


@pytest.mark.parametrize("command", COMMANDS)
def test_a_disk_without_room_is_told_in_one_line(site: Path, environment: dict[str, str], command: str) -> None:
    line = [BIN / "cmsmcp", *command.split(), "--site", site]
    done = subprocess.run(
        line, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, check=False, preexec_fn=no_more_bytes
    )
    assert done.returncode == 2 and done.stdout == ""
    told = one_line(done)
    assert "no key yet" in told if command.endswith("rotate-key") else "private Redis" in told or environment["CMSMCP_STATE_DIR"] in told


def test_a_stdio_server_serves_nothing_it_cannot_record(site: Path, environment: dict[str, str]) -> None:
    meta = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {},
            "io.modelcontextprotocol/clientInfo": {"name": "t", "version": "1"}}  # fmt: skip
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "list_documents", "arguments": {}, "_meta": meta}}
    process = subprocess.Popen(
        [BIN / "cmsmcp", "mcp", "serve", "--site", site], env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True, preexec_fn=no_more_bytes,  # noqa: PLW1509 - it only makes a system call
    )  # fmt: skip
    assert process.stdin is not None and process.stdout is not None
    for _ in range(3):
        process.stdin.write(json.dumps(call) + "\n")
        process.stdin.flush()
        reply = json.loads(process.stdout.readline())
        assert "error" in reply and reply["error"]["code"] == 5030 and environment["CMSMCP_STATE_DIR"] not in json.dumps(reply)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 0 and "Traceback" not in said and said.count("the index is not kept up to the files") <= 1


def test_a_token_that_cannot_be_printed_is_an_error(site: Path, environment: dict[str, str]) -> None:
    with Path("/dev/full").open("w") as full:
        line = [BIN / "cmsmcp", "tokens", "create", "--name", "t", "--site", site]
        done = subprocess.run(line, env=environment, stdout=full, stderr=subprocess.PIPE, text=True, timeout=60, check=False)
    assert done.returncode == 2 and "no room is left" in one_line(done)


@pytest.mark.parametrize(
    ("taken", "command"),
    [
        ("secret.key", "tokens create --name t"), ("secret.key", "serve --bind 127.0.0.1:0"), ("redis.lock", "tokens list"),
        ("redis.json.new", "tokens list"), ("index/writer.lock", "index"),
    ],
)  # fmt: skip
def test_a_folder_in_the_place_of_a_file_is_named(site: Path, environment: dict[str, str], taken: str, command: str) -> None:
    place = state_of(site, environment) / taken
    place.unlink(missing_ok=True)
    place.mkdir(parents=True)
    line = [BIN / "cmsmcp", *command.split(), "--site", site]
    done = subprocess.run(line, env=environment, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 2 and str(place.name) in one_line(done)


def test_an_index_that_is_removed_is_made_anew_without_a_traceback(site: Path, environment: dict[str, str]) -> None:
    """While the engine holds what it has not committed, too."""
    folder = state_of(site, environment) / "index"
    process = subprocess.Popen([sys.executable, "-P", "-m", "cmsmcp.sidecar", site], env=environment, stderr=subprocess.PIPE, text=True)
    page, end = site / "content/pages/index.md", time.monotonic() + 60

    def edit_until_kept() -> None:
        page.write_text(f"---\ntitle: At {time.time()}\nslug: index\n---\nWelcome\n")
        began = time.time()
        while not (folder / "kept").exists() or (folder / "kept").stat().st_mtime < began + 0.5:
            assert time.monotonic() < end and process.poll() is None
            time.sleep(0.02)

    try:
        edit_until_kept()
        shutil.rmtree(folder, ignore_errors=True)  # it may be written to meanwhile
        edit_until_kept()
    finally:
        process.terminate()
        _, said = process.communicate(timeout=60)
    assert "the index was removed or replaced; it is made anew" in said and "Traceback" not in said, said


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (OSError(errno.ENOSPC, "x", "/a/b"), ("/a/b: ", "no room")),
        (OSError(errno.EROFS, "x"), ("place: ", "read-only")),
        (OSError(errno.EMFILE, "x", b"/a"), ("/a: ", "ulimit -n")),
        (OSError(errno.ELOOP, "x", "/a"), ("/a: ", "symbolic links")),
        (OSError("odd"), ("place: ", "odd")),
        (ValueError("An IO error occurred: 'No space left on device (os error 28)'"), ("place: ", "no room")),
    ],
)  # fmt: skip
def test_each_error_has_its_way_out(error: Exception, words: tuple[str, ...]) -> None:
    assert all(word in str(describe(error, "place")) for word in words)


def test_what_sqlite_says_is_understood_and_what_is_no_disks_fault_stays(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="place") as refused, naming("place"):
        sqlite3.connect(tmp_path / "none" / "file")
    assert refused.value.errno == errno.EACCES and "has no right" in str(describe(refused.value))
    for fault in (ValueError("no key"), sqlite3.ProgrammingError("closed"), KeyError("x")):
        assert describe(fault) is None
        with pytest.raises(type(fault)), naming("place"):
            raise fault


def test_a_full_disk_does_not_have_a_good_index_thrown_away(site: Path, environment: dict[str, str]) -> None:
    """It could not be made anew there."""
    folder = state_of(site, environment) / "index"
    before = {path.name for path in folder.glob("catalog-*.sqlite")}
    line: list[Any] = [BIN / "cmsmcp", "index", "--site", site]
    subprocess.run(line, env=environment, capture_output=True, timeout=60, check=False, preexec_fn=no_more_bytes)
    assert before and {path.name for path in folder.glob("catalog-*.sqlite")} == before
    with sqlite3.connect(next(folder.glob("catalog-*.sqlite"))) as opened:
        assert opened.execute("SELECT count(*) FROM files").fetchone()[0] > 3
