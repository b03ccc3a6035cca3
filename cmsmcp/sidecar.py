"""The process beside the workers: it indexes the site and watches it, so that they only read. One per host and site; a second one waits.

Knows signals and the composition; must not serve anything.
"""

from __future__ import annotations

import argparse
import logging
import signal
import threading
from pathlib import Path

from cmsmcp.bootstrap.chosen import choose, open_chosen
from cmsmcp.settings import SettingsError, SiteChoice


def main() -> int:
    """Run until SIGTERM. Exit code 0, or 2 when the configuration is at fault (the workers say so too)."""
    parser = argparse.ArgumentParser(prog="python -m cmsmcp.sidecar")
    parser.add_argument("site", type=Path)
    parser.add_argument("--env", default="")
    parser.add_argument("--config-overlay", type=Path, action="append", default=[])
    wanted = parser.parse_args()
    logging.basicConfig(level=logging.WARNING, format="cmsmcp sidecar: %(message)s")
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    try:
        opened = open_chosen(choose(SiteChoice(wanted.site, wanted.env, tuple(wanted.config_overlay))), write=True)
    except SettingsError as error:
        logging.error("%s", error)
        return 2
    try:
        stop.wait()
    finally:
        opened.close()
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
