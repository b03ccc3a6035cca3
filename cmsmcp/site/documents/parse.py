"""One Markdown file into one document (docs/rules.md, Front matter, Identity and URLs), every fault with file, line and key.

Pure: same bytes, configuration and types, same result. Must not know other documents or the clock: equal URLs are the catalog's to find,
`status.status_at` is told the time.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Any, TypeVar

from cmsmcp.site.config.languages import folder_language, normal
from cmsmcp.site.documents.frontmatter import Split, split
from cmsmcp.site.documents.status import read_status
from cmsmcp.site.markdown.links import first_heading
from cmsmcp.site.model import ERROR, WARNING, Diagnostic, ParsedDocument, ParseResult, SiteConfig
from cmsmcp.site.paths import composed, is_plain
from cmsmcp.site.permalinks import path_of
from cmsmcp.site.times import read_moment
from cmsmcp.site.types.fields import read_value
from cmsmcp.site.types.registry import ContentType, TypeRegistry, entry_values, validate_entry
from cmsmcp.site.urls import encode_segment
from cmsmcp.site.yaml.loader import Node, Scalar, YamlFault, core_value, is_null, mapping, text, text_list
from cmsmcp.site.yaml.values import kind_of

T = TypeVar("T")
MAX_SLUG = 255
# Foundry's own keys; everything else is a declared field or a parameter.
_OWN = frozenset(
    {"title", "slug", "layout", "summary", "author", "last_editor", "date", "created_at", "updated_at", "draft", "tags", "categories",
     "taxonomies", "fields"}
)  # fmt: skip
_NOTHING: Mapping[str, Node] = {}


def parse_document(path: str, raw: bytes, config: SiteConfig, types: TypeRegistry) -> ParseResult:
    """The document in `raw`, the content of the site path `path`. Without one, at least one diagnostic is an error."""
    kind = types.of_path(path)
    if kind is None:
        return ParseResult(None, (Diagnostic(ERROR, "content_type", path, "the file lies in no folder of a content type"),))
    parts = split(raw, path)
    if parts.diagnostics:
        return ParseResult(None, parts.diagnostics)
    reading = _Reading(path, kind, config, parts)
    document = reading.document(types.defaults.get(kind.slug, {}))
    reading.check_entry(document)
    return ParseResult(None if reading.fatal else document, tuple(reading.faults))


class _Reading:
    """One document being read. `fatal` once something was found that keeps it from being served; `unread` are keys whose value was
    no use, so that nothing more is to be said of them."""

    def __init__(self, path: str, kind: ContentType, config: SiteConfig, parts: Split) -> None:
        self.path = path
        self.kind = kind
        self.config = config
        self.parts = parts
        self.entries: Mapping[str, Node] = parts.node.entries if parts.node is not None else _NOTHING
        self.faults: list[Diagnostic] = []
        self.fatal = False
        self.unread: set[str] = set()

    def document(self, defaults: Mapping[str, Any]) -> ParsedDocument:
        """Whole even when it must not be served: a type's rules are then still checked, so that one fault hides no other."""
        lang, inner = self.place()
        slug = self.slug(PurePosixPath(inner).name)
        status = read_status(self.entries, self.note)
        fields = {**defaults, **self.fields()}
        author = composed(self.text("author"))
        params = {key: core_value(node) for key, node in self.entries.items() if key not in _OWN and key not in fields}
        title = self.text("title").strip() or (slug if self.parts.node is not None else first_heading(self.parts.body) or slug)
        owner = author or (composed(str(params["owner"])) if isinstance(params.get("owner"), str | int) else "")
        dates = [self.moment(key) for key in ("date", "created_at", "updated_at")]
        taxonomies = self.taxonomies()
        self.fatal = self.fatal or status.unreadable
        slug_of_type = self.kind.slug
        return ParsedDocument(
            path=self.path, id=f"{lang}:{slug_of_type}:{inner}", type=slug_of_type, lang=lang, slug=slug, url=self.url(lang, inner, slug),
            key=f"{slug_of_type}:{inner}", title=title,
            status=status.status, publish_at=status.publish_at, unpublish_at=status.unpublish_at,
            layout=self.text("layout") or self.config.default_layouts.get(slug_of_type, slug_of_type), summary=self.text("summary"),
            author=author, owner=owner, last_editor=self.text("last_editor"), date=dates[0], created_at=dates[1], updated_at=dates[2],
            taxonomies=taxonomies, fields=fields, params=params, body=self.parts.body, body_line=self.parts.body_line,
        )

    def place(self) -> tuple[str, str]:
        """Language, and the path below section and language folder without `.md`, composed."""
        inner = composed(self.path[len(self.kind.folder) + 1:].removesuffix(".md"))
        first, slash, rest = inner.partition("/")
        lang = folder_language(first, self.config.locales) if slash else None
        if lang is None:
            return self.config.default_lang, inner
        return (self.config.default_lang if normal(lang) == normal(self.config.default_lang) else lang), rest

    def slug(self, stem: str) -> str:
        slug = composed(self.text("slug").strip() or stem)
        if "/" in slug or "\\" in slug or ".." in slug or slug in ("", ".") or len(slug) > MAX_SLUG or not is_plain(slug):
            where = self.entries.get("slug")
            source = "`slug`" if where is not None and self.text("slug").strip() else "the file's name, which is the slug,"
            message = f"{source} must not hold `/`, `\\`, `..` or control characters, nor more than {MAX_SLUG} characters"
            self.add(ERROR, "slug", message, where, fatal=True)
        return slug

    def url(self, lang: str, inner: str, slug: str) -> str:
        permalink = self.config.permalinks.get(self.kind.slug)
        if permalink is not None and not self.kind.single:
            return permalink.url(lang, self.config.default_lang, path_of(inner, slug))
        prefix = "" if lang == self.config.default_lang else f"/{normal(lang)}"
        kind = self.kind
        if kind.slug == "page":
            return f"{prefix}/" if slug == "index" else f"{prefix}/{encode_segment(slug)}/"
        if kind.slug == "post":
            return f"{prefix}/posts/{encode_segment(slug)}/"
        return f"{prefix}/{kind.slug}/" if kind.single else f"{prefix}/{kind.table}/{encode_segment(slug)}/"

    def fields(self) -> dict[str, Any]:
        """`fields:` and top-level keys that are declared fields, by their declared types; undeclared ones by the core schema."""
        # The built-in types declare what Foundry has anyway: there, `fields:` is free.
        declared = {field.name: field for field in self.kind.fields} if self.kind.path else {}
        given = {key: node for key, node in self.entries.items() if key in declared and key not in _OWN} if declared else {}
        node = self.entries.get("fields")
        if node is not None:
            given |= self.convert(mapping, node, "fields", {})
        values: dict[str, Any] = {}
        for name, value in given.items():
            field = declared.get(name)
            if field is None:
                values[name] = core_value(value)
                continue
            try:
                values[name] = read_value(field, value, self.warn)
            except YamlFault as fault:
                self.add(ERROR, "field_type", fault.message, value, fatal=True)
                self.unread.add(name)
        return values

    def check_entry(self, document: ParsedDocument) -> None:
        """A document of a built-in type is Foundry's first and no less served for a value that is none as an entry."""
        declared = bool(self.kind.path)
        inside = self.entries.get("fields")
        given = getattr(inside, "entries", {})
        for name, message in validate_entry(self.kind, entry_values(self.kind, document)):
            if not self.unread & {name, "fields"}:
                where = given.get(name) or self.entries.get(name) or inside
                self.add(ERROR if declared else WARNING, "entry", message, where, fatal=declared)

    def taxonomies(self) -> dict[str, tuple[str, ...]]:
        found: dict[str, tuple[str, ...]] = {}
        for name in ("tags", "categories"):
            if name in self.entries:
                found[name] = self.terms(name, self.entries[name])
        node = self.entries.get("taxonomies")
        if node is not None:
            groups: dict[str, Node] = self.convert(mapping, node, "taxonomies", {})
            for name, terms in groups.items():
                found[composed(name)] = self.terms(f"taxonomies.{name}", terms)
        return {name: terms for name, terms in found.items() if terms}

    def terms(self, key: str, node: Node) -> tuple[str, ...]:
        terms: list[str] = self.convert(self.text_list, node, key, [])
        return tuple(dict.fromkeys(composed(term.strip()) for term in terms))

    def text_list(self, node: Node, key: str) -> list[str]:
        return text_list(node, key, self.warn)

    def text(self, key: str) -> str:
        node = self.entries.get(key)
        if node is None:
            return ""
        if isinstance(node, Scalar) and node.plain is False:
            return node.text
        return self.convert(text, node, key, "")

    def moment(self, key: str) -> str | None:
        node = self.entries.get(key)
        if node is None or is_null(node):
            return None
        moment = read_moment(node.text) if isinstance(node, Scalar) else None
        if moment is None:
            if isinstance(node, Scalar) and not node.text.strip():
                return None
            self.add(ERROR, "date", f"`{key}` is {kind_of(node)}, but a date or time is wanted, such as 2026-03-06", node, fatal=True)
            self.unread.add(key)
            return None
        if moment.zoneless:
            self.add(WARNING, "date", f"`{key}` has no zone and is taken as UTC; add Z or an offset", node)
        return moment.iso

    def convert(self, converter: Any, node: Node, key: str, default: T) -> T:
        try:
            return converter(node, key)
        except YamlFault as fault:
            self.add(ERROR, "field_type", fault.message, fault.line, fatal=True)
            self.unread.add(key)
            return default

    def warn(self, node: Node, message: str) -> None:
        self.add(WARNING, "field_type", message, node)

    def note(self, severity: str, check: str, message: str, node: Node) -> None:
        self.add(severity, check, message, node)

    def add(self, severity: str, check: str, message: str, at: Node | int | None, *, fatal: bool = False) -> None:
        """`at` is the node or the line at fault; None: the file's first line. `fatal`: the document must not be served."""
        self.fatal = self.fatal or fatal
        line = at if isinstance(at, int) else at.line if at is not None else 1
        fault = Diagnostic(severity, check, self.path, message, line)
        if fault not in self.faults:
            self.faults.append(fault)


