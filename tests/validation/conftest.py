"""A site on disk, written file by file."""

from pathlib import Path

import pytest

from cmsmcp.core.deadline import Deadline


class SiteFolder:
    def __init__(self, root: Path) -> None:
        self.root = root
        self.write("content/config/site.yaml", "name: test\ntheme: plain\ndefault_lang: en\n")

    def write(self, path: str, content: str | bytes = "") -> Path:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content.encode() if isinstance(content, str) else content)
        return file

    def link(self, path: str, target: Path | str) -> None:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.symlink_to(target)


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "site").mkdir()
    return SiteFolder(tmp_path / "site")


@pytest.fixture
def deadline():
    return Deadline(30)


class Operated:
    """A site's operations over a fresh index; `again` indexes once more."""

    def __init__(self, root: Path, state: Path) -> None:
        from cmsmcp.site.definitions import load_definitions
        from cmsmcp.site.index.indexer import Indexer
        from cmsmcp.site.open import index_folder, open_site

        self._indexer = Indexer(index_folder(state), lambda: load_definitions(root))
        self._indexer.build()
        self._open = open_site(root, state, write=False, anew=False)
        self.operations = self._open.site.operations

    def again(self) -> None:
        self._indexer.build()
        self._open._reader.forget_meta()

    def close(self) -> None:
        self._open.close()
        self._indexer.close()

    def findings(self, check: str) -> list[tuple[str, int | None]]:
        """(path, line) of each finding of one check; its count in `checks` must agree."""
        report = self.operations.validate(Deadline(30))
        found = [(one["path"], one["line"]) for one in report["findings"] if one["check"] == check]
        assert report["checks"][check] == len(found)
        return found


@pytest.fixture
def operate(tmp_path):
    opened: list[Operated] = []

    def start(root: Path) -> Operated:
        opened.append(Operated(root, tmp_path / f"state{len(opened)}"))
        return opened[-1]

    yield start
    for one in opened:
        one.close()
