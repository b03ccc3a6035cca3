"""Documents as entries: fields in their type's order, relations as ids or, where asked for, as the entries they lead to.

Works level by level: what a whole level of entries needs is asked for at once, so the number of questions depends on the paths asked
for, never on the number of entries.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from cmsmcp.core.entries import Found
from cmsmcp.core.ports import Document
from cmsmcp.protocol.errors import InvalidArguments
from cmsmcp.site.catalog.rows import SUMMARY_COLUMNS, to_document
from cmsmcp.site.definitions import Definitions
from cmsmcp.site.entries.columns import related_slug
from cmsmcp.site.entries.relations import Chain, Incoming, Sight, Target, check_reach, incoming, nearest, resolved, visible_targets
from cmsmcp.site.entries.values import Rendering, media_of
from cmsmcp.site.types.fields import MANY, Field
from cmsmcp.site.types.registry import ContentType, TypeRegistry, entry_values

MAX_DEPTH = 2
TO_MANY = MANY | {"one-to-many"}
_SHOWN = 60

Tree = dict[str, Any]
"""What to populate: the names of relations, each with those below it."""


@dataclass(slots=True)
class _Item:
    """An entry in the making, given `times` times: `values` is filled in place, so that whoever holds it sees it whole in the end."""

    kind: ContentType
    document: Document
    chain: Chain
    tree: Tree
    fields: Collection[str] | None
    times: int
    given: Mapping[str, Any]
    values: dict[str, Any]

    def wants(self, field: Field) -> bool:
        """The computed side of a relation can be long: it is for those who name it."""
        if field.name in self.tree:
            return True
        return not field.inverse if self.fields is None else field.name in self.fields


class _Level(NamedTuple):
    """What is known of the relations of a level: which targets can be seen, where those lead that are populated, and what leads
    back; and how values leave."""

    visible: set[Target]
    led: Mapping[Target, Mapping[str, int]]
    back: Mapping[tuple[str, str, Chain], Mapping[str, list[Incoming]]]
    rendering: Rendering


def tree_of(kind: ContentType, paths: Sequence[str], types: TypeRegistry) -> Tree:
    """InvalidArguments names a path that leads nowhere, and the relations there are."""
    tree: Tree = {}
    for path in paths:
        branch, place = tree, kind
        parts = path.split(".")
        if len(parts) > MAX_DEPTH:
            raise InvalidArguments(f"populate={path[:_SHOWN]} is more than {MAX_DEPTH} relations deep.", argument="populate")
        for part in parts:
            field = next((one for one in place.fields if one.name == part and one.type == "relation"), None)
            if field is None:
                known = ", ".join(one.name for one in place.fields if one.type == "relation") or "none"
                message = f"No relation {part[:_SHOWN]!r} to populate. Relations of {place.slug}: {known}."
                raise InvalidArguments(message, argument="populate")
            branch = branch.setdefault(part, {})
            place = types.by_slug[related_slug(field, types)]
    return tree


class Giving:
    """Makes entries for one caller at one moment."""

    def __init__(self, sight: Sight, definitions: Definitions, *, html: bool) -> None:
        self._sight = sight
        self._types = definitions.types
        self._html = html

    def entries(
        self, kind: ContentType, rows: Sequence[int], chain_of: Callable[[str], Chain], tree: Tree, fields: Collection[str] | None
    ) -> list[Found]:
        """Of these rows, in their order. `chain_of` a language are those in which its relations are looked for."""
        loaded = self._load(rows)
        found = [loaded[row] for row in rows if row in loaded]
        items = [_Item(kind, document, chain_of(document.lang), tree, fields, 1, entry_values(kind, document), {}) for document, _ in found]
        self._fill(items)
        return [Found(item.values, item.document.lang, modified) for item, (_, modified) in zip(items, found, strict=True)]

    def _load(self, rows: Collection[int]) -> dict[int, tuple[Document, int]]:
        """With the moment since when each is as it is, in milliseconds."""
        if not rows:
            return {}
        found = self._sight.snapshot.texts(
            f"SELECT row, mtime_ns, publish_at, {SUMMARY_COLUMNS}, body FROM documents JOIN bodies USING (row) JOIN files USING (path)"
            f" WHERE row IN (SELECT value FROM json_each(:rows)) AND {self._sight.visible}",
            {**self._sight.parameters, "rows": json.dumps(list(rows))},
        )
        return {row: (to_document(values[:-1], body=values[-1]), max(mtime // 1_000_000, begin)) for row, mtime, begin, *values in found}

    def _fill(self, items: Sequence[_Item]) -> None:
        """One level, and those below it."""
        if not items:
            return
        level = self._look(items)
        reached = [(item, field, row) for item in items for field in _relations(item) if field.name in item.tree
                   for row in self._rows(item, field, level)]  # fmt: skip
        check_reach(sum(item.times for item, _, _ in reached), "populate")
        loaded = self._load({row for _, _, row in reached})
        below: dict[tuple[int, int, Chain], _Item] = {}
        for item, field, row in reached:
            if row in loaded:
                place, document = (row, id(item.tree[field.name]), item.chain), loaded[row][0]
                kind = self._types.by_slug[document.type]
                fresh = _Item(kind, document, item.chain, item.tree[field.name], None, 0, entry_values(kind, document), {})
                below.setdefault(place, fresh).times += item.times
        for item in items:
            item.values.update(self._values(item, level, below))
        self._fill(list(below.values()))

    def _look(self, items: Sequence[_Item]) -> _Level:
        plain: dict[Target, None] = {}
        deep: dict[Target, None] = {}
        computed: dict[tuple[str, str, Chain], tuple[Field, list[str]]] = {}
        for item in items:
            for field in _relations(item):
                if field.inverse:
                    asked = computed.setdefault((item.kind.slug, field.name, item.chain), (field, []))
                    asked[1].append(key_of(item.document))
                else:
                    found = self._targets(field, item.given[field.name])
                    (deep if field.name in item.tree else plain).update(dict.fromkeys(found))
        back = {
            (slug, name, chain): incoming(self._sight, (slug, related_slug(field, self._types), field.related_field), keys, chain)
            for (slug, name, chain), (field, keys) in computed.items()
        }
        media = media_of(self._sight.snapshot, _plain_values(items))
        rendering = Rendering(media, self._sight.deadline, html=self._html)
        shown = visible_targets(self._sight.snapshot, self._sight.visible, self._sight.parameters, plain)
        return _Level(shown, resolved(self._sight, deep), back, rendering)

    def _targets(self, field: Field, value: Any) -> Iterator[Target]:
        related = related_slug(field, self._types)
        for one in value if isinstance(value, list) else [value]:
            if isinstance(one, str) and one:
                yield related, one

    def _rows(self, item: _Item, field: Field, level: _Level) -> list[int]:
        """Where a populated relation leads."""
        if field.inverse:
            found = level.back[item.kind.slug, field.name, item.chain].get(key_of(item.document), [])
            return [one.row for one in found]
        targets = self._targets(field, item.given[field.name])
        rows = (nearest(level.led.get(target, {}), item.chain) for target in targets)
        return [row for row in rows if row is not None]

    def _values(self, item: _Item, level: _Level, below: Mapping[tuple[int, int, Chain], _Item]) -> dict[str, Any]:
        document, given = item.document, item.given
        values: dict[str, Any] = {"id": document.id}
        for field in filter(item.wants, item.kind.fields):
            if field.name in item.tree:
                places = [(row, id(item.tree[field.name]), item.chain) for row in self._rows(item, field, level)]
                entries = [below[place].values for place in places if place in below]
                values[field.name] = entries if field.relation in TO_MANY else next(iter(entries), None)
            elif field.inverse:
                found = level.back[item.kind.slug, field.name, item.chain].get(key_of(document), [])
                values[field.name] = [one.id for one in found]
            elif field.type == "relation":
                values[field.name] = self._kept(field, given[field.name], level.visible)
            else:
                values[field.name] = level.rendering.value(field, given[field.name])
        own = {
            "status": document.status, "published_at": document.date, "created_at": document.created_at,
            "updated_at": document.updated_at, "author": document.author or None, "locale": document.lang,
        }  # fmt: skip
        return values | {name: value for name, value in own.items() if name not in values and (item.fields is None or name in item.fields)}

    def _kept(self, field: Field, value: Any, visible: set[Target]) -> Any:
        """What may be seen of a relation: whoever reads an entry must not learn from it which hidden ones exist."""
        seen = [ref for target in self._targets(field, value) if target in visible for ref in target[1:]]
        return seen if field.relation in TO_MANY else next(iter(seen), None)


def key_of(document: Document) -> str:
    """What it shares with its translations."""
    return document.id.partition(":")[2]


def _plain_values(items: Sequence[_Item]) -> Iterator[tuple[Field, Any]]:
    wanted = ((item, field) for item in items for field in item.kind.fields if field.type != "relation" and item.wants(field))
    return ((field, item.given[field.name]) for item, field in wanted)


def _relations(item: _Item) -> list[Field]:
    return [field for field in item.kind.fields if field.type == "relation" and item.wants(field)]
