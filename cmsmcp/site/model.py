"""The site's own values, shared by the modules of this room. Plain data: no reading, no rules.

Times are integers, milliseconds since 1970 UTC, or ISO strings where they go out (`core.ports.Document`).
Paths are relative to the site folder, with forward slashes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cmsmcp.site.permalinks import Permalink

ERROR = "error"
WARNING = "warning"


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One thing wrong with the site: what (`check` is a stable snake_case word), where, and one line on how to mend it."""

    severity: str
    check: str
    path: str
    message: str
    line: int | None = None


@dataclass(frozen=True, slots=True)
class Locales:
    """`codes` as spelled in `locales:` (or found on disk); `fallbacks` maps a code to the chain tried after it, nearest first.

    `declared` says whether `locales:` is present in site.yaml. Matching ignores case and takes `_` for `-`.
    """

    default: str
    codes: tuple[str, ...]
    declared: bool
    fallbacks: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def find(self, code: str) -> str | None:
        """The spelling of `code` used here, or None."""
        wanted = code.replace("_", "-").lower()
        return next((c for c in self.codes if c.replace("_", "-").lower() == wanted), None)


@dataclass(frozen=True, slots=True)
class Taxonomy:
    """A taxonomy that is declared in site.yaml (`taxonomies.default_set` or `.definitions`)."""

    name: str
    title: str
    labels: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class SiteConfig:
    """site.yaml after layering, Foundry's part. Folder values are relative to `root`.

    `permalinks` are by type those whose addresses hold the folders.
    `values` is the whole merged configuration as plain values (secrets included: never expose it wholesale).
    `files` are the configuration files that were read, in layering order. `diagnostics` hold every fault found (two-pass, lenient);
    those in our own blocks (`mcp`, `api`, `governance`, `ops`, `locales`) are found by `settings`, which stops the start.
    """

    root: Path
    name: str
    title: str
    base_url: str
    theme: str
    environment: str
    default_lang: str
    content_dir: str
    public_dir: str
    themes_dir: str
    data_dir: str
    plugins_dir: str
    content_dirs: Mapping[str, str]
    default_layouts: Mapping[str, str]
    locales: Locales
    taxonomies: Mapping[str, Taxonomy]
    menus: Mapping[str, Sequence[Mapping[str, Any]]]
    plugins_enabled: tuple[str, ...]
    feed_paths: tuple[str, ...]
    permalinks: Mapping[str, Permalink]
    values: Mapping[str, Any]
    files: tuple[str, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()


@dataclass(frozen=True, slots=True)
class Link:
    """A reference found in a body: `kind` is "link", "image" or "html"; `line` counts in the file, from 1."""

    target: str
    kind: str
    line: int


@dataclass(frozen=True, slots=True)
class BodyScan:
    """What the index and the checks need of a Markdown body. `text` is plain text for search and snippets."""

    links: tuple[Link, ...]
    headings: tuple[str, ...]
    anchors: tuple[str, ...]
    text: str


@dataclass(frozen=True, slots=True)
class ParsedDocument:
    """One file that can be served (if its status allows). `status` is the one computed without the clock;
    `publish_at` and `unpublish_at` (ms or None) bound it in time (`documents.status_at`). `key` groups translations:
    type and path below the language folder. `owner` is the author, else `params.owner`.
    """

    path: str
    id: str
    type: str
    lang: str
    slug: str
    url: str
    key: str
    title: str
    status: str
    publish_at: int | None
    unpublish_at: int | None
    layout: str
    summary: str
    author: str
    owner: str
    last_editor: str
    date: str | None
    created_at: str | None
    updated_at: str | None
    taxonomies: Mapping[str, tuple[str, ...]]
    fields: Mapping[str, Any]
    params: Mapping[str, Any]
    body: str
    body_line: int


@dataclass(frozen=True, slots=True)
class ParseResult:
    """`document` is None when the file cannot be served; `diagnostics` then hold at least one error."""

    document: ParsedDocument | None
    diagnostics: tuple[Diagnostic, ...] = ()
