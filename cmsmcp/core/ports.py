"""What the middle needs of the outside, as Protocols. Adapters live in `site/`, `state/` and `identity/`.

Times are ISO 8601 strings in UTC with milliseconds and `Z`; dates without a time stay `YYYY-MM-DD`.
Paths are relative to the site folder, with forward slashes. Nothing here holds an absolute path.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

from cmsmcp.core.deadline import Deadline

if TYPE_CHECKING:
    from cmsmcp.core.entries import EntryStore

T = TypeVar("T")

STATUSES = ("draft", "in_review", "scheduled", "published", "archived")
PUBLISHED = frozenset({"published"})


@dataclass(frozen=True, slots=True)
class Visibility:
    """Which documents a caller may see: those whose computed status is in `statuses`.

    `owner` narrows the unpublished ones to rows whose author (else owner) is that name, ignoring case (`documents.read.own`).
    Made by `governance.scopes.visibility` alone, so that every surface applies the same rule.
    """

    statuses: frozenset[str] = PUBLISHED
    owner: str | None = None


@dataclass(frozen=True, slots=True)
class Page(Generic[T]):
    """One page of a list. `total` counts every match; `next_cursor` is None on the last page."""

    items: Sequence[T]
    total: int
    next_cursor: str | None = None


@dataclass(frozen=True, slots=True)
class Document:
    """One document in one language. `locale` is the one asked for; it differs from `lang` when a fallback served."""

    id: str
    type: str
    lang: str
    slug: str
    url: str
    title: str
    status: str
    path: str
    locale: str = ""
    layout: str = ""
    summary: str = ""
    author: str = ""
    last_editor: str = ""
    date: str | None = None
    created_at: str | None = None
    updated_at: str | None = None
    taxonomies: Mapping[str, Sequence[str]] = field(default_factory=dict)
    fields: Mapping[str, Any] = field(default_factory=dict)
    params: Mapping[str, Any] = field(default_factory=dict)
    body: str = ""
    translations: Sequence[Mapping[str, str]] = ()


@dataclass(frozen=True, slots=True)
class Hit:
    """A search result: the document (without its body), its score relative to the best hit (which has 1.0), and a snippet of plain text."""

    document: Document
    score: float
    snippet: str


class Content(Protocol):
    """Documents of the site. Unknown `type` or `lang` raise InvalidArguments that lists what exists; so does a bad cursor.

    `lang=None` means every language for lists and search, the default language first for look-ups.
    """

    def list_documents(
        self, *, type: str | None, lang: str | None, taxonomy: Mapping[str, str], visibility: Visibility,
        updated_after: str | None, updated_before: str | None, limit: int, cursor: str | None, deadline: Deadline, bodies: bool = False,
    ) -> Page[Document]:
        """Sorted by URL, then id. `taxonomy` maps a taxonomy name to a term; all must match. Without `bodies` they are left empty.

        `updated_*` are ISO dates or times, compared with `updated_at`, else `date`.
        """

    def search(
        self, query: str, *, type: str | None, lang: str | None, visibility: Visibility, limit: int, cursor: str | None, deadline: Deadline,
    ) -> Page[Hit]:
        """Ranked. No query string is an error; a blank one has no hits."""

    def get_document(
        self, *, slug: str | None, url: str | None, id: str | None, type: str | None, lang: str | None,
        visibility: Visibility, deadline: Deadline,
    ) -> Document:
        """The one document that every given key agrees on, body included (F15).

        None given, or keys that disagree: InvalidArguments. A slug prefers the default language, then page, then post;
        if several remain: InvalidArguments that lists their ids. Nothing visible: NotFound. `lang` follows that locale's
        fallback chain, and `Document.lang` says which one served.
        """

    def find_slugs(
        self, typed: str, *, type: str | None, lang: str | None, visibility: Visibility, limit: int, deadline: Deadline
    ) -> Sequence[str]:
        """At most `limit` slugs of visible documents that contain `typed`, those that begin with it first, each group sorted."""

    def find_untranslated(
        self, source: str, target: str, *, type: str | None, visibility: Visibility, limit: int, deadline: Deadline
    ) -> Page[Document]:
        """Visible documents of the language `source` that have no visible translation in `target`, by type, URL and id. One page."""

    def get_navigation(self, *, lang: str | None, deadline: Deadline) -> Mapping[str, Any]:
        """`{"menus": {name: [{"name","url","items"?}]}, "pages": [{"id","title","url","lang","type"}], "truncated": bool}`, published only.

        Menu entries that point at a document which is not published are left out. `pages` holds the first 500 published pages by URL.
        """

    def get_author(self, slug: str, *, visibility: Visibility, deadline: Deadline) -> Mapping[str, Any]:
        """`{"slug", "name", "entries": <number of visible documents>, "types": {<type>: number}}`, all languages. None: NotFound."""


class Themes(Protocol):
    """Themes by folder name. `name=None` means the active one. Unknown: NotFound with the names that exist."""

    def names(self) -> Sequence[str]: ...
    def manifest(self, name: str | None, deadline: Deadline) -> Mapping[str, Any]: ...
    def security_report(self, name: str | None, deadline: Deadline) -> Mapping[str, Any]: ...
    def validate(self, name: str | None, deadline: Deadline) -> Mapping[str, Any]: ...


class Plugins(Protocol):
    """Plugins by folder name. Records never fail: an unreadable plugin is a record with a status that says so."""

    def names(self) -> Sequence[str]: ...
    def records(self, deadline: Deadline) -> Sequence[Mapping[str, Any]]: ...
    def record(self, name: str, deadline: Deadline) -> Mapping[str, Any]: ...


class Docs(Protocol):
    """Files under the site's `docs/` folder that are text."""
    def list_files(self, deadline: Deadline) -> Sequence[Mapping[str, Any]]:
        """`{"path","title","size","mime_type","updated_at"}` sorted by path; `path` is relative to `docs/`."""

    def read_file(self, path: str) -> Mapping[str, Any]:
        """`{"path","title","size","mime_type","updated_at","text"}`. Outside, hidden, binary or absent: NotFound."""

    def api_definition(self) -> Mapping[str, Any]:
        """`{"path","format","version","title","definition"}` of `docs/api.yaml` (or .yml, .json). Absent: NotFound."""


