"""The types of the example site, and types made up with every name that could get in the way."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from cmsmcp.schema.catalog import Catalog, catalog_of
from cmsmcp.site.definitions import load_definitions

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "site"


@pytest.fixture(scope="session")
def example_catalog() -> Catalog:
    return catalog_of(load_definitions(EXAMPLE).types)


@pytest.fixture
def catalog_with() -> Any:
    """A catalog of a type `thing` with these fields, and of a type `other`."""

    def make(*fields: Mapping[str, Any], kind: str = "collection", locales: tuple[str, ...] = ("en", "de")) -> Catalog:
        thing = {"slug": "thing", "name": "Things", "kind": kind, "tableName": "things", "fields": list(fields)}
        other = {"slug": "other", "name": "Others", "kind": "collection", "tableName": "others", "fields": []}
        return Catalog((other, thing), locales[0], locales)

    return make
