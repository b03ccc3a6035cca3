"""Checks of the site as a whole: slugs, layouts, taxonomies, menus, redirects, theme, plugins, links that leave it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from cmsmcp.site.checks.survey import Survey
from cmsmcp.site.data.files import read_data
from cmsmcp.site.folder import names_in, raw_names_in, scan
from cmsmcp.site.model import ERROR, WARNING, Diagnostic
from cmsmcp.site.paths import PathFault, composed, inside, on_disk, read_bounded
from cmsmcp.site.themes.analysis import SKIPPED
from cmsmcp.site.urls import normal_url
from cmsmcp.site.walk import walk
from cmsmcp.site.yaml.loader import Mapping as YamlMapping
from cmsmcp.site.yaml.loader import Node, Scalar, Sequence, YamlFault, load

_MAX_DOCS = 5_000


def duplicate_slugs(survey: Survey) -> Iterator[Diagnostic]:
    """The same type, language and slug twice, where folders do not count."""
    first = "first_value({0}) OVER (PARTITION BY type, lang, slug ORDER BY path) AS first_{0}"
    others = "type NOT IN (SELECT value FROM json_each(:by_path))"
    inner = f"SELECT path, slug, id, {first.format('path')}, {first.format('id')} FROM documents WHERE {others}"
    sql = f"SELECT path, slug, first_path, id, first_id FROM ({inner}) WHERE path <> first_path"
    for path, slug, before, *ids in survey.rows(sql, by_path=json.dumps(list(survey.config.permalinks))):
        hint = _folders_hint(survey, *ids)
        message = f"the slug {slug} is that of {before} already, in the same type and language; change one{hint}"
        yield Diagnostic(ERROR, "duplicate_slugs", path, message, survey.line_of(path, "slug:"))


def duplicate_urls(survey: Survey) -> Iterator[Diagnostic]:
    """Documents that another one of the same URL keeps out. Which one is served: `catalog.visibility`."""
    for path, url, first, *ids in _displaced(survey, "url"):
        hint = _folders_hint(survey, *ids)
        message = f"same URL {url} as {first}, which is served; give one of them another slug{hint}"
        yield Diagnostic(ERROR, "duplicate_urls", path, message, survey.line_of(path, "slug:"))


def duplicate_ids(survey: Survey) -> Iterator[Diagnostic]:
    """The same for ids."""
    for path, id_, first, *_ in _displaced(survey, "id"):
        why = " (the names differ in their Unicode form alone)" if composed(path) == composed(first) else ""
        message = f"same id {id_} as {first}, which is served{why}; move or rename one of them"
        yield Diagnostic(ERROR, "duplicate_ids", path, message)


def _folders_hint(survey: Survey, id_: str, other: str) -> str:
    """A cure for documents that lie in different folders, where folders do not count."""
    (_, kind, inner), (_, _, beside) = id_.split(":", 2), other.split(":", 2)
    if kind in survey.config.permalinks or inner.rpartition("/")[0] == beside.rpartition("/")[0]:
        return ""
    return f"; folders do not count here: set `permalinks: {{{kind}_default: /:path/}}` in site.yaml, and they do"


def missing_templates(survey: Survey) -> Iterator[Diagnostic]:
    """Documents whose layout the active theme does not have. The one that a content type implies need not exist (Foundry has none)."""
    theme = survey.config.root / on_disk(survey.config.root, f"{survey.config.themes_dir}/{survey.config.theme}")
    if not theme.is_dir():
        return  # the check of the theme says so, once
    missing = []
    wanted = "layout <> '' AND (type IN ('page', 'post') OR layout <> type)"
    for (layout,) in survey.rows(f"SELECT DISTINCT layout FROM documents WHERE {wanted}"):
        file = theme / "layouts" / f"{layout}.html"
        if "\0" in layout or not inside(theme / "layouts", file) or not file.is_file():
            missing.append(layout)
    sql = f"SELECT path, layout FROM documents WHERE {wanted} AND layout IN (SELECT value FROM json_each(:layouts))"
    for path, layout in survey.rows(sql, layouts=json.dumps(missing)):
        message = f"the theme {survey.config.theme} has no layouts/{layout}.html"
        yield Diagnostic(ERROR, "missing_templates", path, message, survey.line_of(path, "layout:"))


def taxonomy_inconsistency(survey: Survey) -> Iterator[Diagnostic]:
    """Taxonomies in use that site.yaml does not declare."""
    used = [name for (name,) in survey.rows("SELECT DISTINCT taxonomy FROM terms JOIN documents USING (row)")]
    unknown = [name for name in used if name not in survey.config.taxonomies]
    sql = "SELECT DISTINCT path, taxonomy FROM terms JOIN documents USING (row) WHERE taxonomy IN (SELECT value FROM json_each(:names))"
    for path, name in survey.rows(sql, names=json.dumps(unknown)):
        message = f"the taxonomy {name} is not declared; add it to taxonomies.definitions in site.yaml"
        yield Diagnostic(WARNING, "taxonomy_inconsistency", path, message, survey.line_of(path, f"{name}:"))


def navigation(survey: Survey) -> Iterator[Diagnostic]:
    """Menu entries that lead nowhere, or to a document that is not published. Their form is checked where menus are read."""
    for menu, entries in _menu_nodes(survey).items():
        for node in _entries(entries):
            url = normal_url(node.text) if node.text.strip() else ""
            found = survey.find(url)
            if survey.is_lost(url):
                yield Diagnostic(WARNING, "navigation", node.file, f"menu {menu}: {node.text} leads nowhere on this site", node.line)
            elif found and found.status not in (None, "published"):
                message = f"menu {menu}: {node.text} is {found.status}, so the entry is left out"
                yield Diagnostic(WARNING, "navigation", node.file, message, node.line)


def redirects(survey: Survey) -> Iterator[Diagnostic]:
    """Redirects to nowhere, and away from a document. Their form is checked where they are read."""
    sources = [path for rule in survey.redirects if rule.enabled for path in survey.own_paths(rule.source)]
    sql = "SELECT url, path FROM documents WHERE served AND url IN (SELECT value FROM json_each(:sources))"
    served = dict(survey.rows(sql, sources=json.dumps(sources)))
    for rule in survey.redirects:
        at = next((served[path] for path in survey.own_paths(rule.source) if path in served), None)
        if rule.enabled and at is not None:
            message = f"{rule.source} is redirected, but {at} is served there; remove one of them"
            yield Diagnostic(ERROR, "redirects", rule.path, message, rule.line)
        if rule.enabled and survey.is_lost(rule.target):
            message = f"{rule.source} is redirected to {rule.target}, which leads nowhere"
            yield Diagnostic(WARNING, "redirects", rule.path, message, rule.line)


def broken_relations(survey: Survey) -> Iterator[Diagnostic]:
    """Relations of entries to an entry that is not there: a relation names the slug or the id of an entry. One whose file is there with
    errors of its own is named, so that those are mended first."""
    kinds = {kind["slug"]: kind for kind in survey.types}
    tables = {kind["tableName"]: kind["slug"] for kind in survey.types}
    known: dict[str, set[str]] = {}
    unread: dict[str, str] | None = None
    for kind in kinds.values():
        relations = {one["name"]: one.get("relatedSlug") or tables.get(one.get("relatedTable", ""), "") for one in _relations(kind)}
        for related in set(relations.values()) - known.keys():
            rows = survey.rows("SELECT slug, id FROM documents WHERE type = :type", type=related)
            known[related] = {name for row in rows for name in row}
        if not relations:
            continue
        for path, fields in survey.rows("SELECT path, fields FROM documents WHERE type = :type", type=kind["slug"]):
            for name, value in _related(json.loads(fields), relations):
                if composed(value) in known[relations[name]]:
                    continue
                if not survey.is_whole:
                    # Whether what it names is hidden, faulty or absent is not said, and so not what it names either.
                    message = f"{name} leads to no {relations[name]} that is published; publish it, or name another"
                else:
                    unread = _unread(survey) if unread is None else unread
                    file = unread.get(f"{_folder(survey, kinds[relations[name]])}/{value.rpartition(':')[2].rpartition('/')[2]}.md")
                    why = f"but {file} has errors of its own; mend those" if file else f"which is the slug or id of no {relations[name]}"
                    message = f"{name} names {value}, {why}"
                yield Diagnostic(ERROR, "broken_relations", path, message, survey.line_of(path, f"{name}:"))


def _unread(survey: Survey) -> dict[str, str]:
    """Files that became no document, by section folder and file name: a language folder or a deeper one makes no difference to a slug."""
    sql = (
        "SELECT DISTINCT path FROM diagnostics WHERE origin = 'file' AND severity = 'error' AND path NOT IN (SELECT path FROM documents)"
    )
    folders = [_folder(survey, kind) for kind in survey.types]
    paths = [path for (path,) in survey.rows(sql)]
    return {f"{folder}/{path.rpartition('/')[2]}": path for folder in folders for path in paths if path.startswith(folder + "/")}


def _folder(survey: Survey, kind: Mapping[str, Any]) -> str:
    config = survey.config
    own = {"page": "pages", "post": "posts"}.get(kind["slug"])
    return config.content_dirs[own] if own else f"{config.content_dir}/{kind['tableName']}"


def symlink(survey: Survey) -> Iterator[Diagnostic]:
    """Links in the media, docs and theme folders that leave the site. Those among documents are found by the walk that reads them,
    those of the active theme and of plugins by their own reports."""
    config = survey.config
    docs = walk(config.root, "docs", survey.deadline, _MAX_DOCS)
    idle = [name for name in names_in(config.root, config.themes_dir) if name != config.theme]
    themes = [scan(config.root, f"{config.themes_dir}/{name}", SKIPPED, survey.deadline) for name in idle]
    for path in (*survey.media.escapes, *docs.escapes, *(path for theme in themes for path in theme.escapes)):
        yield Diagnostic(ERROR, "symlink", path, "this link leaves the site folder, so it is not followed; put the file itself here")


def equal_names(survey: Survey) -> Iterator[Diagnostic]:
    """Media, docs, themes and plugins of which another has the same name in another Unicode form. Documents have equal ids then."""
    config = survey.config
    docs = [file.path for file in walk(config.root, "docs", survey.deadline, _MAX_DOCS).files]
    folders = [f"{folder}/{name}" for folder in (config.themes_dir, config.plugins_dir) for name in raw_names_in(config.root, folder)]
    first: dict[str, str] = {}
    alike = [path for path in sorted((*docs, *folders)) if first.setdefault(composed(path), path) != path]
    for path in (*survey.media.alike, *alike):
        message = "another has this name in another Unicode form; one of them is served: rename or remove one"
        yield Diagnostic(ERROR, "equal_names", path, message)


def from_reports(check: str, diagnostics: Any, fallback: str, error: str = ERROR) -> Iterator[Diagnostic]:
    """Diagnostics of a theme or plugin report as findings. `error` is what an error there counts for here."""
    for one in diagnostics:
        severity = error if one["severity"] == ERROR else WARNING
        yield Diagnostic(severity, check, one.get("path") or fallback, one["message"], one.get("line"))


def _displaced(survey: Survey, what: str) -> Iterator[tuple[str, str, str, str, str]]:
    """(path, value, path of the one before it, both ids) of those that are kept out by their `what`: the URL counts first, then the id."""
    firsts: dict[tuple[str, str], tuple[str, str]] = {}
    for path, url, id_, served in survey.rows(
        "SELECT path, url, id, served FROM documents WHERE twin IS NOT NULL ORDER BY served DESC, path"
    ):  # fmt: skip
        (by_url, other), (by_id, _) = firsts.setdefault(("url", url), (path, id_)), firsts.setdefault(("id", id_), (path, id_))
        if not served and (by_url != path) == (what == "url"):
            yield (path, url, by_url, id_, other) if what == "url" else (path, id_, by_id, id_, id_)


def _relations(kind: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The relation fields whose value an entry gives; the one-to-many side is computed."""
    return [one for one in kind["fields"] if one["type"] == "relation" and one.get("relationType") != "one-to-many"]