class ContentTypes(Protocol):
    """Plank's content types and locales (docs/rules.md, Content types), keys in Plank's order."""

    def all(self) -> Sequence[Mapping[str, Any]]:
        """Whole persisted objects, sorted by name."""

    def get(self, slug: str) -> Mapping[str, Any]:
        """One of them. Unknown: ContentTypeNotFound."""

    def locales(self) -> Mapping[str, Any]:
        """`{"defaultLocale": str, "locales": [str]}`; the default is always among them."""


class Operations(Protocol):
    """How the site is doing. `visibility` None counts and checks every document, for the people who run the site; else a hidden
    document looks like an absent one. Files that cannot be read as documents are always named."""

    def health(self, deadline: Deadline, visibility: Visibility | None = None, services: Mapping[str, str] = ...) -> Mapping[str, Any]:
        """`{"status": "healthy"|"degraded", "ready", "version", "generated_at", "uptime_seconds", "content": {...counts},
        "checks": [{"name","status": "pass"|"fail","message"}], "storage": {...bytes and files}}`. `services`: as of a `Call`.
        """

    def validate(
        self, deadline: Deadline, visibility: Visibility | None = None, step: Callable[[int, int, str], None] = ...
    ) -> Mapping[str, Any]:
        """`{"valid", "error_count", "warning_count", "checks": {<check>: count}, "truncated",
        "findings": [{"severity","check","path","line","message"}]}`.

        Findings sort by severity (error, warning), path, line; at most 500 of each check are given, all are counted, and
        `truncated` says that some were left out. `step` is told before each check how many are done, of how many, and which it is.
        """

    def findings(self, path: str, deadline: Deadline, visibility: Visibility | None = None) -> Sequence[Mapping[str, Any]]:
        """The findings of the one document at `path`, as `validate` has them."""


