"""The digest of a site's types (docs/schema.md, Hash), and what stays the same with it."""

from __future__ import annotations

import re
from typing import Any

import pytest

from cmsmcp.core.ports import ContentTypes
from cmsmcp.schema.catalog import Catalog, catalog_of
from cmsmcp.schema.exports import FORMATS, export

FIELD = {"name": "x", "type": "relation", "relatedSlug": "other"}


@pytest.mark.parametrize(
    ("changed", "same"),
    [
        ({**FIELD, "width": "half"}, True), ({**FIELD, "relationType": "many-to-one"}, True), ({**FIELD, "required": False}, True),
        (dict(reversed(FIELD.items())), True), ({"name": "x", "type": "relation", "relatedTable": "others"}, True),
        ({**FIELD, "required": True}, False), ({**FIELD, "relationType": "one-to-one"}, False), ({**FIELD, "name": "y"}, False),
        ({**FIELD, "relatedSlug": "thing"}, False),
    ],
)  # fmt: skip
def test_the_digest_changes_with_what_readers_get_and_with_nothing_else(catalog_with: Any, changed: dict[str, Any], same: bool) -> None:
    assert (catalog_with(FIELD).digest == catalog_with(changed).digest) is same


def test_locales_count_for_the_digest_but_not_their_order(catalog_with: Any) -> None:
    digests = [catalog_with(FIELD, locales=locales).digest for locales in (("en", "de", "ja"), ("en", "ja", "de"), ("en", "de"))]
    assert digests[0] == digests[1] != digests[2]
    assert re.fullmatch("[0-9a-f]{64}", digests[0])


@pytest.mark.parametrize("format_", FORMATS)
def test_every_export_names_the_digest_and_can_be_of_one_type(example_catalog: Catalog, format_: str) -> None:
    """docs/schema.md, Export: one type and what it leads to."""
    whole, part = (export(example_catalog, format_, slug, "1") for slug in (None, "person"))
    assert example_catalog.digest in whole and example_catalog.digest in part
    assert "Person_languages" in part and "mentor" in part and "SkyObject" in whole and "SkyObject" not in part


class Types:
    def __init__(self) -> None:
        self.kinds = [{"slug": "a", "name": "A", "kind": "single", "tableName": "a", "fields": []}]
        self.codes = {"defaultLocale": "en", "locales": ["en"]}

    def all(self) -> Any:
        return self.kinds

    def get(self, slug: str) -> Any:
        raise KeyError(slug)

    def locales(self) -> Any:
        return self.codes


def test_what_is_derived_is_derived_once_for_each_state_of_the_types() -> None:
    types = Types()
    port: ContentTypes = types
    first = catalog_of(port)
    assert catalog_of(port) is first
    types.codes = {"defaultLocale": "en", "locales": ["en", "de"]}
    second = catalog_of(port)
    types.kinds = [{**types.kinds[0], "name": "B"}]
    third = catalog_of(port)
    assert len({one.digest for one in (first, second, third)}) == 3
