"""The typed tables under writes: kept in step with the documents, rebuilt beside what is served when types change."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cmsmcp.core.ports import STATUSES, Visibility
from cmsmcp.protocol.errors import InvalidArguments, NotFound, Unavailable
from cmsmcp.site.catalog.visibility import visible_sql, visible_typed_sql
from cmsmcp.site.index.indexer import Stopped

NOON = 1_780_000_000_000
TYPE = "name: Notes\ntableName: notes\nfields:\n  - {name: title, type: string}\n  - {name: slug, type: uid}\n"
OTHER = TYPE + "  - {name: rank, type: number}\n"
MORE = OTHER.replace("rank, type: number", "rank, type: string")
DRAFTS = Visibility(frozenset(STATUSES))


@pytest.fixture
def site(make_site: Any) -> Any:
    return make_site({"note": OTHER}, {f"notes/{name}.md": {"title": name, "fields": {"rank": 3}} for name in "abc"})


def test_edits_are_found_and_what_was_is_not(site: Any) -> None:
    before = site.store.version(Visibility())
    assert site.list("note").total == 3
    site.put("notes/b.md", {"title": "b", "fields": {"rank": 9}})
    site.remove("notes/c.md")
    site.build()
    assert site.slugs("note", ("rank", "eq", 9)) == ["b"]
    assert site.slugs("note", ("rank", "eq", 3)) == ["a"]
    assert site.list("note").total == 2
    assert site.store.version(Visibility()) != before


def test_a_version_lasts_as_long_as_nothing_changes_and_ends_with_an_hour(site: Any) -> None:
    """What an ETag is made of: also of time, which publishes and withdraws."""
    site.put("notes/d.md", {"title": "d", "scheduled_publish_at": "2026-06-01T00:00:00Z"})
    site.build()
    before = site.store.version(Visibility())
    site.build()
    assert site.store.version(Visibility()) == before
    assert site.slugs("note") == ["a", "b", "c"]
    site.now = NOON + 30 * 86_400_000
    assert site.store.version(Visibility()) != before
    assert site.slugs("note") == ["a", "b", "c", "d"]
    site.now = NOON


def test_a_twin_is_served_when_the_first_one_goes(site: Any) -> None:
    """docs/rules.md, Odd places: the first in path order is served."""
    site.put("notes/z.md", {"title": "twin of a", "slug": "a"})
    site.build()
    titles = lambda: [one.values["title"] for one in site.list("note", ("slug", "eq", "a")).items]  # noqa: E731
    assert titles() == ["a"]
    site.remove("notes/a.md")
    site.build()
    assert titles() == ["twin of a"]


def test_types_change_and_entries_are_asked_by_the_new_ones(site: Any) -> None:
    site.write("types/note.yaml", MORE)
    site.put("notes/b.md", {"title": "b", "fields": {"rank": "nine"}})
    for name in "ac":
        site.put(f"notes/{name}.md", {"title": name, "fields": {"rank": "three"}})
    ahead = site.open()
    with pytest.raises(Unavailable):  # a reader that knows the new types before the tables do
        ahead_list(site, ahead, ("rank", "eq", "nine"))
    assert ahead_list(site, ahead).total == 3
    site.build()
    assert [one.values["slug"] for one in ahead_list(site, ahead, ("rank", "eq", "nine")).items] == ["b"]
    with pytest.raises(Unavailable):  # and one that still knows the old ones
        site.list("note", ("rank", "eq", 3))
    site.store = ahead
    with pytest.raises(InvalidArguments):
        site.list("note", ("rank", "eq", 3))
    numbers = site.reader.rows("SELECT number FROM types WHERE live")
    tables = site.reader.rows("SELECT name FROM sqlite_master WHERE type = 'table' AND name GLOB 'entries_*'")
    assert {name for (name,) in tables} == {f"entries_{number}" for (number,) in numbers}


def ahead_list(site: Any, store: Any, *conditions: Any) -> Any:
    kept, site.store = site.store, store
    try:
        return site.list("note", *conditions)
    finally:
        site.store = kept


def test_what_is_withdrawn_while_types_change_is_not_found_meanwhile(site: Any) -> None:
    """docs/rules.md, Unpublished documents: the old tables serve until the new ones are full, but never what was hidden since."""
    site.write("types/note.yaml", MORE.replace("type: string}\n  - {name: slug", "type: text}\n  - {name: slug"))
    for name in "abc":
        site.put(f"notes/{name}.md", {"title": name, "draft": name == "b", "fields": {"rank": "x"}})
    calls = itertools.count()
    with pytest.raises(Stopped):  # after the first batch: nothing of the site as a whole is settled
        site.indexer.build(stopped=lambda: next(calls) > 20 or bool(site.indexer.catalog.stored("path", []) or _written(site)))
    site.reader.forget_meta()
    assert site.slugs("note") == ["a", "c"]
    assert (site.list("note").total, site.list("note", ("slug", "in", ("b", "c"))).total) == (2, 1)
    with pytest.raises(NotFound):
        site.get("note", "b")
    assert site.slugs("note", visibility=DRAFTS) == ["a", "b", "c"]
    site.build()
    site.store = site.open()
    assert site.slugs("note", ("rank", "eq", "x")) == ["a", "c"]


def _written(site: Any) -> bool:
    """Whether the table that is being filled holds anything yet."""
    run = site.indexer.catalog._connection.execute
    filling = run("SELECT number FROM types WHERE slug = 'note' AND NOT live").fetchone()
    return filling is not None and bool(run(f"SELECT count(*) FROM entries_{filling[0]}").fetchone()[0])


def test_a_crash_while_types_change_costs_nothing(site: Any) -> None:
    born = site.reader.rows("SELECT value FROM meta WHERE name = 'born'")
    site.write("types/note.yaml", TYPE)
    with pytest.raises(Stopped):
        site.indexer.build(stopped=lambda: _written(site))
    site.write("types/note.yaml", OTHER)  # back as it was: what was half done must not count
    site.build()
    assert site.slugs("note", ("rank", "eq", 3)) == ["a", "b", "c"]
    assert site.reader.rows("SELECT count(*), min(live) FROM types WHERE slug = 'note'") == [(1, 1)]
    assert site.reader.rows("SELECT value FROM meta WHERE name = 'born'") == born  # the same catalog, not one begun anew


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_one_rule_decides_in_both_tables(site_of_statuses: Any, data: st.DataObject) -> None:
    """`visible_typed_sql` finds what `visible_sql` finds (docs/rules.md, Status)."""
    visibility = Visibility(data.draw(st.frozensets(st.sampled_from(STATUSES))), data.draw(st.sampled_from([None, "Ann", "bob"])))
    now = data.draw(st.sampled_from([NOON - 1, NOON, NOON + 1, 0, 2**53]))
    rows = site_of_statuses.reader.rows
    [(number,)] = rows("SELECT number FROM types WHERE slug = 'note' AND live")
    visible, parameters = visible_sql(visibility, now)
    typed, same = visible_typed_sql(visibility, now)
    expected = rows(f"SELECT row FROM documents WHERE type = 'note' AND {visible} ORDER BY row", parameters)
    assert rows(f"SELECT row FROM entries_{number} WHERE {typed} ORDER BY row", same) == expected


@pytest.fixture(scope="module")
def site_of_statuses(make_site: Any) -> Any:
    bounds = [None, "2026-05-28T20:26:40Z", "2027-01-01T00:00:00Z"]
    found = {}
    for number, (status, begin, end) in enumerate(itertools.product(STATUSES, bounds, bounds)):
        keys = {"title": "x", "workflow": status, "author": "Ann" if number % 2 else "Bob"}
        keys |= {"scheduled_publish_at": begin} if begin else {}
        found[f"notes/n{number}.md"] = keys | ({"scheduled_unpublish_at": end} if end else {})
    return make_site({"note": TYPE}, found)
