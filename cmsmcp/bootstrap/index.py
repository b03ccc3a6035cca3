"""The index as a command line wants it: up to date now."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from functools import partial

from cmsmcp.bootstrap.chosen import choose, open_chosen
from cmsmcp.settings import SiteChoice
from cmsmcp.site.definitions import load_definitions
from cmsmcp.site.index.indexer import Indexer
from cmsmcp.site.index.writer_lock import WriterLock, writer_is_alive
from cmsmcp.site.open import OpenSite, index_folder

Progress = Callable[[int, int], None]
"""Called with the documents done and the documents to do."""
PROCESSES = 2
POLL_SECONDS = 0.1


@contextmanager
def open_indexed(choice: SiteChoice, progress: Progress) -> Iterator[OpenSite]:
    """The site with an index that is up to date: built here, or kept by the server that is running."""
    chosen = choose(choice, enabled=False)
    folder = index_folder(chosen.state, choice.env, choice.overlays)
    lock = WriterLock(folder)
    if lock.acquire():
        try:
            load = partial(load_definitions, chosen.root, choice.env, choice.overlays)
            with closing(Indexer(folder, load, progress=progress, processes=PROCESSES)) as indexer:
                indexer.build()
        finally:
            lock.release()
    with closing(open_chosen(chosen, write=False)) as opened:
        while not opened.state.ready() and writer_is_alive(folder):
            progress(*opened.state.progress())
            time.sleep(POLL_SECONDS)
        yield opened
