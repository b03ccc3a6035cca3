"""What a document's relations show to who reads it: where they lead, as far as that may be seen (docs/rules.md, Unpublished documents).

The same rule as for entries (`entries.relations`), for the fields as they were written.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from cmsmcp.core.ports import Document
from cmsmcp.site.catalog.reader import Snapshot
from cmsmcp.site.entries.columns import related_slug
from cmsmcp.site.entries.relations import Target, visible_targets
from cmsmcp.site.types.registry import TypeRegistry


def without_hidden_targets(
    document: Document, types: TypeRegistry, snapshot: Snapshot, visible: str, parameters: Mapping[str, Any]
) -> Document:
    """A hidden target, an absent one and what names none look alike: null, or not in the list. `visible` is the caller's condition."""
    kind = types.find(document.type)
    relations = {field.name: related_slug(field, types) for field in kind.fields if field.type == "relation"} if kind else {}
    given = {name: value for name, value in document.fields.items() if name in relations}
    if not given:
        return document
    seen = visible_targets(snapshot, visible, parameters, (target for name in given for target in _targets(relations[name], given[name])))
    shown = {name: _shown(relations[name], value, seen) for name, value in given.items()}
    return replace(document, fields={**document.fields, **shown})


def _targets(related: str, value: Any) -> Iterator[Target]:
    return ((related, one) for one in (value if isinstance(value, list) else [value]) if isinstance(one, str) and one)


def _shown(related: str, value: Any, seen: set[Target]) -> Any:
    kept = [ref for target in _targets(related, value) if target in seen for ref in target[1:]]
    return kept if isinstance(value, list) else next(iter(kept), None)
