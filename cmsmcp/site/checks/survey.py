"""What every check asks: the site's configuration, its catalog, its media, and whether a URL leads anywhere.

Made once for a validation, so that the checks work on the final set of URLs.
Knows what exists, not what is right.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import blake2b
from typing import Any
from urllib.parse import unquote

from cmsmcp.core.deadline import Deadline
from cmsmcp.core.ports import Visibility
from cmsmcp.site.catalog.reader import CatalogReader
from cmsmcp.site.catalog.versions import version_of
from cmsmcp.site.catalog.visibility import EVERYTHING, STATUS_SQL, sees_everything, veil_sql
from cmsmcp.site.data.redirects import Redirect, load_redirects
from cmsmcp.site.media import MediaLibrary, read_media, url_key
from cmsmcp.site.model import SiteConfig
from cmsmcp.site.paths import PathFault, inside, on_disk, read_bounded
from cmsmcp.site.permalinks import detours, original
from cmsmcp.site.routes import fixed_paths, language_prefixes, own_prefixes
from cmsmcp.site.urls import author_slug, is_absolute, is_own, normal_path, own_paths, split_url

_MAX_SOURCE = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Target:
    """Where a URL of this site leads: `row` and `status` if to a document."""

    row: int | None = None
    status: str | None = None


@dataclass(frozen=True)
class Survey:
    """`types` are the content types as they go out (`core.ports.ContentTypes.all`), `now` is in milliseconds.

    `visibility` None: every document, for the people who run the site. Else a hidden document is taken for an absent one.
    With a `path` only what that file refers to is looked at (`targets`), which is most of the work.
    Raises TimedOut when the deadline passes, Unavailable while there is no catalog.
    """

    config: SiteConfig
    types: Sequence[Mapping[str, Any]]
    reader: CatalogReader
    now: int
    deadline: Deadline
    visibility: Visibility | None = None
    path: str | None = None
    _lines: dict[str, list[str]] = field(default_factory=dict)

    @property
    def is_whole(self) -> bool:
        """Whether nothing is hidden from who asks."""
        return sees_everything(self.visibility)

    @cached_property
    def version(self) -> str:
        """Of what is seen (`catalog.versions`), short."""
        def ask(sql: str, values: Mapping[str, Any]) -> Any:
            return self.reader.row(sql, values, self.deadline)

        version = version_of(self.reader.meta(), ask, self.visibility or EVERYTHING, self.now)
        return blake2b(version.encode(), digest_size=6).hexdigest()

    def rows(self, sql: str, **parameters: Any) -> list[Any]:
        """The rows of a question, as this survey's reader may see them."""
        veil, own = veil_sql(self.visibility, self.now)
        return self.reader.rows(veil + sql, {**own, **parameters}, self.deadline)

    @cached_property
    def media(self) -> MediaLibrary:
        return read_media(self.config, self.deadline)

    @cached_property
    def redirects(self) -> Sequence[Redirect]:
        return load_redirects(self.config)[0]

    @cached_property
    def documents(self) -> dict[str, Target]:
        """Every document that has its URL to itself, by normal path."""
        found = self.rows(f"SELECT row, url, {STATUS_SQL} FROM documents WHERE served", now=self.now)
        return {normal_path(url): Target(row, status) for row, url, status in found}

    @cached_property
    def routes(self) -> dict[str, Target]:
        """Every URL path that is no media file, in the site's spelling."""
        prefixes = language_prefixes(self.config)
        paths = [*fixed_paths(self.config)]
        paths += [path for rule in self.redirects if rule.enabled for path in self.own_paths(rule.source)]
        for taxonomy, term, lang in self.rows("SELECT DISTINCT taxonomy, term, lang FROM terms JOIN documents USING (row) WHERE served"):
            paths.append(f"{prefixes.get(lang, '')}/{taxonomy}/{term}/")
        for author, lang in self.rows("SELECT DISTINCT author, lang FROM documents WHERE served AND author <> ''"):
            paths.append(f"{prefixes.get(lang, '')}/authors/{author_slug(author)}/")
        return {normal_path(path): Target() for path in paths} | self.documents

    @cached_property
    def targets(self) -> Mapping[str, Target | None]:
        """Every distinct link target in a body, and where it leads; None for nowhere, and for what is no path of this site."""
        sql = "SELECT DISTINCT target FROM links JOIN documents USING (row)"
        if self.path is not None:
            sql += " WHERE path = :path"
        found = (target for (target,) in self.rows(sql, path=self.path))
        return {target: self.find(target) for target in found}

    def own_paths(self, target: str) -> tuple[str, ...]:
        """`target` as paths of this site (query and fragment kept) if it starts with `/` or with the site's own base URL."""
        return own_paths(target, self.config.base_url) if target.startswith("/") or is_absolute(target) else ()

    def find(self, target: str) -> Target | None:
        """Where a link that starts with `/` or with a scheme leads on this site."""
        return next((found for path in self.own_paths(target) if (found := self.resolve(path))), None)

    def is_lost(self, target: str) -> bool:
        """Whether such a link should lead to something on this site, and does not."""
        return (target.startswith("/") or is_absolute(target)) and is_own(target, self.config.base_url) and self.find(target) is None

    def resolve(self, path: str) -> Target | None:
        """Where a path of this site leads, or None if nowhere. Query and fragment do not count."""
        bare = split_url(path)[0]
        plain = normal_path(bare)
        for at in (plain, *detours(self.config, plain)):
            if found := self.routes.get(at) or self._in_any_case.get(at.lower()):
                return found
        if plain.startswith(own_prefixes(self.config)):
            return Target()
        key = url_key(bare)
        if (key and self.media.find(key)) or self._is_asset(plain):
            return Target()
        return None

    @cached_property
    def _in_any_case(self) -> Mapping[str, Target]:
        """Where addresses are made of folders, most generators lower them: a document whose address is another's in no case is found."""
        folded: dict[str, list[Target]] = {}
        for url, target in self.documents.items() if self.config.permalinks else ():
            folded.setdefault(url.lower(), []).append(target)
        return {url: found[0] for url, found in folded.items() if len(found) == 1}

    def untranslated(self, target: str) -> str | None:
        """The language in which a link asks for a page that is there in the default one alone; None for any other link."""
        for path in self.own_paths(target):
            found = original(self.config, normal_path(split_url(path)[0]))
            if found and self.resolve(found[1]):
                return found[0]
        return None

    def _is_asset(self, path: str) -> bool:
        """`/theme/…` and `/plugins/<name>/…` are the `assets/` folders of the active theme and of the plugins."""
        first, *rest = (unquote(part) for part in path.strip("/").split("/"))
        if first == "theme" and rest:
            assets, file = f"{self.config.themes_dir}/{self.config.theme}/assets", rest
        elif first == "plugins" and len(rest) > 1:
            assets, file = f"{self.config.plugins_dir}/{rest[0]}/assets", rest[1:]
        else:
            return False
        base = self.config.root / on_disk(self.config.root, assets)
        place = self.config.root / on_disk(self.config.root, "/".join((assets, *file)))
        return inside(self.config.root, base) and inside(base, place) and os.path.isfile(place)  # noqa: PTH113 - takes any text

    def line_of(self, path: str, text: str) -> int | None:
        """The first line of a file that holds `text`; for findings whose place the catalog does not keep."""
        if path not in self._lines:
            try:
                source = read_bounded(self.config.root, path, _MAX_SOURCE).decode("utf-8", "replace")
            except PathFault:
                source = ""
            if len(self._lines) > 16:
                self._lines.clear()
            self._lines[path] = source.split("\n")
        return next((number for number, line in enumerate(self._lines[path], 1) if text in line), None)


def is_relative(target: str) -> bool:
    """A target that a browser resolves against the page's own URL. Template code is no target."""
    return not (is_absolute(target) or target.startswith(("/", "#", "?", "\\")) or "{" in target or not target.strip())
