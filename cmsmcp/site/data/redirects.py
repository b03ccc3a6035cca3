"""Redirects from `data/redirects.yaml`: `{redirects: [{from, to, status, enabled, preserve_query, note}]}` or the bare list.

A rule that cannot be used is an error with its line; the others stand. Must not know which documents exist.
"""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlsplit

from cmsmcp.site.data.files import read_data
from cmsmcp.site.model import ERROR, WARNING, Diagnostic, SiteConfig
from cmsmcp.site.urls import is_absolute, normal_path, normal_url, split_url
from cmsmcp.site.yaml.loader import Mapping, Node, YamlFault, boolean, integer, is_null, map_list, mapping, text

STATUSES = (301, 302, 307, 308)
MAX_RULES = 10_000


@dataclass(frozen=True, slots=True)
class Redirect:
    """`source` is a path in the site's spelling, `target` such a path (with query and fragment) or an http(s) URL.

    `path` and `line` say where the rule stands.
    """

    source: str
    target: str
    status: int
    enabled: bool
    preserve_query: bool
    note: str
    path: str
    line: int


class _Unusable(Exception):
    """A rule that cannot stand: one line that says why."""


def load_redirects(config: SiteConfig) -> tuple[list[Redirect], list[Diagnostic]]:
    """Rules sorted by source; the first of two with one source stands, the other is an error. A loop is a warning."""
    node, faults = read_data(config, "redirects")
    rules: dict[str, Redirect] = {}
    for item in _items(node, faults):
        try:
            rule = _rule(item)
            if rule.source in rules:
                raise _Unusable(f"{rule.source} is redirected twice (first in line {rules[rule.source].line}); keep one")
            rules[rule.source] = rule
        except YamlFault as fault:
            faults.append(Diagnostic(ERROR, "redirects", fault.file, fault.message, fault.line))
        except _Unusable as unusable:
            faults.append(Diagnostic(ERROR, "redirects", item.file, str(unusable), item.line))
    faults.extend(_loops(rules))
    return [rules[source] for source in sorted(rules)], faults


def _items(node: Node | None, faults: list[Diagnostic]) -> list[Node]:
    if isinstance(node, Mapping) and "from" not in node.entries:
        node = node.entries.get("redirects")
    if node is None:
        return []

    def warn(at: Node, message: str) -> None:
        faults.append(Diagnostic(WARNING, "redirects", at.file, message, at.line))

    try:
        items = map_list(node, "redirects", warn)
    except YamlFault as fault:
        faults.append(Diagnostic(ERROR, "redirects", fault.file, fault.message, fault.line))
        return []
    if len(items) > MAX_RULES:
        warn(node, f"more than {MAX_RULES} redirects; the rest are left out")
    return items[:MAX_RULES]


def _rule(node: Node) -> Redirect:
    entries = mapping(node)
    given = {key: value for key, value in entries.items() if not is_null(value)}
    source = _source(text(given["from"], "from") if "from" in given else "")
    target = _target(text(given["to"], "to") if "to" in given else "")
    status = (integer(given["status"], "status") if "status" in given else 0) or 301
    if status not in STATUSES:
        raise _Unusable(f"`status` is {status}; use one of 301, 302, 307, 308")
    if source == normal_path(split_url(target)[0]) and not is_absolute(target):
        raise _Unusable(f"{source} is redirected to itself")
    return Redirect(
        source, target, status, boolean(given["enabled"], "enabled") if "enabled" in given else True,
        boolean(given["preserve_query"], "preserve_query") if "preserve_query" in given else False,
        text(given["note"], "note").strip() if "note" in given else "", node.file, node.line,
    )


def _source(value: str) -> str:
    path, query, fragment = split_url(value.strip())
    if not path:
        raise _Unusable("`from` is wanted: a path of this site")
    if is_absolute(path):
        raise _Unusable("`from` must be a path of this site, without scheme and host")
    if query or fragment:
        raise _Unusable("`from` must not have a query or fragment")
    return normal_path(path)


def _target(value: str) -> str:
    value = value.strip()
    if not value:
        raise _Unusable("`to` is wanted: a path of this site or an http(s) URL")
    if not is_absolute(value):
        return normal_url(value)
    try:
        parts = urlsplit(value)
    except ValueError:
        parts = urlsplit("")
    if parts.scheme not in ("http", "https") or not parts.netloc:
        raise _Unusable("`to` must be a path of this site or an http(s) URL with a host")
    return value


def _loops(rules: dict[str, Redirect]) -> list[Diagnostic]:
    """One warning per loop of enabled rules, at the rule with the first source."""
    faults, settled = [], set()
    for start in sorted(rules):
        trail: list[str] = []
        step = start
        while step in rules and rules[step].enabled and step not in settled and step not in trail:
            trail.append(step)
            step = split_url(rules[step].target)[0]
        if step in trail:
            rule = rules[step]
            faults.append(Diagnostic(WARNING, "redirects", rule.path, f"the redirect from {rule.source} leads back to itself", rule.line))
        settled.update(trail)
    return faults