def _related(fields: Mapping[str, Any], relations: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    for name in relations:
        value = fields.get(name)
        for one in value if isinstance(value, list) else [value]:
            if isinstance(one, str) and one:
                yield name, one


def _menu_nodes(survey: Survey) -> Mapping[str, Node]:
    """The menus that apply, with their lines: of each, the one in the last configuration file that has it; else the navigation file's."""
    if not survey.config.menus:
        node = read_data(survey.config, "navigation")[0]
        return node.entries if isinstance(node, YamlMapping) else {}
    found: dict[str, Node] = {}
    for file in survey.config.files:
        try:
            tree = load(read_bounded(survey.config.root, file, 1024 * 1024).decode("utf-8-sig"), file, max_nodes=20_000)
        except (PathFault, YamlFault, UnicodeDecodeError):
            continue
        menus = tree.entries.get("menus") if isinstance(tree, YamlMapping) else None
        found |= menus.entries if isinstance(menus, YamlMapping) else {}
    return found


def _entries(node: Node, depth: int = 0) -> Iterator[Scalar]:
    """The `url` of every entry that has a name, nested ones too."""
    if depth > 8:
        return
    for item in node.items if isinstance(node, Sequence) else [node]:
        entries: Mapping[str, Node] = item.entries if isinstance(item, YamlMapping) else {}
        url = entries.get("url")
        if isinstance(url, Scalar) and "name" in entries:
            yield url
        if "items" in entries:
            yield from _entries(entries["items"], depth + 1)
