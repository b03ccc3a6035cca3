"""How fast entries are listed: `python -m bench.entries --entries 100000`, in this process, no door before it.

The catalog is written by the writer itself, in the index's batches, from documents made here: no files are read and there is no search
index. Every question of a row of the table is another one, so that no count is remembered; each is asked within its deadline.
"""

from __future__ import annotations

import argparse
import dataclasses
import random
import sqlite3
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from cmsmcp.core.deadline import Deadline
from cmsmcp.core.entries import Condition, Listing, Order, Query
from cmsmcp.core.ports import Visibility
from cmsmcp.site.catalog.entry import Entry, FileState, served_entry
from cmsmcp.site.catalog.reader import CatalogReader, Snapshot
from cmsmcp.site.catalog.state import note_kept
from cmsmcp.site.catalog.writer import Catalog
from cmsmcp.site.definitions import Definitions, load_definitions
from cmsmcp.site.entries.columns import columns_by_type
from cmsmcp.site.entries.filling import typed_row
from cmsmcp.site.entries.store import TypedEntries
from cmsmcp.site.model import BodyScan, ParsedDocument

_SITE = "name: bench\ndefault_lang: en\nlocales: [en, de]\n"
_TYPES = {
    "article": """name: Articles
tableName: articles
fields:
  - {name: title, type: string}
  - {name: slug, type: uid}
  - {name: section, type: string}
  - {name: rating, type: number}
  - {name: price, type: number, subtype: float}
  - {name: featured, type: boolean}
  - {name: starts, type: datetime}
  - {name: teaser, type: text}
  - {name: writer, type: relation, relationType: many-to-one, relatedSlug: person}
  - {name: topics, type: relation, relationType: many-to-many, relatedSlug: topic}
  - {name: body, type: richtext}
""",
    "person": """name: People
tableName: people
fields:
  - {name: title, type: string}
  - {name: slug, type: uid}
  - {name: home, type: relation, relationType: many-to-one, relatedSlug: topic}
  - {name: articles, type: relation, relationType: one-to-many, relatedSlug: article, relatedField: writer}
""",
    "topic": "name: Topics\ntableName: topics\nfields:\n  - {name: title, type: string}\n  - {name: slug, type: uid}\n",
}
_ENDS = ("bour", "tern", "dow", "per", "lin", "cier")
_WORDS = [f"{begin}{end}" for begin in ("har", "lan", "mea", "cop", "vio", "gla") for end in _ENDS]
_BATCH = 500
_NO_SCAN = BodyScan((), (), (), "")
_EVERYONE = Visibility()


def documents(count: int, dice: random.Random) -> Iterator[ParsedDocument]:
    """Of articles every twentieth is a draft, every tenth is German."""
    for number in range(200):
        yield _document("topic", number, "en", {"title": f"Topic {number}"})
    for number in range(1_000):
        yield _document("person", number, "en", {"title": f"Person {number}", "home": f"topic-{number % 200}"})
    for number in range(count):
        words = dice.choices(_WORDS, k=150)
        day = f"20{dice.randrange(10, 30)}-{dice.randrange(1, 13):02}-{dice.randrange(1, 29):02}"
        values = {
            "title": " ".join(words[:5]), "section": f"section {dice.randrange(10)}", "rating": dice.randrange(100),
            "price": round(dice.uniform(1, 500), 2), "featured": dice.random() < 0.2,
            "starts": f"{day}T{dice.randrange(24):02}:00:00.000Z",
            "teaser": " ".join(words[5:20]), "writer": f"person-{dice.randrange(1_000)}",
            "topics": [f"topic-{dice.randrange(200)}" for _ in range(3)],
        }  # fmt: skip
        found = _document("article", number, "de" if number % 10 == 9 else "en", values)
        yield dataclasses.replace(found, body=" ".join(words), status="draft" if number % 20 == 7 else "published")


def _document(kind: str, number: int, lang: str, values: dict[str, object]) -> ParsedDocument:
    slug = f"{kind}-{number}"
    return ParsedDocument(
        path=f"content/{kind}s/{lang}/{slug}.md", id=f"{lang}:{kind}:{slug}", type=kind, lang=lang, slug=slug,
        url=f"{'' if lang == 'en' else '/de'}/{kind}s/{slug}/", key=f"{kind}:{slug}", title=str(values.pop("title")), status="published",
        publish_at=None, unpublish_at=None, layout=kind, summary="", author="", owner="", last_editor="",
        date=f"2026-{1 + number % 12:02}-{1 + number % 28:02}", created_at=None, updated_at=None, taxonomies={}, fields=values, params={},
        body="", body_line=1,
    )  # fmt: skip


def write(folder: Path, definitions: Definitions, count: int) -> Catalog:
    catalog, columns = Catalog(folder), columns_by_type(definitions.types)
    with catalog.transaction():
        catalog.types.begin(columns)
    batch: list[Entry] = []

    def put() -> None:
        with catalog.transaction():
            catalog.put(batch)
        batch.clear()

    for number, one in enumerate(documents(count, random.Random(1)), 1):
        typed = typed_row(definitions.types.by_slug[one.type], columns[one.type], one)
        batch.append(served_entry(FileState(1, number, number), one, _NO_SCAN, (), typed))
        if len(batch) == _BATCH:
            put()
    put()
    with catalog.transaction():
        catalog.make_indexes()
        catalog.types.finish()
        catalog.set_meta(ready=1, generation=1)
    return catalog


