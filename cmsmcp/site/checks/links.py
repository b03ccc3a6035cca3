"""Checks of what documents refer to: internal links, fragments, media, and media that nothing refers to."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any
from urllib.parse import unquote

from cmsmcp.site.checks.survey import Survey, is_relative
from cmsmcp.site.media import COLLECTIONS, SCHEME, mentions, reference_key, url_key
from cmsmcp.site.model import ERROR, WARNING, Diagnostic
from cmsmcp.site.paths import PathFault, read_bounded, shown
from cmsmcp.site.urls import base_path, resolved_against, split_url
from cmsmcp.site.walk import walk

_TEXT_FILES = (".html", ".css", ".js", ".yaml", ".yml", ".json", ".svg", ".xml")
_MAX_REFERRERS = 5_000
_MAX_REFERRER_BYTES = 512 * 1024
_NO_FRAGMENT = ("", "top")
_WHERE = "SELECT path, line, target FROM links JOIN documents USING (row) WHERE target IN (SELECT value FROM json_each(:targets))"


def broken_internal_links(survey: Survey) -> Iterator[Diagnostic]:
    """Links to a path of this site that leads nowhere."""
    broken = [target for target, found in survey.targets.items() if found is None and survey.is_lost(target)]
    for path, line, target in survey.rows(_WHERE, targets=json.dumps(broken)):
        code = survey.untranslated(target)
        if code is not None:
            fallback = f"`locales: {{{code}: {{fallback: {survey.config.default_lang}}}}}`"
            way_out = f"if the site shows another language there, say so with {fallback}"
            yield Diagnostic(WARNING, "broken_internal_links", path, f"{_shown(target)} is not translated; {way_out}", line)
            continue
        message = f"{_shown(target)} leads nowhere on this site; correct the link or add a redirect"
        yield Diagnostic(ERROR, "broken_internal_links", path, message, line)


def broken_relative_links(survey: Survey) -> Iterator[Diagnostic]:
    """Links without a leading slash: a browser resolves them against the page's URL, not against its file."""
    for url, path, line, target in _relative(survey):
        local = resolved_against(url, split_url(target)[0], survey.config.base_url)
        if local is not None and survey.resolve(local) is None:
            message = f"{_shown(target)} means {_shown(local)} in a browser, which leads nowhere; start the link with /"
            yield Diagnostic(WARNING, "broken_relative_links", path, message, line)


def links_to_unpublished(survey: Survey) -> Iterator[Diagnostic]:
    """Links in published documents to documents that visitors cannot open."""
    hidden = {target: found.status for target, found in survey.targets.items() if found and found.status not in (None, "published")}
    rows = survey.rows(
        f"{_WHERE} AND served AND status = 'published' AND publish_at <= :now AND unpublish_at > :now",
        targets=json.dumps(list(hidden)), now=survey.now,
    )  # fmt: skip
    for path, line, target in rows:
        message = f"{_shown(target)} is {hidden[target]}, so readers of this published document cannot open it"
        yield Diagnostic(WARNING, "links_to_unpublished", path, message, line)


def broken_fragments(survey: Survey) -> Iterator[Diagnostic]:
    """Fragments that are no heading and no id of the document they point into."""
    wanted: list[tuple[int, str, str, int, str]] = []
    sql = "SELECT row, path, line, target FROM links JOIN documents USING (row) WHERE instr(target, '#') > 0"
    for row, path, line, target in survey.rows(sql):
        found = survey.targets.get(target)
        fragment = unquote(split_url(target)[2])
        into = row if target.startswith("#") else found.row if found else None
        if into is not None and fragment.lower() not in _NO_FRAGMENT and not fragment.startswith(":~:"):
            wanted.append((into, fragment, path, line, target))
    missing = survey.rows(
        "SELECT p.key FROM json_each(:pairs) AS p WHERE NOT EXISTS (SELECT 1 FROM anchors WHERE row = json_extract(p.value, '$[0]')"
        " AND anchor = json_extract(p.value, '$[1]'))",
        pairs=json.dumps([entry[:2] for entry in wanted]),
    )
    for (index,) in missing:
        _, fragment, path, line, target = wanted[int(index)]
        message = f"{_shown(target)}: no heading or id there is #{_shown(fragment)}"
        yield Diagnostic(WARNING, "broken_fragments", path, message, line)


def broken_media_refs(survey: Survey) -> Iterator[Diagnostic]:
    """`media:` references, in bodies and in front matter, to nothing; so are `/images/x` values in front matter."""
    broken = {target: fault for target in survey.targets if target.startswith(SCHEME) and (fault := _media_fault(survey, target))}
    for path, line, target in survey.rows(_WHERE, targets=json.dumps(list(broken))):
        yield Diagnostic(ERROR, "broken_media_refs", path, f"{_shown(target)} {broken[target]}", line)
    for path, values in _front_matter(survey):
        for text in dict.fromkeys(_strings(values)):
            fault = _media_fault(survey, text) if text.startswith((SCHEME, "/")) and "\n" not in text else None
            if fault:
                yield Diagnostic(ERROR, "broken_media_refs", path, f"{_shown(text)} {fault}", survey.line_of(path, text))


