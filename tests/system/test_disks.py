"""Real disks that are full or read-only, as root mounts them (docs/operations.md, Disks)."""

from __future__ import annotations

import os
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

CMSMCP = Path(sys.executable).with_name("cmsmcp")


def until(condition: Callable[[], Any], seconds: float = 60.0) -> Any:
    end = time.monotonic() + seconds
    while not (value := condition()):
        assert time.monotonic() < end, f"not within {seconds} s"
        time.sleep(0.1)
    return value


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 24 MiB."""
    place = tmp_path / "disk"
    place.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=24m", "tmpfs", place], check=True)
    yield place
    subprocess.run(["umount", "-l", place], check=True)


@pytest.fixture
def environment(disk: Path) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name not in ("REDIS_URL", "CMSMCP_SECRET_KEY")}
    return {**kept, "CMSMCP_STATE_DIR": str(disk / "state")}


def fill(disk: Path) -> Path:
    full = disk / "full"
    with full.open("wb", buffering=0) as file:
        for size in (1 << 20, 1 << 12, 1):
            try:
                while True:
                    file.write(b"x" * size)
            except OSError:
                continue
    return full


def run(environment: dict[str, str], *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([CMSMCP, *words], env=environment, capture_output=True, text=True, timeout=120, check=False)


def test_a_server_on_a_full_disk_says_so_serves_nothing_unrecorded_and_heals(tmp_path: Path, disk: Path, environment: Any) -> None:
    site, log = tmp_path / "blog", tmp_path / "log"
    assert run(environment, "init", str(site)).returncode == 0
    with log.open("wb") as output:
        line = [CMSMCP, "serve", "--site", site, "--bind", "127.0.0.1:0", "--workers", "1"]
        server = subprocess.Popen(line, env=environment, stdout=output, stderr=output)
    try:
        address = until(lambda: next((line.split()[-1] for line in log.read_text().splitlines() if " on http://" in line), None))
        assert run(environment, "tokens", "create", "--site", str(site), "--name", "t").returncode == 0
        full = fill(disk)
        (site / "content/pages/index.md").write_text("---\ntitle: " + "Long " * 20_000 + "\nslug: index\n---\nText\n")
        until(lambda: "the index is not kept up to the files" in log.read_text())
        until(lambda: run(environment, "tokens", "create", "--site", str(site), "--name", "u").returncode == 2)
        done = run(environment, "tokens", "create", "--site", str(site), "--name", "u")
        assert done.returncode == 2 and "cannot write to its disk" in done.stderr and len(done.stderr.splitlines()) == 1
        full.unlink()
        until(lambda: "is kept up to the files again" in log.read_text())
        until(lambda: run(environment, "tokens", "create", "--site", str(site), "--name", "u").returncode == 0)
        until(lambda: is_ready(address))
        assert "Traceback" not in log.read_text()
    finally:
        server.terminate()
        assert server.wait(60) == 0


def is_ready(address: str) -> bool:
    try:
        with urllib.request.urlopen(f"{address}/readyz", timeout=10) as reply:
            return reply.status == 200
    except urllib.error.URLError:
        return False


@pytest.mark.parametrize("hidden", [["/tmp"], ["/tmp", "/var/tmp", "/usr/tmp", "/dev/shm"]], ids=["tmp", "all of them"])
def test_a_private_redis_needs_no_folder_for_temporary_files(disk: Path, environment: Any, hidden: list[str]) -> None:
    """Its socket may lie in the state folder then."""
    site = Path("/mnt/blog")
    mounts = [f"mount -t tmpfs -o ro tmpfs {folder}" for folder in hidden if Path(folder).is_dir()]
    script = "\n".join([
        "set -e", "mount -t tmpfs tmpfs /mnt", *mounts, "cd /proc", "export CMSMCP_STATE_DIR=/mnt/s TMPDIR=/tmp",
        f"{CMSMCP} init {site}", f"{CMSMCP} tokens create --site {site} --name t", f"{CMSMCP} tokens list --site {site}",
    ])  # fmt: skip
    done = subprocess.run(["unshare", "-m", "sh", "-c", script], env=environment, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    assert "never used" in done.stdout and "Traceback" not in done.stderr


def test_a_state_folder_that_is_read_only_is_told(disk: Path, environment: Any, tmp_path: Path) -> None:
    site = tmp_path / "blog"
    for words in (["init", str(site)], ["tokens", "create", "--site", str(site), "--name", "t"], ["index", "--site", str(site)]):
        assert run(environment, *words).returncode == 0
    subprocess.run(["mount", "-o", "remount,ro", disk], check=True)
    for words in (["tokens", "create", "--name", "t"], ["index"], ["serve", "--bind", "127.0.0.1:0"], ["tokens", "list"]):
        done = run(environment, *words, "--site", str(site))
        assert done.returncode == 2 and "read-only" in done.stderr and str(disk) in done.stderr
        assert len(done.stderr.splitlines()) == 1, done.stderr
