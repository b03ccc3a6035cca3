"""The two example sites, opened as the server opens them: indexed into a scratch state folder, never written to."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from cmsmcp.core.deadline import Deadline
from cmsmcp.site.open import OpenSite, open_site

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


def _opened(root: Path, state: Path, env: str | None = None) -> Iterator[OpenSite]:
    opened = open_site(root, state, env=env)
    opened.start()
    try:
        until = time.monotonic() + 60
        while not opened.state.ready():
            assert time.monotonic() < until, "the index was not ready within 30 s"
            time.sleep(0.05)
        yield opened
    finally:
        opened.close()


@pytest.fixture(scope="session")
def example(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OpenSite]:
    yield from _opened(EXAMPLES / "site", tmp_path_factory.mktemp("example"))


@pytest.fixture(scope="session")
def staging(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OpenSite]:
    yield from _opened(EXAMPLES / "site", tmp_path_factory.mktemp("staging"), env="staging")


@pytest.fixture(scope="session")
def faulty(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OpenSite]:
    yield from _opened(EXAMPLES / "faulty", tmp_path_factory.mktemp("faulty"))


@pytest.fixture
def deadline() -> Deadline:
    return Deadline(10.0)
