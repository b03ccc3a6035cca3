"""Plank's content types on a file-based site (P16–P22): `content/types/<slug>.yaml`, plus `page` and `post` without a file.

A type with a fault in it is an error and is not served, the rest are. Knows types, not documents; `validate_entry` and `entry_values`
take what a document gives.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from cmsmcp.protocol.errors import ContentTypeNotFound
from cmsmcp.site.model import ERROR, WARNING, Diagnostic, Locales, SiteConfig
from cmsmcp.site.paths import PathFault, inside, is_plain, read_bounded, shown
from cmsmcp.site.types.fields import Field, check_value
from cmsmcp.site.types.files import MAX_BYTES, ContentType, TypeReader, type_id

__all__ = ["ContentType", "Field", "TypeRegistry", "entry_values", "load_types", "validate_entry"]

MAX_TYPES = 500
# What a document carries by itself, whichever type it has: these fields need no `fields:` entry.
ATTRIBUTES = frozenset(
    {"title", "slug", "summary", "date", "author", "layout", "created_at", "updated_at", "last_editor"}
)
_BUILT_IN: Mapping[str, tuple[str, str, tuple[dict[str, Any], ...]]] = {
    "page": ("Pages", "pages", (
        {"name": "title", "type": "string", "required": True},
        {"name": "slug", "type": "uid", "required": True, "targetField": "title"},
        {"name": "summary", "type": "text"},
        {"name": "body", "type": "richtext"},
    )),
    "post": ("Posts", "posts", (
        {"name": "title", "type": "string", "required": True},
        {"name": "slug", "type": "uid", "required": True, "targetField": "title"},
        {"name": "date", "type": "datetime"},
        {"name": "summary", "type": "text"},
        {"name": "body", "type": "richtext"},
    )),
}  # fmt: skip


class TypeRegistry:
    """The types of a site. Serves the port `core.ports.ContentTypes` as well.

    `defaults` are the values Foundry's `fields.schemas` fills in where a document has none, by type slug.
    """

    def __init__(
        self, types: Sequence[ContentType], locales: Locales, diagnostics: Sequence[Diagnostic] = (),
        defaults: Mapping[str, Mapping[str, Any]] | None = None,
    ) -> None:
        self.types = tuple(sorted(types, key=lambda kind: (kind.name, kind.slug)))
        self.by_slug = {kind.slug: kind for kind in self.types}
        self.by_table = {kind.table: kind for kind in self.types}
        self.by_folder = {kind.folder: kind for kind in self.types}
        self.diagnostics = tuple(diagnostics)
        self.defaults = dict(defaults or {})
        self._locales = locales

    def names(self) -> list[str]:
        """Every slug, sorted."""
        return sorted(self.by_slug)

    def find(self, slug: str) -> ContentType | None:
        return self.by_slug.get(slug)

    def of_path(self, path: str) -> ContentType | None:
        """The type whose folder holds the site path `path`; the deepest folder wins."""
        folder = path
        while "/" in folder:
            folder = folder.rpartition("/")[0]
            if folder in self.by_folder:
                return self.by_folder[folder]
        return None

    def all(self) -> Sequence[Mapping[str, Any]]:
        """Plank's objects, sorted by name."""
        return [kind.persisted for kind in self.types]

    def get(self, slug: str) -> Mapping[str, Any]:
        """One of them. Raises ContentTypeNotFound."""
        kind = self.by_slug.get(slug)
        if kind is None:
            raise ContentTypeNotFound(slug)
        return kind.persisted

    def locales(self) -> Mapping[str, Any]:
        """`{"defaultLocale": str, "locales": [str]}` (P21)."""
        return {"defaultLocale": self._locales.default, "locales": list(self._locales.codes)}


def load_types(config: SiteConfig) -> TypeRegistry:
    """Every type of the site, faults as diagnostics. Reads `content/types/*.yaml` only."""
    faults: list[Diagnostic] = []
    built_in = {slug: _built_in(slug, config) for slug in _BUILT_IN}
    declared: dict[str, ContentType] = {}
    for path, slug in _type_files(config, faults):
        kind = _read_type(config, path, slug, faults)
        if kind is not None:
            declared[slug] = kind
    _refuse_clashes(declared, built_in, faults)
    _refuse_lost_relations(declared, built_in, faults)
    served = {**built_in, **declared}
    defaults = {slug: found for slug in served if (found := _schema_defaults(config, slug))}
    return TypeRegistry(list(served.values()), config.locales, faults, defaults)


def validate_entry(kind: ContentType, values: Mapping[str, Any]) -> list[tuple[str, str]]:
    """`(field, message)` for every rule that an entry's values (as `entry_values` gives them) break; keys no field has are ignored."""
    return [fault for field in kind.fields for fault in check_value(field, values.get(field.name))]


def entry_values(kind: ContentType, document: Any) -> dict[str, Any]:
    """An entry's value for each declared field, in the type's order; None where it has none.

    `document` is a ParsedDocument or a `core.ports.Document`. In this order: the first richtext field is the body; then `fields:`,
    the document's own attributes, its taxonomies, what else its front matter holds.
    """
    body_field = kind.body_field
    values: dict[str, Any] = {}
    for field in kind.fields:
        name = field.name
        if name == body_field:
            values[name] = document.body
        elif name in document.fields:
            values[name] = document.fields[name]
        elif name in ATTRIBUTES:
            values[name] = getattr(document, name) or None
        elif name in document.taxonomies:
            values[name] = list(document.taxonomies[name])
        else:
            values[name] = document.params.get(name)
    return values


