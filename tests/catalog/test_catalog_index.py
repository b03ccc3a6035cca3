"""The index: incremental, disposable, repaired after a crash, one writer (docs/rules.md, Processes)."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from cmsmcp.core.deadline import Deadline
from cmsmcp.core.ports import Visibility
from cmsmcp.core.sharing import Change
from cmsmcp.protocol.errors import InvalidArguments, Unavailable
from cmsmcp.site.catalog.entry import FileState
from cmsmcp.site.catalog.reader import CatalogReader
from cmsmcp.site.catalog.state import KEPT_NAME, STALE_SECONDS, IndexState, note_kept
from cmsmcp.site.catalog.writer import CATALOG_NAME
from cmsmcp.site.catalog.writer_lock import WriterLock, writer_is_alive
from cmsmcp.site.definitions import load_definitions
from cmsmcp.site.index import reading
from cmsmcp.site.index.indexer import Indexer, Stopped
from cmsmcp.site.index.parsing import Gone, Parser
from cmsmcp.site.open import index_folder, open_site
from cmsmcp.site.search.document import search_entry
from cmsmcp.site.search.engine import SEARCH_NAME
from tests.waiting import until

RECIPE = """name: Recipe
slug: recipe
kind: collection
tableName: recipes
fields: [{name: title, type: string}, {name: body, type: richtext}]
"""


def test_only_what_changed_is_read_again(make_site: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    site = make_site({f"pages/p{n}.md": "first" for n in range(5)})
    read: list[str] = []
    original = Parser.read

    def noting(self: Parser, path: str, state: FileState) -> Any:
        read.append(path)
        return original(self, path, state)

    monkeypatch.setattr(Parser, "read", noting)
    assert site.build() is False
    assert read == []
    site.write("content/pages/p3.md", "second version")
    assert site.build() is True
    assert read == ["content/pages/p3.md"]
    assert site.slugs("second") == ["p3"]
    assert sorted(site.slugs("first")) == ["p0", "p1", "p2", "p4"]


def test_a_build_that_is_told_to_stop_does_so_while_it_walks(make_site: Any) -> None:
    site = make_site({"pages/a.md": "x"})
    with pytest.raises(Stopped):
        site.indexer.build(stopped=lambda: True)


def test_renames_and_deletions_follow(make_site: Any) -> None:
    site = make_site({"pages/a.md": "word", "pages/b.md": "word"})
    assert site.list().total == 2
    (site.root / "content/pages/a.md").rename(site.root / "content/pages/c.md")
    (site.root / "content/pages/b.md").unlink()
    site.build()
    assert site.slugs("word") == ["c"] == [one.slug for one in site.list().items]
    assert (site.search("word").total, site.list().total) == (1, 1)


def test_a_new_configuration_derives_everything_anew(make_site: Any) -> None:
    site = make_site({"pages/de/a.md": "word"}, "name: t\nlocales: [en]\n")
    assert site.list().items[0].url == "/a/"
    site.write("content/config/site.yaml", "name: t\nlocales: [en, de]\n")
    site.build()
    assert site.list(lang="de").items[0].url == "/de/a/"


def test_a_new_type_is_served_at_once(make_site: Any) -> None:
    site = make_site({"recipes/soup.md": ("Hot", {"title": "Soup"})})
    with pytest.raises(InvalidArguments):
        site.list(type="recipe")
    site.write("content/types/recipe.yaml", RECIPE)
    site.build()
    assert [one.url for one in site.list(type="recipe").items] == ["/recipes/soup/"]


def test_a_broken_configuration_keeps_what_was_served(make_site: Any) -> None:
    site = make_site({"pages/a.md": "word"})
    assert site.list().total == 1
    site.write("content/config/site.yaml", "name: [")
    site.build()
    assert site.list().total == 1
    assert any(path.endswith("site.yaml") for path, _, _ in site.diagnostics())


def test_the_first_of_twins_is_served_and_the_others_are_errors(make_site: Any) -> None:
    """docs/rules.md, Odd places."""
    site = make_site({
        "pages/a.md": ("alpha", {"slug": "same"}), "pages/b.md": ("beta", {"slug": "same"}), "pages/c/x.md": ("gamma", {"slug": "other"}),
    })
    assert site.get(slug="same").body.strip() == "alpha"
    assert (site.list().total, site.slugs("beta")) == (2, [])
    assert [path for path, _ in site.findings("duplicate_urls")] == ["content/pages/b.md"]
    (site.root / "content/pages/a.md").unlink()
    site.build()
    assert site.get(slug="same").body.strip() == "beta"
    assert (site.slugs("beta"), site.slugs("alpha"), site.findings("duplicate_urls")) == (["same"], [], [])
    site.write("content/pages/a.md", "---\nslug: same\n---\nalpha\n")
    site.build()
    assert (site.slugs("beta"), site.slugs("alpha"), site.list().total) == ([], ["same"], 2)
    site.write("content/pages/b.md", "---\nslug: same\n---\nbeta edited\n")
    site.build()
    assert (site.search("beta").total, site.list().total) == (0, 2)


def test_a_redirect_over_a_document_is_an_error(make_site: Any) -> None:
    site = make_site({"pages/a.md": "x", "../data/redirects.yaml": "redirects:\n- {from: /a/, to: /b/}\n- {from: /c/, to: /a/}\n"})
    found = site.findings("redirects")
    assert [path for path, message in found if "/a/" in message and "content/pages/a.md" in message] == ["data/redirects.yaml"]
    (site.root / "content/pages/a.md").unlink()
    site.build()
    assert [one for one in site.findings("redirects") if "content/pages/a.md" in one[1]] == []


def test_one_bad_file_hides_itself_alone(make_site: Any) -> None:
    """C039: named by relative path, the rest is served."""
    site = make_site({"pages/good.md": "word", "pages/bad.md": "---\ntitle: [\n---\nword\n", "pages/open.md": "---\ntitle: x\n"})
    site.write("content/pages/latin.md", "")
    (site.root / "content/pages/latin.md").write_bytes(b"caf\xe9")
    site.build()
    assert site.slugs("word") == ["good"]
    assert {path for path, _, _ in site.diagnostics()} == {f"content/pages/{name}.md" for name in ("bad", "open", "latin")}
    site.write("content/pages/bad.md", "---\ntitle: x\n---\nword\n")
    site.build()
    assert "content/pages/bad.md" not in {path for path, _, _ in site.diagnostics()}


def test_a_file_that_vanishes_between_walk_and_reading_is_gone(make_site: Any) -> None:
    """C040."""
    site = make_site({"pages/a.md": "x"})
    definitions = load_definitions(site.root)
    assert isinstance(Parser(definitions).read("content/pages/never.md", FileState(1, 1, 1)), Gone)
    with reading.Reading(definitions, 0) as reader:
        assert [type(one) for one in reader.read({"content/pages/gone.md": FileState(1, 1, 1)})] == [Gone]


def test_a_link_that_leaves_the_site_is_not_read(make_site: Any, tmp_path: Path) -> None:
    (tmp_path / "outside.md").write_text("outsideword")
    site = make_site({"pages/a.md": "x"})
    target = site.root / "content/pages/a.md"
    target.unlink()
    target.symlink_to(tmp_path / "outside.md")
    site.indexer.build(["content/pages/a.md"])
    site.reader.forget_meta()
    assert site.slugs("outsideword") == []
    assert site.list().total == 0
    entry = Parser(load_definitions(site.root)).read("content/pages/a.md", FileState(1, 1, 1))
    assert not isinstance(entry, Gone)
    assert (entry.entry.document, len(entry.entry.diagnostics), entry.search) == (None, 1, None)


def test_processes_beside_this_one_read_the_same(make_site: Any, tmp_path: Path) -> None:
    files = {f"pages/p{n}.md": (f"word{n} é", {"title": f"T {n}"}) for n in range(80)} | {"pages/bad.md": "---\nx: [\n---\n"}
    site = make_site(files)
    definitions = load_definitions(site.root)
    wanted = {f"content/{path}": FileState(1, 1, 1) for path in files} | {"content/pages/gone.md": FileState(1, 1, 1)}
    with reading.Reading(definitions, 0) as here, reading.Reading(definitions, 2) as beside:
        key = repr
        assert sorted(beside.read(wanted), key=key) == sorted(here.read(wanted), key=key)


def test_the_search_takes_the_same_from_a_file_as_from_the_catalog(make_site: Any) -> None:
    """A file just read is fed as it is; after a crash, and for a twin that comes back, the catalog's rows are."""
    keys = {
        "title": "Größe", "summary": "sum", "tags": "[a b, c]", "author": "ANN", "lang": "x", "workflow": "in_review",
        "fields": "{n: 1.50, deep: {list: [x, {y: z}], no: no}, big: 12345678901234567890}", "scheduled_publish_at": "2026-05-01",
        "scheduled_unpublish_at": "2027-05-01T10:00:00Z",
    }
    site = make_site({"pages/de/a.md": ("# Kopf\n\nTe\u0301xt *und* mehr", keys), "pages/b.md": "plain"}, "name: t\nlocales: [en, de]\n")
    parser = Parser(load_definitions(site.root))
    reads = [parser.read(path, state) for path, state in site.indexer.catalog.files().items()]
    rows = dict(site.reader.rows("SELECT path, row FROM documents"))
    stored = site.indexer.catalog.searchable(list(rows.values()), site.now)
    assert len(reads) == 2
    for read in reads:
        assert not isinstance(read, Gone)
        assert read.search == search_entry(stored[rows[read.entry.path]][0])


