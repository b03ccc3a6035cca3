"""What was edited while nobody looked: a site that is opened again looks at its files before it answers (docs/rules.md, Files)."""

from __future__ import annotations

from pathlib import Path

import pytest

from cmsmcp.core.deadline import Deadline
from cmsmcp.core.ports import Visibility
from cmsmcp.protocol.errors import Unavailable
from cmsmcp.site.open import OpenSite, open_site


@pytest.fixture
def page(tmp_path: Path) -> Path:
    (tmp_path / "site/content/pages").mkdir(parents=True)
    (tmp_path / "site/content/config").mkdir()
    (tmp_path / "site/content/config/site.yaml").write_text("name: x\n")
    return tmp_path / "site/content/pages/x.md"


def write(page: Path, title: str) -> None:
    page.write_text(f"---\ntitle: {title}\n---\nWords.\n")


def title(opened: OpenSite, seconds: float = 60.0) -> str:
    keys = {"slug": "x", "url": None, "id": None, "type": None, "lang": None}
    return opened.site.content.get_document(**keys, visibility=Visibility(), deadline=Deadline(seconds)).title


def served(root: Path, state: Path) -> str:
    opened = open_site(root, state)
    opened.start()
    try:
        return title(opened)
    finally:
        opened.close()


def test_a_writer_looks_before_it_answers(page: Path, tmp_path: Path) -> None:
    """Again and again: what was kept a moment ago is not kept any more."""
    for round in range(4):
        write(page, f"Round {round}")
        assert served(tmp_path / "site", tmp_path / "state") == f"Round {round}"


def test_a_reader_believes_no_writer_of_before(page: Path, tmp_path: Path) -> None:
    """A worker that is there sooner than the process that indexes."""
    root, state = tmp_path / "site", tmp_path / "state"
    write(page, "Old")
    assert served(root, state) == "Old"
    write(page, "New")
    reader, writer = open_site(root, state, write=False), open_site(root, state)
    assert not reader.state.ready()
    with pytest.raises(Unavailable):
        title(reader, 0.5)
    writer.start()
    assert title(reader) == "New"
    later = open_site(root, state, write=False)
    assert title(later) == "New", "beside a writer that goes on, its next word is enough"
    for opened in (reader, later, writer):
        opened.close()


def test_a_look_that_takes_longer_than_a_call_is_named(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The wait is bounded by the call's deadline, and nothing is answered from before."""
    root, state = tmp_path / "site", tmp_path / "state"
    write(page, "Old")
    assert served(root, state) == "Old"
    write(page, "New")
    import threading

    from cmsmcp.site.index.indexer import Indexer

    may_look, build = threading.Event(), Indexer.build

    def held(self: Indexer, *given: object) -> bool:
        may_look.wait(60)
        return build(self, *given)  # type: ignore[arg-type]

    monkeypatch.setattr(Indexer, "build", held)
    opened = open_site(root, state)
    opened.start()
    try:
        with pytest.raises(Unavailable, match="still being looked at"):
            title(opened, 1.0)
        may_look.set()
        assert title(opened) == "New"
    finally:
        may_look.set()
        opened.close()
