"""Reports for readers who may not see unpublished documents say no word of them (docs/rules.md, Validation, Health)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from cmsmcp.core.deadline import Deadline
from cmsmcp.core.ports import STATUSES, Visibility

READER, ALL = Visibility(), Visibility(frozenset(STATUSES))
LIVE = {
    "content/config/site.yaml": "name: t\n",
    "content/types/person.yaml": "name: People\ntableName: people\nfields:\n  - {name: title, type: string}\n  - {name: slug, type: uid}\n"
    "  - {name: size, type: number}\n  - {name: mentor, type: relation, relatedSlug: person}\n",
    "content/people/live.md": "---\ntitle: Live\nfields: {mentor: ghost}\n---\n[a](/people/ghost/)\n",
    "content/images/shown.png": "1", "content/images/ghostly.png": "1",
    "data/navigation.yaml": "main:\n  - {name: G, url: /people/ghost/}\n",
    "data/redirects.yaml": "redirects:\n  - {from: /people/ghost/, to: /people/live/}\n",
}  # fmt: skip
HIDDEN = {
    "content/people/ghost.md": "---\ntitle: Ghost\ndraft: true\nlayout: haunted\nhaunts: [x]\ntaxonomies: {odd: [y]}\n---\n"
    "![](media:images/ghostly.png)"
    " [b](/broken/) [c](/people/live/#none)\n",
    "content/people/bad-date.md": "---\ntitle: X\ndraft: true\ndate: someday-ghostly\n---\n",
    "content/people/bad-number.md": "---\ntitle: X\ndraft: true\nfields: {size: ghostly}\n---\n",
    "content/people/twice.md": "---\ntitle: X\ntitle: ghostly\n---\n",
    "content/people/live-twin.md": "---\ntitle: X\nslug: live\nworkflow: in_review\n---\n",
    "content/people/ghostly.MD": "x",
    "content/people/en/live.md": "---\ndraft: true\n---\n",
    "content/pages/soon.md": "---\nscheduled_publish_at: 2099-01-01\n---\n",
}  # fmt: skip


def report(operations: Any, visibility: Visibility | None) -> str:
    health = {**operations.health(Deadline(30), visibility), "generated_at": "", "uptime_seconds": 0}
    return json.dumps([health, operations.validate(Deadline(30), visibility)], indent=1)


def write(folder: Any, files: dict[str, str]) -> Any:
    for path, text in files.items():
        folder.write(path, text)
    return folder


@pytest.fixture
def haunted(folder: Any, operate: Any) -> Any:
    return operate(write(folder, {**LIVE, **HIDDEN}).root).operations


def test_a_report_is_what_it_would_be_without_the_hidden_documents(folder: Any, operate: Any, haunted: Any) -> None:
    seen = report(haunted, READER)
    for path in HIDDEN:
        (folder.root / path).unlink()
    assert seen == report(operate(folder.root).operations, READER)


@pytest.mark.parametrize("path", [*HIDDEN, "content/images/ghostly.png", "data/navigation.yaml"])
def test_who_runs_the_site_reads_the_whole(haunted: Any, path: str) -> None:
    """`cmsmcp check`, and whoever may see everything and asks for it."""
    found = {one["path"] for one in haunted.validate(Deadline(30))["findings"]}
    assert found == {one["path"] for one in haunted.validate(Deadline(30), ALL)["findings"]}
    sound = {"content/pages/soon.md", "content/images/ghostly.png"}
    assert (path in found) == (path not in sound)
    assert ("content/images/ghostly.png" in {one["path"] for one in haunted.validate(Deadline(30), READER)["findings"]})


def test_a_report_that_is_kept_outlives_the_edit_of_a_draft(folder: Any, operate: Any) -> None:
    """It says when it was made."""
    site = operate(write(folder, {**LIVE, **HIDDEN}).root)
    before = site.operations.health(Deadline(30), READER)["generated_at"]
    folder.write("content/people/ghost.md", "---\ndraft: true\n---\nedited\n")
    site.again()
    assert site.operations.health(Deadline(30), READER)["generated_at"] == before
    folder.write("content/people/live.md", "edited\n")
    site.again()
    assert site.operations.health(Deadline(30), READER)["generated_at"] != before