def test_reading_goes_on_here_when_a_process_dies(make_site: Any) -> None:
    site = make_site({f"pages/p{n}.md": "x" for n in range(100)})
    definitions = load_definitions(site.root)
    wanted = {f"content/pages/p{n}.md": FileState(1, 1, 1) for n in range(100)}
    with reading.Reading(definitions, 1) as beside:
        beside._children[0][0].kill()
        beside._children[0][0].wait()
        assert len(list(beside.read(wanted))) == 100


def test_a_crash_between_the_two_commits_is_worked_off(make_site: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    site = make_site({"pages/a.md": "old", "pages/b.md": "stays", "pages/c.md": "goes"})
    site.write("content/pages/a.md", "brandnew text")
    (site.root / "content/pages/c.md").unlink()
    with monkeypatch.context() as broken:
        broken.setattr("cmsmcp.site.search.writing.SearchWriter.commit", lambda self: (_ for _ in ()).throw(OSError("disk full")))
        with pytest.raises(OSError, match="disk full"):
            site.build()
    site.indexer.close()
    site.indexer = Indexer(site.state, lambda: load_definitions(site.root))
    assert site.build() is True
    assert (site.slugs("brandnew"), site.slugs("old"), site.slugs("stays"), site.slugs("goes")) == (["a"], [], ["b"], [])


@pytest.mark.parametrize("harm", ["garbage", "schema", "search", "truncate"])
def test_what_cannot_be_used_is_built_anew(make_site: Any, harm: str) -> None:
    """Disposable at any time: never an error to the user."""
    site = make_site({"pages/a.md": "word"})
    site.close()
    catalog = site.state / CATALOG_NAME
    if harm == "garbage":
        catalog.write_bytes(b"this is no database at all" * 400)
    elif harm == "truncate":
        catalog.write_bytes(catalog.read_bytes()[: 4096 * 2])
    elif harm == "schema":
        (site.state / "catalog-0.sqlite").write_bytes(b"old")
        with sqlite3.connect(catalog) as connection:
            connection.execute("DROP TABLE meta")
        connection.close()
    else:
        (site.state / SEARCH_NAME / "meta.json").write_text("{")
    site.indexer = Indexer(site.state, lambda: load_definitions(site.root))
    site.build()
    assert site.slugs("word") == ["a"]
    assert not (site.state / "catalog-0.sqlite").exists()


def test_a_reader_that_finds_damage_has_the_catalog_built_anew(make_site: Any) -> None:
    site = make_site({f"pages/p{n}.md": "word " * 500 for n in range(30)})
    site.reader.close()
    catalog = site.state / CATALOG_NAME
    site.indexer.catalog._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    with catalog.open("r+b") as file:
        file.seek(4096)
        file.write(os.urandom(catalog.stat().st_size - 4096))
    with pytest.raises(Unavailable):
        site.list()
    site.build()
    assert site.list().total == 30


def test_the_site_folder_is_left_as_it_was(make_site: Any) -> None:
    """F1: a read-only server leaves the site byte for byte as it was."""
    site = make_site({"pages/a.md": "word"})
    before = {path: path.stat().st_mtime_ns for path in site.root.rglob("*")}
    site.build()
    site.slugs("word")
    assert {path: path.stat().st_mtime_ns for path in site.root.rglob("*")} == before


def test_one_writer_at_a_time(tmp_path: Path) -> None:
    first, second = WriterLock(tmp_path), WriterLock(tmp_path)
    assert (writer_is_alive(tmp_path), first.acquire(), second.acquire(), writer_is_alive(tmp_path)) == (False, True, False, True)
    first.release()
    assert second.acquire()
    second.release()


def test_a_probe_keeps_nobody_from_becoming_the_writer(tmp_path: Path) -> None:
    """Asking whether a writer lives takes the lock for an instant."""
    probe = WriterLock(tmp_path)
    assert probe.acquire()
    writer = WriterLock(tmp_path, sleep=lambda seconds: probe.release())
    assert writer.acquire()
    writer.release()


def test_the_lock_of_a_killed_process_is_free(tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from cmsmcp.site.catalog.writer_lock import WriterLock as W;"
        "lock = W(Path(sys.argv[1])); print(lock.acquire(), flush=True); input()"
    )
    with subprocess.Popen([sys.executable, "-c", code, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"True\n"
        assert writer_is_alive(tmp_path)
        process.kill()
    assert not writer_is_alive(tmp_path)


def test_early_calls_wait_and_then_say_how_far_it_is(tmp_path: Path) -> None:
    with pytest.raises(Unavailable, match="no indexer is running"):
        IndexState(tmp_path, CatalogReader(tmp_path), sleep=lambda seconds: None).await_ready(Deadline(30))
    lock = WriterLock(tmp_path)
    assert lock.acquire()
    catalog = Indexer(tmp_path, lambda: load_definitions(tmp_path)).catalog
    catalog.set_meta(done=3, total=9)
    with pytest.raises(Unavailable, match="being built; try again"):
        IndexState(tmp_path, CatalogReader(tmp_path)).await_ready(Deadline(0.4))
    note_kept(tmp_path)
    timer = threading.Timer(0.2, lambda: catalog.set_meta(ready=1, generation=1))
    timer.start()
    assert IndexState(tmp_path, CatalogReader(tmp_path)).await_ready(Deadline(10))["generation"] == 1
    timer.join()
    lock.release()


def test_an_index_that_nobody_keeps_is_not_served_from(make_site: Any) -> None:
    """docs/rules.md, Processes: a page may have been withdrawn since; so it is the same for a hung writer and a full disk."""
    site = make_site({"pages/a.md": "a"})
    state = IndexState(site.state, site.reader)
    assert state.ready()
    long_ago = time.time() - STALE_SECONDS - 1
    os.utime(site.state / KEPT_NAME, (long_ago, long_ago))
    assert not state.ready()
    lock = WriterLock(site.state)
    assert lock.acquire()
    with pytest.raises(Unavailable, match="behind the files"):
        state.await_ready(Deadline(0.4))
    lock.release()
    site.indexer.attest()
    assert state.await_ready(Deadline(1))["ready"]


@pytest.mark.parametrize("lost", ["catalog", "search", "everything"])
def test_derived_files_that_vanish_are_made_anew(tmp_path: Path, lost: str) -> None:
    """Derived data is disposable at any time, under a running server too."""
    root, state = tmp_path / "site", tmp_path / "state"
    _page(root / "content/config/site.yaml", "name: x\n")
    _page(root / "content/pages/a.md", "lantern")
    site, folder = open_site(root, state), index_folder(state)
    site.start()
    assert _hits(site, "lantern")
    for path in folder.iterdir():
        if lost == "everything" or path.name.startswith(lost):
            shutil.rmtree(path) if path.is_dir() else path.unlink()

    def served() -> bool:
        try:
            return bool(_hits(site, "lantern")) and (folder / SEARCH_NAME).exists() and (folder / CATALOG_NAME).exists()
        except Unavailable:
            return False

    until(served)
    site.close()


def _page(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def _hits(site: Any, query: str) -> list[str]:
    page = site.site.content.search(
        query, type=None, lang=None, visibility=Visibility(), limit=20, cursor=None, deadline=Deadline(10)
    )
    return sorted(hit.document.slug for hit in page.items)


def _known(site: Any, type_: str) -> bool:
    try:
        return site.site.content.list_documents(
            type=type_, lang=None, taxonomy={}, visibility=Visibility(), updated_after=None, updated_before=None, limit=1, cursor=None,
            deadline=Deadline(10),
        ).total == 1  # fmt: skip
    except InvalidArguments:
        return False


def _environments(root: Path) -> None:
    _page(root / "content/config/site.yaml", "name: t\n")
    _page(root / "content/config/site.staging.yaml", "content_dir: staging\n")
    _page(root / "content/pages/a.md", "word")
    _page(root / "staging/pages/secret.md", "word")


def test_a_writer_of_another_environment_changes_nothing_that_readers_serve(tmp_path: Path) -> None:
    """docs/rules.md, Processes: one index for each environment and set of overlays."""
    root, state = tmp_path / "site", tmp_path / "state"
    _environments(root)
    overlay = tmp_path / "other.yaml"
    overlay.write_text("content_dir: nowhere\n")
    choices: list[dict[str, Any]] = [{}, {"env": "staging"}, {"overlays": [overlay]}, {"env": "staging", "overlays": [overlay]}]
    writers = [open_site(root, state, **choice) for choice in choices]
    for writer in writers:
        writer.start()
    found = [_hits(writer, "word") for writer in writers]
    readers = [open_site(root, state, write=False, **choice) for choice in (*choices, {"env": " default "})]
    seen = [_hits(reader, "word") for reader in readers]
    for one in (*writers, *readers):
        one.close()
    assert found == [["a"], ["secret"], [], []]
    assert seen == [*found, ["a"]]


def test_edits_are_seen_without_a_restart(tmp_path: Path) -> None:
    """Write, delete, rename, a new folder, a new type; by a reader as well, which takes over when the writer ends."""
    root, state = tmp_path / "site", tmp_path / "state"
    _page(root / "content/config/site.yaml", "name: t\n")
    _page(root / "content/pages/a.md", "alpha")
    changes: list[Change] = []
    writer, reader = open_site(root, state), open_site(root, state)
    writer.start(changes.append)
    assert _hits(writer, "alpha") == ["a"]
    reader.start()
    assert _hits(reader, "alpha") == ["a"]
    _page(root / "content/pages/a.md", "beta")
    until(lambda: _hits(writer, "beta") == ["a"] == _hits(reader, "beta"))
    assert _hits(writer, "alpha") == []
    _page(root / "content/posts/deep/er/b.md", "beta")
    (root / "content/pages/a.md").rename(root / "content/pages/c.md")
    until(lambda: _hits(reader, "beta") == ["b", "c"])
    _page(root / "content/recipes/soup.md", "beta")
    _page(root / "content/types/recipe.yaml", RECIPE)
    until(lambda: _known(reader, "recipe"))
    shutil.rmtree(root / "content/posts")
    until(lambda: _hits(writer, "beta") == ["c", "soup"])
    assert {"content/page/a", "content/page/c", "content/post/b", "types/recipe"} <= {topic for one in changes for topic in one.topics}
    writer.close()
    _page(root / "content/pages/d.md", "gamma")
    until(lambda: _hits(reader, "gamma") == ["d"])
    reader.close()
