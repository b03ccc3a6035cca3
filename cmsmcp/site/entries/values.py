"""A field's value as it leaves: what the store hands over for each field of an entry, at every depth.

A value that does not fit its field leaves as none, never as something else: what is wrong with it was said when its document was read.
Relations are `populate`'s.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from cmsmcp.core.deadline import Deadline
from cmsmcp.site.catalog.media import MediaRow, find_media
from cmsmcp.site.catalog.reader import Snapshot
from cmsmcp.site.entries.richtext import to_html
from cmsmcp.site.media import media_url, reference_key, spellings
from cmsmcp.site.times import read_moment
from cmsmcp.site.types.fields import TEXTS, Field, check_value


class Rendering:
    """Of one answer. `html`: richtext is wanted as HTML. `media` are the files that references lead to, by key."""

    def __init__(self, media: Mapping[str, MediaRow], deadline: Deadline, *, html: bool) -> None:
        self._media = media
        self._deadline = deadline
        self._html = html

    def value(self, field: Field, value: Any) -> Any:
        """`value` as `entry_values` gives it. None for none, and for one that breaks a rule of its field."""
        if value is None or next(check_value(field, value), None) is not None:
            return None
        if value in ("", []):
            return value if (field.type in TEXTS) == isinstance(value, str) else None
        return self._fit(field, value)

    def _fit(self, field: Field, value: Any) -> Any:
        if field.type == "richtext" and self._html:
            return to_html(value, self._deadline)
        if field.type == "datetime":
            moment = read_moment(value)
            return moment.iso if moment is not None else None
        if field.type == "media":
            return self._media_object(value)
        if field.type == "media-gallery":
            return [self._media_object(one) for one in value]
        if field.type == "array":
            return [{item.name: self.value(item, row.get(item.name)) for item in field.items} for row in value]
        if field.type == "mixed":
            return {"kind": value["kind"], "value": value["value"]}
        return _menu(value) if field.type == "navigation" else value

    def _media_object(self, reference: str) -> Any:
        """Plank's object, or the reference where the site has no such file."""
        row = next((self._media[key] for key in keys_of(reference) if key in self._media), None)
        if row is None:
            return reference
        return {
            "id": reference, "url": media_url(row.key), "alt": row.alt, "figcaption": row.figcaption, "width": row.width,
            "height": row.height,
        }  # fmt: skip


def media_of(snapshot: Snapshot, given: Iterable[tuple[Field, Any]]) -> Mapping[str, MediaRow]:
    """The files that these values refer to, in one question at most."""
    return find_media(snapshot, {key for field, value in given for reference in _references(field, value) for key in keys_of(reference)})


def keys_of(reference: str) -> tuple[str, ...]:
    key = reference_key(reference)
    return spellings(key) if key is not None else ()


def _references(field: Field, value: Any) -> Iterator[str]:
    if field.type == "media" and isinstance(value, str):
        yield value
    elif field.type == "media-gallery" and isinstance(value, list):
        yield from (one for one in value if isinstance(one, str))
    elif field.type == "array" and isinstance(value, list):
        for item in field.items:
            if item.type == "media":
                yield from (found for row in value if isinstance(row, dict) for found in _references(item, row.get(item.name)))


def _menu(items: list[dict[str, Any]]) -> list[dict[str, Any]]:
    found = []
    for item in items:
        below = {"items": _menu(item["items"])} if item.get("items") else {}
        found.append({"label": item["label"], "href": item["href"], **below})
    return found