class Redaction(Protocol):
    """Takes secrets out of a JSON value. Sent to processes beside, so it must be picklable."""

    @property
    def version(self) -> str:
        """Another one for another rule: what was derived by it is derived anew."""
        ...

    def __call__(self, value: Any) -> Any:
        """A copy without them; twice is as once."""
        ...


@dataclass(frozen=True, slots=True)
class Site:
    """Everything a capability can read. Built by `site.open.open_site`."""

    content: Content
    themes: Themes
    plugins: Plugins
    docs: Docs
    types: ContentTypes
    operations: Operations
    entries: EntryStore


@dataclass(frozen=True, slots=True)
class Caller:
    """Who asks. `client` keys the rate limit; `capabilities` are CMS capabilities, `{"*"}` for a local actor.

    `scopes` are those the caller holds (token, or configured for stdio), already cut to what the configuration enables.
    `registered`: the token is one of ours, so that the registry must know it. `expires` in epoch seconds, None: never.
    """

    client: str
    scopes: frozenset[str]
    capabilities: frozenset[str] = frozenset({"*"})
    subject: str | None = None
    token_id: str | None = None
    registered: bool = False
    expires: int | None = None


@dataclass(frozen=True, slots=True)
class Ask:
    """One governed request, as the admission decides it, and afterwards the permit that it got. `event_id` is unique (it names the permit).

    `cost` is in rate units; `permit` says whether it occupies one of `max_concurrency`, or with `stream` one of `max_streams`;
    `lease_ms` bounds a permit whose holder died; a `registered` token is refused unless the registry knows it; `intent` is the
    audit record to append when admitted, `refusal` the one to append when not, with its `reason` and `code`.
    """

    event_id: str
    client: str
    cost: int
    permit: bool
    lease_ms: int
    token_id: str | None = None
    registered: bool = False
    intent: Mapping[str, str] | None = None
    refusal: Mapping[str, str] | None = None
    stream: bool = False


@dataclass(frozen=True, slots=True)
class Verdict:
    """`reason` is None when admitted, else "rate", "concurrency", "streams" or "revoked". Milliseconds throughout.

    `own`: of two caps it is that of the client which is reached, not that of the site.
    `remaining` are units left in the burst; `reset_ms` is the moment, in milliseconds since the epoch, at which all of it is back.
    """

    reason: str | None
    retry_after_ms: int = 0
    remaining: int = 0
    reset_ms: int = 0
    own: bool = False


class Admission(Protocol):
    """Rate, permits, revocation and the audit stream, decided in one step (docs/rules.md, Governance order).

    A permit of a call counts for the site and for its client, from the same moment to the same moment. Raises Unavailable when it cannot
    decide. `renew` has permits that are still held, of calls or of streams, lapse no sooner than `lease_ms` from now, and does nothing for
    those that are not held. `release` frees the permit and appends the outcome; it must be called exactly once for every admitted Ask,
    and calling it twice frees nothing twice.
    """

    def admit(self, ask: Ask) -> Verdict: ...
    def renew(self, asks: Collection[Ask], lease_ms: int) -> None: ...
    def release(self, ask: Ask, outcome: Mapping[str, str] | None) -> None: ...
    def record(self, event: Mapping[str, str]) -> None:
        """Append an audit record and nothing else (a refusal for scope, say)."""


class Runner(Protocol):
    """Processes beside this one, for work that may be long; see `core.placing` for what a task and an answer hold."""

    def run(self, task: bytes, deadline: Deadline, note: Callable[[bytes], None]) -> bytes:
        """The answer to `task`; `note` gets what is said meanwhile. Waits for a free process, within the deadline.

        Raises TimedOut or Cancelled once the work has been killed, WorkLost when its process has ended, Unavailable when none can start.
        """
