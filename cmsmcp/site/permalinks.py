"""Addresses made of folders: the patterns of `permalinks` in site.yaml that hold `:path` (docs/rules.md, Identity and URLs).

Foundry reads such patterns and never uses them, so one without `:path` changes nothing here either. Knows patterns and texts, no documents.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import get_close_matches

from cmsmcp.site.config.languages import normal
from cmsmcp.site.config.reader import ConfigReader
from cmsmcp.site.model import WARNING, SiteConfig
from cmsmcp.site.urls import encode_segment, normal_path
from cmsmcp.site.yaml.loader import Node, text

PATH, LANG = ":path", ":lang"
INDEX = frozenset({"index", "_index"})
"""Slugs of a document that stands for its folder."""
FOUNDRYS = {
    "page_default": "/:slug/", "page_i18n": "/:lang/:slug/", "post_default": "/posts/:slug/", "post_i18n": "/:lang/posts/:slug/",
}  # fmt: skip
_IDLE = frozenset({":slug", ":year", ":month", ":day", ":title", ":section", ":type", ":id"})
"""Placeholders that other patterns may hold, here and elsewhere. Beside `:path` they have no meaning."""


@dataclass(frozen=True, slots=True)
class Permalink:
    """The segments of a type's pattern in the default language and in the others; `:path` and `:lang` stand for what they name."""

    default: tuple[str, ...]
    others: tuple[str, ...]

    def url(self, lang: str, default_lang: str, path: Sequence[str]) -> str:
        """The address of what lies at `path`: its folders, then its slug."""
        pattern = self.default if lang == default_lang else self.others
        return "/" + "".join(f"{segment}/" for segment in _filled(pattern, lang, path))


def read_permalinks(read: ConfigReader) -> dict[str, Permalink]:
    """By type, those that hold `:path`. Adds to `read.faults`."""
    patterns: dict[str, tuple[str, ...]] = {}
    for key, node in read.map("permalinks").items():
        name, _, side = key.rpartition("_")
        if not name or side not in ("default", "i18n"):
            message = f"`permalinks.{key}` is unknown; write page_default, post_default or <type>_default, or the same with _i18n"
            read.fault(node, message, WARNING)
            continue
        pattern = _pattern(read, key, node)
        if pattern is not None:
            patterns[key] = pattern
    found = {}
    for key, default in patterns.items():
        name = key.removesuffix("_default")
        if name != key:
            found[name] = Permalink(default, patterns.get(f"{name}_i18n", default if LANG in default else (LANG, *default)))
        elif f"{key.removesuffix('_i18n')}_default" not in patterns:
            read.fault(read.map("permalinks")[key], f"`permalinks.{key}` holds :path and needs a _default beside it that does")
    return found


def path_of(inner: str, slug: str) -> tuple[str, ...]:
    """From a document's path below type and language, and its slug: the folders, then the slug; of an index the folders alone."""
    folders = tuple(inner.split("/")[:-1])
    return folders if slug in INDEX else (*folders, slug)


def urls_of_path(config: SiteConfig, path: str, type_: str | None) -> list[str]:
    """Every address that somebody may mean who names a document, of that type or any, by its path, such as `guide/install`."""
    parts = [part for part in path.split("/") if part]
    if parts and parts[-1] in INDEX:
        del parts[-1]
    if not parts:
        return []
    chosen = [one for name, one in config.permalinks.items() if type_ in (None, name)]
    languages = (config.default_lang, *config.locales.codes)
    return list(dict.fromkeys(one.url(lang, config.default_lang, parts) for one in chosen for lang in languages))


def detours(config: SiteConfig, path: str) -> Iterator[str]:
    """Where a path of this site that is no document's leads all the same: generators that make addresses of folders answer at the default
    language's prefix too, and show a page that is not translated in the language that `locales` falls back to."""
    code, rest = _language(config, path)
    if code is None:
        return
    for other in (code, *config.locales.fallbacks.get(code, ())):
        if other == config.default_lang:
            yield rest
        elif other != code:
            yield f"/{normal(other)}{rest}"


def original(config: SiteConfig, path: str) -> tuple[str, str] | None:
    """The language that a path of this site is in, if it is not the default one, and the same path in the default one."""
    code, rest = _language(config, path)
    return (code, rest) if code not in (None, config.default_lang) else None  # type: ignore[return-value]


def _language(config: SiteConfig, path: str) -> tuple[str | None, str]:
    first, _, rest = path.strip("/").partition("/")
    return (config.locales.find(first) if config.permalinks else None), f"/{rest}/" if rest else "/"


def _filled(pattern: Sequence[str], lang: str, path: Sequence[str]) -> Iterator[str]:
    for segment in pattern:
        if segment == PATH:
            yield from map(encode_segment, path)
        else:
            yield normal(lang) if segment == LANG else segment


def _pattern(read: ConfigReader, key: str, node: Node) -> tuple[str, ...] | None:
    """The segments of a pattern that holds `:path` and is sound."""
    pattern = read.convert(text, node, f"permalinks.{key}", "").strip()
    segments = [segment for segment in pattern.split("/") if segment]
    wrong = next(iter(_faults(pattern, segments)), None)
    if wrong:
        read.fault(node, f"`permalinks.{key}` {wrong}")
    elif PATH not in segments and pattern and pattern != FOUNDRYS.get(key):
        read.fault(node, f"`permalinks.{key}` changes nothing, as in Foundry: only patterns with {PATH} count, such as /{PATH}/", WARNING)
    if wrong or PATH not in segments:
        return None
    return tuple(segment if segment in (PATH, LANG) else normal_path(segment).strip("/") for segment in segments)


def _faults(pattern: str, segments: Sequence[str]) -> Iterator[str]:
    if pattern and not pattern.startswith("/"):
        yield "must start with a slash"
    for segment in segments:
        if segment in (".", "..") or set(segment) & set("\\?#"):
            yield f"holds {segment[:40]!r}, which is no part of an address"
        if ":" in segment and segment not in (PATH, LANG) and segment not in _IDLE:
            near = get_close_matches(segment.lower(), (PATH, LANG, ":slug"), n=1, cutoff=0.6)
            meant = f" Did you mean {near[0]}?" if near else ""
            yield f"holds {segment[:40]!r}, but a placeholder stands alone between slashes and is {PATH} or {LANG}.{meant}"
    if PATH in segments:
        idle = next((segment for segment in segments if segment in _IDLE), None)
        if idle:
            yield f"holds {idle} beside {PATH}, which ends with the slug already; leave {idle} out"
        if segments.count(PATH) > 1:
            yield f"holds {PATH} twice"