def _built_in(slug: str, config: SiteConfig) -> ContentType:
    name, table, options = _BUILT_IN[slug]
    persisted = {
        "id": type_id(slug), "name": name, "slug": slug, "kind": "collection", "previewEnabled": True, "tableName": table,
        "fields": [dict(option) for option in options], "isDefault": True,
    }
    fields = tuple(Field(o["name"], o["type"], o.get("required", False), target=o.get("targetField", "")) for o in options)
    return ContentType(slug, name, "collection", table, config.content_dirs[table], fields, persisted)


def _schema_defaults(config: SiteConfig, slug: str) -> dict[str, Any]:
    """Defaults of `fields.schemas.<slug or default>.fields[]` in site.yaml (docs/rules.md, Front matter)."""
    fields = config.values.get("fields")
    schemas = fields.get("schemas") if isinstance(fields, dict) else None
    schema = (schemas.get(slug) or schemas.get("default")) if isinstance(schemas, dict) else None
    declared = schema.get("fields") if isinstance(schema, dict) else None
    found = [field for field in declared if isinstance(field, dict)] if isinstance(declared, list) else []
    return {str(field["name"]): field["default"] for field in found if field.get("name") and field.get("default") is not None}


def _type_files(config: SiteConfig, faults: list[Diagnostic]) -> Iterator[tuple[str, str]]:
    folder = f"{config.content_dir}/types"
    if not inside(config.root, config.root / folder):
        faults.append(Diagnostic(ERROR, "symlink", folder, "the folder is a link that leaves the site"))
        return
    try:
        with os.scandir(config.root / folder) as entries:
            names = sorted(entry.name for entry in entries)
    except (FileNotFoundError, NotADirectoryError):
        return
    except OSError:
        faults.append(Diagnostic(ERROR, "unreadable", folder, "the folder cannot be read; check its permissions"))
        return
    kept = [name for name in names if name.endswith((".yaml", ".yml")) and not name.startswith(".") and is_plain(name)]
    seen: set[str] = set()
    for name in kept[:MAX_TYPES]:
        slug = name.rpartition(".")[0]
        if slug in seen:
            faults.append(Diagnostic(ERROR, "content_type", f"{folder}/{name}", f"the type {slug} has two files; keep one"))
            continue
        seen.add(slug)
        yield f"{folder}/{name}", slug
    if len(kept) > MAX_TYPES:
        faults.append(Diagnostic(WARNING, "content_type", folder, f"more than {MAX_TYPES} types; the rest are left out"))


def _read_type(config: SiteConfig, path: str, slug: str, faults: list[Diagnostic]) -> ContentType | None:
    try:
        source = read_bounded(config.root, path, MAX_BYTES).decode("utf-8-sig").replace("\r\n", "\n")
    except PathFault as fault:
        faults.append(Diagnostic(ERROR, "content_type", path, fault.message))
        return None
    except UnicodeDecodeError:
        faults.append(Diagnostic(ERROR, "content_type", path, "the file is not UTF-8; save it as UTF-8"))
        return None
    own = _BUILT_IN.get(slug)
    # `page` and `post` keep Foundry's folders, whatever their table is called.
    folder = config.content_dirs[own[1]] if own else config.content_dir + "/{table}"
    reader = TypeReader(path, slug)
    kind = reader.read(source, folder, own[1] if own else slug.replace("-", "_"))
    faults.extend(reader.faults)
    return kind


def _refuse_clashes(declared: dict[str, ContentType], built_in: Mapping[str, ContentType], faults: list[Diagnostic]) -> None:
    """name and tableName are unique; the first file keeps them. A folder belongs to one type."""
    taken: dict[tuple[str, str], str] = {}
    for slug, kind in built_in.items():
        taken[("folder", kind.folder)] = slug
        if slug not in declared:
            taken[("table", kind.table)] = taken[("name", kind.name.lower())] = slug
    for slug in sorted(declared, key=lambda slug: (slug not in built_in, slug)):
        kind = declared[slug]
        claims = [("table", kind.table), ("name", kind.name.lower()), ("folder", kind.folder)]
        lost = next((claim for claim in claims if taken.get(claim, slug) != slug), None)
        if lost is None:
            taken.update(dict.fromkeys(claims, slug))
            continue
        message = f"the {lost[0]} {shown(lost[1])} belongs to the type {taken[lost]} already; choose another"
        line = kind.lines.get({"table": "tableName"}.get(lost[0], lost[0]), 1)
        faults.append(Diagnostic(ERROR, "content_type", kind.path, message, line))
        del declared[slug]


def _refuse_lost_relations(declared: dict[str, ContentType], built_in: Mapping[str, ContentType], faults: list[Diagnostic]) -> None:
    """A relation leads to a type that is served; refusing one type may take others with it, so until nothing changes."""
    changed = True
    while changed:
        changed = False
        served = {**built_in, **declared}
        tables = {kind.table for kind in served.values()}
        for slug, kind in sorted(declared.items()):
            lost = [(options["name"], fault) for options in kind.persisted["fields"] if (fault := _lost(options, served, tables))]
            if lost:
                faults += [Diagnostic(ERROR, "content_type", kind.path, fault, kind.lines.get(f"fields.{name}", 1)) for name, fault in lost]
                del declared[slug]
                changed = True


def _lost(options: Mapping[str, Any], served: Mapping[str, ContentType], tables: set[str]) -> str | None:
    if options["type"] != "relation":
        return None
    slug, table, name = options.get("relatedSlug"), options.get("relatedTable"), options["name"]
    if not slug and not table:
        return f"the relation {name} names no type; give `relatedSlug`"
    if (slug and slug not in served) or (table and table not in tables):
        return f"the relation {name} leads to {shown(str(slug or table))}, which is no type of this site"
    if slug and table and served[slug].table != table:
        return f"the relation {name} names the type {slug} and the table {table}, which is not its table"
    return None
