"""The fields a content type declares: their options, the value front matter gives one, and the rules a value must meet.

Must not know files, languages or statuses. Faults are `(field, message)` pairs or YamlFault; the caller adds the place.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from cmsmcp.site.times import read_moment
from cmsmcp.site.yaml.loader import Node, boolean, core_value, integer, is_null, map_list, mapping, number, text, text_list
from cmsmcp.site.yaml.values import Warn

TEXTS = frozenset({"string", "text", "richtext", "uid"})
TYPES = TEXTS | {"number", "boolean", "datetime", "media", "media-gallery", "relation", "array", "navigation"}
ARRAY_TYPES = frozenset({"string", "text", "richtext", "number", "boolean", "datetime", "media", "mixed"})
MANY = frozenset({"many-to-many"})
RELATIONS = frozenset({"many-to-one", "one-to-one", "many-to-many", "one-to-many"})
MAX_STRING = 255
MOST_WHOLE = 2**63 - 1
MAX_NAVIGATION_DEPTH = 3
MAX_NAVIGATION_ITEMS = 20
MIXED_KINDS: Mapping[str, tuple[type, ...]] = {"string": (str,), "number": (int, float), "boolean": (bool,)}


@dataclass(frozen=True, slots=True)
class Field:
    """`relation` is Plank's relationType; it leads to the type `related` (a slug) or to that of `related_table`, of which one may be "".

    `items` are an array's own fields.
    """

    name: str
    type: str
    required: bool = False
    subtype: str = "integer"
    target: str = ""
    relation: str = ""
    related: str = ""
    related_table: str = ""
    related_field: str = ""
    items: tuple[Field, ...] = ()

    @property
    def inverse(self) -> bool:
        """A one-to-many relation is computed from the other side and never given."""
        return self.relation == "one-to-many"


def read_value(field: Field, node: Node, warn: Warn) -> Any:
    """What front matter says for `field`; None for nothing. Raises YamlFault when it is of another type; `warn` takes what is but odd."""
    if is_null(node):
        return None
    read = _READERS.get(field.type)
    if read is not None:
        return read(node, field.name)
    if field.type == "number":
        return number(node, field.name) if field.subtype == "float" else integer(node, field.name)
    if field.type == "datetime":
        source = text(node, field.name).strip()
        moment = read_moment(source)
        return moment.iso if moment else source
    if field.inverse:
        return core_value(node)  # nothing may be given; `check_value` says so, whatever it is
    if field.type == "relation":
        return text_list(node, field.name, warn) if field.relation in MANY else text(node, field.name)
    if field.type == "media-gallery":
        return text_list(node, field.name, warn)
    if field.type == "array":
        return _read_items(field, node, warn)
    return _read_navigation(node, field.name, warn) if field.type == "navigation" else core_value(node)


_READERS: Mapping[str, Callable[[Node, str], Any]] = {
    **dict.fromkeys(TEXTS, text), "boolean": boolean, "media": text,
}


def _read_items(field: Field, node: Node, warn: Warn) -> list[dict[str, Any]]:
    known = {item.name: replace(item, name=f"{field.name}.{item.name}") for item in field.items}
    rows = []
    for entry in map_list(node, field.name, warn):
        values = mapping(entry, field.name)
        rows.append({name: read_value(known[name], value, warn) for name, value in values.items() if name in known})
    return rows


def _read_navigation(node: Node, name: str, warn: Warn) -> list[dict[str, Any]]:
    """`[{label, href, items?}]`; other keys are left out. As deep as the file, which is bounded; the depth is `check_value`'s."""
    items = []
    for entry in map_list(node, name, warn):
        given = {key: value for key, value in mapping(entry, name).items() if not is_null(value)}
        item: dict[str, Any] = {key: text(given[key], f"{name}.{key}") for key in ("label", "href") if key in given}
        if "items" in given:
            item["items"] = _read_navigation(given["items"], f"{name}.items", warn)
        items.append(item)
    return items


def check_value(field: Field, value: Any) -> Iterator[tuple[str, str]]:
    """What is wrong with a value as `read_value` gives it. Empty is None or "", and a fault only where required."""
    if field.inverse:
        if value not in (None, "", []):
            yield field.name, f"`{field.name}` is computed from the other side of the relation; leave it out"
        return
    if value is None or value in ("", []):
        if field.required:
            yield field.name, f"`{field.name}` is required"
        return
    message = _fault_of(field, value)
    if message:
        yield field.name, f"`{field.name}` {message}"
    elif field.type == "array":
        for number_, row in enumerate(value, 1):
            for item in field.items:
                for _, fault in check_value(item, row.get(item.name)):
                    yield field.name, f"`{field.name}`, item {number_}: {fault}"


def _fault_of(field: Field, value: Any) -> str | None:
    kind = field.type
    if kind in TEXTS or kind == "media":
        if not isinstance(value, str):
            return "must be text"
        if kind == "media" and not value.strip():
            return "must not be blank"
        longest = MAX_STRING if kind in ("string", "uid") else None
        return f"is {len(value)} characters long; {longest} is the most" if longest and len(value) > longest else None
    if kind == "number":
        whole = isinstance(value, int) and not isinstance(value, bool) and -MOST_WHOLE - 1 <= value <= MOST_WHOLE
        if field.subtype == "float":
            return None if whole or (isinstance(value, float) and math.isfinite(value)) else "must be a number"
        return None if whole else "must be a whole number"
    if kind == "boolean":
        return None if isinstance(value, bool) else "must be true or false"
    if kind == "datetime":
        right = isinstance(value, str) and read_moment(value) is not None
        return None if right else "must be a date or time, such as 2026-03-06 or 2026-03-06T10:00:00Z"
    if kind == "media-gallery" or (kind == "relation" and field.relation in MANY):
        return None if _all_texts(value) else "must be a list of texts, none of them blank"
    if kind == "relation":
        return None if isinstance(value, str) and value.strip() else "must be the id of one entry"
    if kind == "array":
        return None if isinstance(value, list) and all(isinstance(row, dict) for row in value) else "must be a list of maps"
    if kind == "mixed":
        return _mixed_fault(value)
    return _navigation_fault(value, 1)


def _all_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) and item.strip() for item in value)


def _mixed_fault(value: Any) -> str | None:
    kinds = MIXED_KINDS.get(value.get("kind", "")) if isinstance(value, dict) and isinstance(value.get("kind", ""), str) else None
    if kinds and isinstance(value.get("value"), kinds) and (bool in kinds or not isinstance(value["value"], bool)):
        return None
    return "must be a map of kind (string, number or boolean) and a value of that kind"


def _navigation_fault(value: Any, depth: int) -> str | None:
    if not isinstance(value, list):
        return "must be a list of {label, href, items}"
    if depth > MAX_NAVIGATION_DEPTH:
        return f"is nested more than {MAX_NAVIGATION_DEPTH} deep"
    if len(value) > MAX_NAVIGATION_ITEMS:
        return f"has more than {MAX_NAVIGATION_ITEMS} items on one level"
    for item in value:
        if not isinstance(item, dict) or not all(isinstance(item.get(key), str) and item[key].strip() for key in ("label", "href")):
            return "must be a list of {label, href, items}, label and href being text"
        if item.get("items") is not None:
            fault = _navigation_fault(item["items"], depth + 1)
            if fault:
                return fault
    return None


def plain_key_order(options: Mapping[str, Any]) -> dict[str, Any]:
    """Keys by length, then bytes: the order in which Plank's database returns them, and the seed shows them."""
    return {key: options[key] for key in sorted(options, key=lambda key: (len(key.encode()), key.encode()))}
