"""Which rows a caller may see, as SQL and as a search query. One rule in two dialects; a test holds them to `documents.status_at`.

The clock turns a stored status into the one that counts (docs/rules.md, Status): past `unpublish_at` a document is a draft, and
a published one whose `publish_at` lies ahead is scheduled. Every list, look-up, search and count goes through here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import tantivy
from tantivy import FieldType, Occur, Query

from cmsmcp.core.ports import PUBLISHED, STATUSES, Visibility
from cmsmcp.site.paths import composed

_STATUS = (
    "CASE WHEN {0}unpublish_at <= :now THEN 'draft' WHEN {0}status = 'published' AND {0}publish_at > :now THEN 'scheduled'"
    " ELSE {0}status END"
)
_PUBLISHED = "({0}status = 'published' AND {0}publish_at <= :now AND {0}unpublish_at > :now)"
STATUS_SQL = _STATUS.format("")
EVERYTHING = Visibility(frozenset(STATUSES))


def visible_sql(visibility: Visibility, now: int) -> tuple[str, dict[str, Any]]:
    """A condition on `documents` and its parameters. `now` is in milliseconds."""
    wanted, parameters = _status_sql(visibility, now)
    return f"{wanted.format('')} AND {_foremost_sql(wanted)}", parameters


def visible_typed_sql(visibility: Visibility, now: int) -> tuple[str, dict[str, Any]]:
    """`visible_sql` for a typed table: the same rule, which for what is open (`schema.OPEN_SQL`) takes no more than a look at an index."""
    visible, parameters = visible_sql(visibility, now)
    return (f"(open OR {visible})" if "published" in visibility.statuses else visible), parameters


def sees_everything(visibility: Visibility | None) -> bool:
    """None stands for the people who run the site."""
    return visibility is None or visibility == EVERYTHING


def displaced_sql(visibility: Visibility, now: int) -> tuple[str, dict[str, Any]]:
    """A question: the rows that a caller would see if there were not others of their address."""
    wanted, parameters = _status_sql(visibility, now)
    return f"SELECT row FROM documents WHERE twin IS NOT NULL AND {wanted.format('')} AND NOT {_foremost_sql(wanted)}", parameters


def veil_sql(visibility: Visibility | None, now: int) -> tuple[str, dict[str, Any]]:
    """What to put before a question so that it finds only the documents a caller may see, and no diagnostic that names another.

    A hidden document then looks like an absent one to every check and count. `served` says of each whether it has its address to itself.
    None, for the people who run the site, hides nothing; nor do readers who may see everything get less.
    """
    wanted, parameters = _status_sql(EVERYTHING if visibility is None else visibility, now)
    veil = f"WITH documents AS (SELECT *, {_foremost_sql(wanted)} AS served FROM main.documents WHERE {wanted.format('')})"
    if not sees_everything(visibility):
        # Files among the documents that became none may be what is hidden: nothing of them is said.
        own = "origin = 'file' AND path IN (SELECT path FROM documents)"
        veil += f", diagnostics AS (SELECT * FROM main.diagnostics WHERE origin IN ('config', 'scan') OR {own})"
    return veil + " ", parameters


def _foremost_sql(wanted: str) -> str:
    """Whether a document comes first among those of its URL, and of its id, that are asked for: published ones before others, then by path
    (docs/rules.md, Odd places). What a reader does not see displaces nothing.

    Spelled without the document's other columns, which other tables of a question may have too.
    """
    rank = f"(NOT {_PUBLISHED.replace('{0}', '{0}.')}, {{0}}.path)"
    first, later = (wanted.format(f"{name}.") for name in ("first", "later"))
    before = f"{first} AND {rank.format('first')} < {rank.format('later')}"
    rivals = " OR ".join(
        f"EXISTS (SELECT 1 FROM main.documents AS first WHERE first.{name} = later.{name} AND {before})" for name in ("url", "id")
    )
    displaced = f"SELECT twin FROM main.documents AS later WHERE twin IS NOT NULL AND {later} AND ({rivals})"
    return f"(twin IS NULL OR twin NOT IN ({displaced}))"


def _status_sql(visibility: Visibility, now: int) -> tuple[str, dict[str, Any]]:
    """With `{}` for the name of the table and its dot."""
    parameters: dict[str, Any] = {"now": now}
    others = sorted(visibility.statuses - PUBLISHED)
    public = _PUBLISHED if "published" in visibility.statuses else "0"
    if not others:
        return public, parameters
    parameters |= {f"status{number}": status for number, status in enumerate(others)}
    wanted = f"{_STATUS} IN ({', '.join(f':status{number}' for number in range(len(others)))})"
    if visibility.owner is not None:
        wanted += " AND {0}owner = :owner"
        parameters["owner"] = composed(visibility.owner).casefold()
    return f"({public} OR ({wanted}))", parameters


def visible_query(schema: tantivy.Schema, visibility: Visibility, now: int) -> Query:
    """The same condition on the search index (fields status, publish_at, unpublish_at, owner), scoring nothing."""
    options = [_status_query(schema, status, now) for status in sorted(visibility.statuses - PUBLISHED)]
    if options and visibility.owner is not None:
        owned = Query.term_query(schema, "owner", composed(visibility.owner).casefold())
        options = [_every(owned, _any(options))]
    if "published" in visibility.statuses:
        options.append(_status_query(schema, "published", now))
    return Query.const_score_query(_any(options), 0.0)


def _status_query(schema: tantivy.Schema, status: str, now: int) -> Query:
    def term(value: str) -> Query:
        return Query.term_query(schema, "status", value)

    # "open" marks published documents without bounds: nearly all of them, found without reading a bound.
    begun = Query.range_query(schema, "publish_at", FieldType.Integer, upper_bound=now)
    ended = Query.range_query(schema, "unpublish_at", FieldType.Integer, upper_bound=now)
    if status == "published":
        return _any([term("open"), _every(term("published"), begun, without=ended)])
    if status == "draft":
        return _any([term("draft"), ended])
    plain = _every(term(status), without=ended)
    if status != "scheduled":
        return plain
    ahead = Query.range_query(schema, "publish_at", FieldType.Integer, lower_bound=now, include_lower=False)
    return _any([plain, _every(term("published"), ahead, without=ended)])


def index_status(status: str, publish_at: int | None, unpublish_at: int | None) -> Mapping[str, Any]:
    """The values that the search index keeps for `visible_query`. Documents without a bound have no such value."""
    if status == "published" and publish_at is None and unpublish_at is None:
        return {"status": "open"}
    values: dict[str, Any] = {"status": status, "publish_at": publish_at or 0}
    if unpublish_at is not None:
        values["unpublish_at"] = unpublish_at
    return values


def _any(queries: list[Query]) -> Query:
    if not queries:
        return Query.empty_query()
    return queries[0] if len(queries) == 1 else Query.boolean_query([(Occur.Should, query) for query in queries])


def _every(*queries: Query, without: Query | None = None) -> Query:
    parts = [(Occur.Must, query) for query in queries]
    return Query.boolean_query(parts + ([(Occur.MustNot, without)] if without is not None else []))
