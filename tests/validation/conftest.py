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
