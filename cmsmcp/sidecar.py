"""The process beside the workers: it indexes the site and watches it, so that they only read, tells them what changed, and trims the
audit stream.

One per host and site; a second one waits. Knows signals and the composition; must not serve anything.
"""

from __future__ import annotations

import argparse
import logging
import os
import queue
import signal
from pathlib import Path

from cmsmcp.bootstrap.audit import Trimmer
from cmsmcp.bootstrap.chosen import Chosen, choose, open_chosen
from cmsmcp.bootstrap.governance import find_redis, watched
from cmsmcp.bootstrap.logs import redact_logs
from cmsmcp.bootstrap.notices import Notices, notices_over_redis
from cmsmcp.disk_faults import describe
from cmsmcp.processes.signals import ignore_meaningless
from cmsmcp.settings import SettingsError, SiteChoice

log = logging.getLogger("cmsmcp.sidecar")
LOOK_SECONDS = 0.25


def main() -> int:
    """Run until SIGTERM, SIGINT or SIGQUIT; SIGHUP reads the configuration again. Exit code 0, or 2 when it is at fault at the start."""
    parser = argparse.ArgumentParser(prog="python -m cmsmcp.sidecar")
    parser.add_argument("site", type=Path)
    parser.add_argument("--env", default="")
    parser.add_argument("--config-overlay", type=Path, action="append", default=[])
    parser.add_argument("--parent", type=int, help="end with this process, which started this one")
    wanted = parser.parse_args()
    logging.basicConfig(level=logging.WARNING, format="cmsmcp sidecar: %(message)s")
    redact_logs()
    signals: queue.SimpleQueue[int] = queue.SimpleQueue()
    ignore_meaningless()
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGQUIT, signal.SIGHUP):
        signal.signal(number, lambda number, _: signals.put(number))
    choice = SiteChoice(wanted.site, wanted.env, tuple(wanted.config_overlay))
    try:
        return _run(choice, Signals(signals, wanted.parent))
    except SettingsError as error:
        log.error("%s", error)
        return 2
    except OSError as error:
        log.error("%s", describe(error))
        return 2


class Signals:
    """The signals that come, one by one; SIGTERM too when the process that started this one is there no more."""

    def __init__(self, came: queue.SimpleQueue[int], parent: int | None) -> None:
        self._came = came
        self._parent = parent

    def next(self) -> int:
        """Looks up now and then: a signal that the system gave to another thread does not wake this one, and its handler runs only here."""
        while True:
            try:
                return self._came.get(timeout=LOOK_SECONDS)
            except queue.Empty:
                if self._parent is not None and os.getppid() != self._parent:
                    return signal.SIGTERM


def _run(choice: SiteChoice, signals: Signals) -> int:
    chosen = choose(choice)
    notices = _notices(chosen)
    opened = open_chosen(chosen, write=True, on_change=notices.tell if notices is not None else None)
    trimmer = Trimmer(chosen)
    trimmer.start()
    try:
        while signals.next() == signal.SIGHUP:
            try:
                trimmer.follow(choose(choice))
            except SettingsError as error:
                log.error("the configuration of before stays: %s", error)
    finally:
        trimmer.stop()
        opened.close()
        if notices is not None:
            notices.close()
    return 0


def _notices(chosen: Chosen) -> Notices | None:
    """None where there is no Redis: there are no workers then that could be told."""
    url, site = find_redis(chosen), chosen.settings.site_name
    return notices_over_redis(watched(url, site, log.warning), site) if url is not None else None


if __name__ == "__main__":
    raise SystemExit(main())
