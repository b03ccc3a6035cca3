"""An entry of each type, made up from its fields: true to its schema, and nothing of the site's."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cmsmcp.core.entries import OWN_FIELDS
from cmsmcp.governance.redaction import redact
from cmsmcp.schema.catalog import Catalog, Kind
from cmsmcp.schema.entries import TO_MANY

_MOMENT = "2026-03-06T10:00:00.000Z"
_MEDIA = {
    "id": "media:images/example.jpg", "url": "/images/example.jpg", "alt": "Our dome", "figcaption": None, "width": 1600, "height": 900,
}  # fmt: skip
_VALUES: Mapping[str, Any] = {
    "string": "A line of text", "text": "Some text", "richtext": "Text in *Markdown*", "uid": "an-example", "boolean": True,
    "datetime": _MOMENT, "media": _MEDIA, "media-gallery": [_MEDIA], "mixed": {"kind": "number", "value": 1.5},
    "navigation": [{"label": "Start", "href": "/"}],
}  # fmt: skip
_OWN: Mapping[str, Any] = {
    "status": "published", "published_at": "2026-03-06", "created_at": None, "updated_at": _MOMENT, "author": None,
}  # fmt: skip


def example(kind: Kind, catalog: Catalog) -> dict[str, Any]:
    """Keys in the type's order; what redaction takes out of entries is out of it too."""
    declared = {options["name"]: _value(options) for options in kind["fields"]}
    own = {**_OWN, "id": "", "locale": catalog.default_locale}
    rest = {name: own[name] for name in OWN_FIELDS if name not in declared and name != "id"}
    found: dict[str, Any] = redact({"id": f"{catalog.default_locale}:{kind['slug']}:an-example", **declared, **rest})
    return found


def _value(options: Mapping[str, Any]) -> Any:
    kind = options["type"]
    if kind == "relation":
        return ["another-example"] if options.get("relationType") in TO_MANY else "another-example"
    if kind == "number":
        return 1.5 if options.get("subtype") == "float" else 1
    if kind == "array":
        return [{item["name"]: _value(item) for item in options["arrayFields"]}]
    return _VALUES[kind]
