"""The index as a command line wants it: up to date now."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from functools import partial

from cmsmcp import __version__
from cmsmcp.disk_faults import naming
from cmsmcp.governance.redaction import REDACTION
from cmsmcp.settings import SiteChoice, find_site, read_environment, state_folder
from cmsmcp.site.catalog.writer_lock import WriterLock, writer_is_alive
from cmsmcp.site.definitions import load_definitions
from cmsmcp.site.index.indexer import Indexer
from cmsmcp.site.open import OpenSite, index_folder, open_site

Progress = Callable[[int, int], None]
"""Called with the documents done and the documents to do."""
PROCESSES = 2
POLL_SECONDS = 0.1


@contextmanager
def open_indexed(choice: SiteChoice, progress: Progress) -> Iterator[OpenSite]:
    """The site with an index that is up to date: built here, or kept by the server that is running.

    Faults in our own blocks are none to it. Raises ConfigFault when site.yaml itself cannot be read.
    """
    root = find_site(choice.folder)
    state = state_folder(root, read_environment())
    load = partial(load_definitions, root, choice.env, choice.overlays, REDACTION)
    load()  # the indexer would only note that it cannot be read
    folder = index_folder(state, choice.env, choice.overlays)
    lock = WriterLock(folder)
    # Opened first: it believes only what is said of the index from then on.
    opened = open_site(root, state, env=choice.env, overlays=choice.overlays, write=False, version=__version__, redaction=REDACTION)
    with closing(opened):
        if lock.acquire():
            try:
                with naming(folder), closing(Indexer(folder, load, progress=progress, processes=PROCESSES)) as indexer:
                    indexer.build()
            finally:
                lock.release()
        opened.start()
        while not opened.state.ready() and writer_is_alive(folder):
            progress(*opened.state.progress())
            time.sleep(POLL_SECONDS)
        yield opened
