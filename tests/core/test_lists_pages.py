"""The protocol's lists: what they hold, in which order, page by page (T-02, T-03, R-08, G-01, G-02, G-04, K-01, AU-10)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from marshmallow import Schema, fields

from cmsmcp.core.capability import resource, tool
from cmsmcp.core.lists import PAGE_SIZE, cut
from cmsmcp.core.ports import Caller
from cmsmcp.protocol.errors import INVALID_PARAMS, CallError


class Output(Schema):
    ok = fields.Boolean()


@tool(scope="read:ops", audit="test", output=Output, title="Zeta")
def zeta(arguments, call):
    """Last by name."""


@tool(scope="read:content", audit="test", output=Output, version="2.3")
def alpha(arguments, call):
    """First by name."""


def many(call):
    for number in range(250):
        yield {"uri": f"test://notes/{number:03}", "name": f"note-{number}", "title": f"Note {number}", "description": "A note."}


@resource("test://notes/{number}", scope="read:content", audit="test", output=Output, listing=many)
def note(variables, call):
    """One note."""


@resource("test://zz", scope="read:docs", audit="test", output=Output, title="Whole")
def whole(variables, call):
    """Without variables."""


ALL = (zeta, note, alpha, whole)


def test_tools_come_by_name_with_hints_written_out(bench) -> None:
    """T-03, T-13, T-15."""
    b = bench(*ALL)
    first, second = b.ask("tools/list")["result"]["tools"]
    assert (first["name"], second["name"], second["title"]) == ("alpha", "zeta", "Zeta")
    assert first["inputSchema"] == {"type": "object", "properties": {}, "additionalProperties": False}
    assert first["annotations"] == {"readOnlyHint": True, "destructiveHint": False, "idempotentHint": True, "openWorldHint": False}
    assert first["_meta"] == {"dev.cmsmcp/version": "2.3"}
    assert first["description"] == "First by name."


def test_lists_show_only_what_the_caller_may_use(bench) -> None:
    """AU-10, F39: the scope that hides it also refuses the call."""
    b = bench(*ALL)
    b.caller = Caller("local", frozenset({"read:docs"}))
    assert b.ask("tools/list")["result"]["tools"] == []
    assert [entry["uri"] for entry in b.ask("resources/list")["result"]["resources"]] == ["test://zz"]
    assert [entry["uriTemplate"] for entry in b.ask("resources/templates/list")["result"]["resourceTemplates"]] == ["test://zz"]
    assert "error" in b.call("alpha")


def test_templates_list_every_registration_and_resources_the_concrete_ones(bench) -> None:
    """R-08, F29: one without variables is in both."""
    b = bench(*ALL)
    assert [entry["uriTemplate"] for entry in b.ask("resources/templates/list")["result"]["resourceTemplates"]] == [
        "test://zz",
        "test://notes/{number}",
    ]
    first, second, *_ = b.ask("resources/list")["result"]["resources"]
    assert first == {
        "name": "whole",
        "title": "Whole",
        "uri": "test://zz",
        "description": "Without variables.",
        "mimeType": "application/json",
    }
    assert list(second) == ["name", "title", "uri", "description", "mimeType"]


def test_following_the_cursor_gives_every_resource_once(bench) -> None:
    """G-01: no cursor at the end."""
    b = bench(*ALL)
    seen, cursor = [], None
    while True:
        page = b.ask("resources/list", {"cursor": cursor} if cursor else {})["result"]
        seen += [entry["uri"] for entry in page["resources"]]
        assert len(page["resources"]) <= PAGE_SIZE
        cursor = page.get("nextCursor")
        if cursor is None:
            break
    assert "nextCursor" not in page
    assert seen == ["test://zz", *(f"test://notes/{number:03}" for number in range(250))]


@pytest.mark.parametrize("cursor", ["", "x", "!!", "bnVsbA", "WzAsImEiXQ", "WzEsMl0", "W10", 7, [], "a" * 20_000, "WzEuNSwiYSJd"])
@pytest.mark.parametrize("method", ["tools/list", "resources/list", "resources/templates/list"])
def test_a_foreign_cursor_is_refused(bench, method, cursor) -> None:
    """G-02."""
    assert bench(*ALL).ask(method, {"cursor": cursor})["error"]["code"] == INVALID_PARAMS


def test_a_list_costs_one_with_a_permit_and_records_only_refusals(bench) -> None:
    """docs/rules.md, Governance order."""
    b = bench(*ALL)
    b.ask("tools/list")
    [ask] = b.admission.asks
    assert (ask.cost, ask.permit, ask.intent) == (1, True, None)
    assert ask.refusal is not None
    assert b.admission.releases == [(ask, None)]


def test_a_listing_that_fails_frees_its_permit(bench) -> None:
    def failing(call):
        raise CallError("no")
        yield

    broken = resource("test://b/{x}", scope="read:content", audit="test", output=Output, listing=failing, name="b", description="b")(
        lambda v, c: 1
    )
    b = bench(broken)
    assert "error" in b.ask("resources/list")
    assert b.admission.balanced()


@given(st.lists(st.integers(0, 400), unique=True, max_size=400), st.sets(st.integers(0, 400), max_size=40))
def test_what_stays_is_listed_once_though_other_entries_come_and_go(keys: list[int], changed: set[int]) -> None:
    """G-01: between two pages, entries before the cursor appear or vanish; none that stayed is lost or doubled."""
    before = [{"uri": str(key)} for key in sorted(keys)]
    page, cursor = cut(before, None, "uri")
    if cursor is None:
        assert list(page) == before
        return
    last = int(page[-1]["uri"])
    after = [{"uri": str(key)} for key in sorted((set(keys) ^ changed) | {last})]
    seen = [int(entry["uri"]) for entry in page]
    while cursor is not None:
        page, cursor = cut(after, cursor, "uri")
        seen += [int(entry["uri"]) for entry in page]
    stayed = set(keys) - changed | {last}
    assert stayed <= set(seen)
    assert len(seen) == len(set(seen))
