"""Two sites that differ in hidden documents alone: what readers see of the one must be, to the byte, what they see of the other."""

# ruff: noqa: E501

from __future__ import annotations

import os
import shutil
import time
from pathlib import Path

from cmsmcp.site.config.loading import load_config
from cmsmcp.site.documents.files import find_documents
from cmsmcp.site.documents.parse import parse_document
from cmsmcp.site.documents.status import status_at
from cmsmcp.site.types.registry import load_types

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "site"
SETTLED = 1_700_000_000
WORDS = ("zyzzogeton", "quasiperiodic")
"""The first stands in hidden documents alone, the second in published ones too."""
SECRET, WORD = WORDS

PUBLISHED = {
    "content/types/notice.yaml": "name: Notices\ntableName: notices\nkind: single\nfields:\n  - {name: title, type: string}\n",
    "content/people/seen.md": f"---\ntitle: Seen\nauthor: Shared Name\nfields: {{role: keeper, mentor: ghost}}\n---\n{WORD} {WORD} here\n",
    "content/events/séance.md": "---\ntitle: Séance\nfields: {starts_at: '2026-12-01T20:00:00Z', booking_required: false, host: ghost, "
                                f"instruments: [salvius-refractor, hushed, gone]}}\n---\nA {WORD} evening\n",
    "content/pages/links.md": "---\ntitle: Links\ntags: [open]\n---\n[g](/people/ghost/) [h](/ghost-page/) [t](/tags/hushed/) "
                              f"[a](/authors/phantom-writer/) [r](ghost-page) ![m](media:images/none.png) [f](/links/#no) {WORD}\n",
    "content/pages/twin.md": f"---\ntitle: Twin\nslug: twin\n---\nThe published one, {WORD}.\n",
    "content/pages/zz-twin.md": "---\ntitle: Other twin\nslug: twin\n---\nPublished, and kept out by the first.\n",
    "content/images/haunted.png": "1", "content/images/shown.png": "1",
    "content/config/overlay.yaml": "menus:\n  worlds:\n    - {name: Ghost, url: /people/ghost/}\n    - {name: Nothing, url: /ghost-page/}\n"
                                   "    - {name: Hushed, url: /tags/hushed/}\n    - {name: Writer, url: /authors/phantom-writer/}\n"
                                   "    - {name: Links, url: /links/}\n    - {name: Out, url: 'https://elsewhere.example/'}\n",
}  # fmt: skip
HIDDEN = {
    "content/people/ghost.md": f"---\ntitle: Ghost\ndraft: true\nauthor: Phantom Writer\ntags: [hushed]\nfields: {{role: none, mentor: seen}}\n---\n"
                               f"{SECRET} {WORD} [b](/broken/) ![h](media:images/haunted.png)\n",
    "content/people/de/seen.md": f"---\ntitle: Gesehen\ndraft: true\nauthor: Shared Name\nfields: {{role: x}}\n---\n{SECRET}\n",
    "content/instruments/hushed.md": f"---\ntitle: Hushed\nworkflow: in_review\nfields: {{kind: radio, operational: true}}\n---\n{SECRET}\n",
    "content/pages/ghost-page.md": f"---\ntitle: Ghost page\narchived: true\nodd: haunted-param\ntaxonomies: {{odd: [z]}}\n---\n{WORD * 3} {SECRET}\n",
    "content/pages/a-twin.md": f"---\ntitle: Draft twin\nslug: twin\ndraft: true\n---\n{WORD}\n",
    "content/pages/en/twin.md": f"---\ntitle: Same id\nworkflow: in_review\n---\n{WORD}\n",
    "content/pages/about-ahead.md": f"---\ntitle: About ahead\nslug: about\nscheduled_publish_at: 2099-01-01\n---\n{SECRET}\n",
    "content/pages/over.md": f"---\ntitle: Over\nscheduled_unpublish_at: 2020-01-01\ntags: [open, hushed]\n---\n{SECRET} {WORD}\n",
    "content/posts/fr/brouillon.md": f"---\ntitle: Brouillon\ndraft: true\n---\n{SECRET}\n",
    "content/notices/notice.md": f"---\ntitle: Notice\ndraft: true\n---\n{SECRET}\n",
    "content/pages/bad-date.md": "---\ntitle: Bad\ndraft: true\ndate: haunted-someday\n---\nx\n",
    "content/pages/twice.md": "---\ntitle: Bad\ntitle: haunted-again\ndraft: true\n---\nx\n",
    "content/events/bad-number.md": "---\ntitle: Bad\ndraft: true\nfields: {starts_at: 2026-01-01, places: haunted-number}\n---\nx\n",
    "content/pages/open-ended.md": "---\ntitle: haunted-unclosed\n",
    "content/pages/haunted.MD": "x\n",
    "content/pages/haunted.version.20260306.md": "x\n",
}  # fmt: skip


def make(folder: Path, *, haunted: bool) -> Path:
    """The example site with what is above; without `haunted`, with nothing that is not published."""
    site = Path(shutil.copytree(EXAMPLE, folder / "site", symlinks=True))
    for path, text in (PUBLISHED | (HIDDEN if haunted else {})).items():
        (site / path).parent.mkdir(parents=True, exist_ok=True)
        (site / path).write_text(text, encoding="utf-8")
    config = site / "content/config/site.yaml"
    config.write_text(config.read_text(encoding="utf-8") + (site / "content/config/overlay.yaml").read_text(encoding="utf-8"), encoding="utf-8")
    (site / "content/config/overlay.yaml").unlink()
    if not haunted:
        for path in hidden_in(site):
            (site / path).unlink()
    for path in site.rglob("*"):
        os.utime(path, (SETTLED, SETTLED), follow_symlinks=False)
    return site


def hidden_in(site: Path) -> list[str]:
    """Every file among the documents that is not published now, those that became no document too."""
    config = load_config(site)
    types = load_types(config)
    found = []
    for path, _ in find_documents(config, types)[0]:
        read = parse_document(path, (site / path).read_bytes(), config, types).document
        if read is None or status_at(read, int(time.time() * 1000)) != "published":
            found.append(path)
    return found


def values_of(site: Path) -> dict[str, list[str]]:
    """What documents of a site could be asked for by, hidden ones first: by the names that arguments have."""
    config = load_config(site)
    types = load_types(config)
    hidden = set(hidden_in(site))
    found: dict[str, dict[str, None]] = {name: {} for name in ("slug", "id", "url", "term", "author", "path")}
    for path, _ in sorted(find_documents(config, types)[0], key=lambda pair: pair[0] not in hidden):
        found["path"][path] = None
        read = parse_document(path, (site / path).read_bytes(), config, types).document
        if read is not None:
            found["slug"][read.slug] = found["id"][read.id] = found["url"][read.url] = None
            found["term"] |= dict.fromkeys(term for terms in read.taxonomies.values() for term in terms)
            found["author"][read.author] = None
    languages = ["en", "de", "fr", "ja", "xx"]
    return {name: list(values) for name, values in found.items()} | {
        "type": [*types.names(), "nothing"], "lang": languages, "locale": languages, "query": [SECRET, WORD, f"{WORD} evening", "ghost", "hushed"],
        "taxonomy": ["tags", "odd", "categories"], "since": ["2020-01-01", "2026-03-01"],
    }  # fmt: skip
