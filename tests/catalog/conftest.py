"""Small sites on disk, indexed in this thread: no watcher, no waiting. A document is text, or `(body, {front matter})`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from cmsmcp.core.deadline import Deadline
from cmsmcp.core.ports import Document, Hit, Page, Visibility
from cmsmcp.site.catalog.reader import CatalogReader
from cmsmcp.site.checks.survey import Survey
from cmsmcp.site.checks.validation import CHECKS
from cmsmcp.site.content.port import CatalogContent
from cmsmcp.site.definitions import CurrentDefinitions, load_definitions
from cmsmcp.site.index.indexer import Indexer

SITE = "name: test\ndefault_lang: en\n"
NOON = 1_780_000_000_000
"""The moment at which every question is asked, in ms: 2026-05-28."""


Files = Mapping[str, str | tuple[str, Mapping[str, Any]]]


def front(body: str, keys: Mapping[str, Any]) -> str:
    """A document's text. Values are written as they are, so they can be any YAML."""
    return "---\n" + "".join(f"{key}: {value}\n" for key, value in keys.items()) + f"---\n{body}\n"


class BuiltSite:
    """The site, its index and its content port."""

    def __init__(self, folder: Path, files: Files, config: str = SITE) -> None:
        self.root, self.state = folder / "site", folder / "state"
        self.now = NOON
        self.write("content/config/site.yaml", config)
        for path, text in files.items():
            self.write(f"content/{path}", text if isinstance(text, str) else front(*text))
        self.indexer = Indexer(self.state, lambda: load_definitions(self.root), clock=lambda: self.now)
        self.indexer.build()
        self.reader = CatalogReader(self.state)
        definitions = CurrentDefinitions(lambda: load_definitions(self.root), lambda: self.reader.meta().get("site_digest"))
        self.content = CatalogContent(self.state, self.reader, definitions, clock=lambda: self.now)

    def write(self, path: str, text: str) -> None:
        target = self.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")

    def build(self) -> bool:
        changed = self.indexer.build()
        self.reader.forget_meta()
        return changed

    def keep_time(self) -> bool:
        moved = self.indexer.keep_time()
        self.reader.forget_meta()
        return moved

    def close(self) -> None:
        self.indexer.close()
        self.reader.close()

    def list(self, visibility: Visibility | None = None, limit: int = 100, cursor: str | None = None, **given: Any) -> Page[Document]:
        asked = {"type": None, "lang": None, "taxonomy": {}, "updated_after": None, "updated_before": None, **given}
        return self.content.list_documents(
            **asked, visibility=visibility or Visibility(), limit=limit, cursor=cursor, deadline=Deadline(10)
        )

    def search(
        self, query: str, visibility: Visibility | None = None, limit: int = 20, cursor: str | None = None, **given: Any
    ) -> Page[Hit]:
        asked = {"type": None, "lang": None, **given}
        return self.content.search(
            query, **asked, visibility=visibility or Visibility(), limit=limit, cursor=cursor, deadline=Deadline(10)
        )

    def slugs(self, query: str, **given: Any) -> list[str]:
        return [hit.document.slug for hit in self.search(query, **given).items]

    def get(self, visibility: Visibility | None = None, **given: Any) -> Document:
        asked = {"slug": None, "url": None, "id": None, "type": None, "lang": None, **given}
        return self.content.get_document(**asked, visibility=visibility or Visibility(), deadline=Deadline(10))

    def navigation(self, lang: str | None = None) -> Mapping[str, Any]:
        return self.content.get_navigation(lang=lang, deadline=Deadline(10))

    def diagnostics(self, check: str | None = None) -> list[tuple[str, str, str]]:
        rows = self.reader.rows('SELECT path, "check", message FROM diagnostics ORDER BY path, line')
        return [row for row in rows if check is None or row[1] == check]


    def findings(self, check: str, visibility: Visibility | None = None) -> list[tuple[str, str]]:
        """(path, message) of what one check finds, for that reader."""
        definitions = load_definitions(self.root)
        survey = Survey(definitions.config, definitions.types.all(), self.reader, self.now, Deadline(10), visibility)
        return [(one.path, one.message) for one in CHECKS[check](survey)]


MakeSite = Callable[..., BuiltSite]


@pytest.fixture(scope="module")
def make_site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MakeSite]:
    """Builds sites from `{path below content/: document}`; each is closed after the module's tests."""
    built: list[BuiltSite] = []

    def make(files: Files, config: str = SITE) -> BuiltSite:
        site = BuiltSite(tmp_path_factory.mktemp("site"), files, config)
        built.append(site)
        return site

    yield make
    for site in built:
        site.close()
