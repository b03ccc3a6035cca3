"""Small sites for tests of the loading half: write files, then read them as the indexer does."""

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from cmsmcp.site.config.loading import load_config
from cmsmcp.site.documents.files import find_documents
from cmsmcp.site.documents.parse import parse_document
from cmsmcp.site.model import ParsedDocument, ParseResult, SiteConfig
from cmsmcp.site.types.registry import TypeRegistry, load_types


class SiteOnDisk:
    """A site in a folder. `files` maps site paths to text or bytes; site.yaml is written if it is not among them."""

    def __init__(self, root: Path, files: Mapping[str, str | bytes] | None = None, config: str = "name: t\n") -> None:
        self.root = root
        self.write({"content/config/site.yaml": config, **(files or {})})

    def write(self, files: Mapping[str, str | bytes]) -> None:
        for path, content in files.items():
            target = self.root / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content.encode() if isinstance(content, str) else content)

    @property
    def config(self) -> SiteConfig:
        return load_config(self.root)

    @property
    def types(self) -> TypeRegistry:
        return load_types(self.config)

    def found(self) -> list[str]:
        return [path for path, _ in find_documents(self.config, self.types)[0]]

    def parse(self, path: str) -> ParseResult:
        return parse_document(path, (self.root / path).read_bytes(), self.config, self.types)

    def document(self, path: str) -> ParsedDocument:
        result = self.parse(path)
        assert result.document is not None, result.diagnostics
        return result.document

    def page(self, content: str | bytes, path: str = "content/pages/x.md") -> ParseResult:
        self.write({path: content})
        return self.parse(path)


@pytest.fixture
def make_site(tmp_path: Path) -> Callable[..., SiteOnDisk]:
    """`make_site(files, config)`; a second call writes over the same folder."""
    return lambda files=None, config="name: t\n": SiteOnDisk(tmp_path, files, config)


@pytest.fixture
def site(make_site: Callable[..., SiteOnDisk]) -> SiteOnDisk:
    return make_site()


@pytest.fixture(scope="module")
def definitions(tmp_path_factory: pytest.TempPathFactory) -> tuple[SiteConfig, TypeRegistry]:
    """Configuration and types of an empty site, for property tests."""
    site = SiteOnDisk(tmp_path_factory.mktemp("site"))
    return site.config, site.types
