"""Readers see one world: a site with hidden documents of every kind answers every request as the same site does that never had them, to the
byte and with its headers (docs/rules.md, Unpublished documents).

What is asked follows from the registry and the routes (`questions`): a new capability is asked by being there.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

from cmsmcp.governance.scopes import READ_SCOPES
from tests.worlds import questions, sites

READER = " ".join(sorted(READ_SCOPES))
LEGACY = "2025-11-25"


def compare(worlds: Any, asked: Iterable[tuple[Any, ...]], how: str) -> int:
    """How many were asked."""
    count, different = 0, []
    for question in asked:
        haunted, plain = (getattr(world, how)(*question) for world in worlds)
        if haunted != plain or haunted[0] == 500:
            different.append((question[1:], haunted, plain))
        count += 1
    for one in different[:5]:
        print(*one, sep="\n")
    assert [question for question, _, _ in different] == []
    return count


def test_every_tool_resource_prompt_and_completion_answers_as_if_nothing_were_hidden(worlds: Any, values: Any) -> None:
    asked = compare(worlds, ((READER, *message) for message in questions.messages(worlds[0].registry, values)), "ask")
    assert asked > 1_000


def test_every_route_of_the_api_does_so(worlds: Any, values: Any) -> None:
    assert compare(worlds, ((READER, path) for path in questions.paths(worlds[0].kinds(), values)), "get") > 1_000


@pytest.mark.parametrize("scope", sorted(READ_SCOPES))
def test_one_scope_alone_does_so(worlds: Any, values: Any, scope: str) -> None:
    """Some of all questions for each: `read:ops` reads reports, and no document."""
    every = list(questions.messages(worlds[0].registry, values))
    assert compare(worlds, ((scope, *message) for message in every[::7]), "ask") > 100


def test_older_revisions_do_so(worlds: Any, values: Any) -> None:
    every = list(questions.messages(worlds[0].registry, values))
    assert compare(worlds, ((READER, *message, LEGACY) for message in every[::11] if message[0] != "server/discover"), "ask") > 100


def test_a_draft_that_is_edited_changes_no_answer(worlds: Any, values: Any) -> None:
    """Tags, counts, cursors and times of reports: nothing moves. Then a published one is, and it does."""
    haunted, _ = worlds
    messages = [(READER, *message) for message in list(questions.messages(haunted.registry, values))[::25]]
    paths = [(READER, path) for path in list(questions.paths(haunted.kinds(), values))[::25]]

    def answers() -> list[Any]:
        return [haunted.ask(*one) for one in messages] + [haunted.get(*one) for one in paths]

    before = answers()
    for path, text in sites.HIDDEN.items():
        haunted.edit(path, text.replace("Ghost", "Spectre") + "edited\n")
    haunted.edit("content/pages/new-draft.md", "---\ndraft: true\nslug: links\n---\nnew\n")
    assert answers() == before
    for path, text in {**sites.HIDDEN, "content/pages/new-draft.md": None}.items():
        haunted.edit(path, text)
    assert answers() == before
