"""Every parameter of `/api` but the filters: what it means, and what it makes of a question about entries.

Strict: what is unknown, doubled, contradictory or out of bounds is refused by name, with what there is (docs/api.md, Parameters).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from cmsmcp.api.fields import Fields
from cmsmcp.api.filters import AUTHOR, read_filters
from cmsmcp.api.query import FILTERS, Given, listed, near, shown
from cmsmcp.core.entries import MAX_ORDERS, MAX_PAGES, Order, Query
from cmsmcp.core.ports import Visibility
from cmsmcp.protocol.errors import InvalidArguments

DEFAULT_LIMIT = 20
MAX_LIMIT = 100
MAX_POPULATED = 20
MAX_DEPTH = 2
"""Relations that `populate` follows from an entry."""
MAX_FALLBACKS = 10
OF_ENTRY = ("locale", "fallback", "fields", "select", "exclude", "populate", "format", "status")
OF_LIST = ("page", "limit", "cursor", "sort", "order", FILTERS, AUTHOR, *OF_ENTRY)
OF_SEARCH = ("q", "type", "locale", "limit", "cursor")
OF_NAVIGATION = ("locale",)
FORMATS = ("markdown", "html")


@dataclass(frozen=True, slots=True)
class Site:
    """What parameters may name beside the fields of the type asked for. `fields` gives those of another type by its slug."""

    locales: Sequence[str]
    fields: Callable[[str], Fields]
    visibility: Callable[[str | None], Visibility]


def read_list(given: Given, fields: Fields, site: Site) -> Query:
    """A question about the entries of a collection. InvalidArguments names the parameter; ScopeRefused where the status is not open."""
    given.apart("page", "cursor")
    author = given.get("author")
    pairs = given.filters if author is None else [*given.filters, (AUTHOR, author)]
    return _query(
        given, fields, site, conditions=read_filters(pairs, fields), order=read_order(given, fields),
        page=read_number(given, "page", 1, MAX_PAGES), limit=read_limit(given), cursor=given.get("cursor"),
    )  # fmt: skip


def read_entry(given: Given, fields: Fields, site: Site) -> Query:
    """A question about one entry."""
    return _query(given, fields, site)


def _query(given: Given, fields: Fields, site: Site, **more: object) -> Query:
    chosen = read_projection(given, fields)
    return Query(
        fields.slug, site.visibility(given.get("status")), locale=read_locale(given, site.locales),
        fallbacks=read_fallbacks(given, site.locales), fields=chosen, populate=read_populate(given, fields, chosen, site.fields),
        html=read_choice(given, "format", FORMATS) == "html", **more,  # type: ignore[arg-type]
    )  # fmt: skip


def read_number(given: Given, name: str, default: int, most: int) -> int:
    text = given.get(name)
    if text is None:
        return default
    if not re.fullmatch("[0-9]{1,9}", text) or not 1 <= int(text) <= most:
        raise InvalidArguments(f"{name} must be a whole number from 1 to {most}.", argument=name)
    return int(text)


def read_limit(given: Given) -> int:
    return read_number(given, "limit", DEFAULT_LIMIT, MAX_LIMIT)


def read_choice(given: Given, name: str, choices: Sequence[str]) -> str:
    """The first of `choices` unless another was given."""
    text = given.get(name)
    if text is not None and text not in choices:
        raise InvalidArguments(f"{name} must be one of {listed(choices)}.", argument=name)
    return text or choices[0]


def read_locale(given: Given, locales: Sequence[str]) -> str | None:
    """As the site spells it."""
    text = given.get("locale")
    return None if text is None else _locale("locale", text, locales)


def read_fallbacks(given: Given, locales: Sequence[str]) -> tuple[str, ...] | None:
    if "fallback" not in given:
        return None
    if "locale" not in given:
        raise InvalidArguments("fallback needs locale: it says what to serve where that one is missing.", argument="fallback")
    found = tuple(_locale("fallback", text, locales) for text in given.names("fallback"))
    if len(found) > MAX_FALLBACKS:
        raise InvalidArguments(f"fallback takes at most {MAX_FALLBACKS} locales.", argument="fallback")
    return found


def _locale(name: str, text: str, locales: Sequence[str]) -> str:
    wanted = text.replace("_", "-").lower()
    found = next((code for code in locales if code.replace("_", "-").lower() == wanted), None)
    if found is None:
        raise InvalidArguments(f"{name}: the site has no locale {shown(text)}. Locales: {listed(locales)}.", argument=name)
    return found


def read_order(given: Given, fields: Fields) -> tuple[Order, ...]:
    """`sort=-starts_at,title`; `order` gives the direction of the one name without a sign."""
    names = given.names("sort")
    direction = given.get("order")
    if direction is not None:
        if direction not in ("asc", "desc"):
            raise InvalidArguments("order must be one of asc, desc.", argument="order")
        if len(names) != 1 or names[0].startswith("-"):
            raise InvalidArguments("order goes with a sort by one field without a sign; else put - before names.", argument="order")
    orders = tuple(Order(name.removeprefix("-"), name.startswith("-") or direction == "desc") for name in names)
    for position, order in enumerate(orders):
        if order.field not in fields.sorted:
            raise InvalidArguments(
                f"sort: {fields.slug} cannot be sorted by {shown(order.field)}.{near(order.field, fields.sorted)}"
                f" Fields to sort by: {listed(fields.sorted)}.",
                argument="sort",
            )
        if any(order.field == other.field for other in orders[:position]):
            raise InvalidArguments(f"sort names {shown(order.field)} more than once.", argument="sort")
    if len(orders) > MAX_ORDERS:
        raise InvalidArguments(f"sort takes at most {MAX_ORDERS} fields.", argument="sort")
    return orders


def read_projection(given: Given, fields: Fields) -> frozenset[str] | None:
    """The fields to send; None for all of them. `id` is always among them."""
    given.apart("fields", "select", "exclude")
    name = next((one for one in ("fields", "select", "exclude") if one in given), None)
    if name is None:
        return None
    names = given.names(name)
    unknown = [one for one in names if one not in fields.by_name]
    if unknown:
        raise InvalidArguments(
            f"{name}: {fields.slug} has no field {listed(map(shown, unknown[:5]))}.{near(unknown[0], fields.names)}"
            f" Fields: {listed(fields.names)}.",
            argument=name,
        )
    if name != "exclude":
        return frozenset(names)
    if "id" in names:
        raise InvalidArguments("exclude: id is always sent.", argument="exclude")
    return frozenset(fields.names) - frozenset(names)


def read_populate(
    given: Given, fields: Fields, chosen: frozenset[str] | None, of_type: Callable[[str], Fields]
) -> tuple[str, ...]:
    """Paths of relations, each at most MAX_DEPTH long. `of_type` gives the fields of a related type."""
    paths = given.names("populate")
    if len(paths) > MAX_POPULATED:
        raise InvalidArguments(f"populate takes at most {MAX_POPULATED} paths.", argument="populate")
    for path in paths:
        _check_path(path, fields, of_type)
        first = path.split(".")[0]
        if chosen is not None and first not in chosen:
            raise InvalidArguments(f"populate: {first} is not among the fields asked for; add it there.", argument="populate")
    return tuple(paths)


def _check_path(path: str, fields: Fields, of_type: Callable[[str], Fields]) -> None:
    steps = path.split(".")
    if len(steps) > MAX_DEPTH:
        raise InvalidArguments(f"populate: {shown(path)} is {len(steps)} relations deep; {MAX_DEPTH} is the most.", argument="populate")
    for step in steps:
        if step not in fields.relations:
            raise InvalidArguments(
                f"populate: {shown(step)} is no relation of {fields.slug}.{near(step, fields.relations)}"
                f" Relations: {listed(fields.relations)}.",
                argument="populate",
            )
        fields = of_type(fields.by_name[step].related)
