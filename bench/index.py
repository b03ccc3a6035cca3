"""How fast a site is indexed, opened and followed: `python -m bench.index SITE` (a site of bench.corpus).

One line per figure. The state goes into a temporary folder; the last measure edits one document of SITE and puts it back.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from cmsmcp.core.deadline import Deadline
from cmsmcp.core.ports import Visibility
from cmsmcp.site.definitions import load_definitions
from cmsmcp.site.index.indexer import Indexer
from cmsmcp.site.open import OpenSite, index_folder, open_site

_WARM = """
import sys, time
began = time.perf_counter()
from pathlib import Path
from bench.index import search
from cmsmcp.site.open import open_site
opened = open_site(Path(sys.argv[1]), Path(sys.argv[2]))
opened.start()
found = search(opened, "server")
print(time.perf_counter() - began, found)
opened.close()
"""


def search(opened: OpenSite, query: str) -> int:
    """How many documents match."""
    content = opened.site.content
    return content.search(
        query, type=None, lang=None, visibility=Visibility(), limit=20, cursor=None, deadline=Deadline(60)
    ).total  # fmt: skip


def build(site: Path, state: Path, processes: int) -> None:
    indexer = Indexer(index_folder(state), lambda: load_definitions(site), processes=processes)
    began = time.perf_counter()
    indexer.build()
    took = time.perf_counter() - began
    count = len(indexer.catalog.files())
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    spent = sum(one.ru_utime + one.ru_stime for one in used)
    print(f"indexing: {count} documents in {took:.1f} s, {count / took:.0f}/s; {spent:.1f} s of CPU, {count / spent:.0f} per CPU second")
    began = time.perf_counter()
    indexer.build()
    print(f"nothing to do: {time.perf_counter() - began:.3f} s")
    indexer.close()


def warm_start(site: Path, state: Path) -> None:
    """A fresh process over a finished index, from its first import to the answer of its first search."""
    taken = []
    for _ in range(5):
        done = subprocess.run([sys.executable, "-c", _WARM, site, state], capture_output=True, text=True, check=True)
        taken.append(float(done.stdout.split()[0]))
    print(f"warm start to first search: {min(taken):.3f} s at best, {max(taken):.3f} s at worst of {len(taken)}")


def edit_to_visible(site: Path, state: Path) -> None:
    opened = open_site(site, state)
    opened.start()
    search(opened, "server")
    target = next((site / "content" / "pages").rglob("*.md"))
    before = target.read_text(encoding="utf-8")
    taken = []
    try:
        time.sleep(1.5)  # the watching begins
        for number in range(5):
            word = f"edited{os.getpid()}x{number}"
            began = time.perf_counter()
            target.write_text(before + f"\n{word}\n", encoding="utf-8")
            while not search(opened, word):
                time.sleep(0.005)
            taken.append(time.perf_counter() - began)
    finally:
        target.write_text(before, encoding="utf-8")
        opened.close()
    print(f"edit to visible: {min(taken):.3f} s at best, {max(taken):.3f} s at worst of {len(taken)}")


def queries(site: Path, state: Path) -> None:
    opened = open_site(site, state, write=False)
    for query in ("server", "the server", "información página también", '"of the"'):
        search(opened, query)
        began = time.perf_counter()
        for _ in range(100):
            found = search(opened, query)
        print(f"search {query!r}: {(time.perf_counter() - began) * 10:.2f} ms, {found} found")
    began = time.perf_counter()
    for _ in range(100):
        page = opened.site.content.list_documents(
            type="page", lang=None, taxonomy={}, visibility=Visibility(), updated_after=None, updated_before=None, limit=20, cursor=None,
            deadline=Deadline(60),
        )  # fmt: skip
    print(f"list of pages: {(time.perf_counter() - began) * 10:.2f} ms, {page.total} found")
    opened.close()


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.index", description=__doc__)
    parser.add_argument("site", type=Path)
    parser.add_argument("--processes", type=int, default=2, help="that parse beside the one that writes")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        state = Path(folder)
        build(chosen.site, state, chosen.processes)
        warm_start(chosen.site, state)
        queries(chosen.site, state)
        edit_to_visible(chosen.site, state)


if __name__ == "__main__":
    main()
