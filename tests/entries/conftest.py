"""Sites of typed documents on disk, indexed in this thread, and the store of their entries. A document is its front matter and its body."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from cmsmcp.core.deadline import Deadline
from cmsmcp.core.entries import Condition, Found, Listing, Order, Query
from cmsmcp.core.ports import Visibility
from cmsmcp.site.catalog.reader import CatalogReader, Snapshot
from cmsmcp.site.catalog.state import note_kept
from cmsmcp.site.definitions import load_definitions
from cmsmcp.site.entries.store import TypedEntries
from cmsmcp.site.index.indexer import Indexer

NOON = 1_780_000_000_000
"""The moment at which every question is asked, in ms: 2026-05-28."""
CONFIG = "name: t\ndefault_lang: en\nlocales:\n  en: {}\n  de: {fallback: en}\n  fr: {fallback: none}\n"


class TypedSite:
    def __init__(self, folder: Path, types: Mapping[str, str], documents: Mapping[str, Mapping[str, Any]], config: str = CONFIG) -> None:
        self.root, self.state = folder / "site", folder / "state"
        self.now = NOON
        self.write("config/site.yaml", config)
        for slug, text in types.items():
            self.write(f"types/{slug}.yaml", text)
        for path, keys in documents.items():
            self.put(path, keys)
        self.indexer = Indexer(self.state, lambda: load_definitions(self.root), clock=lambda: self.now)
        self.indexer.build()
        self.reader = CatalogReader(self.state)
        self.store = self.open()

    def open(self) -> TypedEntries:
        return TypedEntries(self.state, self.reader, load_definitions(self.root), clock=lambda: self.now)

    def write(self, path: str, text: str) -> None:
        target = self.root / "content" / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")

    def put(self, path: str, keys: Mapping[str, Any]) -> None:
        """`body` is the Markdown; the rest goes into the front matter."""
        front = "".join(f"{key}: {json.dumps(value, ensure_ascii=False)}\n" for key, value in keys.items() if key != "body")
        self.write(path, f"---\n{front}---\n{keys.get('body', '')}")

    def remove(self, path: str) -> None:
        (self.root / "content" / path).unlink()

    def build(self) -> None:
        self.indexer.build()
        self.reader.forget_meta()

    def close(self) -> None:
        self.indexer.close()
        self.reader.close()

    def list(
        self, type: str, *conditions: tuple[str, str, Any], sort: str = "", visibility: Visibility | None = None, **more: Any
    ) -> Listing:
        note_kept(self.state)
        order = tuple(Order(one.removeprefix("-"), one.startswith("-")) for one in sort.split(",") if one)
        asked = Query(type, visibility or Visibility(), conditions=tuple(Condition(*one) for one in conditions), order=order, **more)
        return self.store.list(asked, Deadline(20))

    def slugs(self, type: str, *conditions: tuple[str, str, Any], **more: Any) -> list[str]:
        return [one.values["slug"] for one in self.list(type, *conditions, **more).items]

    def get(self, type: str, ref: str, visibility: Visibility | None = None, **more: Any) -> Found:
        note_kept(self.state)
        return self.store.get(Query(type, visibility or Visibility(), **more), ref, Deadline(20))


MakeSite = Callable[..., TypedSite]


@pytest.fixture(scope="module")
def make_site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MakeSite]:
    """Each is closed after the module's tests."""
    built: list[TypedSite] = []

    def make(types: Mapping[str, str], documents: Mapping[str, Mapping[str, Any]], config: str = CONFIG) -> TypedSite:
        built.append(TypedSite(tmp_path_factory.mktemp("typed"), types, documents, config))
        return built[-1]

    yield make
    for site in built:
        site.close()


@pytest.fixture
def statements(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What is asked of the catalog from now on."""
    asked: list[str] = []
    rows = Snapshot.rows

    def counted(self: Snapshot, sql: str, parameters: Any = ()) -> list[Any]:
        asked.append(sql)
        return rows(self, sql, parameters)

    monkeypatch.setattr(Snapshot, "rows", counted)
    return asked
