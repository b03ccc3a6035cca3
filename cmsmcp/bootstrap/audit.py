"""Where a site's audit is: the stream in its Redis, or the file that a stdio server without Redis writes."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from cmsmcp.bootstrap.chosen import Chosen
from cmsmcp.bootstrap.governance import connect, find_redis, open_redis
from cmsmcp.governance.trail import Trail
from cmsmcp.protocol.errors import Unavailable
from cmsmcp.settings import AUDIT_FILE, SettingsError
from cmsmcp.state.audittrail import FileTrail
from cmsmcp.state.redis.audit import RedisAudit
from cmsmcp.state.redis.keys import Keys

SOURCES = ("stream", "file")
TRIM_SECONDS = 60.0
ALARM = 0.8
log = logging.getLogger(__name__)


def stream_key(chosen: Chosen) -> str:
    """The name of the stream in Redis (docs/audit.md)."""
    return Keys(chosen.settings.site_name).audit


def audit_file(chosen: Chosen) -> Path:
    return chosen.state / AUDIT_FILE


def choose_source(chosen: Chosen) -> str:
    """`stream` when a Redis is given, runs, or has run for this site; else `file`."""
    return "stream" if find_redis(chosen) is not None or (chosen.state / "redis").is_dir() else "file"


@contextmanager
def open_trail(chosen: Chosen, source: str) -> Iterator[Trail]:
    """To read. SettingsError when it cannot be read."""
    if source == "file":
        try:
            yield FileTrail(audit_file(chosen))
        except OSError as error:
            raise SettingsError(f"{audit_file(chosen)} cannot be read ({error.strerror})") from None
        return
    with open_redis(chosen) as client:
        yield RedisAudit(client, chosen.settings.site_name)


class Trimmer:
    """Keeps the stream from growing for ever: once a minute, what is older than `governance.audit_retention` goes.

    Runs beside the workers, never in a request. Several of them do no harm.
    """

    def __init__(self, chosen: Chosen) -> None:
        self._chosen = chosen
        self._retention = chosen.settings.audit_retention
        self._stop = threading.Event()
        self._alarmed = False
        self._thread = threading.Thread(target=self._run, name="audit trimmer", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def follow(self, chosen: Chosen) -> None:
        """Take the retention of a configuration that was read again."""
        self._retention = chosen.settings.audit_retention

    def stop(self) -> None:
        self._stop.set()
        self._thread.join(5)

    def _run(self) -> None:
        while not self._stop.is_set():
            try:
                self._step()
            except (Unavailable, SettingsError):
                pass  # the workers say so to everyone who asks; next minute again
            self._stop.wait(TRIM_SECONDS)

    def _step(self) -> None:
        url = find_redis(self._chosen)
        if url is None:
            return
        client = connect(url, 2.0)
        try:
            audit = RedisAudit(client, self._chosen.settings.site_name)
            audit.trim(self._retention)
            full = audit.fullness() >= ALARM
            if full and not self._alarmed:
                log.warning("Redis is over %d %% full: raise maxmemory or shorten governance.audit_retention. Full, it refuses every call",
                            ALARM * 100)
            self._alarmed = full
        finally:
            client.close()
