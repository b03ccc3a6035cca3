"""Pages: a cursor walk under writes, page numbers, places that are forged or belong elsewhere."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cmsmcp.core.ports import Visibility
from cmsmcp.protocol.cursor import encode_cursor
from cmsmcp.protocol.errors import InvalidArguments
from cmsmcp.site.entries import listing

TYPES = {
    "note": """name: Notes
tableName: notes
fields:
  - {name: title, type: string}
  - {name: slug, type: uid}
  - {name: rank, type: number}
  - {name: day, type: datetime}
"""
}


def note(number: int) -> dict[str, Any]:
    fields: dict[str, Any] = {"rank": number % 5} if number % 4 else {}
    return {"title": f"Note {number:03}", "fields": fields | ({"day": f"2026-01-{1 + number % 9:02}"} if number % 3 else {})}


@pytest.fixture(scope="module")
def site(make_site: Any) -> Any:
    return make_site(TYPES, {f"notes/n{number:03}.md": note(number) for number in range(0, 60, 2)})


@pytest.fixture(params=[0, 2_000], ids=["along an index", "fetched whole"], autouse=True)
def short(request: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listing, "SHORT", request.param)


SORTS = ["", "title", "-title", "rank", "-rank", "rank,-day", "-day,rank", "status,-rank"]
WHOLE = ("slug", "contains", "n")


@pytest.mark.parametrize("sort", SORTS)
def test_a_walk_meets_every_entry_once_while_others_come_and_go(site: Any, sort: str) -> None:
    """Issue 5 item 1: the cursor is stable under writes. What is there from the first page to the last is given once, in order."""
    expected = site.slugs("note", WHOLE, sort=sort, limit=100)
    gone = expected[7]
    page = site.list("note", WHOLE, sort=sort, limit=4)
    found = [one.values["slug"] for one in page.items]
    for number in range(1, 61, 10):
        site.put(f"notes/n{number:03}.md", note(number))
    site.remove(f"notes/{gone}.md")
    site.build()
    try:
        while page.next_cursor is not None:
            page = site.list("note", WHOLE, sort=sort, limit=4, cursor=page.next_cursor)
            found += [one.values["slug"] for one in page.items]
    finally:
        for number in range(1, 61, 10):
            site.remove(f"notes/n{number:03}.md")
        site.put(f"notes/{gone}.md", note(int(gone[1:])))
        site.build()
    stayed = [slug for slug in expected if slug != gone]
    assert [slug for slug in found if slug in stayed] == stayed
    assert len(found) == len(set(found))


def test_an_entry_that_marks_the_place_may_vanish(site: Any) -> None:
    expected = site.slugs("note", WHOLE, sort="-rank", limit=100)
    page = site.list("note", WHOLE, sort="-rank", limit=4)
    site.remove(f"notes/{expected[3]}.md")
    site.build()
    after = site.slugs("note", WHOLE, sort="-rank", limit=100, cursor=page.next_cursor)
    site.put(f"notes/{expected[3]}.md", note(int(expected[3][1:])))
    site.build()
    assert after == expected[4:]


@pytest.mark.parametrize("sort", SORTS)
def test_page_numbers_and_cursors_name_the_same_pages(site: Any, sort: str) -> None:
    cursor = None
    for number in range(1, 7):
        walked = site.list("note", WHOLE, sort=sort, limit=7, cursor=cursor)
        numbered = site.list("note", WHOLE, sort=sort, limit=7, page=number)
        assert [one.values["id"] for one in numbered.items] == [one.values["id"] for one in walked.items]
        assert (numbered.next_cursor, numbered.total) == (walked.next_cursor, walked.total)
        cursor = walked.next_cursor
        if cursor is None:
            break
    assert number == 5
    assert site.list("note", WHOLE, sort=sort, limit=7, page=9_000).items == []


def test_a_cursor_belongs_to_its_question(site: Any) -> None:
    cursor = site.list("note", WHOLE, sort="rank", limit=2).next_cursor
    site.list("note", WHOLE, sort="rank", limit=50, cursor=cursor, fields=frozenset({"title"}))
    everybody = Visibility(frozenset({"published", "draft"}))
    for conditions, asked in (
        ((), {"sort": "rank"}), ((WHOLE,), {"sort": "-rank"}), ((WHOLE,), {}), ((WHOLE,), {"sort": "rank", "locale": "de"}),
        ((WHOLE,), {"sort": "rank", "fallbacks": ("de",)}), ((WHOLE,), {"sort": "rank", "visibility": everybody}),
        ((("slug", "contains", "m"),), {"sort": "rank"}),
    ):  # fmt: skip
        with pytest.raises(InvalidArguments, match="cursor"):
            site.list("note", *conditions, cursor=cursor, **asked)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3), max_size=3), st.text(max_size=5))
def test_a_forged_place_is_refused_or_only_a_place(site: Any, values: list[Any], url: str) -> None:
    """protocol/cursor.py: whoever forges one sees nothing that the same question would not show."""
    question = ["entries", "note", ["en"], ["published"], None, [list(WHOLE)], [["rank", False]]]
    forged = encode_cursor(question, [json.dumps(values), url])
    try:
        page = site.list("note", WHOLE, sort="rank", limit=100, cursor=forged)
    except InvalidArguments as refused:
        assert refused.data["argument"] == "cursor"
    else:
        assert len(values) == 1
        assert {one.values["slug"] for one in page.items} <= set(site.slugs("note", limit=100))
