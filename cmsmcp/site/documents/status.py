"""What a document's status is: Foundry's keys in Foundry's order, and other systems' keys, which can only hide.

Nothing that cannot be understood makes a document public: a key spelled otherwise (`Draft`, `publishDate`), a value of the wrong type and
an unknown word all hide it and are reported. Must not know the clock: `status_at` is told the time.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from cmsmcp.site.model import ERROR, WARNING
from cmsmcp.site.times import read_moment
from cmsmcp.site.yaml.loader import Node, Scalar, is_null
from cmsmcp.site.yaml.values import kind_of

WORKFLOW = ("draft", "in_review", "scheduled", "published", "archived")
_TRUE = frozenset({"true", "yes", "on", "y", "1"})
_FALSE = frozenset({"false", "no", "off", "n", "0"})
_PUBLIC = frozenset({"published", "public", "live", *_TRUE})
# Words of other systems → the status they mean. All of them hide.
_HIDING = {
    **dict.fromkeys(("draft", "unpublished", "private", "hidden", "trash", "deleted", "expired"), "draft"),
    **dict.fromkeys(("in_review", "inreview", "review", "pending", "pending_review"), "in_review"),
    "scheduled": "scheduled", "future": "scheduled", "archived": "archived", "archive": "archived", **dict.fromkeys(_FALSE, "draft"),
}
_KEYS = {key.replace("_", ""): key for key in (
    "draft", "workflow", "archived", "scheduled_publish_at", "scheduled_unpublish_at",
    "status", "published", "publish_at", "publish_date", "expiry_date", "unpublish_at", "private",
)}
_START = frozenset({"scheduled_publish_at", "publish_at", "publish_date", "published"})
_END = frozenset({"scheduled_unpublish_at", "unpublish_at", "expiry_date"})
_UNSERVED = frozenset({"scheduled_publish_at", "scheduled_unpublish_at"})

Note = Callable[[str, str, str, Node], None]
"""(severity, check, message, node): adds a diagnostic."""


class Status(NamedTuple):
    """The status without the clock, and its bounds in ms: public from `publish_at` (inclusive) until `unpublish_at` (exclusive).

    `unreadable`: a schedule of Foundry's own cannot be read; the document must not be served at all.
    """

    status: str = "published"
    publish_at: int | None = None
    unpublish_at: int | None = None
    unreadable: bool = False


def status_at(document: Any, now: int) -> str:
    """The status that counts at `now` (ms) of anything with `status`, `publish_at` and `unpublish_at`. Public is "published" alone."""
    if document.unpublish_at is not None and now >= document.unpublish_at:
        return "draft"
    if document.status == "published" and document.publish_at is not None and now < document.publish_at:
        return "scheduled"
    return document.status


def read_status(entries: Mapping[str, Node], note: Note) -> Status:
    """The status that front matter gives."""
    found = [(key, canonical) for key in entries if (canonical := _KEYS.get(key.replace("_", "").replace("-", "").strip().lower()))]
    if not found:
        return _PLAIN
    reading = _Reading(note)
    for key, canonical in found:
        node = entries[key]
        if is_null(node) or (isinstance(node, Scalar) and not node.text.strip()):
            continue
        if key != canonical:
            note(WARNING, "status", f"`{key}` is read as `{canonical}`; spell it so", node)
        reading.take(key, canonical, node)
    return reading.result()


_PLAIN = Status()


class _Reading:
    def __init__(self, note: Note) -> None:
        self.note = note
        self.draft = False
        self.workflow: str | None = None
        self.archived = False
        self.hidden: str | None = None
        self.publish_at: int | None = None
        self.unpublish_at: int | None = None
        self.unreadable = False
        self.schedule: tuple[str, Node] | None = None

    def take(self, key: str, canonical: str, node: Node) -> None:
        word = node.text.strip().lower() if isinstance(node, Scalar) else ""
        if canonical in ("draft", "archived"):
            self.flag(key, canonical, node, word)
        elif canonical == "workflow":
            self.workflow_word(key, node, word)
        elif canonical == "private":
            if word not in _FALSE:
                self.hide("draft")
                if word not in _TRUE and word != "private":
                    self.unknown(key, node, "true or false")
        elif canonical in _START or canonical in _END:
            self.bound(key, canonical, node, word)
        else:
            self.word(key, node, word)

    def flag(self, key: str, canonical: str, node: Node, word: str) -> None:
        """Foundry's booleans. What is no plain boolean is an error and counts as true: a misspelled draft must not appear."""
        plain = isinstance(node, Scalar) and node.plain and word not in ("0", "1")
        if plain and word in _FALSE:
            return
        if not plain or word not in _TRUE:
            self.note(ERROR, "status", f"`{key}` is {kind_of(node)}, but true or false is wanted, without quotes; taken as true", node)
        if canonical == "draft":
            self.draft = True
        else:
            self.archived = True

    def workflow_word(self, key: str, node: Node, word: str) -> None:
        word = _joined(word)
        if word in WORKFLOW:
            self.workflow = word
        else:
            self.unknown(key, node, ", ".join(WORKFLOW))
            self.hide("draft")

    def word(self, key: str, node: Node, word: str) -> None:
        if word in _PUBLIC:
            return
        status = _HIDING.get(_joined(word))
        if status is None:
            self.unknown(key, node, "a status such as draft or published")
        self.hide(status or "draft")

    def bound(self, key: str, canonical: str, node: Node, word: str) -> None:
        moment = read_moment(node.text) if isinstance(node, Scalar) else None
        if moment is None:
            if canonical in _UNSERVED:
                self.unreadable = True
                self.note(ERROR, "date", f"`{key}` is {kind_of(node)}, but a date or time is wanted, such as 2026-03-06T10:00:00Z", node)
            elif canonical == "published":
                self.word(key, node, word)
            else:
                self.unknown(key, node, "a date or time")
                self.hide("draft")
            return
        if moment.zoneless:
            self.note(WARNING, "date", f"`{key}` has no zone and is taken as UTC; add Z or an offset", node)
        if canonical in _START:
            self.publish_at = max(moment.ms, self.publish_at if self.publish_at is not None else moment.ms)
            self.schedule = (key, node)
        else:
            self.unpublish_at = min(moment.ms, self.unpublish_at if self.unpublish_at is not None else moment.ms)

    def unknown(self, key: str, node: Node, wanted: str) -> None:
        self.note(ERROR, "status", f"`{key}` is {kind_of(node)}, but {wanted} is wanted; the document stays hidden", node)

    def hide(self, status: str) -> None:
        self.hidden = self.hidden or status

    def result(self) -> Status:
        status = "draft" if self.draft else "published"
        # A valid `workflow` replaces, except that `draft: true` is never overruled into the open.
        if self.workflow and not (self.draft and self.workflow == "published"):
            status = self.workflow
        if self.archived:
            status = "archived"
        if status == "published" and self.hidden:
            status = self.hidden
        if status != "published" and self.schedule is not None:
            key, node = self.schedule
            message = f"`{key}` has no effect: the document is {status} and will never go live; remove what hides it"
            self.note(WARNING, "schedule", message, node)
        return Status(status, self.publish_at, self.unpublish_at, self.unreadable)


def _joined(word: str) -> str:
    return word.replace("-", "_").replace(" ", "_")
