"""Entries of content types as a headless API asks for them: what may be asked, and what comes back. Values and a Protocol; no SQL, no wire.

An entry is a document in one locale. Fields are those its content type declares, beside what every entry has (`OWN_FIELDS`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from cmsmcp.core.deadline import Deadline
from cmsmcp.core.ports import Visibility

OWN_FIELDS: Mapping[str, str] = {
    "id": "string", "status": "string", "published_at": "datetime", "created_at": "datetime", "updated_at": "datetime",
    "author": "string", "locale": "string",
}  # fmt: skip
"""Beside the declared ones, each with the field type it compares as. A declared field of such a name comes first."""

OPERATORS = ("eq", "ne", "in", "nin", "lt", "lte", "gt", "gte", "contains", "null")
MAX_CONDITIONS = 20
MAX_LISTED = 100
"""Values of one `in` or `nin`."""
MAX_ORDERS = 5
MAX_PAGES = 10_000
"""The last page that a number can name; a cursor goes further."""


@dataclass(frozen=True, slots=True)
class Condition:
    """One filter; all of a query's must hold. `value` has the field's type: str, int, float, bool; a tuple of them for in and nin; a
    bool for null. Times and dates are ISO 8601 text as authors write them. `ne` and `nin` keep entries without a value."""

    field: str
    operator: str
    value: Any


@dataclass(frozen=True, slots=True)
class Order:
    field: str
    descending: bool = False


@dataclass(frozen=True, slots=True)
class Query:
    """`locale` None is the default one. `fallbacks`: where an entry is not written in the locale, the first of these it is written
    in is served in its place; None takes the site's own chain for a single entry, and none for lists.

    `populate` are paths of relations, at most two deep (`author`, `author.team`), whose entries are given whole; other relations
    are slugs or ids as written. `fields` None is all of them but the computed sides of relations (one-to-many), which can be long; else
    only these, the populated ones and id: a computed side not populated is the ids of its entries. `html` renders richtext as
    sanitised HTML. Give `page` or `cursor`, not both. Empty `order` is by URL.
    """

    type: str
    visibility: Visibility
    locale: str | None = None
    fallbacks: tuple[str, ...] | None = None
    conditions: tuple[Condition, ...] = ()
    order: tuple[Order, ...] = ()
    fields: frozenset[str] | None = None
    populate: tuple[str, ...] = ()
    html: bool = False
    page: int = 1
    limit: int = 20
    cursor: str | None = None


@dataclass(frozen=True, slots=True)
class Found:
    """One entry. `values` in the type's order: `id`, the fields, then what is left of OWN_FIELDS. `modified`: epoch ms, None: not known."""

    values: Mapping[str, Any]
    locale: str
    modified: int | None = None


@dataclass(frozen=True, slots=True)
class Listing:
    """One page. `total` counts every match."""

    items: Sequence[Found]
    total: int
    next_cursor: str | None = None


class EntryStore(Protocol):
    """Unknown types: ContentTypeNotFound. Unknown locales, fields, operators, orders, paths and cursors: InvalidArguments that names
    what there is. Nothing visible: NotFound."""

    def list(self, query: Query, deadline: Deadline) -> Listing: ...
    def get(self, query: Query, ref: str, deadline: Deadline) -> Found:
        """The entry whose id is `ref`, else the one whose slug it is. Conditions, order and paging do not apply."""
        ...

    def single(self, query: Query, deadline: Deadline) -> Found:
        """The entry of a type that has one."""
        ...

    def version(self, visibility: Visibility) -> str:
        """Changes whenever an entry that such a reader may see, a type or a locale has: what an ETag is made of. What it may not see
        changes nothing."""
        ...