class Bench:
    def __init__(self, state: Path, definitions: Definitions) -> None:
        self._state = state
        self._store = TypedEntries(state, CatalogReader(state), definitions)

    def list(self, *conditions: tuple[str, str, object], sort: str = "", **more: object) -> Listing:
        order = tuple(Order(one.removeprefix("-"), one.startswith("-")) for one in sort.split(",") if one)
        query = Query("article", _EVERYONE, conditions=tuple(Condition(*one) for one in conditions), order=order)
        return self._store.list(dataclasses.replace(query, **more), Deadline(10))  # type: ignore[arg-type]

    def row(self, name: str, ask: Callable[[int], Listing], *, times: int = 40, target: float | None = None) -> float:
        """One line of the table; its median of processor time in milliseconds, which other work on the machine disturbs least."""
        taken, spent, found = [], [], 0
        for number in range(times):
            note_kept(self._state)
            began, used = time.perf_counter(), time.thread_time()
            found = ask(number).total
            taken.append((time.perf_counter() - began) * 1000)
            spent.append((time.thread_time() - used) * 1000)
        middle = statistics.median(spent)
        figures = f"{statistics.median(taken):8.2f} {sorted(taken)[int(times * 0.95)]:8.2f} {middle:8.2f}"
        print(f"{name:52} {figures} {found:8}   {'' if target is None else f'{target:g}'}")
        return middle

    def filters(self) -> None:
        def two(number: int, sort: str) -> Listing:
            lowest = number * 2 % 90
            section = f"section {number % 10}"
            return self.list(("section", "eq", section), ("rating", "gte", lowest), ("rating", "lt", lowest + 10), sort=sort)

        def numbers(number: int) -> Listing:
            return self.list(("rating", "eq", number), ("featured", "ne", True), ("price", "lt", 400 - number), sort="title")

        self.row("two filters that match 1 %, sorted by a time", lambda number: two(number, "-starts"), target=10)
        self.row("two filters that match 1 %, by URL", lambda number: two(number + 1, ""), target=10)
        self.row("two filters that match 1 %, by two fields", lambda number: two(number + 2, "featured,-price"), target=10)
        self.row("numbers and a flag that match 1 %, sorted by text", numbers, target=10)
        self.row("a relation, sorted by a time", lambda number: self.list(("writer", "eq", f"person-{number}"), sort="-starts"), target=10)
        self.row("one of many relations (1 %)", lambda number: self.list(("topics", "contains", f"topic-{number}"), sort="starts"))
        for field, target in (("title", 60), ("teaser", 60), ("body", None)):
            self.row(f"contains, {field}", lambda number, field=field: self._contains(field, number), times=30, target=target)  # type: ignore[misc]
        self.row("a filter that matches half", lambda number: self.list(("rating", "gte", 30 + number), sort="-starts"))

    def _contains(self, field: str, number: int) -> Listing:
        return self.list((field, "contains", f"{_WORDS[number]} {_WORDS[number * 7 % len(_WORDS)]}"))

    def pages(self) -> None:
        for sort in ("-starts", "featured", "title", ""):
            name = f"sorted by {sort or 'URL'}"
            first = self.row(f"page 1, {name}", lambda number, sort=sort: self.list(sort=sort))  # type: ignore[misc]
            cursor = self._cursor_to(1_000, sort)
            far = self.row(f"page 1,000 by cursor, {name}", lambda _, sort=sort, cursor=cursor: self.list(sort=sort, cursor=cursor))  # type: ignore[misc]
            print(f"{'    times page 1':52} {'':8} {'':8} {far / first:8.2f} {'':8}   1.5")
        self.row("page 1,000 by number, sorted by -starts", lambda _: self.list(sort="-starts", page=1_000))
        self.row("German, else English, sorted by title", lambda _: self.list(sort="title", locale="de", fallbacks=("en",)), times=20)

    def _cursor_to(self, page: int, sort: str) -> str | None:
        cursor = None
        for _ in range(page - 1):
            note_kept(self._state)
            cursor = self.list(sort=sort, cursor=cursor, fields=frozenset({"title"})).next_cursor
        return cursor

    def relations(self) -> None:
        paths = ("writer.home", "topics")
        self.row("populate writer.home and topics", lambda _: self.list(sort="-starts", populate=paths))
        counted: list[str] = []
        rows = Snapshot.rows

        def count(self: Snapshot, sql: str, parameters: Any = ()) -> list[Any]:
            counted.append(sql)
            return rows(self, sql, parameters)

        Snapshot.rows = count  # type: ignore[method-assign]
        for limit in (1, 20, 100):
            counted.clear()
            self.list(sort="-starts", populate=paths, limit=limit)
            print(f"{f'    statements for {limit} entries':52} {len(counted):8}")
        Snapshot.rows = rows  # type: ignore[method-assign]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.entries", description=__doc__)
    parser.add_argument("--entries", type=int, default=100_000)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for path, text in {"config/site.yaml": _SITE, **{f"types/{slug}.yaml": text for slug, text in _TYPES.items()}}.items():
            target = folder / "site" / "content" / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text, encoding="utf-8")
        definitions = load_definitions(folder / "site")
        began = time.perf_counter()
        catalog = write(folder / "state", definitions, chosen.entries)
        size = sum(path.stat().st_size for path in (folder / "state").iterdir())
        print(f"{chosen.entries} articles, 1,200 others: written in {time.perf_counter() - began:.1f} s, {size / 1e6:.0f} MB;"
              f" SQLite {sqlite3.sqlite_version}\n")  # fmt: skip
        note_kept(folder / "state")
        bench = Bench(folder / "state", definitions)
        print(f"{'20 entries and the total':52} {'p50 ms':>8} {'p95 ms':>8} {'CPU p50':>8} {'total':>8}   at most")
        bench.filters()
        bench.pages()
        bench.relations()
        catalog.close()


if __name__ == "__main__":
    main()
