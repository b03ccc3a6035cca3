"""Prompts and completion through every door, on the example site (P-01, P-02, C-01, C-02, C-03, F2)."""

from __future__ import annotations

from unittest.mock import ANY

import pytest

PROMPTS = {
    "audit_page": {"page": "visit", "lang": "de"},
    "describe_content_type": {"type": "event"},
    "locale_gaps": {"locale": "ja", "type": "page"},
    "summarize_changes": {"since": "2026-10-01", "lang": "en"},
}

COMPLETIONS = [
    ({"type": "ref/prompt", "name": "audit_page"}, "page", "perseid", {}, "perseid-night-2027"),
    ({"type": "ref/prompt", "name": "audit_page"}, "page", "per", {"type": "post"}, "perseids-2026-count"),
    ({"type": "ref/prompt", "name": "audit_page"}, "lang", "de", {}, "de"),
    ({"type": "ref/prompt", "name": "describe_content_type"}, "type", "sky", {}, "sky-object"),
    ({"type": "ref/resource", "uri": "foundry://content/pages/{slug}"}, "slug", "ab", {}, "about"),
    ({"type": "ref/resource", "uri": "foundry://themes/{name}/manifest"}, "name", "night", {}, "nightglass"),
    ({"type": "ref/resource", "uri": "foundry://plugins/{name}"}, "name", "guest", {}, "guestbook"),
    ({"type": "ref/resource", "uri": "foundry://docs/{+path}"}, "path", "api", {}, "api.yaml"),
    ({"type": "ref/resource", "uri": "plank://content-types/{slug}/schema"}, "slug", "ev", {}, "event"),
]


def complete(door, ref, name: str, value: str, others=None):
    params = {"ref": ref, "argument": {"name": name, "value": value}}
    return door.send("completion/complete", {**params, **({"context": {"arguments": others}} if others else {})})


def test_the_prompts_are_listed_with_arguments_that_are_explained(door) -> None:
    """P-01."""
    listed = door.send("prompts/list")["result"]["prompts"]
    assert [one["name"] for one in listed] == sorted(PROMPTS)
    for one in listed:
        required = {argument["name"] for argument in one["arguments"] if argument["required"]}
        assert one["description"] and required <= PROMPTS[one["name"]].keys()


@pytest.mark.parametrize("name", PROMPTS)
def test_a_prompt_comes_filled_with_what_the_site_holds(door, name: str) -> None:
    result = door.send("prompts/get", {"name": name, "arguments": PROMPTS[name]})["result"]
    [message] = result["messages"]
    assert message["role"] == "user" and result["description"]
    found = {"audit_page": "de:page:visit", "describe_content_type": "starts_at", "locale_gaps": "/accessibility/"}
    assert found.get(name, "en:post:2026/dome-reopens") in message["content"]["text"]
    assert "BEGIN DATA" in message["content"]["text"]


@pytest.mark.parametrize("blank", [None, ""])
def test_an_argument_of_a_prompt_that_was_not_filled_in_was_not_given(door, blank) -> None:
    arguments = {"page": "visit", "type": blank, "lang": blank, "status": blank}
    plain = door.send("prompts/get", {"name": "audit_page", "arguments": {"page": "visit"}})["result"]
    assert door.send("prompts/get", {"name": "audit_page", "arguments": arguments})["result"] == plain
    ref, others = {"type": "ref/prompt", "name": "audit_page", "title": None}, {"type": blank, "lang": blank}
    assert complete(door, ref, "page", "per", others) == {**complete(door, ref, "page", "per"), "id": ANY}


def test_a_prompt_that_cannot_be_filled_in_says_why(door) -> None:
    """P-02, P-03."""
    for params, word in (
        ({"name": "audit_pag"}, "audit_page"),
        ({"name": "audit_page"}, "page is required"),
        ({"name": "audit_page", "arguments": {"page": 7}}, "must be a string"),
        ({"name": "audit_page", "arguments": {"page": "no-such-page"}}, "search_content"),
        ({"name": "summarize_changes", "arguments": {"since": "soon"}}, "2026-03-06"),
    ):
        error = door.send("prompts/get", params)["error"]
        assert error["code"] == -32602 and word in error["message"]


@pytest.mark.parametrize("asked", COMPLETIONS, ids=lambda asked: f"{asked[1]}-{asked[2]}")
def test_arguments_are_completed_from_the_site(door, asked) -> None:
    """C-01, C-02."""
    ref, name, value, others, expected = asked
    completion = complete(door, ref, name, value, others)["result"]["completion"]
    assert completion["values"][0] == expected
    assert completion["total"] == len(completion["values"]) and completion["hasMore"] is False


def test_what_is_not_published_is_never_completed(door) -> None:
    """C-03: the example site has drafts, a scheduled post and an archived page."""
    everything = complete(door, {"type": "ref/prompt", "name": "audit_page"}, "page", "")["result"]["completion"]["values"]
    listed = door.send("tools/call", {"name": "list_documents", "arguments": {"limit": 100}})["result"]["structuredContent"]["items"]
    assert set(everything) <= {one["slug"] for one in listed}


def test_a_reference_to_nothing_is_refused(door) -> None:
    """C-02."""
    for ref in ({"type": "ref/prompt", "name": "audit"}, {"type": "ref/resource", "uri": "foundry://nothing"}, {"type": "ref/tool"}):
        assert complete(door, ref, "page", "")["error"]["code"] == -32602


def test_both_doors_give_the_same_prompts_and_values(stdio_door, http_door) -> None:
    """F2."""
    for name, arguments in PROMPTS.items():
        params = {"name": name, "arguments": arguments}
        assert stdio_door.send("prompts/get", params)["result"] == http_door.send("prompts/get", params)["result"]
    for ref, name, value, others, _ in COMPLETIONS:
        assert complete(stdio_door, ref, name, value, others)["result"] == complete(http_door, ref, name, value, others)["result"]
