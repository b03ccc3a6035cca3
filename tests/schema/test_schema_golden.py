"""What the example site exports, as files. A difference is a decision: `make contract`, read the diff, note it in CHANGELOG.md."""

from __future__ import annotations

from pathlib import Path

import pytest

from cmsmcp.schema.catalog import Catalog, catalog_of
from cmsmcp.schema.exports import export
from cmsmcp.site.definitions import load_definitions

FILES = {"json-schema": "entries.schema.json", "typescript": "entries.ts", "graphql-sdl": "entries.graphql"}
FOLDER = Path(__file__).parent / "golden"


@pytest.mark.parametrize("format_", FILES)
def test_the_example_site_exports_what_it_did(example_catalog: Catalog, format_: str) -> None:
    """docs/schema.md, Export."""
    assert export(example_catalog, format_, None, "0") == (FOLDER / FILES[format_]).read_text(encoding="utf-8")


if __name__ == "__main__":
    found = catalog_of(load_definitions(Path(__file__).resolve().parents[2] / "examples" / "site").types)
    for one, name in FILES.items():
        (FOLDER / name).write_text(export(found, one, None, "0"), encoding="utf-8")