def orphaned_media(survey: Survey) -> Iterator[Diagnostic]:
    """Files that no content, front matter, theme, plugin, configuration or other media file mentions (docs/rules.md, Odd places)."""
    left = {key: file for key, file in survey.media.files.items() if not _is_bundled(key)}
    for key in _used(survey):
        if not left:
            return
        found = survey.media.find(key)
        if found is not None:
            left.pop(found.key, None)
    for file in left.values():
        where = "on this site" if survey.is_whole else "that is published here"
        yield Diagnostic(WARNING, "orphaned_media", file.path, f"nothing {where} refers to this file")


def _relative(survey: Survey) -> Iterator[tuple[str, str, int, str]]:
    sql = "SELECT url, path, line, target FROM links JOIN documents USING (row) WHERE substr(target, 1, 1) NOT IN ('/', '#', '?')"
    for row in survey.rows(f"{sql} AND target NOT LIKE 'http%' AND target NOT LIKE 'media:%' AND target NOT LIKE 'mailto:%'"):
        if is_relative(row[3]):
            yield row


def _media_fault(survey: Survey, target: str) -> str | None:
    """What is wrong with a reference to media; None if nothing is, or if it is none."""
    if not target.startswith(SCHEME):
        is_media = any(url_key(path) for path in survey.own_paths(target))
        return "is no file of this site" if is_media and survey.is_lost(target) else None
    key = reference_key(target)
    if key is None:
        return f"cannot be read; write media:<collection>/<path>, with a collection among {', '.join(COLLECTIONS)}"
    return None if survey.media.find(key) else "is no file of this site"


def _front_matter(survey: Survey) -> Iterator[tuple[str, Any]]:
    below = base_path(survey.config.base_url)
    starts = (SCHEME, *(f'"{path}/{collection}/' for collection in COLLECTIONS for path in {"", below}))
    likely = "EXISTS (SELECT 1 FROM json_each(:starts) WHERE instr(fields, value) OR instr(params, value))"
    for path, fields, params in survey.rows(f"SELECT path, fields, params FROM documents WHERE {likely}", starts=json.dumps(starts)):
        yield path, (json.loads(fields), json.loads(params))


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value.strip()
    elif isinstance(value, dict):
        for item in value.values():
            yield from _strings(item)
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _strings(item)


def _is_bundled(key: str) -> bool:
    """Foundry puts every style sheet in `assets/css/` into its bundle, mentioned or not."""
    return key.startswith("assets/css/") and key.endswith(".css")


def _used(survey: Survey) -> Iterator[str]:
    """Keys that are in use, cheapest source first; may repeat, may name files that are not there.

    A file that hidden documents alone use looks like one that nothing uses to who may not see them.
    """
    exact = [path for target in survey.targets for path in survey.own_paths(target) or (target,)]
    exact += [resolved_against(url, target, survey.config.base_url) or target for url, _, _, target in _relative(survey)]
    exact += [text for _, values in _front_matter(survey) for text in _strings(values)]
    yield from filter(None, (reference_key(text) if text.startswith(SCHEME) else url_key(text) for text in exact))
    yield from mentions(json.dumps(survey.config.values, ensure_ascii=False, default=str))
    for text in _referrers(survey):
        yield from mentions(text)
    likely = " OR ".join(f"instr({{0}}, '{text}')" for text in (SCHEME, *(f"/{collection}/" for collection in COLLECTIONS)))
    for column in ("fields", "params", "summary", "body"):
        bodies = "JOIN bodies USING (row) " if column == "body" else ""
        for (text,) in survey.rows(f"SELECT {column} FROM documents {bodies}WHERE {likely.format(column)}"):
            yield from mentions(text)


def _referrers(survey: Survey) -> Iterable[str]:
    """Texts beside documents that may mention media: themes, plugins' assets, the data files that are read, style sheets."""
    config = survey.config
    paths = [f"{config.data_dir}/{name}.yaml" for name in ("navigation", "redirects")] + [f"{config.content_dir}/custom-fields.yaml"]
    paths += [file.path for file in survey.media.files.values() if file.path.endswith(_TEXT_FILES)][:_MAX_REFERRERS]
    for folder in (config.themes_dir, config.plugins_dir):
        paths += [file.path for file in walk(config.root, folder, survey.deadline, _MAX_REFERRERS).files if file.path.endswith(_TEXT_FILES)]
    for path in paths:
        survey.deadline.check()
        try:
            yield read_bounded(config.root, path, _MAX_REFERRER_BYTES).decode("utf-8", "replace")
        except PathFault:
            continue


def _shown(text: str) -> str:
    clean = shown(text)
    return clean if len(clean) <= 200 else clean[:199] + "…"
